"""The quick run has every arm and resumes; random rewards ignore the truth; the criterion holds."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import benchmarks.practising.one_example as bench
from benchmarks import RESULTS, BenchOptions
from benchmarks.practising.one_example import ARMS, CRITERION, ORDERS, RandomRewards, arms, run
from benchmarks.practising.one_example_report import reproduced, tables
from benchmarks.practising.pupil import Pupil
from engine.errors import NotFound
from engine.model import Model
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.examples import from_turns
from tests.sums import Sums

EXAMPLES = {"varied": [7, 3, 12], "chance": [0, 1]}


def test_random_rewards_ignore_the_truth_but_know_it() -> None:
    task = Sums(9)
    [problem] = islice(task.problems("train", random.Random(0)), 1)
    answers = [f"It is {problem.truth}.", "It is 99."] * 200
    paid = RandomRewards(task, 3)
    scores = paid.score(problem, answers)
    assert [score.success for score in scores] == [True, False] * 200
    for own in (scores[::2], scores[1::2]):
        assert 0.4 < sum(score.total for score in own) / 200 < 0.6
        assert {score.total for score in own} == {0.0, 1.0}
    assert RandomRewards(task, 3).score(problem, answers) == scores, "a seed repeats them"
    assert paid.name == "sums" and "coin" in paid.describe()


def test_every_arm_draws_as_many_answers_and_controls_are_among_them() -> None:
    found = arms(EXAMPLES)
    few = [arm for arm in found if arm.part == "few"]
    assert {groups * size for groups, size in (arm.shape for arm in found)} == {128}
    assert [arm.example for arm in few if arm.name == "n = 1"] == [7, 3, 12, 0, 1]
    assert [arm.name for arm in few if arm.by_coin] == [
        "n = 1, random rewards",
        "n = 1000, random rewards",
    ]
    assert {arm.few.examples for arm in found if arm.part == "order"} == {1440}


def test_the_quick_run_has_every_arm_and_resumes(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    tiny_model: Model,
    tiny_tokenizer: Tokenizer,
) -> None:
    @contextmanager
    def scratch(_: BenchOptions) -> Iterator[tuple[object, str]]:
        yield None, "tiny"

    said = [("user", "hello"), ("assistant", "I am well.")]
    line = from_turns(tiny_tokenizer, said, tiny_model.config.context)
    pupil = Pupil(tiny_model, tiny_tokenizer, [line], [])
    monkeypatch.setattr(bench, "scratch_home", scratch)
    monkeypatch.setattr(bench, "ModelStore", lambda _: SimpleNamespace(resolve=Path))
    monkeypatch.setattr(bench.Pupil, "loaded", lambda _: pupil)
    monkeypatch.setenv("VIDYA_ONE_EXAMPLE_TASK", "propositional_logic")
    monkeypatch.setenv("VIDYA_ONE_EXAMPLE_PART", "few")
    told: list[str] = []
    options = BenchOptions(tmp_path, quick=True, out=tmp_path, seeds=(0,), say=told.append)
    assert len(run(options)["rows"]) == 10
    monkeypatch.delenv("VIDYA_ONE_EXAMPLE_PART")
    del told[:]
    result = run(options)
    assert len(result["rows"]) == 15 and len(told) == 6, "a warm-up, then the five orders alone"
    coin = [row for row in result["rows"] if row["arm"].endswith("random rewards")]
    assert all(row["warm_up"] == 1 and row["answers"] == 8 for row in result["rows"]) and coin
    text = (tmp_path / "one_example.md").read_text("utf-8")
    assert CRITERION in text and "## Order: propositional_logic" in text
    assert all(f"| {order} |" in text for order in ORDERS)
    monkeypatch.setenv("VIDYA_ONE_EXAMPLE_PART", "all")
    with pytest.raises(NotFound, match="all"):
        run(options)


def rows(one: float, all_: float, *coin: float, spread: float = 2.0) -> list[dict[str, Any]]:
    """Rows with these mean gains in points, of two runs each."""
    names = ("n = 1", "n = 1000", "n = 1, random rewards", "n = 1000, random rewards")
    return [
        {
            "arm": name,
            "start": {"accuracy": 0.2},
            "end": {"accuracy": 0.2 + (mean + side * spread / 2) / 100},
        }
        for name, mean in zip(names, (one, all_, *coin), strict=False)
        for side in (-1, 1)
    ]


def test_the_criterion() -> None:
    assert reproduced(rows(20, 30, 5, 5)) is True
    assert reproduced(rows(14, 30, 5, 5)) is False, "less than half of the gain"
    assert reproduced(rows(20, 30, 5, 18)) is False, "within two standard errors of a coin's"
    assert reproduced(rows(20, 30, 5, 17)) is True, "20 - 17 > 2 * sqrt(1 + 1)"
    assert reproduced(rows(20, 30, 5)) is None, "an arm is missing"


def test_the_table_of_orders_has_its_variances() -> None:
    made = [
        {
            **{"task": "logic", "part": "order", "arm": order, "seed": seed, "example": None},
            **{"start": {"accuracy": 0.2}, "updates": 30, "answers": 5760, "book": 1.0},
            "end": {"accuracy": 0.3 + 0.1 * at + 0.001 * (seed * at % 3), "format": 1.0},
        }
        for at, order in enumerate(ORDERS)
        for seed in range(3)
    ]
    text = "\n".join(tables({"rows": made}))
    assert "| order | seed 0, % | seed 1, % | seed 2, % | mean, % |" in text
    assert "Share of the order (ICC) 1.00" in text and ", claimed." in text
    assert "claimed" not in "\n".join(tables({"rows": made[:1]})), "nothing to compare yet"


def test_the_criterion_stands_in_the_results_as_it_is_in_the_program() -> None:
    text = (RESULTS / "one_example.md").read_text("utf-8")
    assert CRITERION + ARMS in text
