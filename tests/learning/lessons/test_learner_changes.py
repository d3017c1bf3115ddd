"""A fact that is taught anew in other words is known anew in the old ones."""

from __future__ import annotations

from pathlib import Path

import pytest

import learning.memory.book_rows
from tests.learning.lessons.test_learner import Place, knows, lesson, open_learner

OLD = lesson("Where does my sister live?", "Your sister lives in Oslo.")
NEW = lesson("In which town does my sister live?", "She lives in Bergen.")


@pytest.fixture
def place(tiny_place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """Without a shipped book."""
    books = learning.memory.book_rows
    monkeypatch.setattr(books, "shipped_book_path", lambda: tmp_path / "none.txt")
    return tiny_place


@pytest.mark.slow
def test_the_old_question_gets_the_new_answer_and_undo_gives_it_back(place: Place) -> None:
    learner, journal = open_learner(place), place[2]
    old, new = journal.add_lessons([OLD, NEW])
    assert learner.learn(old).changed == ()
    report = learner.learn(new)
    assert report.known_after and report.changed == ("Where does my sister live?",)
    asked_as_before = lesson("Where does my sister live?", NEW.answer)
    assert knows(learner, new) and knows(learner, asked_as_before)
    assert not knows(learner, old)
    answers = {e.prompt: e.said for e in open_learner(place).replay.taught}
    assert answers["where does my sister live"] == NEW.answer, "the memory is built so too"
    journal.retract(new.id)
    learner.undo(new)
    assert knows(learner, old)
    answers = {e.prompt: e.said for e in learner.replay.taught}
    assert answers == {"where does my sister live": OLD.answer}
