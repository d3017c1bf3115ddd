"""Long work shows that it goes on, and leaving in the middle of it is clean."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from pathlib import Path

import pytest

from learning.models.unfinished_training import Unfinished, write_unfinished
from learning.protocol.events import Failed, ModelChanging, PracticeDone, PracticeStage, WorkerLost
from learning.protocol.model_events import Grown
from learning.protocol.requests import Grow, Train
from tests.moments import training
from tests.practice_events import BEFORE, DONE, LATER, STEP
from tests.stage import Stage, play
from vidya_tui.screens.practice import progress
from vidya_tui.state import growth as growth_state
from vidya_tui.state import practice as practice_state
from vidya_tui.state.growth import Growing

# ---------------------------------------------------------------- practice


def test_share_and_time_left_of_practice() -> None:
    now = practice_state.begun("syllogism")
    assert practice_state.share(now) == 0.0 and practice_state.left(now) == ""
    now = practice_state.after(now, BEFORE)
    assert practice_state.left(now) == ""
    for step in range(1, 26):
        now = practice_state.after(
            now, replace(STEP, step=step, seconds=60.0 if step < 18 else 10.0)
        )
    assert practice_state.share(now) == 0.25
    assert practice_state.left(now) == "12 min left"  # 75 steps as long as the newest
    ended = practice_state.after(now, DONE)
    assert practice_state.share(ended) == 1.0 and practice_state.left(ended) == ""
    stopped = practice_state.after(now, replace(DONE, ended="stopped"))
    assert practice_state.share(stopped) == 0.25


def test_the_bar_of_practice_at_every_width() -> None:
    now = practice_state.after(practice_state.begun("x"), replace(STEP, step=50, seconds=60.0))
    assert progress(now, 60).plain.endswith("   50 %  about 50 min left")
    assert progress(now, 60).cell_length == 60
    assert progress(now, 20).plain == "\u2501" * 6 + "\u2500" * 7 + "   50 %"
    assert progress(now, 0).cell_length > 0


@pytest.mark.slow
def test_practice_shows_a_bar_and_the_time_that_is_left(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("/practice syllogism")
        await stage.sees("\u2500\u2500    0 %")
        for step in range(1, 51):
            stage.hear(replace(STEP, step=step))
        await stage.sees("50 %  about 10 min left")
        await stage.until(lambda: stage.text().count("\u2501") > 20)
        stage.hear(LATER)
        await stage.sees("after step 10")
        await stage.sees("about 10 min left")  # a look does not hide it
        await stage.pilot.resize_terminal(60, 20)
        await stage.sees("50 %  about 10 min left")
        await stage.press("escape")
        await stage.pilot.resize_terminal(80, 24)
        await stage.sees("right 41 %, 10 min left")
        await stage.say("/practice")
        stage.hear(DONE)
        await stage.sees("\u2501  100 %")
        assert "about" not in stage.text()
        await stage.press("escape")
        await stage.until(lambda: "min left" not in stage.text())

    play(scenario, tmp_path)


# ---------------------------------------------------------------- growing


@pytest.mark.parametrize(
    "event",
    [Grown("49m", 1), Failed("grow", "no"), WorkerLost("killed", True), ModelChanging("10m")],
)
def test_what_ends_the_growing(event: Grown | Failed | WorkerLost | ModelChanging) -> None:
    now = Growing("49m", 0.0)
    assert growth_state.after(now, event) is None
    assert growth_state.after(now, Failed("train", "no")) is now
    assert growth_state.after(now, PracticeStage("x", "before")) is now
    assert growth_state.after(None, event) is None


async def grow(stage: Stage) -> None:
    await stage.say("/model")
    await stage.sees("10m-base")
    await stage.press("g")
    await stage.sees("g again makes a model")
    await stage.press("g")
    await stage.sees("so far")
    assert len(stage.teacher.sent(Grow)) == 1


@pytest.mark.slow
def test_a_model_that_grows_says_for_how_long(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await grow(stage)
        controller = stage.session and stage.app.control.controller  # type: ignore[union-attr]
        assert controller.growing is not None
        name = controller.growing.name

        def shown() -> float:
            found = re.search(rf"growing to {name} \u00b7 ([\d.]+) s so far", stage.text())
            return float(found[1]) if found else -1.0

        await stage.until(lambda: shown() >= 0.0)
        first = shown()
        await stage.until(lambda: shown() > first)  # it counts by itself
        controller.known.change(growing=Growing(name, time.monotonic() - 74.0))
        await stage.until(lambda: shown() > 74.0)
        await stage.press("g")
        await stage.sees(f"{name} is being made already")
        await stage.press("down", "enter")
        await stage.sees(f"{name} is being made; wait until it is there")
        await stage.press("escape")
        stage.hear(BEFORE)
        stage.hear(PracticeDone(**{**vars(DONE)}))
        await stage.sees(f"growing to {name}")  # on the learning line
        await stage.say("/model")
        await stage.sees("so far")  # also when it is opened anew
        stage.hear(Grown(name, 49_000_000))
        await stage.sees(f"{name} is there")
        await stage.until(lambda: "so far" not in stage.text())
        assert len(stage.teacher.sent(Grow)) == 1

    play(scenario, tmp_path)


@pytest.mark.slow
def test_a_growing_that_failed_can_begin_again(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await grow(stage)
        stage.hear(Failed("grow", "the disk is full", "make room"))
        await stage.sees("the disk is full; make room")
        await stage.until(lambda: "so far" not in stage.text())
        await stage.press("g", "g")
        await stage.until(lambda: len(stage.teacher.sent(Grow)) == 2)
        await stage.sees("so far")
        stage.hear(WorkerLost("killed", restarting=True))
        await stage.sees("ended, and the growing with it")
        await stage.pilot.pause()  # the line goes with the next layout
        assert "so far" not in stage.text()

    play(scenario, tmp_path)


def test_a_training_that_comes_first_is_named(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("/train")
        await grow(stage)
        await stage.sees("it begins after the training")

    play(scenario, tmp_path)


# ---------------------------------------------------------------- leaving in the middle


async def left(stage: Stage) -> None:
    await stage.press("ctrl+q")
    await stage.until(lambda: stage.teacher.closed and not stage.app.is_running)


def test_leaving_while_a_model_grows(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await grow(stage)
        await left(stage)

    app = play(scenario, tmp_path)
    assert app.return_code == 0 and app._exception is None


@pytest.mark.slow
@pytest.mark.parametrize("looking", [True, False])
def test_leaving_in_the_middle_of_a_book_training(tmp_path: Path, looking: bool) -> None:
    """The next start offers to go on (what is kept, and by whom: tests/learning/test_unfinished.py)."""

    async def scenario(stage: Stage) -> None:
        await training(stage)
        if not looking:
            await stage.press("escape")
            await stage.sees("Say something")
        close = stage.teacher.close

        def save() -> None:
            folder = stage.home.models_path / "10m"
            folder.mkdir(parents=True)
            write_unfinished(folder, Unfinished(Train(), 41, (), 9, 117))
            close()

        stage.teacher.close = save  # type: ignore[method-assign]
        await left(stage)

    app = play(scenario, tmp_path)
    assert app.return_code == 0 and app._exception is None

    async def later(stage: Stage) -> None:
        await stage.sees("book training was interrupted in epoch 10; f5 continues it")
        await stage.press("f5")
        await stage.until(lambda: stage.teacher.sent(Train) == [Train()])

    play(later, tmp_path)
