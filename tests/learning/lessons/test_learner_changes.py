"""A fact that is taught anew in other words is known anew in the old ones."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import learning.memory.book_rows
from learning.book_training.training_set import plan
from tests.learning.lessons.test_learner import Place, as_learned, knows, lesson, open_learner
from tests.learning.lessons.test_undo import let_go

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


@pytest.mark.slow
def test_undo_gives_both_back_without_earlier_weights_too(place: Place) -> None:
    learner, journal = open_learner(place), place[2]
    old, new = journal.add_lessons([OLD, NEW])
    assert all(learner.learn(item).known_after for item in (old, new))
    let_go(learner.folder)
    journal.retract(new.id)
    done, _ = learner.undo(journal.lesson(new.id))
    assert "taught not to say it" in done.what
    as_before = lesson("In which town does my sister live?", OLD.answer)
    assert knows(learner, old) and not knows(learner, new) and knows(learner, as_before)
    answers = {e.said for e in learner.replay.taught}
    assert answers == {OLD.answer} and len(learner.replay.taught) == 2


def test_an_earlier_lesson_that_is_learned_later_has_the_later_answer(place: Place) -> None:
    learner, journal = open_learner(place), place[2]
    old, new = journal.add_lessons([OLD, NEW])
    as_new = as_learned(learner, lesson("Where does my sister live?", NEW.answer))
    assert learner._task(old).answer == as_learned(learner, old), "nothing else is learned"
    journal.set_lesson_state(new.id, "learned")
    learner.forget_memory()
    assert learner._task(old).answers == [as_new]


def test_a_training_gives_lines_of_the_book_the_answers_of_lessons_that_wait(
    place: Place, tmp_path: Path
) -> None:
    (tmp_path / "none.txt").write_text("<|user|> Where does my sister live? <|assistant|> In Rome.")
    learner, journal = open_learner(place), place[2]
    journal.add_lessons([NEW])
    replay, rows = learner.replay, learner.caches.book_rows
    context = learner.weights.model.config.context
    course = plan(learner.tokenizer, replay, journal, rows, None, context, random.Random(0))
    assert {(e.prompt, e.said) for e in course.examples} == {
        ("where does my sister live", NEW.answer),
        ("in which town does my sister live", NEW.answer),
    }
