"""Every arm of self-play is measured once, and the report has what the criterion asks for."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import BenchOptions
from benchmarks.practising.self_play import ARMS, CRITERION, gain, mean_size, parts, run
from engine.errors import NotFound


@pytest.mark.slow
def test_the_quick_run_has_every_arm_and_resumes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = BenchOptions(home=tmp_path / "home", quick=True, out=tmp_path, seeds=(0,))
    monkeypatch.setenv("VIDYA_SELF_PLAY_ARMS", "learnability")
    [first] = run(options)["rows"]
    command = "VIDYA_SELF_PLAY_ARMS=learnability vidya bench self_play"
    assert command in (tmp_path / "self_play.md").read_text("utf-8")
    assert first["curve"][-1]["step"] == 1 and first["asked"][0]["valid"] >= 0.0
    monkeypatch.delenv("VIDYA_SELF_PLAY_ARMS")
    rows = run(options)["rows"]
    assert rows[0] == first and [row["arm"] for row in rows] == list(ARMS)
    assert rows[1]["asked"] is None, "a generator asks nothing of its own"
    assert CRITERION in (tmp_path / "self_play.md").read_text("utf-8")


def test_an_unknown_arm_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIDYA_SELF_PLAY_ARMS", "best")
    with pytest.raises(NotFound, match="best"):
        run(BenchOptions(tmp_path))


def row(arm: str, after: float, right: float) -> dict[str, object]:
    levels = {"2x1": after, "3x2": 0.0}
    curve = [
        {"step": 0, "tokens": 0, "accuracy": 0.1, "levels": {"2x1": 0.1, "3x2": 0.0}},
        {"step": 60, "tokens": 9000, "accuracy": after, "levels": levels},
    ]
    asked = {"valid": 0.5, "distinct": 0.9, "right": right, "size": 2.0, "levels": {"2x1": 30}}
    own = None if arm == "generator" else [asked, {**asked, "size": 4.5}]
    ends = {"success": [0.1, right], "asked": own, "cpu": 600.0, "book": 1.0, "seed": 0}
    return {"arm": arm, "curve": curve, **ends}


def test_gains_are_compared_with_the_generators() -> None:
    rows = [
        row("learnability", 0.4, 0.5),
        row("generator", 0.5, 0.4),
        row("adversarial", 0.15, 0.0),
    ]
    assert gain(rows[0]) == pytest.approx(0.3)
    report = "\n".join(parts({"rows": rows}))
    assert "| learnability | 1 | 30.0 | 50.0 | 0.75 |" in report
    assert "| adversarial | 1 | 5.0 | 0.0 | 0.125 |" in report
    assert "2.00 → 4.50 | 2x1 30 |" in report


def test_the_size_of_questions_is_terms_times_digits() -> None:
    assert mean_size({"2x1": 3, "4x2": 1}) == pytest.approx((3 * 2 + 8) / 4)
    assert mean_size({}) == 0.0
