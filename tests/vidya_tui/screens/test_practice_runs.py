"""The list of the runs of practice, and the answers of an earlier one, in the app and line by line."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

from learning.home import Home
from learning.journal.journal import Journal
from learning.journal.practices import LOADED, add_practice_step, begin_practice, end_practice
from learning.protocol.events import Event, PracticeSample, Ready
from learning.protocol.records import Lesson, Turn
from tests.fakes import ScriptedTeacher
from tests.practice_events import BEFORE, DONE, SAMPLE
from tests.stage import Stage, play
from vidya_tui.line_mode.loop import run_lines
from vidya_tui.line_mode.screens import LISTED
from vidya_tui.settings.file import Settings


def keep(journal: Journal) -> tuple[int, int]:
    """Two runs: one with a lesson, and one that was killed."""
    record = {"seed": 5, "settings": ["max_terms=3"], "model": "10m", "options": {}}
    night = begin_practice(journal, "chain_sum", record)
    answers = [("[b]one[/b] call", 1.0), ("five \x1b[2Jcalls", 5.0), ("no call", 0.0)]
    for step, (said, calls) in enumerate(answers, 1):
        sample = PracticeSample(step, "1 + 2?", said, 0.0, {"correct": 0.0, "python_count": calls})
        add_practice_step(journal, night, step, {}, [sample])
    journal.add_lessons([Lesson("practice", (Turn("user", "chain_sum"),), "", state="learned")])
    end_practice(journal, night, asdict(replace(DONE, task="chain_sum", idle=True)))
    killed = begin_practice(journal, "syllogism", {**record, "settings": []})
    return night, killed


def keep_many(journal: Journal, count: int) -> int:
    """A run of which so many answers were kept."""
    run = begin_practice(journal, "chain_sum", {"seed": 5})
    samples = [PracticeSample(1, "1 + 2?", f"answer {n}", 1.0, {}) for n in range(count)]
    add_practice_step(journal, run, 1, {}, samples)
    return run


def test_answers_of_an_earlier_run_are_shown(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        keep(stage.journal)
        await stage.say("/practice")
        await stage.sees("r earlier runs")
        await stage.press("r")
        await stage.sees("runs of practice · 2")
        newest, older = (
            next(line for line in stage.text().split("\n") if task in line and "step" in line)
            for task in ("syllogism", "chain_sum max_terms=3")
        )
        assert stage.text().index(newest) < stage.text().index(older)
        assert "0 steps" in newest and "not measured" in newest and "no end" in newest
        assert "3 steps" in older and "30 % → 62 %" in older and "all steps" in older
        await stage.sees("still running, or the program was closed or killed")
        await stage.press("down")
        await stage.sees("while you were away")
        await stage.sees("lesson 1")
        await stage.press("enter")
        await stage.sees("3 answers kept, the newest first")
        text = stage.text()
        assert text.index("no call") < text.index("five ␛[2Jcalls") < text.index("[b]one[/b] call")
        assert "\x1b" not in text
        await stage.press("f", "f")
        await stage.sees("by python_count, most first")
        await stage.until(lambda: "no call" not in stage.text())
        await stage.press("escape")  # back to the list, at the same run
        await stage.sees("while you were away")
        await stage.press("escape")
        await stage.sees("Nothing is practised")
        assert "five" not in stage.text()
        await stage.press("escape")
        await stage.sees("Say something")

    play(scenario, tmp_path)


def test_an_empty_list_says_how_to_begin(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("/practice runs")
        await stage.sees("b on the practice screen, or /practice chain_sum, begins one")
        await stage.press("enter")
        await stage.press("escape")
        await stage.sees("Nothing is practised")

    play(scenario, tmp_path)


def test_a_run_is_named_in_the_command(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        night, _ = keep(stage.journal)
        await stage.say("/practice #99")
        await stage.sees("practice 99 is not in the journal")
        await stage.press("ctrl+u")
        await stage.say(f"/practice #{night} calls")
        await stage.sees("choose among: correct, python_count")
        await stage.press("ctrl+u")
        await stage.say(f"/practice #{night} python_count")
        await stage.sees("by python_count, most first")
        for event in (BEFORE, SAMPLE):  # what is practised meanwhile does not take its place
            stage.hear(event)
        await stage.sees("x stop after this step")
        assert "five" in stage.text() and "Is it" not in stage.text()
        await stage.press("escape", "escape")
        await stage.sees("Is it [bold]?")

    play(scenario, tmp_path)


def test_a_run_that_was_erased_meanwhile_is_told(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        keep(stage.journal)
        await stage.say("/practice runs max_terms=3")
        await stage.sees("runs of practice · 1 · with")
        await stage.pilot.pause()  # the list is read; read again it would no longer offer the run
        with stage.journal.writing() as connection:
            connection.execute("DELETE FROM practices")
        await stage.press("enter")
        await stage.sees("practice 1 is not in the journal")

    play(scenario, tmp_path)


def test_of_many_answers_the_newest_are_read(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        run = keep_many(stage.journal, LOADED + 1)
        await stage.say(f"/practice #{run}")
        await stage.sees(f"the newest {LOADED} of {LOADED + 1} answers kept")
        await stage.sees(f"answer {LOADED}")
        await stage.press("end")
        await stage.sees("answer 1")

    play(scenario, tmp_path)


def test_runs_line_by_line(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    journal = Journal(home.journal_path)
    teacher = ScriptedTeacher(["one"], journal=journal)

    def make(on_event: Callable[[Event], None], model: str | None = None, /) -> ScriptedTeacher:
        teacher.on_event = on_event
        on_event(Ready("10m", 1, 10_200_000, "cpu"))
        return teacher

    def lines(*typed: str) -> str:
        out = io.StringIO()
        source = io.BytesIO("\n".join(typed).encode())
        assert run_lines(home, journal, make, Settings(), source=source, out=out) == 0
        return out.getvalue()

    assert "nothing was practised yet; /practice chain_sum begins" in lines("/practice runs")
    night, killed = keep(journal)
    said = lines("/practice runs", "/practice runs nowhere", f"/practice #{night}")
    assert f"#{night}, today" in said and "chain_sum max_terms=3: 3 steps, 30 % → 62 %" in said
    assert "all steps, lesson 1, 3 answers kept" in said
    assert said.index(f"#{killed}, ") < said.index(f"#{night}, ") and "nothing was found" in said
    assert "step 3: 0.00 (correct 0, python_count 0)" in said and "five ␛[2Jcalls" in said
    assert f"/practice #{night} NAME shows those with most of one of these: correct" in said
    said = lines(f"/practice #{night} python_count", "/practice #99")
    assert said.index("five") < said.index("one") and "no call" not in said
    assert "practice 99 is not in the journal" in said
    assert "no answer has correct=7" in lines(f"/practice #{night} correct=7")
    few, many = keep_many(journal, LISTED + 1), keep_many(journal, LOADED + 1)
    for run, last in (
        (few, f"{LISTED} of {LISTED + 1} answers; "),
        (many, f"{LISTED} of {LOADED} answers\n"),
    ):
        said = lines(f"/practice #{run}")
        assert last in said and said.count(f"`vidya practice --samples {run}` shows all") == 1
    journal.close()
