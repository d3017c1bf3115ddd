"""bench practice_learning: which tasks it practises and how, and the criterion of detective."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks import BenchOptions
from benchmarks.practising import practice_learning
from benchmarks.practising.practice_learning import PLANS, Plan, met, run
from engine.errors import DataError, NotFound, VidyaError
from engine.model import Model
from learning.practice.trained import LowRank

DETECTIVE = next(plan for plan in PLANS if plan.task == "detective")
MET: dict[str, Any] = {
    "accuracy_warm": 0.40,
    "accuracy_after": 0.85,
    "before": {"book_recall": 1.0, "talk_nll": 3.0},
    "after": {"book_recall": 0.98, "talk_nll": 3.15},
}


def test_the_criterion_of_detective() -> None:
    assert DETECTIVE.criterion == (0.40, 0.85)
    assert met(DETECTIVE, MET)
    for worse in (
        {"accuracy_warm": None},
        {"accuracy_warm": 0.41},
        {"accuracy_after": 0.845},
        {"after": {"book_recall": 0.97, "talk_nll": 3.0}},
        {"after": {"book_recall": 1.0, "talk_nll": 3.16}},
    ):
        assert not met(DETECTIVE, MET | worse), worse
    with pytest.raises(ValueError, match="syllogism"):
        met(Plan("syllogism"), MET)


def test_a_task_that_was_too_hard_counts_with_what_its_warm_up_left() -> None:
    hard = MET | {"task": "detective", "accuracy_warm": None, "accuracy_after": 0.2}
    easy = MET | {"task": "detective"}
    _, seeds, warm, after, gain, *_ = practice_learning._over_seeds("detective", [hard, easy])
    assert (seeds, warm, after, gain) == (2, "30.0 ± 14.1", "52.5 ± 46.0", "22.5 ± 31.8")


def practised(
    monkeypatch: pytest.MonkeyPatch, folder: Path, model: str | None = None
) -> tuple[list[str], str]:
    """The tasks of a run in which nothing is practised, and its report."""

    def practise(_: Path, plan: Plan, seed: int, *__: object) -> dict[str, Any]:
        more = {"warm_up_steps": 9, "steps": 9, "seconds": 9.0, "processor": 9.0, "looks": []}
        kept = {"ended": "steps", "held_out": 9, "talk_source": "talk", "difficulty": {}}
        return {"task": plan.task, "seed": seed, "accuracy_before": 0.0, **MET, **more, **kept}

    class Store:
        def __init__(self, _: object) -> None: ...

        def resolve(self, _: str) -> Path:
            return folder

    monkeypatch.setattr(practice_learning, "_practise", practise)
    monkeypatch.setattr(practice_learning, "ModelStore", Store)
    monkeypatch.setattr(practice_learning, "fingerprint_of", lambda _: "5c")
    monkeypatch.setattr("benchmarks.common.scratch._bring", lambda *_: model or "10m")
    options = BenchOptions(folder, model=model, seeds=(0, 1, 2), out=folder)
    found = run(options)
    assert {one["fingerprint"] for one in found["runs"]} == {"5c"}
    name = "practice_learning" if model is None else f"practice_learning_{model}"
    report = (folder / f"{name}.md").read_text("utf-8")
    return list(dict.fromkeys(one["task"] for one in found["runs"])), report


def test_detective_is_practised_where_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VIDYA_TASKS", raising=False)
    usual, report = practised(monkeypatch, tmp_path)
    assert usual == ["syllogism", "chain_sum", "propositional_logic"]
    assert "Criterion" not in report
    monkeypatch.setenv("VIDYA_TASKS", "detective")
    alone, report = practised(monkeypatch, tmp_path, "49m")
    assert alone == ["detective"], "another model has a table of its own"
    assert "Criterion for `detective`, written before any run" in report
    assert "from 40% or less after warm-up to 85% or more" in report
    assert "Met in 3 of 3 seeds (0, 1, 2)." in report
    assert "VIDYA_TASKS=detective vidya bench" in report
    monkeypatch.setenv("VIDYA_TASKS", "chain_sum")
    both, report = practised(monkeypatch, tmp_path, "49m")
    assert both == ["detective", "chain_sum"]
    assert all(f"    VIDYA_TASKS={task} vidya bench" in report for task in both)
    monkeypatch.setenv("VIDYA_TASKS", "detectiv")
    with pytest.raises(NotFound, match="detectiv"):
        practised(monkeypatch, tmp_path)


def test_a_quick_run_does_not_stand_for_a_full_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIDYA_TASKS", "chain_sum")
    monkeypatch.setenv("VIDYA_PRACTICE_OPTIONS", "groups=7 group_size=5")
    _, report = practised(monkeypatch, tmp_path)
    assert "7 problems a step, 5 answers to each" in report
    file = tmp_path / "practice_learning.json"
    quick = json.loads(file.read_text("utf-8")) | {"quick": True}
    quick["runs"][0]["seconds"] = 1.0
    file.write_text(json.dumps(quick))
    practised(monkeypatch, tmp_path)
    runs = json.loads(file.read_text("utf-8"))["runs"]
    assert [run["seconds"] for run in runs] == [9.0] * 3


def test_a_short_run_does_not_stand_for_a_full_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A result from before the minutes were told counts as one of 60."""
    monkeypatch.setenv("VIDYA_TASKS", "chain_sum")
    practised(monkeypatch, tmp_path)
    file = tmp_path / "practice_learning.json"
    old = json.loads(file.read_text("utf-8"))
    del old["minutes"]
    old["runs"] = [one | {"seconds": 1.0} for one in old["runs"]]
    file.write_text(json.dumps(old))
    monkeypatch.setenv("VIDYA_MINUTES", "60")
    practised(monkeypatch, tmp_path)
    runs = json.loads(file.read_text("utf-8"))["runs"]
    assert [run["seconds"] for run in runs] == [1.0] * 3
    monkeypatch.setenv("VIDYA_MINUTES", "5")
    with pytest.raises(DataError, match="another VIDYA_MINUTES;"):
        practised(monkeypatch, tmp_path)
    (tmp_path / "short").mkdir()
    _, report = practised(monkeypatch, tmp_path / "short")
    assert "VIDYA_TASKS=chain_sum VIDYA_MINUTES=5 vidya bench" in report


@pytest.mark.slow
def test_a_run_with_options_practises_adapters_and_resumes_only_with_the_same_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[bool] = []
    trained = practice_learning.trained_weights

    def seen(model: Model, *more: object) -> object:
        found = trained(model, *more)  # type: ignore[arg-type]
        used.append(isinstance(found, LowRank))
        return found

    monkeypatch.setattr(practice_learning, "trained_weights", seen)
    monkeypatch.setenv("VIDYA_TASKS", "chain_sum")
    monkeypatch.setenv("VIDYA_PRACTICE_OPTIONS", "adapter.at=0 warm_up.enough=1")
    options = BenchOptions(tmp_path, out=tmp_path / "out", quick=True)
    (run,) = practice_learning.run(options)["runs"]
    assert used == [True] and run["warm_up_steps"] == 1 and run["accuracy_after"] is not None
    assert practice_learning.run(options)["runs"] == json.loads(json.dumps([run])) and used == [
        True
    ]
    told = (tmp_path / "out" / "practice_learning.md").read_text("utf-8")
    assert "VIDYA_PRACTICE_OPTIONS='adapter.at=0 warm_up.enough=1' vidya bench" in told
    monkeypatch.delenv("VIDYA_PRACTICE_OPTIONS")
    with pytest.raises(DataError, match="another VIDYA_PRACTICE_OPTIONS;"):
        practice_learning.run(options)
    practice_learning.run(replace(options, out=tmp_path / "usual"))
    assert used == [True, False], "a run with other options counts for itself"


def test_an_unknown_option_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIDYA_PRACTICE_OPTIONS", "speed=9")
    with pytest.raises(VidyaError, match="speed"):
        practice_learning.run(BenchOptions(tmp_path, quick=True))
