"""How many answers are decoded at a time."""

from __future__ import annotations

import pytest
import torch

import engine.rollout
import learning.practice.sampling.rollouts
from engine.model import Model
from engine.tokenizers.tokenizer import Tokenizer
from learning.practice.sampling.rollouts import RolloutSampler
from learning.rewards.task import Problem
from tests.sums import Sums


@pytest.mark.parametrize(
    ("max_tokens", "rows", "most", "at_a_time"),
    [
        (10, 128, 1000, 6),  # all of them: two problems with three answers each
        (10, 4, 1000, 4),
        (10, 128, 40, 4),
        (10, 128, 49, 4),
        (10, 128, 9, 1),  # one row is always decoded
        (100_000, 128, 512, 4),  # no answer is longer than the context of 128 tokens
    ],
)
def test_fewer_rows_are_decoded_where_answers_are_long(
    max_tokens: int,
    rows: int,
    most: int,
    at_a_time: int,
    tiny_model: Model,
    tiny_tokenizer: Tokenizer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert tiny_model.config.context == 128
    sizes: list[int] = []
    cache = engine.rollout.RowCache

    def made(config: object, count: int, *others: object) -> object:
        sizes.append(count)
        return cache(config, count, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(engine.rollout, "RowCache", made)
    monkeypatch.setattr(learning.practice.sampling.rollouts, "MOST", most)
    sampler = RolloutSampler(tiny_tokenizer, Sums(), max_tokens=max_tokens, rows=rows)
    problems = [Problem("1+1=", {}), Problem("2+2=", {})]
    drawn = sampler.draw(tiny_model, problems, 3, torch.Generator().manual_seed(0))
    assert sizes == [at_a_time]
    assert [len(group) for group in drawn.groups] == [3, 3]
