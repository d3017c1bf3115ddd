"""Ratios start at 1 whatever arithmetic draws; the mismatch tells an error of drawing from rounding."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from engine import precision
from engine.model import Model
from engine.rollout import Rollout
from learning.objectives.grpo import GrpoAnswer, GrpoGroup, GrpoReport, grpo_gradients
from learning.objectives.settings import GrpoSettings
from learning.practice.rereading import Reader
from learning.practice.sampling.buffer import ScoredGroup

SETTINGS = GrpoSettings()
READER = Reader(SETTINGS)


@pytest.fixture(autouse=True)
def rounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Training is in bfloat16 on every machine."""
    monkeypatch.setattr(precision, "fast_dtype", lambda _: torch.bfloat16)


@pytest.fixture
def groups(tiny_model: Model) -> list[ScoredGroup]:
    """Answers drawn by a model that is unsure of every token."""
    prompts = [(5, 6, 7), (8, 9)]
    generator = torch.Generator().manual_seed(0)
    ends = range(376, 10_000)
    drawn = Rollout(tiny_model, prompts, 4, ends=ends, max_tokens=12, generator=generator).answers()
    return [
        ScoredGroup(
            prompt,
            tuple(GrpoAnswer(one.tokens, one.logprobs, 1.0) for one in answers),
            tuple((0.0,) for _ in answers),
        )
        for prompt, answers in zip(prompts, drawn, strict=True)
    ]


def update(model: Model, groups: list[ScoredGroup]) -> GrpoReport:
    """Figures of the first update."""
    plain = [GrpoGroup(group.prompt, group.answers) for group in groups]
    return grpo_gradients(model, plain, replace(SETTINGS, low=1e-4, high=1e-4))


def test_the_first_ratios_are_one(tiny_model: Model, groups: list[ScoredGroup]) -> None:
    assert update(tiny_model, groups).clipped > 0.1, "rounding alone leaves the bounds"
    read = READER.as_trained(tiny_model, groups)
    report = update(tiny_model, read)
    assert report.ratio == pytest.approx(1.0, abs=1e-6) and report.clipped == 0.0
    assert [group.rewards for group in read] == [group.rewards for group in groups]


def test_rounding_is_no_mismatch(tiny_model: Model, groups: list[ScoredGroup]) -> None:
    assert READER.mismatch(tiny_model, groups) < 1e-3
    assert READER.divergence(tiny_model, groups) == pytest.approx(0.0, abs=1e-6)
    assert READER.mismatch(tiny_model, []) == READER.divergence(tiny_model, []) == 0.0


def test_answers_of_other_weights_are_a_mismatch(
    tiny_model: Model, groups: list[ScoredGroup]
) -> None:
    with torch.no_grad():
        tiny_model.embedding.weight.mul_(1.2)
    assert READER.mismatch(tiny_model, groups) > 0.01
    assert READER.divergence(tiny_model, groups) > 1e-4
