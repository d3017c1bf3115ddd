"""Events of a teacher other than the one that a command waits for; what is told of progress."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from engine.errors import VidyaError
from learning.home import Home
from learning.journal.journal import Journal
from learning.protocol.events import Failed, UndoDone
from learning.protocol.model_events import Grown
from tests.signals import sigint_is
from vidya_tui.cli.common import LocalTeacher, download_progress, interruptible
from vidya_tui.options import Options


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
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with download_progress("small", Options(tmp_path)) as report:
        report(1, 2)
    assert capsys.readouterr() == ("", ""), "not even an empty line"
    with download_progress("small", Options(tmp_path, as_json=True)) as report:
        report(2, 2)
    out, err = capsys.readouterr()
    row = {"event": "progress", "bytes": 2, "total": 2, "prepared": 0.0}
    assert (json.loads(out), err) == (row, "")


def test_a_signal_that_was_ignored_asks_for_no_end() -> None:
    told: list[str] = []
    with sigint_is(signal.SIG_IGN):
        with interruptible(told.append) as asked:
            signal.raise_signal(signal.SIGINT)
            assert not asked.is_set() and not told
            signal.raise_signal(signal.SIGTERM)
            assert asked.is_set() and told
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    with sigint_is(signal.SIG_DFL), interruptible(told.append) as asked:
        signal.raise_signal(signal.SIGINT)
        assert asked.is_set()
