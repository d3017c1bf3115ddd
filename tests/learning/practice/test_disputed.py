"""Answers for the owner to pick among."""

from __future__ import annotations

from pathlib import Path

from learning.journal.journal import Journal
from learning.journal.practices import add_practice_step, begin_practice
from learning.practice.disputed import _practised
from learning.protocol.events import PracticeSample
from learning.rewards.registry import TASTE


def test_answers_of_practice_that_were_cut_off_are_left_out(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.sqlite3")
    run = begin_practice(journal, TASTE, {})
    samples = [
        PracticeSample(1, "hello", "Hi.", 0.5, {}),
        PracticeSample(1, "hello", "Hi, I was just about to", 0.9, {}, truncated=True),
    ]
    add_practice_step(journal, run, 1, {}, samples)
    assert _practised(journal) == {"hello": ["Hi."]}
    journal.close()
