from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest
from click.testing import CliRunner

import benchmarks
from benchmarks import BENCHMARKS, WITHOUT_MODEL, BenchOptions, find
from engine.errors import NotFound
from vidya_tui.cli.main import cli

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", sorted(BENCHMARKS))
def test_every_name_is_a_module_that_runs(name: str) -> None:
    # parsed, not imported: a benchmark may bring torch
    (file,) = (ROOT / "benchmarks").rglob(f"{name}.py")
    tree = ast.parse(file.read_text("utf-8"))
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert [argument.arg for argument in functions["run"].args.args] == ["options"]


@pytest.mark.parametrize("name", sorted(BENCHMARKS))
def test_what_it_measures_fits_on_a_line(name: str) -> None:
    assert re.fullmatch(r"[a-z0-9_]+", name)
    assert "\n" not in BENCHMARKS[name] and len(BENCHMARKS[name]) <= 88


@pytest.mark.parametrize("name", sorted(BENCHMARKS))
def test_a_benchmark_uses_the_model_that_is_given_or_refuses_one(name: str) -> None:
    (file,) = (ROOT / "benchmarks").rglob(f"{name}.py")
    hands_on = (
        r"options\.model\b|(scratch_home|start_folder|about_run|taught_place|openings)\(.*options"
    )
    uses = re.search(hands_on, file.read_text("utf-8"))
    assert bool(uses) != (name in WITHOUT_MODEL)


def test_an_unknown_name_lists_those_there_are() -> None:
    with pytest.raises(NotFound, match="'speed' does not exist") as raised:
        find("speed")
    assert "latency" in str(raised.value)


def test_a_name_cannot_reach_outside_the_table() -> None:
    with pytest.raises(NotFound):
        find("report")


def test_the_options_are_frozen(tmp_path: Path) -> None:
    options = BenchOptions(tmp_path)
    with pytest.raises(FrozenInstanceError):
        options.quick = True  # type: ignore[misc]
    assert (options.seeds, options.quick, options.out, options.model) == ((0,), False, None, None)


def test_the_registry_is_light() -> None:
    loaded = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys, benchmarks, benchmarks.common.report; print(*sys.modules)",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert not {"torch", "textual", "numpy"} & set(loaded)


def test_the_package_is_installed_with_its_data() -> None:
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]
    assert "benchmarks*" in tools["setuptools"]["packages"]["find"]["include"]
    assert tools["setuptools"]["package-data"]["benchmarks"] == ["data/*"]
    assert "benchmarks" in tools["mypy"]["files"]


# ---------------------------------------------------------------- the command


def fake(monkeypatch: pytest.MonkeyPatch) -> list[BenchOptions]:
    given: list[BenchOptions] = []

    def run(options: BenchOptions) -> dict[str, object]:
        given.append(options)
        options.say("half of it is done")
        return {"benchmark": "latency", "value": 1.5}

    monkeypatch.setattr(benchmarks, "find", lambda name: run)
    return given


def test_bench_prints_one_object_and_the_rest_to_stderr(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    given = fake(monkeypatch)
    command = ["bench", "latency", "--quick", "--out", str(tmp_path / "out"), "--seeds", "2"]
    shared = ["--seed", "7", "--model", "tiny", "--home", str(tmp_path / "home"), "--json"]
    result = CliRunner().invoke(cli, command + shared)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == {"benchmark": "latency", "value": 1.5}
    assert result.stderr == "half of it is done\n"
    (options,) = given
    assert options.home == tmp_path / "home" and options.out == tmp_path / "out"
    assert options.seeds == (7, 8) and options.quick and options.model == "tiny"


def test_the_list_names_every_benchmark() -> None:
    shown = CliRunner().invoke(cli, ["bench", "--list"])
    assert [line.split()[0] for line in shown.stdout.splitlines()] == sorted(BENCHMARKS)
    rows = CliRunner().invoke(cli, ["bench", "--list", "--json"]).stdout.splitlines()
    assert {row["name"]: row["what"] for row in map(json.loads, rows)} == BENCHMARKS


def test_a_model_for_a_benchmark_without_one_is_wrong_usage(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    given = fake(monkeypatch)
    place = ["--home", str(tmp_path)]
    result = CliRunner().invoke(cli, ["bench", "shapes", "--model", "smollm2-135m", *place])
    assert result.exit_code == 2 and not given
    assert "shapes takes no --model; leave it out" in result.stderr
    assert CliRunner().invoke(cli, ["bench", "shapes", *place]).exit_code == 0


def test_bench_without_a_name_is_wrong_usage() -> None:
    assert CliRunner().invoke(cli, ["bench"]).exit_code == 2


def test_an_unknown_benchmark_makes_no_home(tmp_path: Path) -> None:
    home = tmp_path / "home"
    result = CliRunner().invoke(cli, ["bench", "speed", "--home", str(home)])
    assert isinstance(result.exception, NotFound)
    assert not home.exists()
