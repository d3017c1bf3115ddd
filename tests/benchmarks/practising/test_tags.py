"""benchmarks.practising.tags: how many tokens an answer takes, and resuming an interrupted run."""

from __future__ import annotations

from pathlib import Path

import pytest

import benchmarks.practising.tags
from benchmarks import BenchOptions
from benchmarks.practising.tags import ARMS, TASKS, run, worked_tokens
from engine.errors import DataError
from engine.model import Model
from engine.storage.checkpoint import save_model
from engine.tokenizers.load import load_tokenizer
from learning.home import Home
from learning.models.store import SHIPPED
from learning.practice.supply.arms import difficulty, split_arm
from learning.rewards.registry import find_task
from learning.rewards.task import TaskOptions

STATED, COUNTED = "chain_sum worked=stated", "chain_sum"


@pytest.mark.parametrize(
    ("arm", "share"), [*((task, 0.6) for task in (*TASKS, STATED)), (COUNTED, 0.65)]
)
def test_an_answer_takes_six_tenths_of_the_tokens_and_more_where_it_counts(
    arm: str, share: float
) -> None:
    tokenizer, (name, settings) = load_tokenizer(SHIPPED / "10m"), split_arm(arm)
    task = find_task(name, TaskOptions(difficulty=difficulty(settings)))
    text, tokens = (worked_tokens(tokenizer, task, way) for way in ARMS)
    assert 10 < tokens <= share * text


def test_an_interrupted_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[tuple[int, str]] = []

    def measured(_: Path, task: str, seed: int, steps: int, arm: str, _quick: bool) -> object:
        done.append((seed, arm))
        if len(done) == 3:
            raise KeyboardInterrupt
        names = ("worked", "drawn", "warm_up", "warm", "after", "minutes", "gain")
        return dict.fromkeys(names, 0.25)

    monkeypatch.setattr(benchmarks.practising.tags, "_measured", measured)
    monkeypatch.setenv("VIDYA_TASKS", "syllogism")
    options = BenchOptions(tmp_path, seeds=(0, 1), out=tmp_path / "out")
    with pytest.raises(KeyboardInterrupt):
        run(options)
    result = run(options)
    arms = [(seed, arm) for seed in (0, 1) for arm in ARMS]
    assert done == [*arms[:3], *arms[2:]]
    assert len(result["rows"]) == 4 and run(options)["rows"] == result["rows"]
    written = (tmp_path / "out" / "tags.md").read_text()
    assert "| syllogism | tokens | 1 |" in written
    assert "VIDYA_TASKS=syllogism vidya bench tags" in written


def test_results_of_other_weights_or_steps_are_refused(
    tmp_path: Path, tiny_model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("worked", "drawn", "warm_up", "warm", "after", "minutes", "gain")
    monkeypatch.setattr(
        benchmarks.practising.tags, "_measured", lambda *_: dict.fromkeys(names, 0.25)
    )
    monkeypatch.setenv("VIDYA_TASKS", "syllogism")
    folder = Home(tmp_path / "home").models_path / "own"
    save_model(tiny_model, folder)
    options = BenchOptions(tmp_path / "home", model="own", out=tmp_path)
    (mark,) = {row["fingerprint"] for row in run(options)["rows"]}
    assert len(run(options)["rows"]) == len(ARMS), "the same weights: nothing is measured again"
    monkeypatch.setenv("VIDYA_STEPS", "3")
    with pytest.raises(DataError, match=r"tags.json: .* a run with another VIDYA_STEPS;"):
        run(options)
    monkeypatch.delenv("VIDYA_STEPS")
    next(tiny_model.parameters()).data += 1.0
    save_model(tiny_model, folder)
    with pytest.raises(DataError, match="tags.json: has rows of other weights"):
        run(options)
    (tmp_path / "tags.json").rename(tmp_path / "old.json")
    assert {row["fingerprint"] for row in run(options)["rows"]}.isdisjoint({mark})
