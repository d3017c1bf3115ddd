"""benchmarks.practising.grpo_variants: the arm without a buffer, and resuming an interrupted run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import benchmarks.practising.grpo_variants
from benchmarks import BenchOptions
from benchmarks.common.pupil import Pupil
from benchmarks.practising.grpo_variants import ARMS, QUICK, Unbuffered, run
from engine.errors import DataError
from engine.model import Model
from engine.tokenizers.tokenizer import Tokenizer
from learning.memory.replay import Replay
from learning.practice.options import with_options
from tests.sums import Sums


def test_every_arm_has_settings_that_exist() -> None:
    assert all(with_options(QUICK, arm.options) for arm in ARMS.values() if arm.buffered)


def test_without_a_buffer_a_step_is_taken_on_what_differs(
    tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    settings = replace(QUICK, groups=6, group_size=4, redraws=0)
    replay = Replay(tiny_model, [], [], [])
    trainer = Unbuffered(tiny_model, tiny_tokenizer, Sums(9), replay, settings, seed=0)
    for _ in range(3):
        report = trainer.step()
        live = report.groups - report.dead_groups - report.unjudged_groups
        assert report.groups == 6 and report.waiting == 0
        assert report.updates == bool(live)


def test_an_interrupted_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[int] = []

    def practised(_p: object, _t: object, _s: object, seed: int, *_: object) -> dict[str, Any]:
        done.append(seed)
        if len(done) == 3:
            raise KeyboardInterrupt
        return {"steps": 5, "updates": 10, "curve": [[0, 0.25], [9, 0.5]], "book": 1.0}

    monkeypatch.setattr(benchmarks.practising.grpo_variants, "_practised", practised)
    monkeypatch.setattr(Pupil, "warmed_up", lambda self, *_: (self, SimpleNamespace(step=1)))
    monkeypatch.setattr(Pupil, "copied", lambda self: self)
    monkeypatch.setenv("VIDYA_TASKS", "syllogism")
    monkeypatch.setenv("VIDYA_VARIANTS", "no buffer, buffer 32")
    options = BenchOptions(tmp_path, seeds=(0, 1), quick=True, out=tmp_path / "out")
    with pytest.raises(KeyboardInterrupt):
        run(options)
    result = run(options)
    assert done == [0, 0, 1, 1, 1]
    assert len(result["rows"]) == 4 and run(options)["rows"] == result["rows"]
    written = (tmp_path / "out" / "grpo_variants.md").read_text("utf-8")
    assert "VIDYA_TASKS=syllogism VIDYA_VARIANTS='no buffer, buffer 32' vidya" in written
    assert "| syllogism | buffer 32 | 2 | 25.0" in written
    full = replace(options, quick=False, out=tmp_path / "full")
    run(full)
    monkeypatch.setenv("VIDYA_TOKENS", "500")
    with pytest.raises(DataError, match="another VIDYA_TOKENS;"):
        run(full)
