"""The quick run has every arm and resumes, and the report counts tokens rightly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import BenchOptions
from benchmarks.practising import curriculum_sources
from benchmarks.practising.curriculum import run
from benchmarks.practising.curriculum_sources import ARMS, SETTINGS, parts, tokens_to
from engine.errors import DataError, NotFound


def look(tokens: int, hard: float, middle: float, easy: float) -> dict[str, Any]:
    sources = {"a": hard, "b": middle, "c": easy}
    return {"tokens": tokens, "bits": round((hard + middle + easy) / 3, 4), "sources": sources}


def row(arm: str, *curve: dict[str, Any]) -> dict[str, Any]:
    more = {"shares": {"a": 0.5}, "measuring": 0.07, "seconds": 3.0}
    return {"arm": arm, "seed": 0, "curve": list(curve), **more}


def test_tokens_are_those_on_the_line_between_two_looks() -> None:
    curve = [look(0, 9.0, 9.0, 9.0), look(100, 5.0, 5.0, 5.0), look(200, 3.0, 3.0, 3.0)]
    assert tokens_to(curve, 4.0) == pytest.approx(150.0)
    assert tokens_to(curve, 7.0) == pytest.approx(50.0)
    assert tokens_to(curve, 9.0) == 0.0
    assert tokens_to(curve, 2.9) is None


def test_the_report_compares_with_uniform_of_the_same_seed() -> None:
    uniform = row("uniform", look(0, 9.0, 9.0, 9.0), look(100, 5.0, 4.0, 3.0))
    better = row("SEC", look(0, 9.0, 9.0, 9.0), look(50, 5.0, 4.0, 3.0), look(100, 4.0, 3.6, 3.3))
    worse = row("Exp3", look(0, 9.0, 9.0, 9.0), look(100, 5.5, 4.5, 3.5))
    rows = [uniform, better, worse]
    told = {"rows": rows, "tokens": 100, "quick": False, "sources": {"a": {}, "b": {}, "c": {}}}
    text = "\n".join(parts(told))
    assert "| uniform | 1 | 1.00 (1 of 1) | 4.000 | 0.000 |" in text
    assert "| SEC | 1 | 0.50 (1 of 1) | 3.633 | -0.700 |" in text, "the hardest two: a and b"
    assert "| Exp3 | 1 | never (0 of 1) | 4.500 | 0.500 |" in text
    assert "| 0 | SEC | 4.000 (50 %) | 3.600 | 3.300 |" in text


def corpus(folder: Path) -> Path:
    folder.mkdir()
    for name, words in (("plain", "good day to you"), ("sums", "one and two are three")):
        texts = (
            {"text": f"{number**3} {words} {number}", "source": str(number)}
            for number in range(600)
        )
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, texts)))
    return folder


def test_the_quick_run_has_every_arm_and_resumes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = BenchOptions(home=tmp_path / "home", quick=True, out=tmp_path, seeds=(0,))
    monkeypatch.setenv("VIDYA_CURRICULUM_PART", "sources")
    monkeypatch.delenv("VIDYA_CORPUS", raising=False)
    with pytest.raises(DataError, match="VIDYA_CORPUS"):
        run(options)
    monkeypatch.setenv("VIDYA_CORPUS", str(corpus(tmp_path / "corpus")))
    monkeypatch.setenv("VIDYA_CURRICULUM_TOKENS", "16")
    monkeypatch.setenv("VIDYA_CURRICULUM_ARMS", "uniform,SEC")
    first = run(options)["rows"]
    assert [one["arm"] for one in first] == ["uniform", "SEC"]
    monkeypatch.delenv("VIDYA_CURRICULUM_ARMS")
    result = run(options)
    assert result["rows"][:2] == first
    others = ["natural", "Exp3", "learning progress"]
    assert [one["arm"] for one in result["rows"]] == ["uniform", "SEC", *others]
    assert {"uniform", "SEC", *others} == set(ARMS)
    for one in result["rows"]:
        assert set(one["curve"][0]["sources"]) == {"plain", "sums"}, "each file is a source"
        assert [each["tokens"] for each in one["curve"]] == [0, 8192, 16384]
        assert one["curve"][0] == first[0]["curve"][0], "all begin with the same weights"
    by_arm = {one["arm"]: one for one in result["rows"]}
    assert by_arm["natural"]["shares"] == {} and by_arm["natural"]["measuring"] == 0.0
    assert sum(by_arm["Exp3"]["shares"].values()) == pytest.approx(1.0, abs=1e-3)
    assert by_arm["SEC"]["measuring"] > 0.0 and any(by_arm["SEC"]["values"].values())
    assert SETTINGS.step_tokens == 4096
    text = (tmp_path / "curriculum_sources.md").read_text("utf-8")
    assert "VIDYA_CURRICULUM_PART=sources" in text and "VIDYA_CORPUS=FOLDER vidya bench" in text
    assert "0.67 of uniform's tokens" in text and "not to be quoted" in text
    kept = json.loads((tmp_path / "curriculum_sources.json").read_text("utf-8"))
    assert kept["rows"] == result["rows"]
    monkeypatch.setenv("VIDYA_CURRICULUM_ARMS", "best")
    with pytest.raises(NotFound, match="best"):
        run(options)


def test_runs_on_another_corpus_do_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def trained(_: object, __: object, arm: str, seed: int, *___: object) -> dict[str, Any]:
        used.append(arm)
        return row(arm, look(100, 9.0, 9.0, 9.0)) | {"seed": seed}

    used = list[str]()
    monkeypatch.setattr(curriculum_sources, "_trained", trained)
    monkeypatch.setenv("VIDYA_CURRICULUM_PART", "sources")
    monkeypatch.setenv("VIDYA_CURRICULUM_ARMS", "uniform")
    folder = corpus(tmp_path / "corpus")
    monkeypatch.setenv("VIDYA_CORPUS", str(folder))
    options = BenchOptions(home=tmp_path / "home", quick=True, out=tmp_path, seeds=(0,))
    run(options)
    run(options)
    assert used == ["uniform"], "the same corpus"
    (folder / "more.jsonl").write_text(json.dumps({"text": "a third source"}))
    with pytest.raises(DataError, match="another VIDYA_CORPUS;"):
        run(options)
    assert used == ["uniform"]
