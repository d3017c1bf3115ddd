"""The app while it starts, trains, loses its teacher, and ends."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest
from textual import events

from engine.errors import VidyaError
from learning.home import Home
from learning.journal.journal import Journal
from learning.protocol.events import (
    Failed,
    LearnerState,
    Ready,
    TrainDone,
    TrainProgress,
    WorkerLost,
)
from learning.protocol.requests import CancelTraining, Generate, OwnerActive, SetLearning, Train
from tests.fakes import ScriptedTeacher
from tests.stage import Stage, play, seen
from vidya_tui.app.app import VidyaApp
from vidya_tui.settings.file import Settings

ROOT = Path(__file__).resolve().parents[3]


# ---------------------------------------------------------------- training and the learner


@pytest.mark.slow
def test_training_shows_progress_and_can_be_cancelled(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("/train 10")
        assert stage.teacher.sent(Train) == [Train(epochs=10)]
        stage.hear(TrainProgress(2, 10, 15, 100, 0.4142, None, 1.0, 3.0))
        await stage.sees("15 % book, epoch 2 of 10, loss 0.41, 3.0 s left")
        await stage.say("hello")
        await stage.sees("5 five answers")
        await stage.press("1")
        await stage.sees("preferred 1")
        await stage.say("/train")
        await stage.sees("the book is being learned already")
        await stage.press("ctrl+u", "escape")
        assert stage.teacher.sent(CancelTraining) == [CancelTraining()]
        stage.hear(TrainDone(2, 15, 0.4, 0.9, 0.95, 1.5, True, False, 2))
        await stage.sees("training stopped in epoch 2 after 1.5 s: book recall 90 % \u2192 95 %")

    play(scenario, tmp_path)


@pytest.mark.parametrize("size", [(80, 24), (160, 40)])
def test_the_panel_says_what_the_learner_does(tmp_path: Path, size: tuple[int, int]) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.sees("ready")
        stage.hear(LearnerState("gathering", 3, None, 0.98))
        for words in ("gathering", "3 lessons waiting", "book recall 98 %"):
            await stage.sees(words)
        stage.hear(LearnerState("learning", 1, 0.414, 0.98))
        for words in ("learning, loss 0.41", "1 lesson waiting"):
            await stage.sees(words)

    play(scenario, tmp_path, size=size)


def test_learning_can_be_off_from_the_start(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        assert stage.teacher.requests == [SetLearning(on=False)]
        stage.teacher.die()  # the next one must hear it too
        await stage.until(lambda: stage.teacher.requests == [SetLearning(on=False)] * 2)

    play(scenario, tmp_path, settings=Settings(theme="dark", learning=False))


@pytest.mark.parametrize("kind", [events.MouseDown, events.MouseScrollUp, events.Paste])
def test_the_learner_hears_that_the_owner_uses_the_mouse_or_pastes(
    tmp_path: Path, kind: type[events.Event]
) -> None:
    async def scenario(stage: Stage) -> None:
        if kind is events.Paste:
            stage.app.post_message(events.Paste("text"))
        else:
            where = {"x": 5, "y": 5, "delta_x": 0, "delta_y": 0, "button": 1}
            keys = {"shift": False, "meta": False, "ctrl": False}
            stage.app.post_message(kind(None, **where, **keys))  # type: ignore[call-arg,arg-type]
        await stage.until(lambda: OwnerActive() in stage.teacher.requests)

    play(scenario, tmp_path)


def test_the_learner_hears_that_the_owner_types(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.write("hello")
        assert OwnerActive() in stage.teacher.requests

    play(scenario, tmp_path)


# ---------------------------------------------------------------- without the model


def test_the_first_frame_is_painted_before_the_teacher_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frames: list[str] = []
    start = VidyaApp._start

    def watched(app: VidyaApp) -> None:
        strips = seen(app)
        frames.append("\n".join(strip.text for strip in strips))
        start(app)

    monkeypatch.setattr(VidyaApp, "_start", watched)

    async def scenario(stage: Stage) -> None:
        assert "Say something, or / for commands" in frames[0]

    play(scenario, tmp_path)


def test_a_message_is_taken_before_the_model_is_ready(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.sees("the model is waking up")
        await stage.say("hello")
        await stage.sees("as soon as the model is awake")
        stage.hear(Ready("10m", 1, 10_200_000, "cpu"))
        stage.teacher.finish()
        await stage.sees("3 three answers")

    play(scenario, tmp_path, manual=True, ready=False)


def test_what_was_entered_before_the_session_is_said_later(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        chat = stage.app.chat
        controller, chat._controller = chat._controller, None
        await stage.say("early")
        assert stage.prompt == "" and controller is not None
        chat.begin(controller, stage.teacher)
        await stage.sees("3 three answers")
        ask = stage.journal.latest_ask()
        assert ask is not None and ask.turns[-1].text == "early"

    play(scenario, tmp_path)


@pytest.mark.slow
def test_a_lost_worker_is_announced_and_asked_again(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        stage.teacher.pump(1)
        await stage.sees("1 one")
        stage.teacher.die()
        await stage.sees("nothing is lost; starting it again")
        await stage.until(lambda: len(stage.teacher.sent(Generate)) == 2)
        stage.hear(Ready("10m", 1, 10_200_000, "cpu"))
        await stage.sees("the model is back")
        assert stage.app.chat.notice.words == "the model is back"
        stage.teacher.finish()
        await stage.sees("5 five answers")

    play(scenario, tmp_path, manual=True)


def test_a_worker_that_does_not_come_back_leaves_the_app_alive(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        stage.hear(WorkerLost("the model's process ended with status 1", restarting=False))
        await stage.sees("nothing is lost; quit and start")
        await stage.sees("the model is gone")
        await stage.write("hello")
        assert stage.prompt == "hello"

    play(scenario, tmp_path)


def test_a_model_that_cannot_be_loaded_says_why_to_the_end(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        stage.hear(Failed("load", "the model is damaged", "restore it"))
        stage.hear(WorkerLost("the model's process ended with status 3", restarting=False))
        await stage.sees("the model is gone")
        await stage.sees("! the model is damaged; restore it")

    play(scenario, tmp_path, ready=False)


def test_a_message_that_cannot_be_kept_is_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario(stage: Stage) -> None:
        def full(*_: object) -> None:
            raise VidyaError("the disk is full", "make room")

        monkeypatch.setattr(stage.journal, "add_ask", full)
        await stage.say("precious words")
        await stage.sees("the disk is full; make room")
        assert stage.prompt == "precious words"

    play(scenario, tmp_path)


# ---------------------------------------------------------------- leaving


def test_ctrl_c_tells_how_to_leave(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.press("ctrl+c")
        await stage.sees("ctrl+q leaves")

    play(scenario, tmp_path)


@pytest.mark.parametrize("way", ["ctrl+q", "/quit"])
def test_quitting_in_the_middle_of_anything(tmp_path: Path, way: str) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        stage.teacher.pump(1)
        if way == "/quit":
            await stage.say(way)
        else:
            await stage.press(way)
        await stage.until(lambda: stage.teacher.closed)

    assert play(scenario, tmp_path, manual=True).return_code == 0


@pytest.mark.slow
def test_quitting_from_a_modal_screen(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.press("f1")
        await stage.sees("commands")
        await stage.press("ctrl+q")
        await stage.until(lambda: stage.teacher.closed)

    play(scenario, tmp_path)


@pytest.mark.slow
def test_events_that_come_while_it_closes(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        stage.session.say("late")  # what has to be drawn grows

    app = play(scenario, tmp_path)
    app.chat.take([LearnerState("gathering", 1)])
    assert not app.chat.conversation.is_attached


CRASH = """
import sys
from pathlib import Path
from learning.home import Home
from learning.journal.journal import Journal
from vidya_tui.app.app import VidyaApp
from vidya_tui.settings.file import Settings

class Broken(VidyaApp):
    def _start(self):
        secret_of_the_owner = "i love broccoli"
        raise RuntimeError("boom")

home = Home(Path(sys.argv[1]))
app = Broken(home, Journal(home.journal_path), lambda on: None, Settings())
app.run(headless=True)
print(open(home.log_path).read())
sys.exit(app.return_code)
"""


@pytest.mark.slow
def test_a_crash_shows_one_calm_message(tmp_path: Path) -> None:
    script = tmp_path / "crash.py"
    script.write_text(CRASH)
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 1
    assert "vidya stopped because of a mistake in the program" in done.stderr
    assert "Traceback" not in done.stderr and "boom" not in done.stderr
    assert "i love" not in done.stderr  # no locals
    assert "RuntimeError: boom" in done.stdout  # the log


def test_the_interface_has_no_torch() -> None:
    code = (
        "import sys, vidya_tui.app.app, vidya_tui.worker.supervisor; print('torch' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=ROOT
    )
    assert done.stdout.strip() == "False", done.stderr


def test_the_first_frame_waits_for_no_more_than_it_needs() -> None:
    late = (
        "learning.protocol.messages",
        "learning.protocol.events",
        "learning.journal.journal",
        "vidya_tui.controller.controller",
        "sqlite3",
        "click",
    )
    code = f"""
import sys, vidya_tui.__main__, vidya_tui.start, vidya_tui.app.app
print([name for name in {late!r} if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=ROOT
    )
    assert done.stdout.strip() == "[]", done.stderr


def test_a_journal_that_cannot_be_opened_ends_the_app_with_the_reason(tmp_path: Path) -> None:
    def broken() -> Journal:
        raise VidyaError("the journal is damaged", "restore it from a copy")

    app = VidyaApp(Home(tmp_path), broken, ScriptedTeacher, Settings(theme="dark"))

    async def run() -> None:
        async with app.run_test() as pilot:
            for _ in range(100):
                if app.failure is not None:
                    break
                await pilot.pause(0.02)

    asyncio.run(run())
    assert app.return_code == 1 and "damaged" in str(app.failure)
    assert app.teacher is None


def test_a_key_before_there_is_a_session_says_so(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        stage.app.chat._controller = None
        for key in ("f8", "f5", "ctrl+n"):
            await stage.press(key)
            await stage.sees("not ready yet")
            stage.app.chat.notice.clear_words()
            await stage.until(lambda: "not ready yet" not in stage.text())

    play(scenario, tmp_path)
