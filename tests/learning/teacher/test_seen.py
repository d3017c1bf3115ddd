"""What the model sees of a talk."""

from __future__ import annotations

import queue
from typing import Any

import pytest

import learning.teacher.generation
from engine.config import Sampling
from learning.channels import learn_from_correction, learn_from_rating
from learning.journal.contradictions import Contradictions
from learning.journal.journal import Journal
from learning.protocol.events import AskDone, Event
from learning.protocol.records import Ask, Correction, Lesson, Pick, Rating, Turn
from learning.protocol.requests import Generate
from learning.teacher.seen import Seen, seen
from learning.teacher.teacher import Teacher
from tests.learning.conftest import Place
from tests.talk import said

DOG = Lesson(
    "correction", said("What is my dog called?"), "Your dog is called Bruno.", ("Rex.",), id=5
)
TAUGHT = Contradictions([DOG])


def unjudged(*texts: str) -> dict[int, int | None]:
    return dict.fromkeys(range(1, len(texts), 2))


def test_an_invention_against_a_lesson_is_not_seen() -> None:
    texts = ("Hi", "Hello!", "My dog?", "Your dog is called Cajeut.", "And what is he like?")
    assert seen(said(*texts), unjudged(*texts), TAUGHT) == said("Hi", "Hello!", texts[-1])


def test_what_was_judged_after_the_lesson_stays() -> None:
    texts = ("My dog?", "Your dog is called Cajeut.", "And what is he like?")
    assert seen(said(*texts), {1: 6}, TAUGHT) == said(*texts)
    assert seen(said(*texts), {1: 4}, TAUGHT) == said(texts[-1])  # the lesson came later
    assert seen(said(*texts), {}, TAUGHT) == said(*texts)  # not the model's own


def test_where_the_owner_told_something_what_was_taught_stands_in_its_place() -> None:
    home = Lesson("example", said("I just got home"), "Welcome home!", id=1)
    texts = ("I just got home", "Go away!", "What shall we do?")
    assert seen(said(*texts), unjudged(*texts), Contradictions([home])) == said(
        "I just got home", "Welcome home!", "What shall we do?"
    )


def test_asked_for_what_was_taught_it_sees_nothing_that_was_said_unjudged() -> None:
    texts = (
        *("What is my horse called?", "Your horse is called Lulit."),
        *("I had a long day.", "So it seems."),
        *("My dog is old.", "That is sad."),
        *("Is it raining?", "Yes, it is."),
        "What is my dog called?",
    )
    own = unjudged(*texts) | {7: 3}  # the last answer was picked
    assert seen(said(*texts), own, TAUGHT) == said(*texts[4:])


def test_a_question_that_needs_the_talk_before_it_sees_it() -> None:
    texts = ("Is it raining?", "Yes, it is.", "Why is that?")
    taught = Contradictions([Lesson("example", said("Why is that?"), "Because.", id=1)])
    assert seen(said(*texts), unjudged(*texts), taught) == said(*texts)


def test_after_just_the_talk_that_a_lesson_was_given_in_all_is_seen() -> None:
    texts = ("My cat?", "Your dog is called Cajeut.", "What is my dog called?")
    here = Lesson("correction", said(*texts), "Your dog is called Bruno.", id=1)
    assert seen(said(*texts), unjudged(*texts), Contradictions([here])) == said(*texts)


# ---------------------------------------------------------------- as the journal has it


def talk(journal: Journal, *exchanges: tuple[str, str]) -> list[Ask]:
    """A conversation with unjudged answers, and one more question."""
    conversation, asks = journal.new_conversation(), list[Ask]()
    turns: tuple[Turn, ...] = ()
    for question, answer in exchanges:
        turns = (*turns, Turn("user", question))
        parent = asks[-1].id if asks else None
        asks.append(journal.add_ask(conversation, turns, Sampling(), parent=parent))
        if answer:
            journal.set_answer(asks[-1].id, answer)
        turns = (*turns, Turn("assistant", answer))
    return asks


def test_lessons_of_the_journal_count_as_they_stand(journal: Journal) -> None:
    asks = talk(
        journal, ("My dog?", "Your dog is called Cajeut."), ("And my cat?", "No."), ("So?", "")
    )
    last, see = asks[-1], Seen(journal)
    assert see.turns(last.id, last.turns) == last.turns
    (dog,) = journal.add_lessons([Lesson("example", DOG.prompt, DOG.answer)])
    assert see.turns(last.id, last.turns) == last.turns[2:]
    journal.retract(dog.id)
    assert see.turns(last.id, last.turns) == last.turns
    assert [turn.text for turn in journal.turns(last.conversation)] == [
        *("My dog?", "Your dog is called Cajeut.", "And my cat?", "No.", "So?")
    ]


def test_a_pick_and_a_good_rating_speak_for_an_answer_and_a_bad_one_does_not(
    journal: Journal,
) -> None:
    said_so = "Your dog is called Cajeut."
    first, second, third, last = talk(
        journal, ("One?", said_so), ("Two?", said_so), ("Three?", said_so), ("So?", "")
    )
    journal.add_lessons([Lesson("example", DOG.prompt, DOG.answer)])
    correction = learn_from_correction(first, said_so, None)
    journal.judge(Correction(first.id, said_so), said_so, [correction])
    good, bad = learn_from_rating(second, said_so, "good"), learn_from_rating(third, said_so, "bad")
    assert good and bad
    journal.judge(Rating(second.id, "good"), said_so, [good])
    journal.judge(Rating(third.id, "bad"), said_so, [bad])
    assert journal.own_answers(last.id) == {1: 2, 3: 3, 5: None}
    assert Seen(journal).turns(last.id, last.turns) == (*last.turns[:4], last.turns[-1])


def test_an_early_pick_without_its_lesson_is_judged(journal: Journal) -> None:
    first, last = talk(journal, ("One?", ""), ("So?", ""))
    journal.judge(Pick(first.id, 1), "Yes.")
    assert journal.own_answers(last.id) == {1: 0}


def test_an_ask_that_is_not_in_the_journal_is_seen_whole(journal: Journal) -> None:
    assert Seen(journal).turns(99, said("a", "b", "c")) == said("a", "b", "c")


def test_the_model_is_asked_with_what_it_is_to_see(
    tiny_place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, folder, journal = tiny_place
    asked: list[list[tuple[str, str]]] = []
    encode = learning.teacher.generation.encode_prompt

    def spy(tokenizer: Any, turns: Any, *rest: Any) -> list[int]:
        asked.append(list(turns))
        return encode(tokenizer, turns, *rest)

    monkeypatch.setattr(learning.teacher.generation, "encode_prompt", spy)
    asks = talk(journal, ("My dog?", "Your dog is called Cajeut."), ("What is my dog called?", ""))
    (dog,) = journal.add_lessons([Lesson("example", DOG.prompt, DOG.answer)])
    journal.set_lesson_state(dog.id, "learned")
    events: queue.Queue[Event] = queue.Queue()
    teacher = Teacher(home, folder, journal, device="cpu", seed=0, on_event=events.put)
    try:
        ask = asks[-1]
        teacher.send(Generate(ask.id, ask.turns, 1, Sampling(max_tokens=2)))
        while not isinstance(events.get(timeout=120), AskDone):
            pass
    finally:
        teacher.close()
    assert asked == [[("user", "What is my dog called?")]]


def test_an_answer_that_is_right_since_a_change_in_other_words_is_seen() -> None:
    old = Lesson("example", said("Where does my son live?"), "Your son lives in Oslo.", id=1)
    town = said("In which town does my son live?")
    new = Lesson("example", town, "Your son lives in Rome.", id=2)
    for answer in ("Your son lives in Oslo.", "Your son lives in Rome."):
        texts = ("Where does my son live?", answer, "Is it warm?")
        right = answer == new.answer
        found = seen(said(*texts), unjudged(*texts), Contradictions([old, new]))
        assert found == (said(*texts) if right else said(texts[-1])), answer
