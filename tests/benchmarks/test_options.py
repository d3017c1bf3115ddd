"""benchmarks.BenchOptions: the command that makes a report again."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import BenchOptions


def test_the_command_in_a_report_is_the_one_that_was_run(tmp_path: Path) -> None:
    plain = BenchOptions(tmp_path)
    assert plain.command("talk") == "vidya bench talk --out benchmarks/results"
    quick = BenchOptions(tmp_path, model="m", quick=True, seeds=(0, 1, 2))
    assert quick.command("collapse", seeded=True) == (
        "vidya bench collapse --quick --model m --out benchmarks/results"
    )
    whole = BenchOptions(tmp_path, seeds=(0, 1, 2))
    assert whole.command("collapse", seeded=True) == (
        "vidya bench collapse --seeds 3 --out benchmarks/results"
    )
    later = BenchOptions(tmp_path, seeds=(2, 3))
    assert later.command("tools", seeded=True) == (
        "vidya bench tools --seed 2 --seeds 2 --out benchmarks/results"
    )


def test_the_variables_that_are_set_stand_before_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    variables = ("VIDYA_CREDIT_PART", "VIDYA_STEPS", "VIDYA_TASKS", "VIDYA_CORPUS", "VIDYA_GSM8K")
    for name in variables:
        monkeypatch.delenv(name, raising=False)
    options = BenchOptions(tmp_path)
    assert options.command("credit", variables=variables) == options.command("credit")
    monkeypatch.setenv("VIDYA_CREDIT_PART", "slow rewards")
    monkeypatch.setenv("VIDYA_STEPS", " 3 ")
    monkeypatch.setenv("VIDYA_TASKS", " ")
    monkeypatch.setenv("VIDYA_CORPUS", str(tmp_path))
    monkeypatch.setenv("VIDYA_GSM8K", str(tmp_path / "train.jsonl"))
    assert options.command("credit", variables=variables) == (
        "VIDYA_CREDIT_PART='slow rewards' VIDYA_STEPS=3 VIDYA_CORPUS=FOLDER VIDYA_GSM8K=FOLDER "
        "vidya bench credit --out benchmarks/results"
    )
