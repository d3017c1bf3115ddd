"""Whether a lesson was understood: its question in words that no step has seen."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

import learning.lessons.consolidate
import learning.lessons.learner
import learning.lessons.recipe
import learning.lessons.understanding
import learning.memory.build
from engine.rollout import Rollout
from learning.book_training.resume import Stopped
from learning.data.examples import Example
from learning.journal.lesson_list import understandings
from learning.lessons.learner import Learner
from learning.lessons.recipe import TeachResult
from learning.lessons.understanding import WAYS, all_others, understanding
from learning.objectives.forward import knowledge
from learning.objectives.supervised import row_gradients
from learning.protocol.events import LearnerState, Understood
from learning.protocol.records import Lesson, Turn, Understanding
from learning.teacher.scheduling import Scheduler
from learning.text.normalise import fold
from learning.text.paraphrases import unseen_wordings
from tests.learning.conftest import Place
from tests.short_lessons import LEARNED

QUESTION = "What is my dog called?"


@pytest.fixture
def learner(tiny_place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Learner:
    book = tmp_path / "shipped.txt"
    book.write_text("<|user|> hello <|assistant|> Hello, I am well.\n")
    monkeypatch.setattr(learning.memory.book_rows, "shipped_book_path", lambda: book)
    home, folder, journal = tiny_place
    return Learner(home, folder, journal, seed=0, settings=LEARNED)


def kept(learner: Learner) -> list[Understanding]:
    """As the journal has it of all lessons."""
    measured = understandings(learner.journal, [lesson.id for lesson in learner.journal.lessons()])
    return [found for found, _ in measured.values()]


def teach(learner: Learner, question: str, answer: str) -> Any:
    (lesson,) = learner.journal.add_lessons([Lesson("example", (Turn("user", question),), answer)])
    return learner.learn(lesson)


@pytest.mark.slow
def test_a_lesson_is_asked_in_ways_that_no_step_has_seen(
    learner: Learner, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained: set[str] = set()
    told: list[LearnerState | Understood] = []

    def gradients(model: Any, examples: list[Example], *rest: Any, **options: Any) -> float:
        trained.update(example.question for example in examples)
        return row_gradients(model, examples, *rest, **options)

    monkeypatch.setattr(learning.lessons.recipe, "row_gradients", gradients)
    monkeypatch.setattr(learner._pauses, "_tell", told.append)
    # after the lesson five to nine of some forty wordings are unknown, as the machine rounds: rehearse them
    monkeypatch.setattr(learning.lessons.consolidate, "ENOUGH", 0.0)
    report = teach(learner, QUESTION, "Your dog is called Bo.")
    assert report.known_after
    assert report.understanding.ways_asked == WAYS
    assert 0 <= report.understanding.ways_known <= WAYS
    for _ in range(100):
        if not learner.catch_up():
            break
    assert len(trained) > 10
    assert not {fold(text) for text in trained} & {fold(t) for t in unseen_wordings(QUESTION)}
    (told_at_the_end,) = [event for event in told if isinstance(event, Understood)]
    example, found = learner.replay.taught[-1], told_at_the_end.understanding
    assert understanding(learner.transaction, example, all_others(example)) == found
    assert found.neighbours_asked == 3
    assert kept(learner) == [found], "and the journal has it"


def test_what_makes_no_sense_alone_is_not_asked(learner: Learner) -> None:
    report = teach(learner, "Why?", "Because.")
    assert report.understanding == Understanding()
    assert kept(learner) == []


TOMS, MY_CAT, PETERS = (
    *("What is Tom's dog called?", "What is my cat called?"),
    "What is Peter's dog called?",
)


@pytest.fixture
def say(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What is answered to other questions: nothing known, until a test says something else."""
    said = dict[str, str]()

    def answers(_: Any, __: Any, asked: list[str], *___: Any, **____: Any) -> list[Any]:
        return [[(said.get(question, "I do not know."), None)] for question in asked]

    monkeypatch.setattr(learning.lessons.understanding, "message_answers", answers)
    return said


def taught_first(learner: Learner, monkeypatch: pytest.MonkeyPatch, then: Any) -> Any:
    """Teaches the dog's name, and calls `then` when the steps are taken."""
    steps = learner.transaction.teach

    def teach_and(*rest: Any, **options: Any) -> Any:
        result = steps(*rest, **options)
        then()
        return result

    monkeypatch.setattr(learner.transaction, "teach", teach_and)
    return teach(learner, QUESTION, "Your dog is called Bo.")


@pytest.mark.slow
def test_other_questions_that_get_the_answer_are_counted(
    learner: Learner, monkeypatch: pytest.MonkeyPatch, say: dict[str, str]
) -> None:
    say[PETERS] = "Bo and Bo."  # before the lesson too
    say[MY_CAT] = "Your cat is called Bob."

    def leak() -> None:
        say[TOMS] = "Tom's dog is called Bo."

    report = taught_first(learner, monkeypatch, leak)
    assert report.known_after
    found = report.understanding
    assert (found.neighbours_leaked, found.neighbours_asked) == (1, 2) and kept(learner) == [found]


@pytest.mark.slow
def test_other_questions_with_answers_of_their_own_are_not_asked(
    learner: Learner, monkeypatch: pytest.MonkeyPatch, say: dict[str, str]
) -> None:
    assert teach(learner, MY_CAT, "Your cat is called Bo.").known_after
    assert not say
    say[MY_CAT] = "Your cat is called Bo."
    report = teach(learner, QUESTION, "Your dog is called Bo.")
    found = report.understanding
    assert (found.neighbours_leaked, found.neighbours_asked) == (0, 2)


@pytest.mark.slow
def test_of_a_lesson_that_is_taught_again_all_other_questions_are_asked(
    learner: Learner, monkeypatch: pytest.MonkeyPatch, say: dict[str, str]
) -> None:
    def leak() -> None:
        say[TOMS] = say[MY_CAT] = "Bo."

    assert taught_first(learner, monkeypatch, leak).understanding.neighbours_leaked == 2
    learner.journal.set_lesson_state(1, "waiting")
    report = learner.learn(learner.journal.lesson(1))
    found = report.understanding
    assert (found.neighbours_leaked, found.neighbours_asked) == (2, 3)


@pytest.mark.slow
def test_a_lesson_that_is_not_learned_any_more_is_not_measured(
    learner: Learner, monkeypatch: pytest.MonkeyPatch, say: dict[str, str]
) -> None:
    assert teach(learner, QUESTION, "Your dog is called Bo.").understanding.ways_asked
    learner.journal.set_lesson_state(1, "waiting")
    result = TeachResult(1, 1.0, False, 32)
    monkeypatch.setattr(learner.transaction, "teach", lambda *_, **__: result)
    report = learner.learn(learner.journal.lesson(1))
    assert report.understanding == Understanding() and kept(learner) == []


def test_a_message_does_not_wait_for_the_measuring(
    learner: Learner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While an answer streams, which begins with the measuring here, no wording is read and no token drawn;
    then it goes on to the end."""
    scheduler, begun, over = Scheduler(), threading.Event(), threading.Event()
    done = {"while answering": 0, "later": 0}
    own_measure = learning.lessons.learner.measure

    def answer() -> None:
        with scheduler.answering():
            begun.set()
            over.wait(0.5)

    def measure(*given: Any) -> Understanding:
        streaming.start()
        begun.wait()
        return own_measure(*given)

    def counted(work: Any) -> Any:
        def count(*given: Any, **options: Any) -> Any:
            found = work(*given, **options)
            if begun.is_set():
                done["while answering" if streaming.is_alive() else "later"] += 1
            return found

        return count

    streaming = threading.Thread(target=answer)
    monkeypatch.setattr(learning.lessons.learner, "measure", measure)
    monkeypatch.setattr(learning.lessons.understanding, "knowledge", counted(knowledge))
    monkeypatch.setattr(Rollout, "_draw", counted(Rollout._draw))
    monkeypatch.setattr(learner.transaction, "pause", scheduler.give_way)
    known = TeachResult(1, 1.0, True, 32)
    monkeypatch.setattr(learner.transaction, "teach", lambda *_, **__: known)
    report = teach(learner, QUESTION, "Your dog is called Bo.")
    over.set()
    streaming.join()
    assert done["while answering"] == 0 and done["later"] > 2
    found = report.understanding
    assert found.ways_asked == WAYS and kept(learner) == [found]


def test_closing_ends_the_measuring_and_leaves_the_lesson_learned(
    learner: Learner, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop() -> None:
        if learner.journal.lesson(1).state == "learned":
            raise Stopped

    known = TeachResult(1, 1.0, True, 32)
    monkeypatch.setattr(learner.transaction, "teach", lambda *_, **__: known)
    monkeypatch.setattr(learner.transaction, "pause", stop)
    with pytest.raises(Stopped):
        teach(learner, QUESTION, "Your dog is called Bo.")
    assert learner.journal.lesson(1).state == "learned"
    assert 1 in learner.journal.lessons_in(learner.version)
