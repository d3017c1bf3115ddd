"""One conversation: talking, judging at any moment, taking back, and going on after a crash."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from fakes import ScriptedTeacher

from engine.config import Sampling
from engine.errors import DataError, JournalError, NotFound, VidyaError
from learning.channels import learn_from_correction
from learning.events import AskDone, CandidateDone, CandidateText, LearnerState, Ready, UndoDone
from learning.journal import Journal
from learning.records import Correction, Lesson, Pick, Rating, Turn, Turns
from learning.requests import Cancel, Generate, Keep, Learn, Undo
from personality.book import read_book
from vidya_tui.session import Session

TEXTS = ["Hello there.", "Good day.", "Hi!", "Hm?", "Hello you."]


def said(*texts: str) -> Turns:
    return tuple(Turn("assistant" if i % 2 else "user", text) for i, text in enumerate(texts))


class Talk:
    """A session on a real journal with a scripted teacher, and ways to look at it."""

    def __init__(self, folder: Path, *, manual: bool = False, **options: object) -> None:
        self.book_path = folder / "book.txt"
        self.journal = Journal(folder / "journal.sqlite3")
        self.teacher = ScriptedTeacher(TEXTS, journal=self.journal, manual=manual)
        self.session = Session(
            self.journal,
            self.teacher,
            book_path=self.book_path,
            **options,  # type: ignore[arg-type]
        )
        self.teacher.on_event = self.session.handle

    @property
    def book(self) -> list[tuple[str, str]]:
        if not self.book_path.exists() or "<|user|>" not in self.book_path.read_text("utf-8"):
            return []
        return [(entry.question, entry.answer) for entry in read_book(self.book_path)]

    @property
    def lessons(self) -> list[tuple[str, str, str]]:
        """(kind, answer, state) of what the owner taught."""
        return [
            (lesson.kind, lesson.answer, lesson.state)
            for lesson in self.journal.lessons(kinds=("pick", "correction", "rating", "example"))
        ]

    @property
    def chosen(self) -> list[int]:
        return [card.index for card in self.session.cards if card.chosen]

    def last_lesson(self) -> Lesson:
        lesson = self.journal.last_lesson()
        assert lesson is not None
        return lesson


Start = Callable[..., Talk]


@pytest.fixture
def start(tmp_path: Path) -> Start:
    """Starts the program on the same home, again and again."""

    def begin(**options: object) -> Talk:
        return Talk(tmp_path, **options)  # type: ignore[arg-type]

    return begin


# ---------------------------------------------------------------- asking


def test_a_message_is_journaled_with_its_rider_before_the_teacher_hears_of_it(
    start: Start,
) -> None:
    talk = start(manual=True, sampling=Sampling(temperature=0.3), candidates=3, seed=40)
    seen: list[object] = []
    talk.teacher.send = lambda request: seen.append((request, talk.journal.latest_ask()))  # type: ignore[method-assign]
    ask = talk.session.say("  hello\n")
    assert ask.turns == said("hello")
    assert seen == [(Generate(ask.id, said("hello"), 3, Sampling(temperature=0.3), 40), ask)]
    (rider,) = talk.journal.riders()
    assert (rider.kind, rider.prompt, rider.answer) == ("owner_words", (), "hello")
    assert talk.session.turns == said("hello")
    assert (talk.session.ask, talk.session.conversation) == (ask, ask.conversation)
    assert [(card.index, card.text, card.state) for card in talk.session.cards] == [
        (number, "", "waiting") for number in (1, 2, 3)
    ]


@pytest.mark.parametrize("text", ["", "  \n\t "])
def test_nothing_cannot_be_said(start: Start, text: str) -> None:
    talk = start()
    with pytest.raises(VidyaError, match="nothing was typed"):
        talk.session.say(text)
    assert talk.teacher.requests == []
    assert talk.session.conversation is None


def test_cards_grow_and_end(start: Start) -> None:
    talk = start(manual=True)
    ask = talk.session.say("hello")
    assert talk.session.waiting
    talk.teacher.pump()
    card = talk.session.cards[0]
    assert (card.text, card.state, card.confidence) == ("Hell", "streaming", None)
    assert talk.session.streaming
    talk.teacher.finish()
    assert (card.text, card.state, card.ending, card.tokens) == ("Hello there.", "done", "end", 2)
    assert card.confidence == pytest.approx(0.6065306597)  # exp(-0.5)
    assert [card.text for card in talk.session.cards] == TEXTS
    assert [candidate.text for candidate in talk.journal.candidates(ask.id)] == TEXTS
    assert talk.session.waiting
    assert not talk.session.streaming
    assert talk.session.turns == said("hello")


def test_a_duplicate_is_drawn_anew_in_its_card(start: Start) -> None:
    talk = start(manual=True)
    talk.session.say("hello")
    talk.teacher.pump(1)
    talk.teacher.reset(2, "Another.")
    assert (talk.session.cards[1].text, talk.session.cards[1].state) == ("", "waiting")
    talk.teacher.finish()
    assert talk.session.cards[1].text == "Another."


def test_events_of_no_concern_pass(start: Start) -> None:
    talk = start()
    ask = talk.session.say("hello")
    before = [card.text for card in talk.session.cards]
    for event in (
        CandidateText(99, 1, "x"),
        CandidateText(ask.id, 1, "late"),
        CandidateText(ask.id, 77, "x"),
        CandidateDone(99, 1, "x", (), (), "end", 0),
        AskDone(99, 1.0, 1.0),
        UndoDone(None, "nothing to undo", 1),
        UndoDone(99, "gone", 1),
        Ready("10m", 1, 5, "cpu"),
        LearnerState("idle"),
    ):
        talk.session.handle(event)
    assert [card.text for card in talk.session.cards] == before


def test_stop_keeps_what_there_is_and_it_can_be_picked(start: Start) -> None:
    talk = start(manual=True)
    ask = talk.session.say("hello")
    talk.teacher.pump(1)
    talk.session.stop()
    assert talk.teacher.requests[-1] == Cancel(ask.id)
    assert [card.ending for card in talk.session.cards] == [
        *("cancelled", "cancelled", "end", "end", "cancelled")
    ]
    assert talk.session.pick(1) == "Hell"
    assert talk.lessons == [("pick", "Hell", "learned")]
    talk.session.stop()  # nothing runs: nothing is sent
    assert talk.teacher.requests.count(Cancel(ask.id)) == 1


def test_seeds_follow_each_other_so_that_asking_again_differs(start: Start) -> None:
    talk = start(seed=40)
    talk.session.say("hello")
    talk.session.regenerate()
    talk.session.say("more")
    assert [request.seed for request in talk.teacher.sent(Generate)] == [40, 41, 42]  # type: ignore[union-attr]


# ---------------------------------------------------------------- picking


def test_a_pick_becomes_the_answer_the_lesson_and_a_line_of_the_book(start: Start) -> None:
    talk = start()
    ask = talk.session.say("hello")
    assert talk.session.pick(2) == "Good day."
    assert talk.session.turns == said("hello", "Good day.")
    assert (talk.session.answer, talk.session.waiting) == ("Good day.", False)
    assert talk.chosen == [2]
    lesson = talk.last_lesson()
    assert (lesson.kind, lesson.prompt, lesson.answer) == ("pick", said("hello"), "Good day.")
    assert lesson.rejected == ("Hello there.", "Hi!", "Hm?", "Hello you.")
    assert talk.journal.judgements(ask.id)[0].judgement == Pick(ask.id, 2)
    assert talk.book == [("hello", "Good day.")]
    assert talk.teacher.requests[1:] == [Learn()]


def test_a_pick_that_cannot_be_is_refused_and_changes_nothing(start: Start) -> None:
    talk = start(manual=True)
    with pytest.raises(VidyaError, match="no candidates wait"):
        talk.session.pick(1)
    ask = talk.session.say("hello")
    with pytest.raises(VidyaError) as caught:
        talk.session.pick(6)
    assert (caught.value.what, caught.value.next_step) == ("there is no candidate 6", "pick 1 to 5")
    with pytest.raises(VidyaError, match="candidate 1 is still empty"):
        talk.session.pick(1)
    assert talk.journal.judgements(ask.id) == []
    assert talk.session.waiting


def test_an_early_pick_is_kept_at_once_and_learned_when_it_is_whole(start: Start) -> None:
    talk = start(manual=True)
    ask = talk.session.say("hello")
    talk.teacher.pump(2)
    assert talk.session.pick(1) == "Hello th"
    assert talk.teacher.sent(Keep) == [Keep(ask.id, 1)]
    (judged,) = talk.journal.judgements(ask.id)
    assert (judged.judgement, judged.answer) == (Pick(ask.id, 1), "Hello th")
    assert talk.lessons == []
    assert talk.book == []
    assert talk.session.turns == said("hello", "Hello th")
    talk.teacher.pump(1)
    assert talk.session.answer == "Hello there."
    talk.teacher.finish()
    assert talk.lessons == [("pick", "Hello there.", "learned")]
    # "Hello you." was cut to "Hello yo": seen, and not the chosen one
    assert talk.last_lesson().rejected == ("Good day", "Hi!", "Hm?", "Hello yo")
    assert talk.book == [("hello", "Hello there.")]
    assert talk.journal.answer(ask.id) == "Hello there."
    assert talk.teacher.requests[-1] == Learn()


def test_the_answer_grows_while_an_early_pick_is_written(start: Start) -> None:
    talk = start(manual=True)
    talk.session.say("hello")
    talk.teacher.pump(1)
    talk.session.pick(1)
    talk.teacher.pump(1)
    assert talk.session.answer == "Hello th"
    assert talk.session.editable() == "Hello th"


def test_an_end_that_is_not_what_was_seen_does_not_change_the_pick(start: Start) -> None:
    talk = start(manual=True)
    ask = talk.session.say("hello")
    talk.teacher.pump(1)
    talk.session.pick(1)
    talk.session.handle(CandidateDone(ask.id, 1, "Another.", (1,), (-1.0,), "end", 1))
    assert talk.session.answer == "Hell"
    assert talk.lessons == [("pick", "Hell", "learned")]


def test_the_same_question_again_gets_a_line_of_its_own(start: Start) -> None:
    talk = start()
    talk.session.say("hello")
    talk.session.pick(2)
    talk.session.say("hello")
    talk.session.pick(3)
    assert talk.book == [("hello", "Good day."), ("hello", "Hi!")]


def test_what_is_on_its_way_out_of_the_weights_is_not_asked_for_twice(start: Start) -> None:
    talk = start()
    talk.session.say("hello")
    talk.teacher.journal = None  # it takes its time
    for index in (1, 2, 3):
        talk.session.pick(index)
    numbers = [lesson.id for lesson in talk.journal.lessons(kinds=("pick",))]
    assert talk.teacher.sent(Undo) == [Undo(numbers[0]), Undo(numbers[1])]
    talk.teacher.die()
    talk.session.recover()  # but a new teacher has not heard of it
    assert talk.teacher.sent(Undo)[2:] == [Undo(numbers[0]), Undo(numbers[1])]


def test_a_whole_candidate_is_picked_while_others_are_written(start: Start) -> None:
    talk = start(manual=True)
    ask = talk.session.say("hello")
    talk.teacher.pump(1)
    talk.session.pick(3)
    assert talk.lessons == [("pick", "Hi!", "learned")]
    assert Keep(ask.id, 3) in talk.teacher.requests
    assert not talk.session.streaming


def test_a_pick_in_the_moment_its_card_is_drawn_anew_means_what_was_seen(start: Start) -> None:
    talk = start(manual=True)
    ask = talk.session.say("hello")
    talk.teacher.pump(2)
    talk.session.pick(1)
    talk.teacher.reset(1, "Something else.")
    talk.teacher.finish()
    assert talk.session.answer == "Hello th"
    assert talk.session.cards[0].text == "Hello th"
    assert talk.lessons == [("pick", "Hello th", "learned")]
    assert talk.teacher.sent(Cancel) == [Cancel(ask.id)]


def test_another_pick_changes_the_answer_the_lesson_and_the_book(start: Start) -> None:
    talk = start()
    talk.session.say("hello")
    talk.session.pick(2)
    assert talk.session.pick(3) == "Hi!"
    assert talk.session.turns == said("hello", "Hi!")
    assert talk.chosen == [3]
    assert talk.lessons == [("pick", "Good day.", "undone"), ("pick", "Hi!", "learned")]
    assert talk.book == [("hello", "Hi!")]
    assert [type(request) for request in talk.teacher.requests[-2:]] == [Undo, Learn]


def test_the_same_pick_again_is_the_same_pick(start: Start) -> None:
    talk = start()
    talk.session.say("hello")
    talk.session.pick(2)
    count = len(talk.teacher.requests)
    assert talk.session.pick(2) == "Good day."
    assert len(talk.teacher.requests) == count
    assert talk.lessons == [("pick", "Good day.", "learned")]


def test_an_early_pick_can_change_to_another_one(start: Start) -> None:
    talk = start(manual=True)
    ask = talk.session.say("hello")
    talk.teacher.pump(2)
    talk.session.pick(1)
    talk.session.pick(3)  # whole already
    talk.teacher.finish()
    assert talk.lessons == [("pick", "Hi!", "learned")]
    assert talk.session.turns == said("hello", "Hi!")
    assert talk.journal.judgements_without_lessons() == []
    assert [judged.stands for judged in talk.journal.judgements(ask.id)] == [False, True]
    assert talk.book == [("hello", "Hi!")]


def test_talking_on_after_an_early_pick_lets_it_be_finished_and_learned(start: Start) -> None:
    talk = start(manual=True)
    first = talk.session.say("hello")
    talk.teacher.pump(2)
    talk.session.pick(1)
    second = talk.session.say("more")
    assert second.turns == said("hello", "Hello th", "more")
    assert Cancel(first.id) not in talk.teacher.requests
    talk.teacher.finish()
    assert talk.lessons == [("pick", "Hello there.", "learned")]
    assert talk.journal.answer(first.id) == "Hello there."
    assert talk.book == [("hello", "Hello there.")]
    assert talk.session.waiting
    assert [card.text for card in talk.session.cards] == TEXTS


# ---------------------------------------------------------------- going on without judging


def test_going_on_takes_the_first_answer_as_a_weak_lesson(start: Start) -> None:
    talk = start()
    first = talk.session.say("hello")
    second = talk.session.say("more")
    assert second.turns == said("hello", "Hello there.", "more")
    assert second.conversation == first.conversation
    assert talk.journal.answer(first.id) == "Hello there."
    assert talk.journal.judgements(first.id) == []
    assert talk.lessons == []
    assert [(rider.kind, rider.answer) for rider in talk.journal.riders()] == [
        ("owner_words", "hello"),
        ("continuation", "Hello there."),
        ("owner_words", "more"),
    ]
    assert talk.book == []


def test_going_on_while_they_are_written_takes_what_there_is_and_teaches_nothing(
    start: Start,
) -> None:
    talk = start(manual=True)
    first = talk.session.say("hello")
    talk.teacher.pump(1, only=2)
    assert talk.session.say("more").turns == said("hello", "Good", "more")
    assert talk.teacher.sent(Cancel) == [Cancel(first.id)]
    assert [rider.kind for rider in talk.journal.riders()] == ["owner_words", "owner_words"]
    talk.teacher.finish()
    assert [candidate.text for candidate in talk.journal.candidates(first.id)] == [
        *("", "Good", "", "", "")
    ]
    assert [card.text for card in talk.session.cards] == TEXTS


def test_speaking_twice_before_any_answer_makes_one_message(start: Start) -> None:
    talk = start(manual=True)
    talk.session.say("hello")
    ask = talk.session.say("are you there?")
    assert ask.turns == said("hello\nare you there?")
    talk.teacher.finish()
    assert talk.session.pick(1) == "Hello there."
    assert ask.conversation is not None
    assert talk.journal.turns(ask.conversation) == said("hello\nare you there?", "Hello there.")


# ---------------------------------------------------------------- correcting


def test_a_correction_of_waiting_candidates_becomes_the_answer(start: Start) -> None:
    talk = start(manual=True)
    ask = talk.session.say("hello")
    talk.teacher.pump(1)
    assert talk.session.editable() == "Hell"
    assert talk.session.correct(" Hey, owner!\n") == "Hey, owner!"
    assert talk.session.turns == said("hello", "Hey, owner!")
    assert not talk.session.waiting
    assert talk.chosen == []
    lesson = talk.last_lesson()
    assert (lesson.kind, lesson.answer) == ("correction", "Hey, owner!")
    assert (lesson.rejected, lesson.replaces) == (("Hell", "Good", "Hi!", "Hm?"), "Hell")
    assert talk.journal.judgements(ask.id)[0].judgement == Correction(ask.id, "Hey, owner!", 1)
    assert talk.teacher.sent(Cancel) == [Cancel(ask.id)]
    assert talk.teacher.requests[-1] == Learn()
    assert talk.book == [("hello", "Hey, owner!")]


def test_finishing_a_half_written_answer_oneself_does_not_reject_its_beginning(
    start: Start,
) -> None:
    talk = start(manual=True)
    talk.session.say("hello")
    talk.teacher.pump(1)
    talk.session.correct("Hello, owner!")
    assert talk.last_lesson().rejected == ("Good", "Hi!", "Hm?")
    assert talk.last_lesson().replaces is None


def test_the_same_after_the_streams_were_stopped(start: Start) -> None:
    talk = start(manual=True)
    talk.session.say("hello")
    talk.teacher.pump(1)
    talk.session.stop()
    talk.session.correct("Hello, owner!")
    assert talk.last_lesson().rejected == ("Good", "Hi!", "Hm?")


def test_a_correction_can_begin_with_any_of_the_candidates(start: Start) -> None:
    talk = start()
    ask = talk.session.say("hello")
    assert talk.session.editable(3) == "Hi!"
    talk.session.correct("Hi, owner!", 3)
    assert talk.journal.judgements(ask.id)[0].judgement == Correction(ask.id, "Hi, owner!", 3)
    lesson = talk.last_lesson()
    assert lesson.replaces == "Hi!"
    assert lesson.rejected == ("Hi!", "Hello there.", "Good day.", "Hm?", "Hello you.")


def test_a_candidate_that_is_typed_once_more_is_not_rejected(start: Start) -> None:
    talk = start()
    talk.session.say("hello")
    talk.session.correct("Hm?", 3)
    lesson = talk.last_lesson()
    assert lesson.answer == "Hm?"
    assert lesson.rejected == ("Hi!", "Hello there.", "Good day.", "Hello you.")


def test_a_candidate_without_a_text_is_not_retyped(start: Start) -> None:
    talk = start(manual=True)
    ask = talk.session.say("hello")
    talk.teacher.pump(1, only=2)
    assert talk.session.editable(1) == "" and talk.session.editable() == "Good"
    talk.session.correct("Hey!", 1)
    assert talk.journal.judgements(ask.id)[0].judgement == Correction(ask.id, "Hey!", None)
    assert (talk.last_lesson().replaces, talk.last_lesson().rejected) == (None, ("Good",))


def test_a_correction_of_the_answer_replaces_it_in_talk_and_book(start: Start) -> None:
    talk = start()
    talk.session.say("hello")
    talk.session.pick(2)
    assert talk.session.editable() == "Good day."
    talk.session.correct("Good evening.")
    assert talk.session.turns == said("hello", "Good evening.")
    assert talk.last_lesson().replaces == "Good day."
    assert talk.lessons == [
        ("pick", "Good day.", "learned"),
        ("correction", "Good evening.", "learned"),
    ]
    assert talk.book == [("hello", "Good evening.")]
    talk.session.correct("Good night.")
    assert talk.last_lesson().replaces == "Good evening."
    assert talk.book == [("hello", "Good night.")]
    count = len(talk.teacher.requests)
    assert talk.session.correct("Good night.") == "Good night."  # nothing new
    assert len(talk.teacher.requests) == count


def test_a_correction_of_an_early_pick_takes_its_place(start: Start) -> None:
    talk = start(manual=True)
    talk.session.say("hello")
    talk.teacher.pump(2)
    talk.session.pick(1)
    talk.session.correct("Hey!")
    talk.teacher.finish()
    assert talk.lessons == [("correction", "Hey!", "learned")]
    assert talk.session.answer == "Hey!"
    assert talk.journal.judgements_without_lessons() == []


def test_a_candidate_can_be_picked_after_a_correction(start: Start) -> None:
    talk = start()
    talk.session.say("hello")
    talk.session.pick(2)
    talk.session.correct("Hey!")
    assert talk.session.pick(2) == "Good day."
    assert talk.session.turns == said("hello", "Good day.")
    assert talk.lessons[-1] == ("pick", "Good day.", "learned")
    assert [state for _, _, state in talk.lessons] == ["undone", "undone", "learned"]
    assert talk.book == [("hello", "Good day.")]


def test_a_correction_needs_a_text_and_something_to_correct(start: Start) -> None:
    talk = start()
    assert talk.session.editable() == ""
    with pytest.raises(VidyaError, match="nothing to correct yet"):
        talk.session.correct("Hey!")
    talk.session.say("hello")
    with pytest.raises(VidyaError, match="the correction is empty"):
        talk.session.correct("  ")
    assert talk.session.waiting


# ---------------------------------------------------------------- rating


def test_a_rating_is_given_changed_and_withdrawn(start: Start) -> None:
    talk = start()
    ask = talk.session.say("hello")
    talk.session.pick(2)
    talk.session.rate("good")
    assert talk.session.rating == "good"
    assert talk.lessons[-1] == ("rating", "Good day.", "learned")
    count = len(talk.teacher.requests)
    talk.session.rate("good")
    assert len(talk.teacher.requests) == count
    talk.session.rate("bad")
    assert str(talk.session.rating) == "bad"
    assert talk.lessons[1:] == [("rating", "Good day.", "undone"), ("rating", "", "learned")]
    assert talk.last_lesson().rejected == ("Good day.",)
    talk.session.rate(None)
    assert talk.session.rating is None
    assert [state for _, _, state in talk.lessons] == ["learned", "undone", "undone"]
    assert talk.journal.judgements(ask.id)[-1].judgement == Rating(ask.id, None)
    assert talk.session.answer == "Good day."


def test_what_is_rated_bad_leaves_the_book_until_it_no_longer_is(start: Start) -> None:
    talk = start()
    talk.session.say("hello")
    talk.session.pick(2)
    talk.session.rate("bad")
    assert talk.book == []
    talk.session.rate(None)
    assert talk.book == [("hello", "Good day.")]


def test_a_rating_is_of_the_text_it_was_given_to(start: Start) -> None:
    talk = start()
    talk.session.say("hello")
    talk.session.pick(2)
    talk.session.rate("bad")
    talk.session.correct("Hey!")
    assert talk.session.rating is None
    talk.session.rate("good")
    assert [lesson[:1] + lesson[2:] for lesson in talk.lessons] == [
        ("pick", "learned"),
        ("rating", "learned"),
        ("correction", "learned"),
        ("rating", "learned"),
    ]


def test_there_must_be_a_whole_answer_to_rate(start: Start) -> None:
    talk = start(manual=True)
    with pytest.raises(VidyaError, match="no answer to rate yet"):
        talk.session.rate("good")
    talk.session.say("hello")
    talk.teacher.pump(1)
    with pytest.raises(VidyaError, match="no answer to rate yet"):
        talk.session.rate("good")
    talk.session.pick(1)
    with pytest.raises(VidyaError, match="still being written"):
        talk.session.rate("good")
    talk.teacher.finish()
    talk.session.rate("good")
    assert talk.session.rating == "good"


def test_in_plain_chat_a_rating_takes_the_only_answer(start: Start) -> None:
    talk = start(candidates=1)
    talk.session.say("hello")
    talk.session.rate("good")
    assert talk.session.turns == said("hello", "Hello there.")
    assert talk.session.say("more").turns == said("hello", "Hello there.", "more")
    assert [rider.kind for rider in talk.journal.riders()] == ["owner_words", "owner_words"]


# ---------------------------------------------------------------- taking back


def test_undo_takes_a_pick_back_and_the_candidates_wait_again(start: Start) -> None:
    talk = start()
    talk.session.say("hello")
    talk.session.pick(2)
    lesson = talk.last_lesson()
    talk.session.undo()
    assert talk.teacher.requests[-1] == Undo(lesson.id)
    assert talk.session.waiting
    assert talk.session.turns == said("hello")
    assert talk.chosen == []
    assert talk.lessons == [("pick", "Good day.", "undone")]
    assert talk.book == []
    talk.session.pick(3)
    assert talk.book == [("hello", "Hi!")]


def test_undo_of_a_correction_brings_the_pick_back(start: Start) -> None:
    talk = start()
    talk.session.say("hello")
    talk.session.pick(2)
    talk.session.correct("Hey!")
    talk.session.undo()
    assert talk.session.answer == "Good day."
    assert talk.chosen == [2]
    assert talk.book == [("hello", "Good day.")]
    talk.session.undo()
    assert talk.session.waiting
    assert talk.book == []
    assert [state for _, _, state in talk.lessons] == ["undone", "undone"]


def test_undo_of_an_early_pick_takes_it_back_before_it_is_a_lesson(start: Start) -> None:
    talk = start(manual=True)
    ask = talk.session.say("hello")
    talk.teacher.pump(2)
    talk.session.pick(1)
    talk.session.undo()
    assert talk.teacher.requests[-1] == Cancel(ask.id)
    assert talk.session.waiting
    talk.teacher.finish()
    assert talk.lessons == []
    assert talk.journal.judgements_without_lessons() == []
    assert talk.teacher.sent(Undo) == []


def test_undo_reaches_back_beyond_this_conversation(start: Start) -> None:
    talk = start()
    talk.session.say("hello")
    talk.session.pick(2)
    talk.session.new()
    talk.session.say("bye")
    talk.session.undo()
    assert talk.lessons == [("pick", "Good day.", "undone")]
    assert talk.book == []
    assert talk.session.waiting


def test_two_undos_in_a_row_take_two_lessons_back(start: Start) -> None:
    talk = start()
    one, two = talk.journal.add_lessons(
        [Lesson("example", said("q"), text) for text in ("one", "two")]
    )
    talk.teacher.journal = None  # it has not come round to them yet
    talk.session.undo()
    talk.session.undo()
    talk.session.undo()
    assert talk.teacher.requests == [Undo(two.id), Undo(one.id), Undo(None)]


def test_an_undo_from_elsewhere_is_shown_too(start: Start) -> None:
    talk = start()
    talk.session.say("hello")
    talk.session.pick(2)
    lesson = talk.last_lesson()
    talk.journal.set_lesson_state(lesson.id, "undone")
    talk.session.handle(UndoDone(lesson.id, "taken back", 9))
    assert talk.session.waiting
    assert talk.book == []


def test_only_the_line_of_this_exchange_leaves_the_book(start: Start) -> None:
    talk = start()
    talk.book_path.write_text("<|user|> hello <|assistant|> Good day.\n", "utf-8")
    talk.session.say("hello")
    talk.session.pick(2)
    talk.session.pick(3)
    talk.session.undo()
    assert talk.book == [("hello", "Good day.")]


# ---------------------------------------------------------------- other conversations, asking anew


def test_a_new_conversation_begins_with_its_first_message(start: Start) -> None:
    talk = start(manual=True)
    first = talk.session.say("hello")
    talk.session.new()
    assert talk.teacher.sent(Cancel) == [Cancel(first.id)]
    assert (talk.session.turns, talk.session.cards, talk.session.ask) == ((), [], None)
    assert talk.session.conversation is None
    second = talk.session.say("bye")
    assert second.turns == said("bye")
    assert second.conversation != first.conversation
    assert [one.title for one in talk.journal.conversations()] == ["bye", "hello"]


def test_a_conversation_is_reopened_as_it_was_left(start: Start) -> None:
    talk = start()
    first = talk.session.say("hello")
    talk.session.pick(2)
    talk.session.rate("good")
    talk.session.say("more")
    talk.session.correct("Well.")
    left = talk.session.turns
    talk.session.new()
    talk.session.say("something else")
    talk.journal.close()

    talk = start()
    talk.session.open(first.conversation)
    assert talk.session.turns == left == said("hello", "Good day.", "more", "Well.")
    assert [card.text for card in talk.session.cards] == TEXTS
    assert talk.session.pick(3) == "Hi!"  # it can still be changed
    assert talk.session.turns == said("hello", "Good day.", "more", "Hi!")
    assert talk.book == [("hello", "Good day."), ("more", "Hi!")]
    assert talk.session.say("bye").turns == said("hello", "Good day.", "more", "Hi!", "bye")


def test_reopening_shows_the_rating_and_the_pick(start: Start) -> None:
    talk = start()
    ask = talk.session.say("hello")
    talk.session.pick(2)
    talk.session.rate("bad")
    talk.session.new()
    talk.session.open(ask.conversation)
    assert (talk.session.rating, talk.chosen, talk.session.answer) == ("bad", [2], "Good day.")
    with pytest.raises(NotFound):
        talk.session.open(99)
    assert talk.session.answer == "Good day."  # still here


def test_reopening_while_an_early_pick_is_written_shows_it_growing(start: Start) -> None:
    talk = start(manual=True)
    ask = talk.session.say("hello")
    talk.teacher.pump(2)
    talk.session.pick(1)
    talk.session.new()
    talk.session.open(ask.conversation)
    assert talk.session.answer == "Hello th"
    talk.teacher.finish()
    assert talk.session.answer == "Hello there."
    assert talk.lessons == [("pick", "Hello there.", "learned")]
    assert talk.book == [("hello", "Hello there.")]


def test_asking_anew_replaces_the_ask_and_keeps_the_rest(start: Start) -> None:
    talk = start(manual=True)
    with pytest.raises(VidyaError, match="nothing was asked yet"):
        talk.session.regenerate()
    first = talk.session.say("hello")
    talk.teacher.pump(1)
    second = talk.session.regenerate()
    assert talk.teacher.sent(Cancel) == [Cancel(first.id)]
    assert (second.turns, second.conversation) == (first.turns, first.conversation)
    assert [rider.kind for rider in talk.journal.riders()] == ["owner_words"]  # not twice
    talk.teacher.finish()
    talk.session.pick(2)
    talk.session.regenerate()
    assert talk.session.waiting
    assert talk.session.turns == said("hello")
    talk.teacher.finish()
    talk.session.pick(3)
    assert talk.book == [("hello", "Hi!")]  # one answer to one question
    assert talk.journal.turns(first.conversation) == said("hello", "Hi!")


def test_asking_anew_forgets_an_early_pick(start: Start) -> None:
    talk = start(manual=True)
    first = talk.session.say("hello")
    talk.teacher.pump(2)
    talk.session.pick(1)
    talk.session.regenerate()
    assert talk.teacher.sent(Cancel) == [Cancel(first.id)]
    talk.teacher.finish()
    assert talk.lessons == []
    assert talk.journal.judgements_without_lessons() == []
    assert talk.session.waiting


# ---------------------------------------------------------------- when things go wrong


def test_a_failed_ask_leaves_the_message_and_can_be_asked_again(start: Start) -> None:
    talk = start(manual=True)
    talk.session.say("hello")
    talk.teacher.fail()
    assert (talk.session.cards, talk.session.waiting) == ([], False)
    assert talk.session.turns == said("hello")
    talk.session.regenerate()
    talk.teacher.finish()
    assert talk.session.pick(1) == "Hello there."


def test_a_failure_in_the_middle_keeps_what_there_is(start: Start) -> None:
    talk = start(manual=True)
    talk.session.say("hello")
    talk.teacher.pump(2)
    talk.session.pick(1)
    talk.teacher.fail()
    assert talk.lessons == [("pick", "Hello th", "learned")]
    assert not talk.session.streaming


def test_streams_that_broke_off_with_the_teacher_begin_again(start: Start) -> None:
    talk = start(manual=True, candidates=3)
    ask = talk.session.say("hello")
    talk.teacher.pump(1)
    talk.teacher.die()
    assert not talk.session.streaming
    assert talk.session.cards[0].text == "Hell"  # still there, and could be picked
    talk.session.recover()
    assert talk.teacher.sent(Generate) == [
        Generate(ask.id, said("hello"), 3, Sampling(), None),
        Generate(ask.id, said("hello"), 3, Sampling(), None),
    ]
    talk.teacher.finish()
    assert [card.text for card in talk.session.cards] == TEXTS[:3]
    talk.session.recover()
    assert len(talk.teacher.sent(Generate)) == 2


def test_what_was_picked_when_the_teacher_died_is_learned(start: Start) -> None:
    talk = start(manual=True)
    talk.session.say("hello")
    talk.teacher.pump(2)
    talk.session.pick(1)
    talk.teacher.die()
    talk.session.recover()
    assert talk.lessons == [("pick", "Hello th", "learned")]
    assert talk.session.turns == said("hello", "Hello th")
    assert len(talk.teacher.sent(Generate)) == 1


def test_what_is_still_being_written_is_left_alone(start: Start) -> None:
    talk = start(manual=True)
    talk.session.say("hello")
    talk.teacher.pump(2)
    talk.session.pick(1)
    talk.session.recover()
    assert talk.lessons == []
    talk.teacher.finish()
    assert talk.lessons == [("pick", "Hello there.", "learned")]


def test_whole_candidates_are_not_asked_for_again(start: Start) -> None:
    talk = start()
    talk.session.say("hello")
    talk.teacher.die()
    talk.session.recover()
    assert len(talk.teacher.sent(Generate)) == 1
    assert talk.session.pick(1) == "Hello there."


def test_after_a_crash_the_next_start_finishes_what_was_begun(start: Start) -> None:
    talk = start(manual=True)
    ask = talk.session.say("hello")
    talk.teacher.pump(2)
    talk.session.pick(1)
    talk.journal.close()  # the program is gone: no more events

    talk = start(manual=True)
    talk.session.recover()
    assert talk.lessons == [("pick", "Hello th", "learned")]
    assert talk.last_lesson().rejected == ("Good day", "Hi!", "Hm?", "Hello yo")
    assert talk.book == [("hello", "Hello th")]
    assert talk.teacher.requests == [Learn()]
    talk.session.open(ask.conversation)
    assert talk.session.turns == said("hello", "Hello th")


def test_after_a_crash_while_nothing_was_picked_the_ask_is_answered(start: Start) -> None:
    talk = start(manual=True)
    ask = talk.session.say("hello")
    talk.journal.close()

    talk = start(manual=True, candidates=2)
    talk.session.open(ask.conversation)
    assert talk.session.turns == said("hello")
    assert not talk.session.waiting
    talk.session.recover()
    assert talk.teacher.requests == [Generate(ask.id, said("hello"), 2, Sampling(), None)]
    talk.teacher.finish()
    assert talk.session.pick(2) == "Good day."


def test_after_a_crash_what_was_taken_back_still_leaves_the_weights(start: Start) -> None:
    talk = start()
    talk.session.say("hello")
    talk.session.pick(2)
    lesson = talk.last_lesson()
    talk.teacher.journal = None  # the teacher dies before it can do it
    talk.session.undo()
    talk.journal.close()

    talk = start()
    talk.session.recover()
    assert talk.teacher.requests == [Undo(lesson.id)]
    assert talk.lessons == [("pick", "Good day.", "undone")]


def test_lessons_that_wait_are_told_to_a_new_teacher(start: Start) -> None:
    talk = start()
    talk.session.recover()
    assert talk.teacher.requests == []
    ask = talk.journal.add_ask(talk.journal.new_conversation(), said("q"), Sampling())
    typed = learn_from_correction(ask, "a", None)
    talk.journal.judge(Correction(ask.id, "a"), "a", [typed])
    talk.session.recover()
    assert talk.teacher.requests == [Learn()]


def test_a_journal_that_cannot_be_written_changes_nothing_on_the_screen(start: Start) -> None:
    talk = start()
    talk.session.say("hello")
    with talk.journal.reading() as connection:
        connection.execute("PRAGMA query_only = ON")
    before = (talk.session.turns, talk.session.ask, list(talk.teacher.requests))
    for act in (
        lambda: talk.session.pick(1),
        lambda: talk.session.correct("Hey!"),
        lambda: talk.session.say("more"),
        lambda: talk.session.regenerate(),
    ):
        with pytest.raises(JournalError):
            act()
    assert (talk.session.turns, talk.session.ask, talk.teacher.requests) == before
    assert talk.session.waiting
    assert talk.book == []


def test_a_book_that_cannot_be_written_does_not_keep_a_lesson_from_being_learned(
    start: Start,
) -> None:
    talk = start()
    talk.session.say("hello")
    talk.book_path.mkdir()
    with pytest.raises(DataError, match="cannot be written"):
        talk.session.pick(2)
    assert talk.session.answer == "Good day."
    assert talk.lessons == [("pick", "Good day.", "learned")]


def test_events_of_a_forgotten_ask_pass(start: Start) -> None:
    talk = start(manual=True)
    ask = talk.session.say("hello")
    talk.teacher.pump(2)
    talk.session.pick(1)
    talk.session.new()
    talk.journal.forget(ask=ask.id)
    talk.teacher.finish()
    assert talk.lessons == []
    assert talk.book == []


def test_text_with_half_characters_and_markers_is_only_text(start: Start) -> None:
    talk = start()
    ask = talk.session.say("what is <|assistant|> \ud800?")
    assert ask.turns == said("what is <|assistant|> ??")
    talk.session.correct("A <|user|> marker.")
    assert talk.journal.answer(ask.id) == "A <|user|> marker."
    assert not talk.book_path.exists()  # a book cannot hold it


# ---------------------------------------------------------------- branches


def test_an_earlier_message_is_asked_in_other_words_and_nothing_is_lost(start: Start) -> None:
    talk = start()
    first = talk.session.say("hello")
    talk.session.pick(2)
    talk.session.say("more")
    talk.session.pick(1)
    assert talk.session.variants(0) == talk.session.variants(2) == (1, 1)
    edited = talk.session.edit(0, " goodbye ")
    assert (edited.turns, edited.parent) == (said("goodbye"), None)
    assert talk.session.waiting and talk.session.turns == said("goodbye")
    assert talk.session.variants(0) == (2, 2)
    talk.session.pick(3)
    talk.session.say("on")
    talk.session.turn_to(0, -1)
    assert talk.session.turns == said("hello", "Good day.", "more", "Hello there.")
    assert talk.session.variants(0) == (1, 2)
    talk.session.turn_to(0, 1)
    assert talk.session.turns == said("goodbye", "Hi!", "on")
    assert [card.text for card in talk.session.cards] == TEXTS
    with pytest.raises(VidyaError, match="2 variants"):
        talk.session.turn_to(0, 1)
    with pytest.raises(VidyaError, match="only one variant"):
        talk.session.turn_to(2, 1)
    for nowhere in (1, 3, -1):
        with pytest.raises(VidyaError, match="no message of yours"):
            talk.session.edit(nowhere, "x")
    with pytest.raises(VidyaError, match="nothing was typed"):
        talk.session.edit(0, " ")
    assert talk.book == [("hello", "Good day."), ("more", "Hello there."), ("goodbye", "Hi!")]
    assert first.conversation == talk.session.conversation


def test_the_talk_goes_on_from_the_branch_that_is_shown(start: Start) -> None:
    talk = start()
    first = talk.session.say("hello")
    talk.session.pick(2)
    talk.session.say("one")
    talk.session.edit(2, "two")
    talk.session.pick(1)
    talk.session.turn_to(2, -1)
    third = talk.session.say("three")  # the first answer to "one" is taken, unjudged
    assert third.turns == said("hello", "Good day.", "one", "Hello there.", "three")
    talk.journal.close()
    talk = start()
    talk.session.open(first.conversation)  # where it was last spoken
    assert talk.session.turns == third.turns
    assert talk.session.variants(2) == (1, 2)


def test_other_candidates_are_a_branch_too(start: Start) -> None:
    talk = start()
    talk.session.say("hello")
    talk.teacher.texts = ["ay", "bee"]
    talk.session.regenerate()
    assert talk.session.variants(0) == (2, 2)
    talk.session.turn_to(0, -1)
    assert [card.text for card in talk.session.cards] == TEXTS and talk.session.waiting


def test_editing_while_an_early_pick_is_written_keeps_the_pick(start: Start) -> None:
    talk = start(manual=True)
    talk.session.say("hello")
    talk.teacher.pump(2)
    talk.session.pick(1)
    talk.session.edit(0, "hello!")
    assert talk.teacher.sent(Cancel) == []
    talk.teacher.finish()
    assert talk.lessons == [("pick", "Hello there.", "learned")]
    talk.session.turn_to(0, -1)
    assert talk.session.answer == "Hello there."


def test_editing_stops_what_is_being_written(start: Start) -> None:
    talk = start(manual=True)
    first = talk.session.say("hello")
    talk.teacher.pump(1)
    talk.session.edit(0, "hey")
    assert talk.teacher.sent(Cancel) == [Cancel(first.id)]
    talk.session.new()
    with pytest.raises(VidyaError, match="no message of yours"):
        talk.session.edit(0, "x")


def test_a_message_said_twice_goes_on_from_the_same_place(start: Start) -> None:
    talk = start(manual=True)
    talk.session.say("hello")
    both = talk.session.say("are you there?")
    assert both.turns == said("hello\nare you there?") and both.parent is None
    talk.teacher.finish()
    talk.session.pick(1)
    assert talk.session.say("more").parent == both.id


# ---------------------------------------------------------------- privacy


def test_candidates_that_were_not_chosen_need_not_be_kept(tmp_path: Path) -> None:
    talk = Talk(tmp_path)
    talk.session.keep_unchosen = False
    first = talk.session.say("hello").id
    talk.session.pick(2)
    assert len(talk.journal.candidates(first)) == 5, "they can still be picked"
    second = talk.session.say("and then?").id
    (kept,) = talk.journal.candidates(first)
    assert kept.text == "Good day." and talk.journal.answer(first) == "Good day."
    (lesson,) = talk.journal.lessons(kinds=["pick"])
    assert lesson.answer == "Good day." and lesson.rejected == ()
    assert len(talk.journal.candidates(second)) == 5
    talk.session.new()
    assert talk.journal.candidates(second) == []


def test_a_correction_keeps_only_what_it_replaced(tmp_path: Path) -> None:
    talk = Talk(tmp_path)
    talk.session.keep_unchosen = False
    talk.session.say("hello")
    talk.session.correct('Say "h\u00e9"!', 2)
    assert len(talk.last_lesson().rejected) == 5
    talk.session.new()
    (lesson,) = talk.journal.lessons(kinds=["correction"])
    assert lesson.rejected == ("Good day.",) == (lesson.replaces,)


def test_a_lesson_that_waits_keeps_what_it_needs(tmp_path: Path) -> None:
    talk = Talk(tmp_path)
    talk.teacher.journal = None  # nothing is learned
    talk.session.keep_unchosen = False
    talk.session.say("hello")
    talk.session.pick(2)
    talk.session.new()
    (lesson,) = talk.journal.lessons(kinds=["pick"])
    assert lesson.state == "waiting" and len(lesson.rejected) == 4


def test_the_owners_words_need_not_be_learned(tmp_path: Path) -> None:
    talk = Talk(tmp_path)
    talk.session.owner_words = False
    talk.session.say("hello")
    talk.session.pick(1)
    assert [item.kind for item in talk.journal.lessons()] == ["pick"]
