"""Models and the first minutes, by keys."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import VidyaError
from learning.models.store import Snapshot
from learning.protocol.events import Failed, Ready, WorkerLost
from learning.protocol.model_events import Grown
from learning.protocol.records import Lesson, Turn
from learning.protocol.requests import Grow
from tests.moments import training
from tests.stage import Stage, play
from vidya_tui.controller.models import ModelControl
from vidya_tui.settings.file import Settings, load
from vidya_tui.state.welcome import advice, seen

# ---------------------------------------------------------------- models


@pytest.mark.slow
def test_another_model_is_chosen_and_the_talk_stays(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        await stage.sees("5 five answers")
        await stage.press("2")
        await stage.sees("preferred 2")
        await stage.say("/model")
        await stage.sees("10m-base")
        await stage.press("down", "enter")
        await stage.until(lambda: stage.app.screen is stage.app.chat)
        await stage.until(lambda: stage.teacher.closed)
        await stage.sees("two answers")
        await stage.until(lambda: stage.app.chat.notice.words == "this is 10m-base, version 1")
        assert load(stage.home.settings_path).model == "10m-base"
        await stage.say("and now")
        await stage.sees("5 five answers")

    play(scenario, tmp_path)


@pytest.mark.slow
def test_a_model_that_cannot_be_read_does_not_hide_the_others(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        broken = stage.home.models_path / "49m"
        broken.mkdir(parents=True)
        (broken / "model.safetensors").write_bytes(b"xx")
        await stage.say("/model")
        await stage.sees("10m-base")
        await stage.sees("49m                cannot be read")
        await stage.press("g", "g")
        await stage.until(lambda: len(stage.teacher.sent(Grow)) == 1)
        assert stage.teacher.sent(Grow) == [Grow("49m", "49m-2")]

    play(scenario, tmp_path)


def test_it_closes_when_the_model_goes_back_and_not_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = [VidyaError("the model is being changed already", "wait until it is there")]
    shot = Snapshot(3, tmp_path, 0.0, "lesson 3", 0)

    def rollback(_: ModelControl, version: int) -> None:
        assert version == 3
        if refused:
            raise refused.pop()

    monkeypatch.setattr(ModelControl, "snapshots", lambda _: [shot])
    monkeypatch.setattr(ModelControl, "rollback", rollback)

    async def scenario(stage: Stage) -> None:
        await stage.say("/model")
        await stage.sees("10m-base")
        await stage.press("end")
        await stage.sees("lesson 3")
        await stage.press("enter")
        await stage.sees("Enter again goes back to version 3")
        await stage.press("enter")
        await stage.sees("wait until it is there")
        await stage.press("enter", "enter")
        await stage.until(lambda: stage.app.screen is stage.app.chat)

    play(scenario, tmp_path)


def test_a_question_stays_after_a_movement_in_the_same_burst(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Textual tells of a movement later than it is made: keys that came with it are handled before."""
    shots = [Snapshot(number, tmp_path, 0.0, f"lesson {number}", 0) for number in (3, 2)]
    went_back: list[int] = []
    monkeypatch.setattr(ModelControl, "snapshots", lambda _: shots)
    monkeypatch.setattr(ModelControl, "rollback", lambda _, version: went_back.append(version))

    async def scenario(stage: Stage) -> None:
        await stage.say("/model")
        await stage.sees("10m-base")
        await stage.press("up", "down", "end", "enter")
        await stage.sees("Enter again goes back to version 2")
        await stage.press("up", "enter")
        await stage.sees("Enter again goes back to version 3")
        await stage.press("down", "g")
        await stage.sees("g again makes a model of the size")
        await stage.press("enter", "up", "down", "enter")
        await stage.sees("Enter again goes back to version 2")
        assert not went_back, "the question was each time another one"
        await stage.press("enter")
        await stage.until(lambda: stage.app.screen is stage.app.chat)
        assert went_back == [2]

    play(scenario, tmp_path)


def test_growing_is_asked_for_twice_and_told_when_done(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("/model")
        await stage.sees("10m-base")
        await stage.press("g")
        await stage.sees("g again makes a model of the size")
        assert stage.teacher.sent(Grow) == []
        await stage.press("g")
        await stage.until(lambda: len(stage.teacher.sent(Grow)) == 1)
        stage.hear(Failed("grow", "the disk is full", "make room"))
        await stage.sees("the disk is full; make room")
        stage.hear(Grown("49m", 49_000_000))
        await stage.sees("49m is there")

    play(scenario, tmp_path)


@pytest.mark.slow
def test_the_model_row_of_the_settings_leads_to_the_models(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.press("alt+s")
        await stage.sees("answers to choose among")
        await stage.press("end", "enter")
        await stage.sees("models that can be fetched")

    play(scenario, tmp_path)


# ---------------------------------------------------------------- the first minutes


@pytest.mark.slow
def test_the_first_minutes_teach_by_doing_and_never_come_again(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.sees("welcome 1/4")
        await stage.say("what is this")
        await stage.sees("next 2/4")
        await stage.sees("5 five answers")
        await stage.press("3")
        await stage.sees("next 3/4")
        await stage.say("/correct a place to talk")
        await stage.sees("Learned. Ask \u201cwhat is this\u201d once more")
        await stage.say("what is this")
        await stage.sees("done 4/4")
        assert stage.home.welcomed_path.exists()

    play(scenario, tmp_path, first=True)

    async def later(stage: Stage) -> None:
        await stage.pilot.pause(0.1)
        assert "welcome" not in stage.text()

    play(later, tmp_path, first=True)


def test_escape_skips_them_at_any_time_and_types_nothing_away(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.sees("welcome 1/4")
        await stage.write("half a sen")
        await stage.press("escape")
        await stage.until(lambda: "welcome" not in stage.text())
        assert stage.prompt == "half a sen" and stage.home.welcomed_path.exists()

    play(scenario, tmp_path, first=True)


def test_what_the_welcome_says_at_each_step() -> None:
    prompt = (Turn("user", "who"),)
    pick = Lesson("pick", prompt, "a")
    correction = Lesson("correction", prompt, "b", state="waiting")
    assert advice(seen([], [])).step == 1
    assert advice(seen([], ["who"])).step == 2
    assert advice(seen([pick], ["who"])).step == 3
    assert "learned now" in advice(seen([pick, correction], ["who"])).words
    practice = Lesson("correction", prompt, "b", state="needs_practice")
    assert advice(seen([practice], ["who"])).last
    learned = Lesson("correction", prompt, "b", state="learned")
    assert not advice(seen([learned], ["who"])).last
    assert advice(seen([learned], ["who", "other", "who"])).last


@pytest.mark.slow
def test_a_model_that_cannot_be_loaded_can_be_exchanged(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        stage.hear(Failed("load", "the model is damaged", "restore it"))
        stage.hear(WorkerLost("the model's process ended with status 3", restarting=False))
        await stage.sees("the model is gone")
        await stage.say("/model")
        await stage.sees("10m-base")
        await stage.press("enter")  # the same one, mended meanwhile
        await stage.until(lambda: stage.app.screen is stage.app.chat)
        await stage.until(lambda: stage.teacher.closed)
        stage.hear(Ready("10m", 1, 1, "cpu"))
        await stage.sees("this is 10m, version 1")

    play(scenario, tmp_path, ready=False)


# ---------------------------------------------------------------- everywhere


@pytest.mark.slow
def test_any_size_without_colours_in_the_terminals_own_theme(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    async def resize(stage: Stage, words: str) -> None:
        for size in ((200, 60), (20, 6), (1, 1), (80, 24)):
            await stage.pilot.resize_terminal(*size)
        await stage.sees(words)

    async def scenario(stage: Stage) -> None:
        await training(stage)
        assert stage.app.no_color
        await resize(stage, "about 4 min left")
        await stage.press("escape")
        await stage.until(lambda: stage.app.screen is stage.app.chat)
        await stage.press("alt+s")
        await stage.sees("answers to choose among")
        await resize(stage, "answers to choose among")
        await stage.press("escape")
        await stage.until(lambda: stage.app.screen is stage.app.chat)
        await stage.say("/model")
        await stage.sees("10m-base")
        await resize(stage, "10m-base")

    play(scenario, tmp_path, settings=Settings(theme="terminal"))
