"""Whether a lesson was understood: its question in words that no step has seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import learning.lessons.recipe
import learning.memory.build
from learning.data.examples import Example
from learning.lessons.learner import Learner
from learning.lessons.recipe import TeachSettings
from learning.lessons.understanding import WAYS, Understanding, understanding
from learning.objectives.supervised import row_gradients
from learning.protocol.events import LearnerState, Understood
from learning.protocol.records import Lesson, Turn
from learning.text.normalise import fold
from learning.text.paraphrases import unseen_wordings
from tests.learning.conftest import Place

QUESTION = "What is my dog called?"


@pytest.fixture
def learner(tiny_place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Learner:
    book = tmp_path / "shipped.txt"
    book.write_text("<|user|> hello <|assistant|> Hello, I am well.\n")
    monkeypatch.setattr(learning.memory.book_rows, "shipped_book_path", lambda: book)
    home, folder, journal = tiny_place
    settings = TeachSettings(lr=3e-3, steps=60, repair=40, talk_weight=4.0)
    return Learner(home, folder, journal, seed=0, settings=settings)


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
    report = teach(learner, QUESTION, "Your dog is called Bo.")
    assert report.known_after
    assert report.ways_asked == WAYS
    assert 0 <= report.ways_known <= WAYS
    for _ in range(100):
        if not learner.catch_up():
            break
    assert len(trained) > 10
    assert not {fold(text) for text in trained} & {fold(t) for t in unseen_wordings(QUESTION)}
    (told_at_the_end,) = [event for event in told if isinstance(event, Understood)]
    example = learner.replay.taught[-1]
    assert understanding(learner.caches, example) == Understanding(
        told_at_the_end.ways_known, told_at_the_end.ways_asked
    )


def test_what_makes_no_sense_alone_is_not_asked(learner: Learner) -> None:
    report = teach(learner, "Why?", "Because.")
    assert (report.ways_known, report.ways_asked) == (0, 0)
