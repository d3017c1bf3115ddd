"""The made-up learner behaves as a ladder should, and the report counts rightly."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks import BenchOptions
from benchmarks.common.weights import fingerprint_of
from benchmarks.practising import curriculum
from benchmarks.practising.curriculum import ARMS, LADDER, Missing, _choice, end, rollouts_to, run
from benchmarks.practising.curriculum_made import MadeLearner
from engine.errors import NotFound


def test_the_made_up_learner_gains_only_where_answers_differ() -> None:
    learner, rng = MadeLearner(8), random.Random(0)
    before = learner.success()
    assert before == sorted(before, reverse=True) and before[0] == pytest.approx(0.198, abs=1e-3)
    for _ in range(50):
        learner.practise([7], rng)  # far too hard
    assert learner.success()[7] < 0.001 and learner.rollouts == 200
    for _ in range(200):
        learner.practise([0], rng)
    now = learner.success()
    assert now[0] > 0.6 and now[1] > 2 * before[1], "and a little beside it"


def test_the_quick_run_has_every_arm_and_resumes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = BenchOptions(home=tmp_path / "home", quick=True, out=tmp_path, seeds=(0,))
    monkeypatch.setenv("VIDYA_CURRICULUM_ARMS", "uniform,SEC")
    assert len(run(options)["rows"]) == 2
    command = "VIDYA_CURRICULUM_ARMS=uniform,SEC vidya bench curriculum"
    assert command in (tmp_path / "curriculum.md").read_text("utf-8")
    monkeypatch.delenv("VIDYA_CURRICULUM_ARMS")
    result = run(options)
    assert [row["arm"] for row in result["rows"]] == list(ARMS)
    text = (tmp_path / "curriculum.md").read_text("utf-8")
    ran = [command, "vidya bench curriculum"]
    later = " --quick --out benchmarks/results"
    assert "".join(f"    {line}{later}\n" for line in ran) in text, "the commands of both runs"
    assert "0.67 of uniform's rollouts" in text and "hardest first" in text
    assert json.loads((tmp_path / "curriculum.json").read_text("utf-8"))["rows"] == result["rows"]
    monkeypatch.setenv("VIDYA_CURRICULUM_ARMS", "best")
    with pytest.raises(NotFound, match="best"):
        run(options)


def test_a_quick_run_does_not_stand_for_a_full_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIDYA_CURRICULUM_ARMS", "uniform")
    run(BenchOptions(tmp_path, quick=True, out=tmp_path))
    missing: list[str] = []

    def made(_: BenchOptions, of_seed: Missing) -> Iterator[dict[str, Any]]:
        missing.extend(of_seed(0))
        return iter([])

    monkeypatch.setattr(curriculum, "_made", made)
    run(BenchOptions(tmp_path, quick=True, out=tmp_path))
    assert missing == []
    run(BenchOptions(tmp_path, out=tmp_path))
    assert missing == ["uniform"]


def test_a_run_ends_with_the_mean_of_its_last_looks() -> None:
    curve = [{"accuracy": one} for one in (0.9, 0.1, 0.2, 0.3)]
    assert end(curve) == pytest.approx(0.2)
    assert end(curve[:1]) == 0.9, "of a run with fewer looks, of those"


def test_only_rows_of_a_real_model_tell_its_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def row(*_: object) -> Iterator[dict[str, Any]]:
        look = {"rollouts": 0, "accuracy": 0.5, "levels": [0.5] * len(LADDER)}
        yield {"arm": "uniform", "seed": 0, "warm_up": 1, "curve": [look], "book": 1.0}

    monkeypatch.setattr(curriculum, "_made", row)
    monkeypatch.setattr(curriculum, "_sums", row)
    options = BenchOptions(tmp_path, out=tmp_path)
    found = {}
    for part in ("made", "sums"):
        monkeypatch.setenv("VIDYA_CURRICULUM_PART", part)
        (measured,) = run(options)["rows"]
        found[part] = measured.get("fingerprint")
    assert found == {"made": None, "sums": fingerprint_of(options)}


def test_the_control_begins_with_the_hardest_level() -> None:
    choice, order = _choice("hardest first")
    assert order[int(choice.probabilities().argmax())] == len(LADDER) - 1


def test_rollouts_count_to_the_first_look_that_is_good_enough() -> None:
    curve = [{"rollouts": 10 * n, "accuracy": 0.2 * n} for n in range(4)]
    assert rollouts_to(curve, 0.4) == 20
    assert rollouts_to(curve, 0.7) is None
