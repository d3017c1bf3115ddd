"""After a change of the model, the new model learns all lessons."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import learning.memory.book_rows
import learning.memory.build
from learning.lessons.learner import Learner
from learning.protocol.records import Lesson, Turn
from tests.learning.conftest import Place
from tests.short_lessons import SHORT

LESSON = Lesson("example", (Turn("user", "hello"),), "Hi.")


def test_a_lesson_taught_to_one_model_is_learned_by_the_next(
    tiny_place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    none = tmp_path / "none.txt"
    monkeypatch.setattr(learning.memory.book_rows, "shipped_book_path", lambda: none)
    monkeypatch.setattr(learning.memory.build, "own_talk", lambda *_: [])
    home, folder, journal = tiny_place
    other = folder.with_name("other")
    shutil.copytree(folder, other)
    (lesson,) = journal.add_lessons([LESSON])
    first = Learner(home, folder, journal, seed=0, settings=SHORT)
    first.learn(lesson)
    journal.set_lesson_state(lesson.id, "learned")  # two steps are few for such a model
    assert lesson.id in journal.lessons_in(first.version) and not journal.waiting()

    second = Learner(home, other, journal, seed=0, settings=SHORT)
    assert second.version == 0
    assert [one.id for one in journal.waiting()] == [lesson.id]
    second.learn(journal.waiting()[0])
    journal.set_lesson_state(lesson.id, "learned")
    assert lesson.id in journal.lessons_in(second.version) and second.version != first.version

    back = Learner(home, folder, journal, seed=0, settings=SHORT)
    assert back.version == first.version and not journal.waiting()
