"""benchmarks.BenchOptions: the command that makes a report again."""

from __future__ import annotations

from pathlib import Path

from benchmarks import BenchOptions


def test_the_command_in_a_report_is_the_one_that_was_run(tmp_path: Path) -> None:
    plain = BenchOptions(tmp_path)
    assert plain.command("talk") == "vidya bench talk --out benchmarks/results"
    quick = BenchOptions(tmp_path, model="m", quick=True, seeds=(0, 1, 2))
    assert quick.command("collapse", seeded=True) == (
        "vidya bench collapse --quick --model m --out benchmarks/results"
    )
    whole = BenchOptions(tmp_path, seeds=(0, 1, 2))
    assert whole.command("collapse", seeded=True, corpus=True) == (
        "VIDYA_CORPUS=FOLDER vidya bench collapse --seeds 3 --out benchmarks/results"
    )
    later = BenchOptions(tmp_path, seeds=(2, 3))
    assert later.command("tools", seeded=True) == (
        "vidya bench tools --seed 2 --seeds 2 --out benchmarks/results"
    )
