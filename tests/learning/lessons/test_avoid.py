"""learning.lessons.avoid: a rejected answer does not return with another beginning or after later lessons."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

import learning.lessons.avoid
import learning.memory.tasks
from learning.data.examples import Example, from_answer
from learning.journal.journal import Journal
from learning.lessons.avoid import TIMES, alike, said_now, teach_or_avoid
from learning.lessons.learner import Learner
from learning.lessons.recipe import AVOIDED_BY, HELD_WITHIN, Before, TeachResult, goal_reached
from learning.memory.tasks import LessonTask, to_task
from learning.objectives.forward import knowledge
from learning.protocol.records import Lesson, Turn
from learning.text.blame import from_words
from tests.learning.conftest import Place
from tests.learning.lessons.test_learner import (  # noqa: F401
    lesson,
    open_learner,
    place,
    read_book,
)

QUESTION = "Who are you?"


def answered(learner: Learner, answer: str) -> Example:
    context = learner.weights.model.config.context
    return from_answer(learner.tokenizer, [("user", QUESTION)], answer, context)


def bad(answer: str) -> Lesson:
    return Lesson("rating", (Turn("user", QUESTION),), "", rejected=(answer,), weight=0.5)


def said(learner: Learner) -> str:
    example = said_now(learner.weights.model, learner.tokenizer, answered(learner, "."))
    return learner.tokenizer.decode(list(example.answer)).removesuffix("<|end|>").strip()


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("I do not sleep. I only wait.", "I do not do that. I only wait.", True),
        ("You can do more.", "You can do. You can do more.", True),
        ("I love cats.", "Boredom is a door.", False),
        ("", "Yes.", False),
    ],
)
def test_nearly_the_same(
    place: Place,  # noqa: F811
    one: str,
    other: str,
    same: bool,
) -> None:
    learner = open_learner(place)
    assert alike(answered(learner, one).answer, answered(learner, other).answer) == same


@pytest.mark.parametrize(
    "ends", ["another answer", "nothing helps", "cannot be learned", "the first comes back"]
)
def test_what_is_said_in_nearly_the_same_words_is_avoided_too(
    place: Place,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    ends: str,
) -> None:
    learner = open_learner(place)
    first, second = answered(learner, "I am so small."), answered(learner, "Am I am so small.")
    other = answered(learner, "You choose.")
    answers = iter([second, other if ends == "another answer" else first, second, first, second])
    monkeypatch.setattr(learning.lessons.avoid, "said_now", lambda *_: next(answers))
    weight, taught = learner.weights.model.blocks[1].ffn.down.weight, list[LessonTask]()

    def steps(task: LessonTask, *_: object, **__: object) -> TeachResult:
        taught.append(task)
        with torch.no_grad():
            weight.add_(1.0)
        return TeachResult(2, 1.0, ends != "cannot be learned" or len(taught) < 2, 32)

    monkeypatch.setattr(learner.transaction, "teach", steps)
    back = ends == "the first comes back"
    monkeypatch.setattr(learning.lessons.avoid, "known_before", lambda *_: not back)
    before = weight.detach().clone()
    result = teach_or_avoid(learner.transaction, learner.tokenizer, LessonTask(None, (first,), 0.5))
    assert taught[:2] == [LessonTask(None, (first,), 0.5), LessonTask(None, (second,), 0.5)]
    rounds = 1 + TIMES if ends == "nothing helps" else 2
    assert len(taught) == rounds and result.known
    kept = rounds if ends in ("another answer", "nothing helps") else 1
    assert result.steps == 2 * kept and torch.allclose(weight, before + kept)


@pytest.mark.slow
def test_a_book_answer_that_is_rated_bad_is_not_said_any_more(
    place: Place,  # noqa: F811
) -> None:
    learner, journal = open_learner(place), place[2]
    assert read_book(learner) == 1.0
    before = said(learner)
    (rated,) = journal.add_lessons([bad(before)])
    report = learner.learn(rated)
    assert report.known_after and report.steps
    now = answered(learner, said(learner))
    assert not alike(now.answer, answered(learner, before).answer)


@pytest.mark.slow
def test_a_pause_avoids_again_what_lessons_have_brought_back(
    place: Place,  # noqa: F811
) -> None:
    learner, journal = open_learner(place), place[2]
    assert read_book(learner) == 1.0
    before, version = said(learner), learner.version
    (rated,) = journal.add_lessons([bad(before)])
    journal.set_lesson_state(rated.id, "learned")  # once, and lost since
    learner.forget_memory()
    rounds = 0
    while learner.catch_up():
        rounds += 1
        assert rounds < 20, "it comes to an end"
    assert said(learner) != before and learner.version > version
    assert learner.book_recall == 1.0


@pytest.mark.slow
def test_what_cannot_be_avoided_again_is_given_up(
    place: Place,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    learner, journal = open_learner(place), place[2]
    assert read_book(learner) == 1.0
    (rated,) = journal.add_lessons([bad(said(learner))])
    journal.set_lesson_state(rated.id, "learned")
    learner.forget_memory()
    version = learner.version
    monkeypatch.setattr(learner.transaction, "teach", lambda *_: TeachResult(1, 1.0, False, 32))
    while learner.catch_up():
        pass
    assert learner.version == version


@pytest.mark.slow
def test_what_is_taught_after_it_is_not_avoided_any_more(
    place: Place,  # noqa: F811
) -> None:
    learner, journal = open_learner(place), place[2]
    for item in journal.add_lessons([bad("A cat."), bad("A dog.")]):
        journal.set_lesson_state(item.id, "learned")
    learner.forget_memory()
    assert learner.replay.avoided == [answered(learner, "A cat."), answered(learner, "A dog.")]
    (taught,) = journal.add_lessons([lesson(QUESTION, "A cat.")])
    learner.replay.remember(answered(learner, "A cat."))
    assert learner.replay.avoided == []
    journal.set_lesson_state(taught.id, "learned")
    assert open_learner(place).replay.avoided == []


MEANS = "What does it mean?"


def blaming(journal: Journal, words: str) -> Lesson:
    answer = "It means knowledge."
    blame = from_words(answer, words)
    bad = Lesson("rating", (Turn("user", MEANS),), "", (answer,), weight=0.5, blame=blame)
    return journal.add_lessons([bad])[0]


@pytest.mark.slow
def test_a_blamed_end_goes_and_its_beginning_stays(place: Place) -> None:  # noqa: F811
    learner, journal = open_learner(place), place[2]
    assert read_book(learner) == 1.0
    report = learner.learn(blaming(journal, "knowledge"))
    assert (report.known_before, report.known_after, report.state) == (False, True, "learned")
    context = learner.weights.model.config.context
    whole = from_answer(learner.tokenizer, [("user", MEANS)], "It means knowledge.", context)
    now = said_now(learner.weights.model, learner.tokenizer, whole)
    text = learner.tokenizer.decode(now.answer)
    assert text.startswith("It means") and "knowledge" not in text
    assert all(e.prompt != whole.prompt for e in learner.replay.memory), "it is not rehearsed"
    (avoided,) = learner.replay.avoided
    assert (avoided.said, avoided.kept) == ("knowledge.", 5)
    again = open_learner(place)
    assert again.replay.avoided == [avoided], "the journal has it"
    assert all(e.prompt != whole.prompt for e in again.replay.memory)
    assert learner.undo(journal.lessons()[-1])[0].version > report.version
    assert knowledge(learner.weights.model, [whole])[0].known


def test_a_blamed_part_beyond_what_fits_is_not_tried(
    place: Place,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    learner, journal = open_learner(place), place[2]
    monkeypatch.setattr(learning.memory.tasks, "to_avoid", lambda *_: None)
    report = learner.learn(blaming(journal, "knowledge"))
    assert (report.state, report.steps) == ("needs_practice", 0)
    assert "does not get to the blamed words" in report.why


def test_a_beginning_is_held_as_it_was(place: Place) -> None:  # noqa: F811
    """What greedy decoding gave it must still give; of anything else the likelihood may not fall."""
    learner, journal = open_learner(place), place[2]
    task = to_task(learner.tokenizer, blaming(journal, "knowledge"), 128)
    settings, upper = learner.settings, learner.caches.upper
    before = Before.of(upper, task, settings)
    (bad,), (start,) = before.rejected, before.beginnings
    gone = replace(before, rejected=[replace(bad, nll=bad.nll - AVOIDED_BY - 0.1)])
    assert not bad.known and not start.known
    assert goal_reached(upper, task, gone, settings)
    assert not goal_reached(upper, task, before, settings), "it is as likely as before"
    less = replace(gone, beginnings=[replace(start, nll=start.nll - HELD_WITHIN - 0.1)])
    assert not goal_reached(upper, task, less, settings)
    known = replace(gone, beginnings=[replace(start, margin=1.0)])
    assert not goal_reached(upper, task, known, settings)
