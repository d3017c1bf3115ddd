"""Weights that cannot be saved are not kept in memory, and their lesson goes on waiting."""

from __future__ import annotations

import errno
import queue
from pathlib import Path

import pytest
import torch

import learning.lessons.learner
import learning.memory.build
import learning.memory.margins
import learning.models.weights
from engine.errors import CheckpointError, JournalError
from engine.storage.checkpoint import load_weights, save_tensors, to_huggingface
from engine.storage.weight_files import current_files
from learning.home import HomeError
from learning.lessons.learner import Learner
from learning.memory.margins import Margin
from learning.models.snapshots import keep_snapshot
from learning.models.store import ModelStore
from learning.protocol.events import Event, Failed
from learning.protocol.records import Lesson, Turn
from learning.protocol.requests import Learn
from learning.teacher.teacher import open_teacher
from tests.learning.conftest import Place
from tests.short_lessons import SHORT

LESSON = Lesson("example", (Turn("user", "hello"),), "Hi.")


@pytest.fixture
def place(tiny_place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A learner without the shipped book whose saves fail because the disk is full."""

    def full(*_: object) -> None:
        raise CheckpointError("model.safetensors: cannot be written (disk full)", "free some space")

    monkeypatch.setattr(
        learning.memory.book_rows, "shipped_book_path", lambda: tmp_path / "none.txt"
    )
    monkeypatch.setattr(learning.memory.build, "own_talk", lambda *_: [])
    monkeypatch.setattr(learning.models.weights, "save_tensors", full)
    return tiny_place


def test_a_lesson_that_cannot_be_saved_leaves_the_weights_as_they_were(place: Place) -> None:
    home, folder, journal = place
    learner = Learner(home, folder, journal, seed=0, settings=SHORT)
    before = {k: v.clone() for k, v in learner.weights.model.state_dict().items()}
    (kept,) = journal.add_lessons([LESSON])
    with pytest.raises(CheckpointError, match="cannot be written"):
        learner.learn(kept)
    after = learner.weights.model.state_dict()
    assert all(torch.equal(after[k], v) for k, v in before.items())
    assert learner.version == learner.published.version == 0
    assert journal.lesson(kept.id).state == "waiting"


def test_margins_that_cannot_be_saved_cost_no_lesson(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    home, folder, journal = place
    monkeypatch.setattr(learning.models.weights, "save_tensors", save_tensors)
    monkeypatch.setattr(learning.memory.margins, "write_atomically", full)
    home.book_path.write_text("<|user|> good night <|assistant|> Sleep well.\n")
    learner = Learner(home, folder, journal, seed=0, settings=SHORT)
    (kept,) = journal.add_lessons([LESSON])
    assert learner.learn(kept).version == learner.version == 1
    assert journal.lesson(kept.id).state != "waiting"


def test_what_was_published_stays_where_the_journal_fails_after_it(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The masters are what answers: else the next lesson would publish weights that the journal says
    know this one."""

    def full(*_: object) -> None:
        raise JournalError("journal.sqlite3: cannot be written (disk full)", "free some space")

    home, folder, journal = place
    monkeypatch.setattr(learning.models.weights, "save_tensors", save_tensors)
    learner = Learner(home, folder, journal, seed=0, settings=SHORT)
    (kept,) = journal.add_lessons([LESSON])
    monkeypatch.setattr(learner.caches, "save", full)
    with pytest.raises(JournalError):
        learner.learn(kept)
    assert learner.version == learner.published.version == 1
    assert journal.lessons_in(1) == {kept.id}
    saved, masters = load_weights(current_files(folder)), learner.weights.model.state_dict()
    for name, tensor in to_huggingface(masters, learner.weights.model.config).items():
        assert torch.equal(saved[name], tensor)


class Killed(BaseException):
    """The program ends here."""


@pytest.mark.parametrize("moment", ["before the file", "after the file"])
def test_a_kill_within_a_publication_leaves_the_lesson_waiting(
    place: Place, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    home, folder, journal = place
    learner = Learner(home, folder, journal, seed=0, settings=SHORT)
    (kept,) = journal.add_lessons([LESSON])

    def die(*_: object) -> None:
        raise Killed

    if moment == "before the file":
        monkeypatch.setattr(learning.models.weights, "save_tensors", die)
    else:
        monkeypatch.setattr(learning.models.weights, "save_tensors", save_tensors)
        monkeypatch.setattr(journal, "mark_saved", die)
    with pytest.raises(Killed):
        learner.learn(kept)
    monkeypatch.undo()

    again = Learner(home, folder, journal, seed=0, settings=SHORT)  # the file is the truth
    assert journal.saved_version() == again.version == (0 if moment == "before the file" else 1)
    assert [lesson.id for lesson in journal.waiting()] == [kept.id]
    assert journal.lessons_in(again.version) == ({kept.id} if again.version else set())


def test_what_was_broken_before_a_kill_between_weights_and_margins_is_mended_after_it(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, folder, journal = place
    monkeypatch.setattr(learning.models.weights, "save_tensors", save_tensors)
    home.book_path.write_text("<|user|> good night <|assistant|> Sleep well.\n")
    learner = Learner(home, folder, journal, seed=0)
    (line,) = learner.replay.book
    learner.tracker.restore({line.ids: Margin(1.0, 0, True)})  # the weights before know it
    learner.caches.save()
    learner.weights.publish([], "steps that broke it")  # and here it is killed

    again = Learner(home, folder, journal, seed=0)
    assert again.version == 1 and again.tracker.lost(again.replay.book) == [line]


def test_the_teacher_says_so_and_the_lesson_waits(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, _, journal = place
    events: queue.Queue[Event] = queue.Queue()
    monkeypatch.setattr(learning.lessons.learner, "TeachSettings", lambda: SHORT)
    teacher = open_teacher(home, model="tiny", on_event=events.put, journal=journal)
    try:
        (kept,) = journal.add_lessons([LESSON])
        teacher.send(Learn())
        while not isinstance(event := events.get(timeout=60), Failed):
            pass
        assert event.what == "model.safetensors: cannot be written (disk full)"
        assert journal.lesson(kept.id).state == "waiting"
    finally:
        teacher.close()


def test_two_teachers_do_not_share_one_home(place: Place) -> None:
    home, _, journal = place
    first = open_teacher(home, model="tiny", on_event=lambda _: None, journal=journal)
    with pytest.raises(HomeError, match="in use"), home.learning(patience=0.1):
        pass
    first.close()
    with home.learning(patience=0.1):
        pass


def test_a_snapshot_that_cannot_be_kept_is_said(place: Place) -> None:
    _, folder, journal = place
    (folder / "snapshots").write_text("in the way")
    with pytest.raises(CheckpointError, match="cannot be written"):
        keep_snapshot(folder, journal)


def test_a_model_folder_without_config_is_not_overwritten(place: Place, tmp_path: Path) -> None:
    home, folder, _ = place
    (folder / "config.json").unlink()
    with pytest.raises(CheckpointError, match="has no config.json"):
        ModelStore(home, tmp_path / "shipped").resolve("tiny")
    assert (folder / "model.safetensors").exists()
