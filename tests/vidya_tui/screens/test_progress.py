"""/progress: a list, a plot, words, and files of them; and `vidya journal progress`."""

from __future__ import annotations

import csv
import subprocess
import sys
import time
from pathlib import Path

import pytest

from learning.journal.journal import Journal
from learning.protocol.events import LessonDone
from tests.stage import Stage, play
from tests.vidya_tui.shell import Shell

ROOT = Path(__file__).resolve().parents[3]


def days(journal: Journal, name: str, *values: float) -> None:
    now = time.time()
    with journal.writing() as connection:
        connection.executemany(
            "INSERT INTO measures (name, value, created) VALUES (?, ?, ?)",
            [(name, value, now - 86400.0 * (len(values) - at)) for at, value in enumerate(values)],
        )


@pytest.mark.parametrize("size", [(80, 24), (160, 48)])
def test_the_measure_under_the_cursor_is_plotted_and_told(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    async def scenario(stage: Stage) -> None:
        days(stage.journal, "owner_nll", 4.0, 3.5, 3.75, 3.0, 2.5)
        await stage.say("/progress")
        await stage.sees("your words     2.5 ")
        await stage.sees("book recall    \u2013")
        await stage.sees("better since;")
        await stage.until(lambda: any("\u2800" < c <= "\u28ff" for c in stage.text()))  # braille
        lines = stage.text().split("\n")
        assert max(map(len, lines)) <= size[0]
        await stage.press("t")
        yesterday = time.strftime("%Y-%m-%d", time.localtime(time.time() - 86400.0))
        await stage.sees(f"{yesterday}  2.5 nats a token")
        await stage.press("home")
        await stage.sees("book recall: nothing measured yet")
        await stage.press("s")
        await stage.sees("written to")
        assert (stage.home.exports_path / "progress.svg").read_text().startswith("<svg")
        await stage.press("c")
        file = stage.home.exports_path / "progress.csv"
        await stage.until(file.exists)
        assert len(list(csv.DictReader(file.read_text().splitlines()))) == 5
        # what is learned meanwhile is drawn
        stage.journal.add_measure("book_recall", 0.75)
        stage.hear(LessonDone(1, "pick", False, True, 1, 32, 0.1, 0.75, 0.1, False, version=2))
        await stage.sees("book recall    75.0 %")
        await stage.press("escape")
        await stage.sees("Say something")

    play(scenario, tmp_path, size=size)


def test_plots_are_drawn_without_colours_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "linux")

    async def scenario(stage: Stage) -> None:
        days(stage.journal, "book_recall", 0.5, 1.0)
        await stage.say("/progress")
        await stage.sees("book recall: 100.0 %")
        assert "\u2022" in stage.text()

    play(scenario, tmp_path)


@pytest.mark.slow
def test_the_shell_tells_and_writes_it(shell: Shell, tmp_path: Path) -> None:
    journal = shell.journal()
    days(journal, "book_recall", 0.5, 0.75)
    journal.add_measure("owner_nll", 1.5, "removed since")
    journal.close()
    assert "book recall: 75.0 %" in shell.run("journal", "progress").stdout
    rows = shell.rows("journal", "progress")
    assert [row["mean"] for row in rows] == [0.5, 0.75]
    rows = shell.rows("journal", "progress", "--model", "removed since")
    assert [(row["model"], row["mean"]) for row in rows][-1] == ("removed since", 1.5)
    assert "does not exist" in shell.fails("journal", "progress", "--model", "nosuch")
    table, picture = tmp_path / "p.csv", tmp_path / "p.svg"
    result = shell.run("journal", "progress", "--csv", str(table), "--svg", str(picture))
    assert result.stdout == ""
    assert table.read_text().count("book_recall") == 2
    assert "</svg>" in picture.read_text()
    assert "cannot be written" in shell.fails(
        "journal", "progress", "--csv", str(tmp_path / "no" / "x")
    )


@pytest.mark.slow
def test_screens_and_plots_are_loaded_when_they_open() -> None:
    loaded = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys, vidya_tui.app.app, vidya_tui.controller.controller; print(*sys.modules)",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert "vidya_tui.app.app" in loaded
    late = (
        "plotext",
        "textual_plotext",
        "learning.journal.progress",
        "learning.journal.lesson_list",
        "learning.lessons.forget",
    )
    late += tuple(
        f"vidya_tui.screens.{name}" for name in ("base", "registry", "lessons", "history")
    )
    assert not set(late) & set(loaded)
