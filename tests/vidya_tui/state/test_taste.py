"""state.taste: what /taste and `vidya reward show` say."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from learning.journal.journal import Journal
from learning.rewards.reward_report import REPORT, TASTE, Look, Rated, TasteReport
from tests.picks import fill
from vidya_tui.state.taste import TasteView, read_taste, sections

REPORTED = TasteReport(
    *(7, "mark", (1,), 32, 3, 8, 0.75, 0.81, 0.33, 0.8, 1.1, 0.06, 0.3, False, 0.0, 1.0, 12.0),
    weights=5_508_096,
    looks=(Look("a question back", 1.12, 0.08, 44), Look("\u201ctea\u201d", 0.1, 0.1, 9)),
    best=(Rated(1, 1, 1.9),),
    least=(Rated(2, 2, -1.8), Rated(999, 1, -2.0)),
    looked_at=100,
    pairs_error=0.06,
)


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    journal = Journal(tmp_path / "journal.sqlite3")
    yield journal
    journal.close()


def written(folder: Path, report: TasteReport) -> Path:
    raw = json.dumps({"__metadata__": {REPORT: report.to_json()}}).encode()
    (folder / TASTE).write_bytes(struct.pack("<Q", len(raw)) + raw)
    return folder


def said(view: TasteView) -> str:
    return "\n".join(f"{head}: {line}" for head, lines in sections(view) for line in lines)


def test_below_thirty_picks_it_says_so(journal: Journal, tmp_path: Path) -> None:
    fill(journal, 12)
    words = said(read_taste(tmp_path, journal))
    assert "you preferred an answer 12 times" in words
    assert "not yet: it needs 30 picks and has 12" in words


def test_it_is_told_beside_chance_and_ceiling(journal: Journal, tmp_path: Path) -> None:
    numbers = fill(journal, 45)
    view = read_taste(written(tmp_path, replace(REPORTED, judgements=tuple(numbers[:40]))), journal)
    words = said(view)
    assert "75 % foretold (guessing 33 %; about 80 % would be the most" in words
    assert "81 % ± 6 % ordered as you did (guessing 50 %)" in words
    assert "5 judgements came since" in words and "is it used: yes" in words
    assert "a question back: liked (+1.12" in words and "\u201ctea\u201d: hardly matters" in words
    assert "+1.9  Tell me of the" in words and len(view.least) == 1, "one was forgotten"
    assert "it is not being learned" in words


def test_reading_order_is_told(journal: Journal, tmp_path: Path) -> None:
    report = replace(REPORTED, judgements=(), read_in_order=True, first=0.6)
    words = said(read_taste(written(tmp_path, report), journal))
    assert "60 % of your picks stood first" in words and "it was taken out" in words


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"pairs_right": 0.61}, "no better than chance"),
        ({"judgements": (98, 99)}, "you took back since"),
        ({"trained_on": 9, "held_out": 2}, "it has seen 11 picks, and needs 30"),
    ],
)
def test_why_it_is_not_used(
    journal: Journal, tmp_path: Path, change: dict[str, object], why: str
) -> None:
    report = replace(REPORTED, judgements=())
    view = read_taste(written(tmp_path, replace(report, **change)), journal)  # type: ignore[arg-type]
    words = said(view)
    assert f"is it used: no: {view.why_not}" in words and why in words
    assert "what it looks for" not in words


def test_a_damaged_file_is_told(journal: Journal, tmp_path: Path) -> None:
    (tmp_path / TASTE).write_bytes(b"no")
    assert "is no whole safetensors file" in said(read_taste(tmp_path, journal))


def test_a_report_comes_back_as_it_was() -> None:
    assert TasteReport.from_json(REPORTED.to_json()) == REPORTED
    row = json.loads(REPORTED.to_json()) | {"of_a_newer_vidya": 1}
    assert TasteReport.from_json(json.dumps(row)).unknown == {"of_a_newer_vidya": 1}


def test_a_taste_that_may_be_a_length_says_so(journal: Journal, tmp_path: Path) -> None:
    length = replace(REPORTED, length_right=0.8, length_error=0.05, beyond_length=0.01)
    words = said(read_taste(written(tmp_path, replace(length, beyond_error=0.03)), journal))
    assert "the length of answers alone orders 80 %: it may have learned the length" in words
    assert "length of answers alone" not in said(read_taste(written(tmp_path, REPORTED), journal))
