"""learning.journal.weak: a weak lesson that contradicts a lesson is not learned."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.config import Sampling
from engine.tokenizers.tokenizer import Tokenizer
from learning.channels import REACH
from learning.journal.journal import Journal
from learning.journal.weak import Leading, weak_lessons
from learning.memory.tasks import rider_example, waiting_riders
from learning.protocol.records import Correction, Lesson, Rating
from tests.learning.lessons.test_learner import Place, lesson, open_learner, place, read_book  # noqa: F401
from tests.talk import said

ASKED = said("What is my dog called?")
TRUE, FALSE = "Your dog is called Bruno.", "Your dog is called Cajeut."


def left(answer: str, question: str = "What is my dog called?") -> Lesson:
    return Lesson("continuation", said(question), answer, weight=0.1)


def test_one_that_contradicts_a_lesson_does_not_teach(journal: Journal) -> None:
    own = Lesson("owner_words", (), FALSE)
    assert weak_lessons([left(FALSE), own], journal) == [left(FALSE), own]
    journal.add_lessons([Lesson("correction", ASKED, TRUE)])
    assert weak_lessons([left(FALSE), own], journal) == [own]
    assert weak_lessons([left(FALSE, "And my dog?")], journal) == []
    assert weak_lessons([left(TRUE)], journal) == [left(TRUE)]


def test_what_was_taken_back_or_rated_bad_does_not_come_back_by_it(journal: Journal) -> None:
    (taught,) = journal.add_lessons([Lesson("pick", ASKED, FALSE)])
    journal.retract(taught.id)
    assert weak_lessons([left(FALSE)], journal) == []
    journal.set_lesson_state(taught.id, "undone")
    assert weak_lessons([left(FALSE), left(FALSE, "My dog?")], journal) == []
    assert weak_lessons([left(FALSE, "Really?")], journal) == [left(FALSE, "Really?")]
    journal.add_lessons([Lesson("rating", said("Hm?"), "", ("Go away.",))])
    assert weak_lessons([left("Go away.", "Hm?")], journal) == []


def test_after_a_correction_an_older_one_rides_no_more(
    journal: Journal, tiny_tokenizer: Tokenizer
) -> None:
    (weak,) = journal.add_lessons([left(FALSE)])
    assert list(waiting_riders(tiny_tokenizer, journal, 128)) == [weak.id]
    journal.add_lessons([Lesson("correction", ASKED, TRUE)])
    assert waiting_riders(tiny_tokenizer, journal, 128) == {}


def test_only_the_kinds_ride_that_the_owner_wants(
    journal: Journal, tiny_tokenizer: Tokenizer
) -> None:
    weak, own = journal.add_lessons([left("Hm."), Lesson("owner_words", (), "hello")])
    assert list(waiting_riders(tiny_tokenizer, journal, 128, ())) == []
    assert list(waiting_riders(tiny_tokenizer, journal, 128, ("owner_words",))) == [own.id]
    assert list(waiting_riders(tiny_tokenizer, journal, 128, ("continuation",))) == [weak.id]


def test_what_the_memory_answers_otherwise_does_not_ride(
    journal: Journal, tiny_tokenizer: Tokenizer
) -> None:
    (weak,) = journal.add_lessons([left("I am Bob.", "Who are you?")])
    kinds = ("continuation",)
    same = rider_example(tiny_tokenizer, weak, 128)
    other = rider_example(tiny_tokenizer, left("I am Vidya.", "Who are you?"), 128)
    assert same and other
    assert list(waiting_riders(tiny_tokenizer, journal, 128, kinds, [same])) == [weak.id]
    assert waiting_riders(tiny_tokenizer, journal, 128, kinds, [other]) == {}


def talk(journal: Journal, *questions: str) -> list[int]:
    """A conversation whose answers are left standing, but for the last; returns its asks."""
    turns, asks = list[str](), list[int]()
    conversation = journal.new_conversation()
    for question in questions:
        asks.append(journal.add_ask(conversation, said(*turns, question), Sampling()).id)
        lessons = [left(f"{question} Hm.", question)] if question != questions[-1] else []
        journal.set_answer(asks[-1], f"{question} Hm.", lessons)
        turns += [question, f"{question} Hm."]
    return asks


def test_a_batch_has_them_with_the_weight_of_what_they_led_to(
    journal: Journal, tiny_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def riding() -> list[float]:
        riders = waiting_riders(tiny_tokenizer, journal, 128)
        assert list(riders) == sorted(riders)
        return [round(weight, 4) for _, weight in riders.values()]

    *_, last = talk(journal, "One?", "Two?", "Three?")
    (alone,) = journal.add_lessons([left("Alone.", "And?")])
    assert riding() == [0.1] * 3
    bad = journal.judge(Rating(last, "bad"), "Three? Hm.", [Lesson("rating", said("Three?"), "")])
    assert riding() == [0.0206, 0.0109, 0.1]
    journal.withdraw(bad)
    journal.judge(Rating(last, "good"), "Three? Hm.")
    assert riding() == [0.1794, 0.1891, 0.1]
    assert [rider.weight for rider in journal.riders()] == [0.1] * 3, "the journal stays as it is"
    monkeypatch.setattr("learning.memory.tasks.MAX_RIDERS", 2)
    assert riding() == [0.1891, 0.1]
    journal.retract(alone.id)
    assert riding() == [0.1794, 0.1891]


def test_held_back_ones_take_no_place_from_others(
    journal: Journal, tiny_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    (old,) = journal.add_lessons([left("Old.", "And?")])
    *_, third, fourth = talk(journal, "One?", "Two?", "Three?", "Four?")
    for ask in (third, fourth):
        journal.judge(Rating(ask, "bad"), "Hm.")
    held = [rider.id for rider in journal.riders() if Leading(journal).weighed(rider) is None]
    assert len(held) == 2
    monkeypatch.setattr("learning.memory.tasks.MAX_RIDERS", 2)
    riders = waiting_riders(tiny_tokenizer, journal, 128)
    assert old.id in riders and not set(held) & set(riders)


def test_of_branches_the_newest_that_was_judged_counts_and_far_ones_do_not(
    journal: Journal,
) -> None:
    questions = [f"Number {n}?" for n in range(REACH + 2)]
    first, second, third, *_, last = talk(journal, *questions)
    number = journal.lessons(kinds=["continuation"])[0].id
    journal.judge(Rating(last, "good"), "Hm.")
    assert Leading(journal).shares(number) == (), "too far away"
    one, other = (
        journal.add_ask(1, journal.ask(third).turns, Sampling(), parent=second).id for _ in "ab"
    )
    journal.judge(Rating(other, "good"), "Hm.")
    journal.judge(Rating(one, "bad"), "Hm.")
    assert [(s.outcome, s.turns) for s in Leading(journal).shares(number)] == [("good", 2)]
    assert Leading(journal).shares(99) == (), "a lesson that is not there"
    journal.judge(Correction(second, "No."), "No.")
    assert [(s.outcome, s.turns) for s in Leading(journal).shares(number)] == [
        *(("corrected", 1), ("good", 2))
    ]
    assert first and journal.lesson(number).weight == 0.1


def test_an_older_conversation_that_is_imported_is_no_sign_of_leaving(
    journal: Journal, tmp_path: Path
) -> None:
    other = Journal(tmp_path / "other.sqlite3")
    talk(other, "Zero?")
    talk(journal, "One?", "Two?")
    (weak,) = journal.riders()
    journal.import_rows(other.export_rows())
    other.close()
    assert Leading(journal).shares(weak.id) == ()
    talk(journal, "Three?")
    assert [share.outcome for share in Leading(journal).shares(weak.id)] == ["left"]


@pytest.mark.slow
def test_nothing_weak_is_learned_unless_the_owner_wants_that(
    place: Place,  # noqa: F811
) -> None:
    journal, learner = place[2], open_learner(place)
    read_book(learner)
    weak, first = journal.add_lessons(
        [left("Hm."), lesson("What is the capital?", "It is Quimby.")]
    )
    assert learner.learn(first).steps
    assert journal.lesson(weak.id).state == "waiting"
    learner.weak = ("continuation",)
    (second,) = journal.add_lessons([lesson("What is 12 and 30?", "They make 42.")])
    assert learner.learn(second).steps
    assert journal.lesson(weak.id).state == "learned"


@pytest.mark.slow
def test_one_that_was_learned_is_taken_back_like_any_lesson(
    place: Place,  # noqa: F811
) -> None:
    journal, learner = place[2], open_learner(place)
    read_book(learner)
    learner.weak = ("continuation",)
    weak, first = journal.add_lessons(
        [left("Hm."), lesson("What is the capital?", "It is Quimby.")]
    )
    assert learner.learn(first).steps and journal.lesson(weak.id).state == "learned"
    journal.retract(weak.id)
    assert [other.id for other in journal.to_undo()] == [weak.id]
    done, lost = learner.undo(journal.lesson(weak.id))
    assert done.what.startswith(f"took back lesson {weak.id}")
    assert [other.id for other in lost] == [first.id]
    assert weak.id not in journal.lessons_in(learner.version)
    assert learner.learn(journal.lesson(first.id)).known_after
    assert weak.id not in journal.lessons_in(learner.version)
    assert journal.lesson(weak.id).state == "undone"


@pytest.mark.slow
def test_what_was_learned_with_a_share_waits_again_without_it_when_the_judgement_is_undone(
    place: Place,  # noqa: F811
) -> None:
    journal, learner = place[2], open_learner(place)
    read_book(learner)
    learner.weak = ("continuation",)
    *_, last = talk(journal, "One?", "Two?")
    good = Lesson("rating", said("Two?"), "It is Quimby.", weight=0.5)
    judgement = journal.judge(Rating(last, "good"), "It is Quimby.", [good])
    (weak,) = journal.riders()
    (taught,) = journal.lessons_of(judgement)
    assert learner.learn(taught).steps and journal.lesson(weak.id).state == "learned"
    journal.withdraw(judgement)
    learner.undo(journal.lesson(taught.id))
    assert [rider.id for rider in journal.riders()] == [weak.id]
    again = Leading(journal).weighed(weak)
    assert again and again.weight == 0.1


def test_one_that_was_right_before_a_change_in_other_words_does_not_teach(
    journal: Journal,
) -> None:
    journal.add_lessons(
        [Lesson("example", ASKED, FALSE), Lesson("example", said("What's my dog's name?"), TRUE)]
    )
    assert weak_lessons([left(FALSE)], journal) == []
    assert weak_lessons([left(TRUE)], journal) == [left(TRUE)]
