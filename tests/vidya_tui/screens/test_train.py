"""The screen of a training, by keys."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from learning.models.unfinished_training import Unfinished, write_unfinished
from learning.protocol.events import (
    Failed,
    LearnerState,
    TrainDone,
    TrainProgress,
    WorkerLost,
)
from learning.protocol.requests import CancelTraining, Train
from tests.stage import Stage, play
from vidya_tui.screens.train import smooth
from vidya_tui.state.training import BEGUN, MOST_POINTS, TrainingLog


def progress(step: int, *, ended: bool = False) -> TrainProgress:
    loss, recall = 2.0 / step, 0.5 + step / 100 if ended else None
    return TrainProgress(1 + step // 10, 5, step, 50, loss, recall, step, 50.0 - step, 32, ended)


@pytest.mark.slow
def test_the_curve_is_there_whenever_one_looks_and_the_result_stays(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("/train")
        stage.hear(LearnerState("training", book_recall=0.4))
        for step in range(1, 21):
            stage.hear(progress(step, ended=step % 10 == 0))
        await stage.sees("book, epoch 3")
        await stage.press("f12")
        await stage.sees("about 30 s left")
        for words in ("epoch 3 of 5", "step 20 of 50", "loss 0.100", "recall 40 % \u2192 70 %"):
            await stage.sees(words)
        await stage.sees("c stop the training")
        await stage.pilot.resize_terminal(200, 60)
        await stage.pilot.resize_terminal(80, 24)
        await stage.press("c")
        assert stage.teacher.sent(CancelTraining) == [CancelTraining()]
        await stage.sees("stopping the training")
        stage.hear(TrainDone(2, 20, 0.1, 0.4, 0.7, 21.0, True, False, 2))
        await stage.sees("training stopped in epoch 2 after 21 s: book recall 40 % \u2192 70 %")
        await stage.press("escape")
        await stage.say("hello")
        await stage.sees("5 five answers")
        await stage.say("/curve")
        await stage.sees("training stopped in epoch 2")
        await stage.press("t")
        await stage.sees("asking every line of the book first")
        assert len(stage.teacher.sent(Train)) == 2

    play(scenario, tmp_path)


@pytest.mark.slow
def test_the_bar_says_that_it_stops_until_it_has(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("/train")
        stage.hear(replace(progress(1), epoch=0, step=0, asked=0.25))
        await stage.sees("before it is learned, 25 %")
        await stage.say("/cancel")
        stage.hear(replace(progress(1), epoch=0, step=0, asked=0.5))
        await stage.until(lambda: "stopping the training" in stage.text().splitlines()[0])
        stage.hear(TrainDone(0, 0, 0.0, None, None, 2.0, True, False, 1))
        await stage.sees("training stopped before it began; nothing was changed")
        assert "stopping" not in stage.text().splitlines()[0]

    play(scenario, tmp_path)


def test_a_training_that_goes_on_shows_where_it_is(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("/train")
        at = replace(progress(20), epoch=2, begun=20, known=3, entries=9)
        stage.hear(replace(at, asked=0.5))
        await stage.press("f12")
        for words in ("going on after epoch 2 of 5: asking every line first, 50 %", "40 %"):
            await stage.sees(words)
        stage.hear(replace(at, step=21, epoch=3))
        await stage.sees("book recall 3 of 9 known")

    play(scenario, tmp_path)


def test_a_training_that_was_broken_off_is_offered(tmp_path: Path) -> None:
    folder = tmp_path / "home" / "models" / "10m"
    folder.mkdir(parents=True)
    write_unfinished(folder, Unfinished(Train(), 3, (), 2, 31))

    async def scenario(stage: Stage) -> None:
        await stage.sees("book training was interrupted in epoch 3; f5 continues it")
        await stage.press("f5")
        await stage.until(lambda: stage.teacher.sent(Train) == [Train()])

    play(scenario, tmp_path)


def test_the_log_of_a_training() -> None:
    log = TrainingLog()
    assert "t trains" in log.state() and log.share == 0.0 and log.facts() == []
    for step in range(1, 4000):
        log = log.after(TrainProgress(1, 5, step, 4000, 1.0, None, float(step), 4000.0 - step))
    assert log.running and len(log.losses) <= MOST_POINTS
    assert list(log.losses) == sorted(log.losses)
    log = log.after(WorkerLost("killed", restarting=True))
    assert not log.running and "/train goes on" in log.state()
    log = BEGUN.after(Failed("train", "book.txt:3: no answer", "write it"))
    assert log.state() == "book.txt:3: no answer; write it"
    assert smooth([1.0, 2.0, 3.0, 8.0], 3) == [1.0, 2.0, pytest.approx(13 / 3), 8.0]
