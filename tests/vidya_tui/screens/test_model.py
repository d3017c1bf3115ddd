"""Settings, models, training and the first minutes, by keys."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from learning.models.unfinished_training import Unfinished, write_unfinished
from learning.protocol.events import (
    Failed,
    LearnerState,
    Ready,
    TrainDone,
    TrainProgress,
    WorkerLost,
)
from learning.protocol.model_events import Grown
from learning.protocol.records import Lesson, Turn
from learning.protocol.requests import CancelTraining, Generate, Grow, Practise, SetLearning, Train
from tests.scenes import training
from tests.stage import Stage, play
from vidya_tui.screens.train import smooth
from vidya_tui.settings.file import Settings, SettingsError, load
from vidya_tui.settings.rows import groups
from vidya_tui.state.training import BEGUN, MOST_POINTS, TrainingLog
from vidya_tui.state.welcome import advice, seen

# ---------------------------------------------------------------- settings


def test_a_setting_changes_by_arrows_and_is_saved_at_once(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.press("alt+s")
        await stage.sees("answers to choose among   5")
        await stage.press("left", "left")
        await stage.sees("answers to choose among   3")
        await stage.sees("The default is 5.")
        assert load(stage.home.settings_path).candidates == 3
        await stage.press("d")
        await stage.sees("answers to choose among   5")
        await stage.press("down", "down", "down", "down", "down", "right")
        await stage.until(lambda: SetLearning(False) in stage.teacher.requests)
        await stage.press("escape")
        await stage.sees("Say something, or / for commands")

    play(scenario, tmp_path)


def test_a_value_is_typed_and_a_wrong_one_says_what_to_write(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("/settings")
        await stage.sees("answers to choose among")
        await stage.press("down", "enter")
        await stage.press("end", *["backspace"] * 5)
        await stage.write("hot")
        await stage.press("enter")
        await stage.sees('temperature: is "hot"; write a number, 0 to 10')
        await stage.press(*["backspace"] * 3)
        await stage.write("0,4")
        await stage.press("enter")
        await stage.until(lambda: load(stage.home.settings_path).temperature == 0.4)
        await stage.press("escape")
        await stage.say("hello")
        (asked,) = stage.teacher.sent(Generate)
        assert isinstance(asked, Generate) and asked.sampling.temperature == 0.4

    play(scenario, tmp_path)


def test_a_theme_is_seen_at_once_and_motion_can_be_off(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.press("alt+s")
        await stage.sees("answers to choose among")
        assert stage.app.control is not None
        stage.app.control.set("theme", "light")
        assert stage.app.current_theme.name == "vidya-light"
        stage.app.control.set("motion", False)
        assert stage.app.animation_level == "none"
        stage.app.control.set("motion", True)
        assert stage.app.animation_level != "none"

    play(scenario, tmp_path)


def test_a_file_that_cannot_be_written_is_said_and_nothing_changes(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        stage.home.settings_path.write_text("candidates: 3\n")
        await stage.press("alt+s")
        await stage.sees("answers to choose among")
        await stage.press("right")
        await stage.sees("not TOML")
        await stage.sees("answers to choose among   5")

    play(scenario, tmp_path)


def test_every_row_is_a_setting_steps_within_bounds_and_has_words() -> None:
    rows = [row for group in groups(["nord"]) for row in group.rows]
    assert {row.key for row in rows} == set(Settings.__dataclass_fields__) - {"keys"}
    for row in rows:
        assert row.shown(Settings()).strip() and len(row.help) > 20
        for direction in (-1, 1):
            settings = Settings()
            for _ in range(200):
                value = row.next(settings, direction)
                if value is None:
                    break
                settings = Settings(**{row.key: value})
    temperature = next(row for row in rows if row.key == "temperature")
    assert temperature.next(Settings(temperature=0.3), 1) == 0.4
    assert temperature.next(Settings(temperature=10), 1) is None
    assert (
        temperature.shown(Settings()) == "the model's own" and temperature.typed(Settings()) == ""
    )
    assert temperature.next(Settings(), -1) == 0.7, "from the program's default"
    assert temperature.read(" ", Settings(temperature=0.3)) is None
    assert temperature.read("0,3", Settings()) == 0.3
    with pytest.raises(SettingsError):
        temperature.read("11", Settings())
    assert next(r for r in rows if r.key == "candidates").read(" 7 ", Settings()) == 7


@pytest.mark.parametrize("command", ["/settings", "/model"])
@pytest.mark.parametrize("size", [(1, 1), (12, 4), (40, 2)])
def test_a_list_without_room_for_a_row_takes_every_key(
    tmp_path: Path, command: str, size: tuple[int, int]
) -> None:
    async def scenario(stage: Stage) -> None:
        stage.app.chat.prompt.text = command
        await stage.pilot.resize_terminal(*size)
        await stage.press("enter")
        await stage.until(lambda: stage.app.screen is not stage.app.chat)
        await stage.press("down", "pagedown", "pageup", "end", "home", "up")
        await stage.press("escape")
        await stage.until(lambda: stage.app.screen is stage.app.chat)
        assert stage.app.is_running and stage.app._exception is None

    play(scenario, tmp_path)


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
        await stage.until(lambda: stage.teacher.closed)
        await stage.sees("This is 10m-base")
        await stage.press("escape")
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
        await stage.sees("earlier weights of 10m")

    play(scenario, tmp_path)


# ---------------------------------------------------------------- training


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


def test_a_model_that_cannot_be_loaded_can_be_exchanged(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        stage.hear(Failed("load", "the model is damaged", "restore it"))
        stage.hear(WorkerLost("the model's process ended with status 3", restarting=False))
        await stage.sees("the model is gone")
        await stage.say("/model")
        await stage.sees("10m-base")
        await stage.press("enter")  # the same one, mended meanwhile
        await stage.until(lambda: stage.teacher.closed)
        stage.hear(Ready("10m", 1, 1, "cpu"))
        await stage.sees("This is 10m")

    play(scenario, tmp_path, ready=False)


# ---------------------------------------------------------------- away


def test_idle_practice_is_set_at_once(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        control = stage.app.control
        assert control is not None
        idle = control.desk.practice._idle
        assert idle.minutes == 0
        control.set("idle_practice", 1)
        control.set("practice_task", "syllogism")
        idle.last_key -= 61.0
        control.desk.away()
        (asked,) = stage.teacher.sent(Practise)
        assert isinstance(asked, Practise) and asked.task == "syllogism" and asked.idle

    play(scenario, tmp_path)


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
