from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from benchmarks import FOLDER
from benchmarks.common.report import (
    NOT_KEPT,
    commands_of,
    earlier,
    machine,
    machine_words,
    median,
    percentile,
    spread,
    table,
    write,
)
from engine.errors import DataError


@pytest.mark.parametrize(
    ("share", "expected"), [(0.0, 15), (0.05, 15), (0.3, 20), (0.4, 20), (0.5, 35), (1.0, 50)]
)
def test_percentiles_by_nearest_rank(share: float, expected: float) -> None:
    # the worked example of the nearest-rank method: 15, 20, 35, 40, 50
    assert percentile([50, 20, 15, 40, 35], share) == expected


def test_the_99th_of_600_is_the_594th() -> None:
    values = [float(n) for n in range(600, 0, -1)]
    assert percentile(values, 0.99) == 594.0
    assert spread(values) == {"count": 600, "p50": 300.0, "p95": 570.0, "p99": 594.0, "max": 600.0}


@pytest.mark.parametrize(("values", "share"), [([], 0.5), ([1.0], 1.5), ([1.0], -0.1)])
def test_no_percentile_of_nothing(values: list[float], share: float) -> None:
    with pytest.raises(ValueError):
        percentile(values, share)


def test_the_spread_of_nothing_is_a_count() -> None:
    assert spread([]) == {"count": 0}


def test_the_median_is_a_measured_value() -> None:
    assert median([4.0, 1.0, 3.0, 2.0]) == 2.0


def test_a_table_is_markdown() -> None:
    made = table(
        ["a|b", "n"], [["x", 12.3456], ["two\nlines", None], ["big", 12345.6], ["ok", True]]
    )
    assert made.split("\n") == [
        "| a\\|b | n |",
        "| --- | --- |",
        "| x | 12.3 |",
        "| two lines | \u2013 |",
        "| big | 12,346 |",
        "| ok | yes |",
    ]


def test_numbers_that_are_none_are_a_dash() -> None:
    assert table(["n"], [[float("nan")], [float("inf")]]).endswith("| \u2013 |\n| \u2013 |")


def test_the_machine_is_described() -> None:
    found = machine()
    assert found["cores"] >= 1 and found["cpu"] and found["torch"]
    assert len(found["date"]) == 10
    words = machine_words(found)
    assert f"{found['cores']} cores" in words and found["date"] in words


def test_the_table_and_its_numbers_stand_side_by_side(tmp_path: Path) -> None:
    result = {"machine": machine(), "value": 1.25}
    write(tmp_path / "new", "speed", "How fast", "vidya bench speed", ["All of it."], result)
    text = (tmp_path / "new" / "speed.md").read_text("utf-8")
    assert text.startswith("# How fast\n\n    vidya bench speed\n\n")
    assert machine_words(result["machine"]) in text and text.endswith("All of it.\n")  # type: ignore[arg-type]
    assert json.loads((tmp_path / "new" / "speed.json").read_text("utf-8")) == result


def test_rows_of_several_runs_have_the_commands_of_all(tmp_path: Path) -> None:
    rows = [{}, {"command": "A=1 vidya bench x"}, {"command": "A=2 vidya bench x"}]
    ran = commands_of([*rows, {"command": "A=1 vidya bench x"}])
    assert ran == [NOT_KEPT, "A=1 vidya bench x", "A=2 vidya bench x"]
    where = machine()
    write(tmp_path, "x", "Several", ran, ["All of it."], {"machine": where})
    code = "".join(f"    {line}\n" for line in ran)
    text = (tmp_path / "x.md").read_text("utf-8")
    assert text.startswith(f"# Several\n\n{code}\nThe last run: {machine_words(where)}\n\n")
    write(tmp_path, "x", "One", commands_of(rows[1:2]), [], {"machine": where})
    one = (tmp_path / "x.md").read_text("utf-8")
    assert one == f"# One\n\n    A=1 vidya bench x\n\n{machine_words(where)}\n"


def test_a_report_keeps_what_a_person_wrote_into_it(tmp_path: Path) -> None:
    def measured(value: str) -> str:
        parts = ["A paragraph.", f"## Runs\n\n{value}", f"## Last\n\n{value}"]
        write(tmp_path, "x", "Title", "vidya bench x", parts, {"machine": machine()})
        return (tmp_path / "x.md").read_text("utf-8")

    text = measured("one").replace(
        "## Last", "## What it says\n\n- Good.\n\n## Before\n\nOld.\n\n## Last"
    )
    (tmp_path / "x.md").write_text(text)
    found = measured("two")
    assert found.endswith("## Last\n\ntwo\n\n## What it says\n\n- Good.\n\n## Before\n\nOld.\n")
    assert "one" not in found and found.count("## Last") == 1
    assert measured("two") == found
    with (tmp_path / "x.md").open("ab") as file:
        file.write(b"\xff in another encoding\n")
    assert measured("two").endswith("Old.\n\ufffd in another encoding\n")


def test_results_of_other_settings_are_not_overwritten(tmp_path: Path) -> None:
    write(tmp_path, "x", "t", "c", [], {"machine": machine(), "quick": False, "model": "10m"})
    assert earlier(tmp_path, "x", {"quick": False, "model": "10m"})["model"] == "10m"
    for like, told in (
        ({"quick": True}, "without --quick"),
        ({"quick": True, "model": "49m"}, "without --quick and with another --model"),
        ({"quick": True, "steps": 1}, "without --quick"),
        ({"model": "49m", "seed": 3}, "with another --model and with another --seed"),
        ({"model": "10m", "start": "5c"}, "with other weights or another book"),
        ({"benchmark": "y", "model": "10m"}, "of another benchmark"),
        ({"steps": 3, "pause": 1}, "with another VIDYA_STEPS and with another pause"),
    ):
        with pytest.raises(DataError, match=f"x.json: the results of a run {told};"):
            earlier(tmp_path, "x", like, {"steps": "VIDYA_STEPS"})
    assert earlier(tmp_path, "y", {"quick": True}) == earlier(None, "x", {"quick": True}) == {}


@pytest.fixture
def going_on() -> dict[str, str]:
    """Name -> source of each benchmark that goes on with earlier rows."""
    goes_on = re.compile(r"\bearlier\(|= Rows\(|ReportRows\(")
    files = [file for file in FOLDER.glob("*/*.py") if file.parent.name != "common"]
    texts = {file.stem: file.read_text("utf-8") for file in files}
    found = {name: text for name, text in texts.items() if goes_on.search(text)}
    assert len(found) > 15
    return found


def test_each_benchmark_that_goes_on_with_earlier_rows_tells_the_commands_of_all(
    going_on: dict[str, str],
) -> None:
    tells = re.compile(r"\b(commands_of|ReportRows)\(")
    assert not {name for name, text in going_on.items() if not tells.search(text)}


def test_each_benchmark_that_goes_on_with_earlier_rows_knows_those_of_other_weights(
    going_on: dict[str, str],
) -> None:
    knows = re.compile(r"\b(about_run|about_run_of_stem|fingerprint|fingerprint_of)\(")
    # the first begins with new weights, the second measures its model each time
    needless = {"curriculum_sources", "features"}
    assert {name for name, text in going_on.items() if not knows.search(text)} == needless


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="file"):
        write(tmp_path / "file", "speed", "t", "c", [], {"machine": machine()})
