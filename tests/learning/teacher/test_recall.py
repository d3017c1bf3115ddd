"""A lesson is recalled for the owner's question, and for nothing else."""

from __future__ import annotations

import queue
import threading
from typing import Any

import pytest

from engine.config import Sampling
from engine.encoder import SentenceEncoder
from engine.errors import CheckpointError
from learning.journal.journal import Journal
from learning.lessons.learner import Learner
from learning.memory import lesson_vectors
from learning.protocol.events import AskDone, CandidateDone, Event, Failed
from learning.protocol.messages import TeacherPort
from learning.protocol.records import Lesson, LessonKind, Turn
from learning.protocol.requests import Generate
from learning.teacher import generation, lesson_index
from learning.teacher import recall as module
from learning.teacher.answer_check import AnswerCheck
from learning.teacher.generation import with_recalled
from learning.teacher.recall import READ_OUT, LessonRecall, Recalled
from learning.teacher.teacher import open_teacher
from learning.text.context import in_context
from learning.text.normalise import fold
from tests.learning.teacher.conftest import Place
from vidya_tui.session.session import Session

ASKED = "my dog is called what?"
DOG, SISTER = "What is my dog called?", "Where does my sister live?"


def lesson(question: str, answer: str, kind: LessonKind = "example") -> Lesson:
    return Lesson(kind, (Turn("user", question),), answer)


DOG_LESSON = lesson(DOG, "Your dog is called Bruno.")
SISTER_LESSON = lesson(SISTER, "Your sister lives in Tromso.")


def teach(journal: Journal, *lessons: Lesson, learned: bool = False) -> list[Lesson]:
    added = journal.add_lessons(lessons)
    if learned:
        for one in added:
            journal.set_lesson_state(one.id, "learned")
    return added


def test_a_question_in_other_words_finds_its_lesson(
    tiny_place: Place, recall: LessonRecall
) -> None:
    dog, sister = teach(tiny_place[2], DOG_LESSON, SISTER_LESSON, learned=True)
    asks = (ASKED, dog), ("where my sister lives", sister), ("the dog, what is it called?", dog)
    for asked, wanted in asks:
        found = recall.find(asked)
        assert found is not None and found.lesson.id == wanted.id, asked
        assert 0.7 <= found.likely <= 1.0
    assert recall.find("How is the weather?") is None, "the book has this question"


def test_a_lesson_is_not_recalled_for_somebody_or_something_else(
    tiny_place: Place, recall: LessonRecall
) -> None:
    teach(tiny_place[2], DOG_LESSON, learned=True)
    assert recall.find(ASKED) is not None
    for other in (
        *("Tom's dog is called what?", "my cat is called what?", "How old is my dog?"),
        *("My dog is called Rex now.", "Where does the sister of tom live?"),
    ):
        assert recall.find(other) is None and not recall.evidence(other), other


def test_where_finding_out_would_take_long_only_the_very_question_is_recalled(
    tiny_place: Place, recall: LessonRecall, monkeypatch: pytest.MonkeyPatch
) -> None:
    (dog,) = teach(tiny_place[2], DOG_LESSON)
    monkeypatch.setattr(module, "MOST_AT_ONCE", 0)
    assert recall.find(ASKED) is None
    assert recall.find(DOG) == Recalled(dog, 1.0)
    monkeypatch.setattr(module, "MOST_AT_ONCE", 1)
    found = recall.find(ASKED)
    assert found is not None and found.lesson == dog, "the book's lines do not count"


def test_a_patient_answer_waits_until_all_lessons_can_be_recalled(
    tiny_place: Place, learner: Learner, monkeypatch: pytest.MonkeyPatch
) -> None:
    dog, _ = teach(tiny_place[2], DOG_LESSON, SISTER_LESSON)
    monkeypatch.setattr(module, "MOST_AT_ONCE", 1)
    told = list[int]()
    recall = LessonRecall(learner, tiny_place[2], told.append)
    for _ in range(2):
        found = recall.find(ASKED)
        assert found is not None and found.lesson == dog
        assert told == [2], "they are made once"
    monkeypatch.setattr(module, "MOST_AT_ONCE", -1)
    told.clear()
    recall = LessonRecall(learner, tiny_place[2], told.append)
    assert recall.find("Good morning!") is None and not told, "nothing is asked"
    waiting = recall.find(DOG)
    assert waiting and waiting.lesson == dog and not told, "it is found without"
    recall.close()
    assert recall.find(ASKED) is None and told, "the program ends"


def test_what_the_weights_have_learned_in_just_these_words_is_left_to_them(
    tiny_place: Place, recall: LessonRecall
) -> None:
    (dog,) = teach(tiny_place[2], DOG_LESSON)
    assert recall.find("what is my dog called") == Recalled(dog, 1.0), "it waits to be learned"
    tiny_place[2].set_lesson_state(dog.id, "learned")
    assert recall.find("what is my dog called") is None


def test_what_was_taken_back_is_not_recalled(tiny_place: Place, recall: LessonRecall) -> None:
    journal = tiny_place[2]
    dog, sister = teach(journal, DOG_LESSON, SISTER_LESSON, learned=True)
    assert recall.find(ASKED) is not None
    journal.retract(dog.id)
    found = recall.find(ASKED)
    assert found is None or found.lesson.id == sister.id
    journal.set_lesson_state(sister.id, "undone")
    assert recall.find("where my sister lives") is None


def test_what_pauses_does_not_keep_an_answer_waiting(
    tiny_place: Place, recall: LessonRecall
) -> None:
    teach(tiny_place[2], DOG_LESSON, learned=True)
    found: list[Recalled | None] = []

    def pause() -> None:
        if not found:  # another thread answers meanwhile
            thread = threading.Thread(target=lambda: found.append(recall.find(ASKED)), daemon=True)
            thread.start()
            thread.join(timeout=60)
            assert not thread.is_alive()

    recall.prepare(pause)
    assert found[0] is not None


def test_the_recalled_lesson_stands_before_the_conversation() -> None:
    talk = (Turn("user", "hi"), Turn("assistant", "Hello."), Turn("user", "my dog's name?"))
    recalled = Recalled(DOG_LESSON, 0.9)
    assert with_recalled(talk, recalled) == (
        Turn("user", DOG),
        Turn("assistant", DOG_LESSON.answer),
        *talk,
    )
    assert with_recalled(talk, None) == talk
    assert with_recalled(talk, recalled, reads=True) == (
        *talk[:-1],
        Turn("user", in_context(DOG, DOG_LESSON.answer, "my dog's name?")),
    )
    said = (Turn("user", DOG), Turn("assistant", DOG_LESSON.answer), talk[-1])
    for reads in (False, True):
        assert with_recalled(said, recalled, reads) == said, "the conversation has it"


# ------------------------------------------------------------ the whole way


class Talk:
    """A teacher and the events that it sends."""

    def __init__(self, place: Place) -> None:
        home, _, self.journal = place
        self.events: queue.Queue[Event] = queue.Queue()
        self.teacher: TeacherPort = open_teacher(
            home, model="tiny", on_event=self.events.put, journal=self.journal, seed=0
        )

    def done(self, session: Session | None = None) -> list[CandidateDone]:
        """The candidates of the ask that is under way."""
        found = []
        while True:
            event = self.events.get(timeout=120)
            assert not isinstance(event, Failed), event
            if session:
                session.handle(event)
            if isinstance(event, CandidateDone):
                found.append(event)
            if isinstance(event, AskDone):
                return found


@pytest.mark.slow
def test_a_lesson_that_waits_answers_at_once_and_the_card_says_so(tiny_place: Place) -> None:
    (dog,) = teach(tiny_place[2], DOG_LESSON)
    talk = Talk(tiny_place)
    try:
        for ask, n in enumerate((5, 1)):
            request = Generate(
                ask, DOG_LESSON.prompt, n, Sampling(max_tokens=40), 0, recall=True, offers=True
            )
            talk.teacher.send(request)
            done = talk.done()
            assert {event.recalled for event in done} == {dog.id}
            assert not any(event.candidate.offered for event in done), (
                "what is recalled is not offered too"
            )
            (taught,) = [e.candidate for e in done if e.candidate.text == DOG_LESSON.answer]
            assert taught.certainty == 1.0
    finally:
        talk.teacher.close()


@pytest.mark.slow
def test_what_the_owner_has_just_said_otherwise_is_not_recalled(tiny_place: Place) -> None:
    (sister,) = teach(tiny_place[2], SISTER_LESSON)
    asked = SISTER_LESSON.prompt[0]
    talk = Talk(tiny_place)
    try:
        for ask, (said, recalled) in enumerate(
            (("It is raining.", {sister.id}), ("My sister moved to Oslo.", {None}))
        ):
            turns = (Turn("user", said), Turn("assistant", "Oh."), asked)
            talk.teacher.send(Generate(ask, turns, 2, Sampling(max_tokens=8), 0, recall=True))
            assert {event.recalled for event in talk.done()} == recalled, said
    finally:
        talk.teacher.close()


def test_an_ask_knows_how_near_it_is_to_what_was_taught(
    tiny_place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    teach(tiny_place[2], DOG_LESSON, learned=True)
    checks = list[AnswerCheck]()

    def kept(*given: Any, **named: Any) -> AnswerCheck:
        checks.append(AnswerCheck(*given, **named))
        return checks[-1]

    monkeypatch.setattr(generation, "AnswerCheck", kept)
    talk = Talk(tiny_place)
    try:
        asked = (Turn("user", "How heavy is my dog?"),)
        talk.teacher.send(Generate(0, asked, 2, Sampling(max_tokens=4), 0))
        talk.done()
        ((answer, cosine),) = checks[0].near().items()
        assert answer == fold(DOG_LESSON.answer) and -1.0 <= cosine < 1.0
    finally:
        talk.teacher.close()


def test_without_the_wish_the_weights_answer_alone(tiny_place: Place) -> None:
    teach(tiny_place[2], DOG_LESSON)
    assert not Generate(0, DOG_LESSON.prompt, 1, Sampling()).recall
    talk = Talk(tiny_place)
    try:
        assert not Session(tiny_place[2], talk.teacher).recall
        talk.teacher.send(Generate(0, DOG_LESSON.prompt, 5, Sampling(max_tokens=40), 0))
        done = talk.done()
        assert [event.recalled for event in done] == [None] * 5
        assert DOG_LESSON.answer not in [event.candidate.text for event in done]
    finally:
        talk.teacher.close()


def test_a_lesson_that_may_be_meant_is_offered_and_never_the_surest(
    tiny_place: Place, recall: LessonRecall, monkeypatch: pytest.MonkeyPatch
) -> None:
    (dog,) = teach(tiny_place[2], DOG_LESSON)
    monkeypatch.setattr(module, "AT_ONCE", 1_000)  # nothing is ready
    talk = Talk(tiny_place)
    try:
        session = Session(tiny_place[2], talk.teacher, sampling=Sampling(max_tokens=40), seed=0)
        assert not session.offers
        session.offers = True
        session.say(ASKED)
        done = talk.done(session)
        (offered,) = [event for event in done if event.candidate.offered]
        assert (offered.candidate.text, offered.recalled) == (DOG_LESSON.answer, dog.id)
        assert [event.recalled for event in done].count(None) == 4, "the others are the model's own"
        assert session.cards[-1].said == DOG_LESSON.answer
        assert "offered from lesson 1" in session.cards[-1].facts()
        assert "sure" not in session.cards[-1].facts()
    finally:
        talk.teacher.close()


def test_a_question_for_a_yes_or_no_gets_one_from_the_lesson_that_says_so(
    tiny_place: Place, recall: LessonRecall
) -> None:
    journal = tiny_place[2]
    dog, sister = teach(journal, DOG_LESSON, SISTER_LESSON, learned=True)
    for asked, wanted, said in (
        ("Is my dog called Bruno?", dog, "Yes, your dog is called Bruno."),
        ("is my dog called Hasso", dog, "No, your dog is called Bruno."),
        ("Does my sister live in Oslo?", sister, "I only know this: your sister lives in Tromso."),
    ):
        for found in (recall.find(asked), recall.offer(asked)):
            assert found and (found.lesson.id, found.likely) == (wanted.id, READ_OUT)
            assert found.said == found.answer == said
    for other in ("Is my dog ill?", "Is my cat called Bruno?", "Is Tom's dog called Bruno?"):
        found = recall.find(other)
        assert found is None or not found.said, other
    (old,) = teach(journal, lesson("Is my dog old?", "He is ten."), learned=True)
    found = recall.find("Is my dog very old?")
    assert found is None or (found.lesson.id == old.id and not found.said), "it is such an answer"


def test_without_a_readable_encoder_answers_go_on(
    tiny_place: Place, recall: LessonRecall, monkeypatch: pytest.MonkeyPatch
) -> None:
    def damaged() -> SentenceEncoder:
        raise CheckpointError("encoder.safetensors: is cut short", "install vidya again")

    monkeypatch.setattr(module, "AT_ONCE", 1_000)
    teach(tiny_place[2], DOG_LESSON, learned=True)
    for users in ((lesson_vectors, lesson_index, module), (module,)):
        with monkeypatch.context() as patch:
            for user in users:
                patch.setattr(user, "shipped_encoder", damaged)
            assert recall.offer(ASKED) is None and recall.answers_near(ASKED) == {}
            assert recall.find(ASKED) is None and recall.find(DOG) is None
        recall.prepare()  # from here on nothing but the message is missing


@pytest.mark.slow
def test_what_is_learned_from_a_recalled_answer_has_the_prompt_that_the_owner_saw(
    tiny_place: Place,
) -> None:
    journal = tiny_place[2]
    teach(journal, DOG_LESSON)
    talk = Talk(tiny_place)
    try:
        session = Session(journal, talk.teacher, sampling=Sampling(max_tokens=40), seed=0)
        session.recall = True
        session.say("What is my dog called")
        talk.done(session)
        (card,) = [card for card in session.cards if card.said == DOG_LESSON.answer]
        assert "recalled from lesson 1" in card.facts()
        session.pick(card.index)
        picked = journal.lessons()[-1]
        assert (picked.kind, picked.prompt) == ("pick", (Turn("user", "What is my dog called"),))
        assert picked.answer == DOG_LESSON.answer
    finally:
        talk.teacher.close()
