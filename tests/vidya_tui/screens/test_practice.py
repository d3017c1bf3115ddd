"""Practice in the app: requests to the teacher, the display, and practice in idle hours."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from learning.home import Home
from learning.journal.journal import Journal
from learning.protocol.events import Event, Failed, PracticeSample, Ready
from learning.protocol.requests import CancelPractice, OwnerActive, Practise, Request
from tests.fakes import ScriptedTeacher
from tests.practice_events import BEFORE, DONE, SAMPLE, STEP
from tests.stage import Stage, play
from vidya_tui.line_mode.loop import run_lines
from vidya_tui.settings.file import Settings

# ---------------------------------------------------------------- the app


def test_practice_is_begun_shown_and_stopped_in_the_app(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("/practice syllogism")
        assert stage.teacher.sent(Practise) == [Practise("syllogism")]
        await stage.sees("syllogism \u00b7 beginning")
        for event in (BEFORE, SAMPLE, STEP):
            stage.hear(event)
        await stage.sees("step 4 of 100")
        await stage.sees("0.95 (correct 1, format 0.5)")
        await stage.sees("Is it [bold]?")
        await stage.sees("4 of 20")
        await stage.press("x")
        await stage.until(lambda: bool(stage.teacher.sent(CancelPractice)))
        stage.hear(DONE)
        await stage.sees("30 % \u2192 62 %")
        await stage.press("escape")
        await stage.sees("Say something")

    play(scenario, tmp_path)


def test_answers_are_shown_by_a_component(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("/practice tool_sums")
        for said, calls in (("one call", 1.0), ("five calls", 5.0), ("no call", 0.0)):
            parts = {"correct": 0.0, "python_count": calls}
            stage.hear(PracticeSample(4, "1 + 2?", said, 0.0, parts))
        await stage.sees("no call")
        await stage.press("f")
        await stage.sees("no answer has any correct")
        await stage.press("f")
        await stage.sees("by python_count, most first")
        await stage.until(lambda: "no call" not in stage.text())
        assert stage.text().index("five calls") < stage.text().index("one call")
        await stage.press("f")
        await stage.sees("no call")

    play(scenario, tmp_path)


def test_a_practice_is_begun_with_options_on_the_screen(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("/practice")
        await stage.sees("Nothing is practised")
        await stage.press("b")
        await stage.sees("chain_sum")
        await stage.press(*" group_s")
        await stage.sees("chain_sum group_size=4")
        await stage.press("right", "backspace", "x", "enter")
        await stage.sees("group_size is 'x'")
        assert not stage.teacher.sent(Practise)
        await stage.press("backspace", "8", "enter")
        await stage.sees("beginning")
        wanted = Practise("chain_sum", options=("group_size=8",))
        assert stage.teacher.sent(Practise) == [wanted]
        await stage.press("b")  # one is enough
        stage.hear(Failed("practise", "practice: groups is 1", "change groups or updates"))
        await stage.sees("practice: groups is 1. change groups or updates")
        await stage.press("b", "enter")
        await stage.sees("beginning")
        assert stage.teacher.sent(Practise) == [wanted, wanted]
        stage.hear(replace(DONE, task="chain_sum"))
        await stage.sees("30 % \u2192 62 %")
        await stage.press("b")
        await stage.sees("chain_sum group_size=8")
        await stage.press("escape")
        await stage.until(lambda: "chain_sum group_size=8" not in stage.text())
        await stage.press("escape")
        await stage.sees("Say something")

    play(scenario, tmp_path)


def test_why_it_could_not_be_done_cannot_write_to_the_terminal(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("/practice syllogism")
        stage.hear(Failed("practise", "data.txt:1: \x1b[2Jowned\u202e", "mend it"))
        await stage.sees("owned")
        assert "\x1b" not in stage.text() and "\u202e" not in stage.text()

    play(scenario, tmp_path)


def test_the_learning_line_says_what_is_practised(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        stage.hear(STEP)
        await stage.sees("practising syllogism, step 4 of 100, right 41 %")
        stage.hear(DONE)
        await stage.until(lambda: "practising syllogism" not in stage.text())

    play(scenario, tmp_path)


@pytest.mark.slow
def test_practice_without_a_task_shows_how_it_goes(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("/practice")
        await stage.sees("Nothing is practised")
        await stage.press("escape")
        await stage.say("/practice sylogism")
        await stage.sees("did you mean")
        assert stage.prompt == "/practice sylogism"

    play(scenario, tmp_path)


@pytest.mark.slow
def test_a_bar_that_was_hidden_comes_with_its_whole_width(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("/practice")
        await stage.sees("Nothing is practised")
        stage.hear(BEFORE)
        stage.hear(STEP)
        await stage.sees("held-out accuracy")
        await stage.still(7)
        line = next(line for line in stage.text().split("\n") if "about" in line)
        assert line.count("\u2501") + line.count("\u2500") > 40

    play(scenario, tmp_path)


def test_practice_line_by_line(tmp_path: Path) -> None:
    class Practising(ScriptedTeacher):
        def send(self, request: Request) -> None:
            super().send(request)
            if isinstance(request, Practise) and self.on_event:
                for event in (BEFORE, SAMPLE, STEP, replace(DONE, alarm="too good")):
                    self.on_event(event)

    home = Home(tmp_path / "home")
    journal = Journal(home.journal_path)
    teacher = Practising(["one"], journal=journal)

    def make(on_event: Callable[[Event], None], model: str | None = None, /) -> ScriptedTeacher:
        teacher.on_event = on_event
        on_event(Ready("10m", 1, 10_200_000, "cpu"))
        return teacher

    out = io.StringIO()
    source = io.BytesIO(b"/practice\n/practice syllogism\n")
    assert run_lines(home, journal, make, Settings(), source=source, out=out) == 0
    journal.close()
    said = out.getvalue()
    assert "nothing is practised; /practice TASK begins" in said
    assert "before: held-out accuracy 30 %" in said and "step 4 of 100" in said
    assert "30 % \u2192 62 %" in said and said.count("alarm: too good") == 1


@pytest.mark.slow
def test_a_key_on_any_screen_is_told_to_the_learner(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.press("f1")
        await stage.until(lambda: bool(stage.teacher.sent(OwnerActive)))

    play(scenario, tmp_path)
