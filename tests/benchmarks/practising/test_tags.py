"""benchmarks.practising.tags: how many tokens an answer takes, and resuming an interrupted run."""

from __future__ import annotations

from pathlib import Path

import pytest

import benchmarks.practising.tags
from benchmarks import BenchOptions
from benchmarks.practising.tags import ARMS, TASKS, run, worked_tokens
from engine.tokenizers.load import load_tokenizer
from learning.models.store import SHIPPED


@pytest.mark.parametrize("task", [*TASKS, "chain_sum"])
def test_an_answer_takes_six_tenths_of_the_tokens_or_less(task: str) -> None:
    tokenizer = load_tokenizer(SHIPPED / "10m")
    text, tokens = (worked_tokens(tokenizer, task, arm) for arm in ARMS)
    assert 10 < tokens <= 0.6 * text


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
