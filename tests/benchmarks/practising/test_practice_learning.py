"""bench practice_learning: which tasks it practises, and the criterion of detective."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks import BenchOptions
from benchmarks.practising import practice_learning
from benchmarks.practising.practice_learning import PLANS, Plan, met, run

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


def practised(
    monkeypatch: pytest.MonkeyPatch, folder: Path, model: str | None = None
) -> tuple[list[str], str]:
    """The tasks of a run in which nothing is practised, and its report."""

    def practise(_: Path, plan: Plan, seed: int, __: BenchOptions) -> dict[str, Any]:
        more = {"warm_up_steps": 9, "steps": 9, "seconds": 9.0, "processor": 9.0, "looks": []}
        kept = {"ended": "steps", "held_out": 9, "talk_source": "talk", "difficulty": {}}
        return {"task": plan.task, "seed": seed, "accuracy_before": 0.0, **MET, **more, **kept}

    class Store:
        def __init__(self, _: object) -> None: ...

        def resolve(self, _: str) -> Path:
            return folder

    monkeypatch.setattr(practice_learning, "_practise", practise)
    monkeypatch.setattr(practice_learning, "ModelStore", Store)
    monkeypatch.setattr("benchmarks.common.scratch._bring", lambda *_: model or "10m")
    options = BenchOptions(folder, model=model, seeds=(0, 1, 2), out=folder)
    found = run(options)
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
