"""An interrupted book training resumes, unless one of its lessons was taken back in between."""

from __future__ import annotations

from pathlib import Path

import pytest

from learning.book_training.asking import EpochReport
from learning.book_training.loop import BookSettings
from learning.book_training.resume import Stopped
from learning.home import Home
from learning.journal.journal import Journal
from learning.lessons.learner import Learner
from learning.models.unfinished_training import (
    TRAINED,
    Unfinished,
    read_unfinished,
    remove_unfinished,
)
from learning.protocol.records import Lesson, Turn
from learning.protocol.requests import Train
from tests.learning.conftest import book_trainer
from tests.learning.lessons.test_learner import lesson, place  # noqa: F401

SETTINGS = BookSettings(epochs=4, batch=2, lr=5e-3, warm_up=2, talk=0, others=0, until_known=False)
Place = tuple[Home, Path, Journal]


class Training:
    """One program's book training, closed after some steps."""

    def __init__(self, where: Place, stop_after: int | None = None) -> None:
        home, folder, journal = where
        self.folder, self.stop_after = folder, stop_after
        self.reports: list[EpochReport] = []
        self.learner = Learner(home, folder, journal, seed=0, pause=self._pause)

    def _pause(self) -> None:
        if self.stop_after is not None and self.steps >= self.stop_after:
            raise Stopped

    @property
    def steps(self) -> int:
        return self.reports[-1].step - self.reports[-1].begun if self.reports else 0

    @property
    def first(self) -> EpochReport:
        """After its first step."""
        return next(r for r in self.reports if r.step > r.begun)

    def run(self, request: Train | None = None) -> None:
        kept = read_unfinished(self.folder) or Unfinished(request or Train(), self.learner.version)
        book_trainer(self.learner).train(
            None, SETTINGS, self.reports.append, lambda: False, kept=kept
        )


def broken_off(where: Place, steps: int) -> Unfinished:
    training = Training(where, stop_after=steps)
    with pytest.raises(Stopped):
        training.run()
    kept = read_unfinished(training.folder)
    assert kept is not None
    return kept


def test_it_goes_on_where_it_was(place: Place) -> None:  # noqa: F811
    version = Training(place).learner.version
    kept = broken_off(place, 3)  # two steps an epoch: in the middle of the second
    assert (kept.epoch, kept.step, kept.version) == (1, 3, version)
    training = Training(place)
    assert training.learner.version == version, "what is not judged is not published"
    training.run()
    first = training.first
    assert (first.epoch, first.step, first.begun) == (2, 4, 3)
    shown = [(r.epoch, r.step, r.asked) for r in training.reports if r.step == r.begun]
    assert shown[0] == (1, 3, 0.0), "it shows where it goes on while all is asked"
    assert shown[-1] == (1, 3, None)
    assert (training.reports[0].step, training.reports[0].steps) == (3, 12), (
        "a quarter of four epochs"
    )
    assert training.reports[-1].epoch == 4
    assert training.learner.version == version + 1
    assert read_unfinished(training.folder) is None
    assert not (training.folder / TRAINED).exists()


def test_one_that_had_not_begun_begins(place: Place) -> None:  # noqa: F811
    assert broken_off(place, 0).step == 0
    training = Training(place)
    training.run()
    assert training.first.step == 1


def test_stopped_before_it_goes_on_it_still_goes_on_the_next_time(place: Place) -> None:  # noqa: F811
    kept = broken_off(place, 3)
    training = Training(place)
    version = training.learner.version
    done = book_trainer(training.learner).train(
        None, SETTINGS, lambda _: None, lambda: True, kept=kept
    )
    assert done.cancelled and done.goes_on and not done.rolled_back
    assert (done.recall_before, done.recall_after, done.version) == (None, None, version)
    assert read_unfinished(training.folder) == kept
    training.run()
    assert training.first.begun == 3


def test_stopped_where_nothing_could_be_asked_any_more_it_goes_on_the_next_time(
    place: Place,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("learning.book_training.asking.PATIENCE", 0.0)
    kept = broken_off(place, 3)
    training = Training(place)
    version = training.learner.version
    done = book_trainer(training.learner).train(
        None,
        SETTINGS,
        training.reports.append,
        lambda: training.steps >= 1,
        kept=kept,
    )
    assert done.cancelled and done.goes_on and done.version == version
    assert read_unfinished(training.folder) == kept


def test_stopped_before_it_began_nothing_is_kept(place: Place) -> None:  # noqa: F811
    training = Training(place)
    version, kept = training.learner.version, Unfinished(Train(), training.learner.version)
    done = book_trainer(training.learner).train(
        None, SETTINGS, lambda _: None, lambda: True, kept=kept
    )
    assert done.cancelled and not done.goes_on and done.version == version
    assert place[2].measures("book_recall") == []
    assert read_unfinished(training.folder) is None


def test_what_was_taken_back_meanwhile_is_not_brought_back(place: Place) -> None:  # noqa: F811
    journal = place[2]
    (taught,) = journal.add_lessons([lesson("Who?", "You.")])
    kept = broken_off(place, 3)
    assert kept.lessons == (taught.id,) and kept.still_true(journal, kept.version)
    journal.set_lesson_state(taught.id, "undone")
    assert not kept.still_true(journal, kept.version)
    training = Training(place)
    training.run()
    assert training.first.begun == 0
    journal.forget(lesson=taught.id)
    assert not kept.still_true(journal, kept.version)


@pytest.mark.slow
@pytest.mark.parametrize(
    "gained",
    [
        Lesson("practice", (Turn("user", "chain_sum"),), ""),
        Lesson("rating", (Turn("user", "Who?"),), "", ("Them.",), weight=0.5),
    ],
)
def test_what_no_line_brings_back_is_not_wiped_out(place: Place, gained: Lesson) -> None:  # noqa: F811
    journal = place[2]
    kept = broken_off(place, 3)
    training = Training(place)
    for what, goes_on in ((lesson("Who?", "You."), True), (gained, False)):
        (added,) = journal.add_lessons([what])
        training.learner.weights.publish([added.id], "meanwhile")
        journal.set_lesson_state(added.id, "learned")
        assert kept.still_true(journal, training.learner.version) == goes_on
    training.run()
    assert training.first.begun == 0


def test_damaged_weights_begin_anew_and_a_damaged_record_is_none(place: Place) -> None:  # noqa: F811
    kept = broken_off(place, 3)
    folder = place[1]
    (folder / TRAINED).write_bytes(b"half")
    training = Training(place)
    training.run()
    assert training.first.begun == 0
    for text in ("", "{}", '{"request": 1}', "[1]"):
        (folder / "training.json").write_text(text)
        assert read_unfinished(folder) is None
    assert kept.request == Train()
    remove_unfinished(folder)
    assert sorted(p.name for p in folder.glob("training*")) == []


def test_a_training_that_fails_is_not_kept(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    def broken(*_: object, **__: object) -> object:
        raise RuntimeError("boom")

    monkeypatch.setattr("learning.book_training.trainer.train_book", broken)
    training = Training(place)
    with pytest.raises(RuntimeError):
        training.run()
    assert read_unfinished(training.folder) is None
