"""Runs of practice in the journal."""

from __future__ import annotations

from pathlib import Path

from learning.journal.journal import Journal
from learning.journal.practices import add_practice_step, begin_practice, practice_samples
from learning.protocol.events import PracticeSample


def test_answers_come_back_as_they_were(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.sqlite3")
    run = begin_practice(journal, "sums", {})
    samples = [
        PracticeSample(1, "3 + 4", "7", 1.0, {"correct": 1.0}),
        PracticeSample(1, "3 + 4", "3 + 4 =", 0.0, {"correct": 0.0}, truncated=True),
        PracticeSample(1, "3 + 4", "?", 0.0, {}, failed="out of time"),
    ]
    add_practice_step(journal, run, 1, {}, samples)
    assert practice_samples(journal, run) == samples
    journal.close()
