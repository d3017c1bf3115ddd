"""engine.sampling against numbers worked by hand."""

from __future__ import annotations

import math

import pytest
import torch

from engine.config import Sampling
from engine.sampling import (
    BLOCK,
    NEVER,
    draw,
    keep_min_p,
    keep_top_k,
    keep_top_p,
    penalise_repetition,
    sample,
    shape_logits,
)

PROBABILITIES = torch.tensor([[0.2, 0.5, 0.05, 0.25]])
LOGITS = PROBABILITIES.log()
PLAIN = Sampling(temperature=1.0, top_p=1.0, repetition_penalty=1.0)


def _kept(logits: torch.Tensor) -> list[int]:
    return (logits[0] > NEVER).nonzero().flatten().tolist()


def test_repetition_penalty_by_hand() -> None:
    logits = torch.tensor([[2.0, -2.0, 3.0], [2.0, -2.0, 3.0]])
    out = penalise_repetition(logits, [[0, 1, 0], []], 2.0)
    assert out.tolist() == [[1.0, -4.0, 3.0], [2.0, -2.0, 3.0]]
    assert logits[0].tolist() == [2.0, -2.0, 3.0]  # the argument is left alone


@pytest.mark.parametrize(
    ("k", "kept"), [(0, [0, 1, 2, 3]), (1, [1]), (2, [1, 3]), (9, [0, 1, 2, 3])]
)
def test_top_k(k: int, kept: list[int]) -> None:
    assert _kept(keep_top_k(LOGITS, k)) == kept


@pytest.mark.parametrize(
    ("p", "kept"), [(0.01, [1]), (0.49, [1]), (0.6, [1, 3]), (0.9, [0, 1, 3]), (1.0, [0, 1, 2, 3])]
)
def test_top_p_keeps_the_smallest_set_that_reaches_p(p: float, kept: list[int]) -> None:
    assert _kept(keep_top_p(LOGITS, p)) == kept


@pytest.mark.parametrize(("p", "kept"), [(0.0, [0, 1, 2, 3]), (0.3, [0, 1, 3]), (0.45, [1, 3])])
def test_min_p(p: float, kept: list[int]) -> None:
    assert _kept(keep_min_p(LOGITS, p)) == kept


def test_temperature_by_hand() -> None:
    # at temperature 1/2 probabilities are squared: .04 .25 .0025 .0625, sum .355
    shaped = shape_logits(LOGITS, [[]], PLAIN, torch.tensor([0.5])).softmax(-1)
    expected = torch.tensor([[0.04, 0.25, 0.0025, 0.0625]]) / 0.355
    torch.testing.assert_close(shaped, expected)


def test_each_row_has_its_temperature() -> None:
    logits = LOGITS.expand(2, -1)
    shaped = shape_logits(logits, [[], []], PLAIN, torch.tensor([1.0, 0.5])).softmax(-1)
    torch.testing.assert_close(shaped[0], PROBABILITIES[0])
    assert shaped[1, 1].item() == pytest.approx(0.25 / 0.355)


def _drawn(logits: torch.Tensor, sampling: Sampling, count: int = 400) -> set[int]:
    ids, _ = draw(logits.expand(count, -1), sampling, torch.Generator().manual_seed(0))
    return set(ids.tolist())


def test_top_p_counts_after_temperature() -> None:
    # at temperature 1/2 the likeliest has 0.704, which alone reaches 0.7; at 1 it has 0.5
    sampling = PLAIN.with_(top_p=0.7)
    assert _drawn(shape_logits(LOGITS, [[]], sampling, torch.tensor([0.5])), sampling) == {1}
    assert _drawn(shape_logits(LOGITS, [[]], sampling, torch.tensor([1.0])), sampling) == {1, 3}


@pytest.mark.parametrize(
    ("cut", "kept"),
    [
        ({"top_p": 0.01}, {1}),
        ({"top_p": 0.9}, {0, 1, 3}),
        ({"top_k": 2}, {1, 3}),
        # of the three likeliest .95 top-p counts shares: .526 + .263 reach .75
        ({"top_k": 3, "top_p": 0.75}, {1, 3}),
        ({"min_p": 0.3}, {0, 1, 3}),
        # top-p counts before min-p: of .5 + .25 alone the first would reach .6
        ({"top_p": 0.6, "min_p": 0.3}, {1, 3}),
        ({}, {0, 1, 2, 3}),
    ],
)
def test_what_is_cut_is_not_drawn(cut: dict[str, float], kept: set[int]) -> None:
    assert _drawn(LOGITS, PLAIN.with_(**cut)) == kept


@pytest.mark.parametrize("cut", [{"top_p": 0.6}, {"top_k": 2}, {"min_p": 0.45}, {"top_p": 0.001}])
def test_log_probabilities_are_those_before_the_cut(cut: dict[str, float]) -> None:
    logits = LOGITS.expand(300, -1) + 3.0
    ids, logprobs = draw(logits, PLAIN.with_(**cut), torch.Generator().manual_seed(0))
    torch.testing.assert_close(logprobs, LOGITS[0, ids])


@pytest.mark.parametrize("p", [0.02, 0.4, 0.9, 0.99])
@pytest.mark.parametrize(
    "size", [BLOCK - 1, BLOCK, pytest.param(3 * BLOCK + 7, marks=pytest.mark.slow)]
)
def test_draws_follow_what_top_p_keeps(p: float, size: int) -> None:
    logits = torch.randn(1, size, generator=torch.Generator().manual_seed(1)) * 2
    ids, _ = sample(logits.expand(40_000, -1), torch.Generator().manual_seed(2), p)
    shares = torch.bincount(ids, minlength=size) / len(ids)
    expected = keep_top_p(logits, p).softmax(-1)[0]
    assert set(ids.tolist()) <= set(expected.nonzero().flatten().tolist())
    torch.testing.assert_close(shares, expected, atol=0.012, rtol=0)


def test_each_row_is_drawn_from_its_own_distribution() -> None:
    # what is drawn again of one row leaves the others as they are
    logits = torch.full((3, 200), NEVER)
    logits[0, :100], logits[1, 150], logits[2, [10, 190]] = 0.0, 0.0, torch.tensor([4.0, 0.0])
    seen: list[set[int]] = [set(), set(), set()]
    generator = torch.Generator().manual_seed(0)
    for _ in range(300):
        for row, token in enumerate(sample(logits, generator, 0.9)[0].tolist()):
            seen[row].add(token)
    assert len(seen[0]) > 80 and seen[1:] == [{150}, {10}]


def test_draws_follow_the_distribution_and_report_it() -> None:
    generator = torch.Generator().manual_seed(0)
    ids, logprobs = sample(LOGITS.expand(20_000, -1), generator)
    shares = torch.bincount(ids, minlength=4) / 20_000
    torch.testing.assert_close(shares, PROBABILITIES[0], atol=0.015, rtol=0)
    torch.testing.assert_close(logprobs, LOGITS[0, ids])


def test_dropped_tokens_are_never_drawn_and_the_rest_is_renormalised() -> None:
    ids, logprobs = sample(keep_top_k(LOGITS, 2).expand(500, -1), torch.Generator().manual_seed(0))
    assert set(ids.tolist()) == {1, 3}
    assert logprobs[ids == 1][0].item() == pytest.approx(math.log(0.5 / 0.75))


def test_same_seed_same_draws() -> None:
    def draw(seed: int) -> list[int]:
        ids, _ = sample(LOGITS.expand(50, -1), torch.Generator().manual_seed(seed))
        return [int(i) for i in ids]

    assert draw(1) == draw(1) != draw(2)


@pytest.mark.parametrize("spread", [0.01, 1.0, 5.0])
@pytest.mark.parametrize("p", [0.3, 0.95, 0.999])
def test_top_p_of_a_large_vocabulary_equals_a_full_sort(spread: float, p: float) -> None:
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(3, 2000, generator=generator) * spread
    ordered, order = logits.softmax(-1).sort(-1, descending=True)
    for row, kept in enumerate(keep_top_p(logits, p) > NEVER):
        count = int((ordered[row].cumsum(0) - ordered[row] < p).sum())
        assert set(order[row, :count].tolist()) == set(kept.nonzero().flatten().tolist())


def test_a_token_without_probability_is_never_drawn() -> None:
    logits = torch.full((20_000, 8), NEVER)
    logits[:, [2, 5]] = 0.0
    ids, logprobs = sample(logits, torch.Generator().manual_seed(0))
    assert set(ids.tolist()) == {2, 5}
    torch.testing.assert_close(logprobs, torch.full((20_000,), math.log(0.5)))
