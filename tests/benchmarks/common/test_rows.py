"""Rows that a benchmark keeps."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks import BenchOptions
from benchmarks.common.report import NOT_KEPT
from benchmarks.common.rows import (
    FINGERPRINT,
    ReportRows,
    about_run,
    about_run_of_stem,
    check_rows,
)
from benchmarks.common.weights import fingerprint
from engine.errors import DataError
from engine.model import Model
from engine.storage.checkpoint import save_model


def shown(result: dict[str, Any]) -> Iterator[str]:
    yield " ".join(f"{row['arm']}{row['seed']}={row['value']}" for row in result["rows"])


def report(out: Path | None, command: str, *, steps: int = 3) -> ReportRows:
    return ReportRows(out, "worth", {"steps": steps}, command, "What it is worth", shown)


def test_a_report_has_the_rows_of_earlier_runs_and_the_commands_of_all(tmp_path: Path) -> None:
    first = report(tmp_path / "out", "A=1 vidya bench worth")
    assert not first.has(arm="one") and not (tmp_path / "out").exists(), "nothing is written yet"
    first.add({"arm": "one", "seed": 0, "value": 1})
    again = report(tmp_path / "out", "A=2 vidya bench worth")
    assert again.has(arm="one", seed=0) and not again.has(arm="one", seed=1)
    again.add({"arm": "one", "seed": 1, "value": 2}, {"arm": "two", "seed": 1, "value": 3})
    assert [row["value"] for row in again.having(seed=1)] == [2, 3]
    assert again.having(arm="one", other=1) == []
    text = (tmp_path / "out" / "worth.md").read_text("utf-8")
    code = "".join(f"    A={n} vidya bench worth\n" for n in (1, 2))
    assert text.startswith(f"# What it is worth\n\n{code}\nThe last run: ")
    assert text.endswith("\n\none0=1 one1=2 two1=3\n")
    saved = json.loads((tmp_path / "out" / "worth.json").read_text("utf-8"))
    assert saved == again.result and saved["steps"] == 3 and saved["machine"]["cores"] >= 1
    assert [row["command"][:3] for row in saved["rows"]] == ["A=1", "A=2", "A=2"]
    with pytest.raises(DataError, match="another steps"):
        report(tmp_path / "out", "vidya bench worth", steps=4)


def test_a_row_that_is_dropped_stays_in_the_file_until_another_is_added(tmp_path: Path) -> None:
    rows = report(tmp_path, "vidya bench worth")
    rows.add(*({"arm": "one", "seed": seed, "value": seed} for seed in (0, 1)))
    rows.drop(seed=0)
    assert not rows.has(seed=0) and report(tmp_path, "").has(seed=0)
    rows.add({"arm": "two", "seed": 2, "value": 2})
    assert [row["seed"] for row in report(tmp_path, "").rows] == [1, 2]


def test_rows_without_a_command_may_stand_under_another_key(tmp_path: Path) -> None:
    old = {"machine": {}, "runs": [{"arm": "one", "seed": 0}]}
    (tmp_path / "worth.json").write_text(json.dumps(old))
    rows = ReportRows(
        tmp_path, "worth", {"quick": None}, "vidya", "Worth", lambda _: [], key="runs"
    )
    rows.add({"arm": "one", "seed": 1})
    saved = json.loads((tmp_path / "worth.json").read_text("utf-8"))
    assert saved["runs"] == [*old["runs"], {"arm": "one", "seed": 1, "command": "vidya"}]
    assert f"    {NOT_KEPT}\n    vidya\n" in (tmp_path / "worth.md").read_text("utf-8")


def test_without_a_folder_rows_are_in_memory_alone() -> None:
    rows = report(None, "vidya bench worth")
    rows.add({"arm": "one", "seed": 0, "value": 1})
    assert rows.has(arm="one") and rows.result["rows"] == rows.rows


@pytest.mark.parametrize(
    "content",
    [
        *(b'{"rows": [', b"[1]", b'[["steps", 3]]', b"null", b"\xff"),
        *(b'{"steps": 3, "rows": null}', b'{"steps": 3, "rows": {}}', b'{"steps": 3, "rows": [1]}'),
    ],
)
def test_a_damaged_file_is_named_and_stays(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "worth.json"
    file.write_bytes(content)
    with pytest.raises(DataError, match="worth.json: not the results of a benchmark") as caught:
        report(tmp_path, "vidya bench worth")
    assert "move the file away" in caught.value.next_step and file.read_bytes() == content


def test_rows_have_the_numbers_that_a_benchmark_needs(tmp_path: Path) -> None:
    file = tmp_path / "worth.json"
    rows = [{"steps": 1, "bytes": None}, {"steps": 0.5, "bytes": 2, "arm": "one"}]
    check_rows(file, rows, ["steps"], ["bytes"])
    check_rows(file, [])
    for wrong in (
        {"bytes": 1},
        {"steps": 1},
        {"steps": None, "bytes": 1},
        {"steps": 1, "bytes": "1"},
    ):
        with pytest.raises(DataError, match="worth.json: not the results of a benchmark"):
            check_rows(file, [*rows, wrong], ["steps"], ["bytes"])


def test_rows_of_other_weights_under_the_same_name_are_refused_and_stay(tmp_path: Path) -> None:
    def opened(weights: str) -> ReportRows:
        return ReportRows(tmp_path, "worth", {FINGERPRINT: weights}, "vidya", "Worth", shown)

    opened("5c").add({"arm": "one", "seed": 0, "value": 1})
    assert opened("5c").has(arm="one", fingerprint="5c")
    assert FINGERPRINT not in opened("5c").result
    file = tmp_path / "worth.json"
    before = file.read_bytes()
    with pytest.raises(DataError, match=r"worth.json: has rows of other weights than") as caught:
        opened("8b")
    assert "move the file away" in caught.value.next_step and file.read_bytes() == before


def test_rows_that_do_not_tell_their_weights_are_kept_as_they_are(tmp_path: Path) -> None:
    report(tmp_path, "vidya bench worth").add({"arm": "one", "seed": 0, "value": 1})
    json_file, text = tmp_path / "worth.json", tmp_path / "worth.md"
    old = json_file.read_bytes(), text.read_bytes()
    about = {"steps": 3, FINGERPRINT: "5c"}
    again = ReportRows(tmp_path, "worth", about, "vidya", "What it is worth", shown)
    again.result["machine"] = json.loads(old[0])["machine"]
    again.add()
    assert (json_file.read_bytes(), text.read_bytes()) == old, "written anew, without new rows"
    again.add({"arm": "two", "seed": 0, "value": 2})
    kept, new = json.loads(json_file.read_bytes())["rows"]
    assert kept == json.loads(old[0])["rows"][0] and new[FINGERPRINT] == "5c"


def test_results_say_which_run_they_are_of(tmp_path: Path, tiny_model: Model) -> None:
    options = BenchOptions(tmp_path, quick=True)
    said = {"benchmark": "worth", "quick": True, "model": "10m"}
    about = about_run(options, "worth")
    assert about == said | {FINGERPRINT: about[FINGERPRINT]} and len(about[FINGERPRINT]) == 12
    save_model(tiny_model, tmp_path / "own")
    other = replace(options, model=str(tmp_path / "own"))
    own = fingerprint(tmp_path / "own" / "model.safetensors")
    assert about_run(other, "worth") == said | {"model": "own", FINGERPRINT: own}
    assert own != about[FINGERPRINT]
    named = {"benchmark": "worth", FINGERPRINT: own}
    assert about_run_of_stem(other, "worth") == named | {"quick": True}
    assert about_run_of_stem(replace(other, quick=False), "worth") == named
