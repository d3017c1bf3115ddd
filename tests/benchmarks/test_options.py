"""benchmarks.BenchOptions: the command that makes a report again."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks import FOLDER, BenchOptions


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


def test_a_report_names_the_last_part_of_a_models_folder_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in (
        tmp_path / "own talk",
        f"{tmp_path}/own talk/",
        "own talk",
        "./own talk/../own talk",
    ):
        options = BenchOptions(tmp_path, model=str(folder))
        assert options.model_name == "own talk" and options.stem("taste") == "taste_own talk"
        assert options.command("taste") == (
            "vidya bench taste --model 'own talk' --out benchmarks/results"
        )
    assert BenchOptions(tmp_path, model=".").model_name == tmp_path.name
    assert BenchOptions(tmp_path).model_name is None


def test_no_benchmark_reports_a_model_as_it_was_typed() -> None:
    typed = re.compile(r'"model": options\.model\b')
    assert not [f for f in FOLDER.rglob("*.py") if typed.search(f.read_text("utf-8"))]


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
