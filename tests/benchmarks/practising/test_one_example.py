"""The quick run has every arm and resumes; random rewards ignore the truth; the criterion holds."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import benchmarks.practising.one_example as bench
from benchmarks import RESULTS, BenchOptions
from benchmarks.common.pupil import Pupil
from benchmarks.practising.one_example import ARMS, CRITERION, ORDERS, arms, by_coin, run
from benchmarks.practising.one_example_report import reproduced, tables
from engine.errors import NotFound
from engine.model import Model
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.examples import from_turns
from learning.rewards.registry import find_task
from learning.rewards.task import TaskOptions
from learning.rewards.verifiers.verified import VerifiedTask

EXAMPLES = {"varied": [7, 3, 12], "chance": [0, 1]}


def test_random_rewards_ignore_the_truth_and_the_form_but_held_out_problems_do_not() -> None:
    task = find_task("chain_sum", TaskOptions(needs_field=True))
    assert isinstance(task, VerifiedTask)
    paid = by_coin(task, 3)
    train, held_out = (
        next(task.problems(split, random.Random(0))) for split in ("train", "held_out")
    )
    answers = [str(train.worked), "no field, and wrong"] * 200
    totals = [score.total for score in paid.score(train, answers)]
    assert set(totals) == {0.0, 1.0}
    assert all(0.4 < sum(own) / 200 < 0.6 for own in (totals[::2], totals[1::2]))
    assert [score.total for score in by_coin(task, 3).score(train, answers)] == totals
    texts = [str(held_out.worked), str(held_out.truth), "<answer>77</answer>"]
    for judge in (task, paid):
        assert [score.success for score in judge.score(held_out, texts)] == [True, False, False]
        assert judge.score(held_out, texts)[0].components["format"] == 1.0


def test_every_arm_draws_as_many_answers_and_controls_are_among_them() -> None:
    found = arms(EXAMPLES)
    few = [arm for arm in found if arm.part == "few"]
    assert {groups * size for groups, size in (arm.shape for arm in found)} == {128}
    assert [arm.example for arm in few if arm.name == "n = 1"] == [7, 3, 12, 0, 1]
    assert [arm.name for arm in few if arm.random_rewards] == [
        "n = 1, random rewards",
        "n = 1000, random rewards",
    ]
    assert {arm.few.examples for arm in found if arm.part == "order"} == {1440}


@pytest.mark.slow
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
    command = "VIDYA_ONE_EXAMPLE_PART=few VIDYA_ONE_EXAMPLE_TASK=propositional_logic vidya bench"
    assert command in (tmp_path / "one_example.md").read_text("utf-8")
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
