"""Events of a teacher other than the one that a command waits for; what is told of progress."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.errors import VidyaError
from learning.home import Home
from learning.journal.journal import Journal
from learning.protocol.events import Failed, UndoDone
from learning.protocol.model_events import Grown
from vidya_tui.cli.common import LocalTeacher, progress_bar


def test_an_undo_is_told_and_its_failure_ends_no_other_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = Home(tmp_path)
    journal = Journal(home.journal_path)
    local_teacher = LocalTeacher(home, journal)
    grown = Grown("49m", 49_000_000)
    for event in (
        UndoDone(None, "took back lesson 1 in this model too", 3),
        Failed("undo", "book.txt:3: no answer", "mend the line, then try again"),
        grown,
        Failed("grow", "the disk is full", "free some space"),
    ):
        local_teacher.events.put(event)
    assert local_teacher.next(lambda _: None, Grown) == grown
    assert capsys.readouterr().err.splitlines() == [
        "took back lesson 1 in this model too",
        "book.txt:3: no answer; mend the line, then try again",
    ]
    with pytest.raises(VidyaError, match="the disk is full"):
        local_teacher.next(lambda _: None, Grown)
    journal.close()


def test_progress_is_nothing_in_a_pipe_and_rows_with_json(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with progress_bar() as draw:
        draw(1, 2)
    assert capsys.readouterr() == ("", ""), "not even an empty line"
    with progress_bar(as_json=True) as draw:
        for done in range(1001):
            draw(done, 1000)
    out, err = capsys.readouterr()
    rows = [json.loads(line) for line in out.splitlines()]
    assert err == "" and len(rows) == 101
    assert rows[0] == {"event": "progress", "bytes": 0, "total": 1000}
    assert rows[-1] == {"event": "progress", "bytes": 1000, "total": 1000}
