"""Policy gradients against numbers worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch

from engine.errors import ShapeError
from learning.maths.kl import k1, k2, k3, penalised
from learning.maths.normalise import BatchSize, by_answer, by_constant, by_tokens
from learning.maths.policy import (
    batch_advantages,
    bounded_surrogate,
    centred_advantages,
    clipped,
    clipped_surrogate,
    dead_groups,
    entropy,
    out_of_bounds,
    sequence_ratio,
    standardised_advantages,
    token_mean,
    token_ratio,
)


def test_advantages_by_hand() -> None:
    rewards = torch.tensor([[1.0, 0.0, 0.0, 0.0], [0.5, 1.0, 0.5, 0.0]])
    # means 1/4 and 1/2; unbiased standard deviations 1/2 and sqrt(1/6) = 0.4082483
    torch.testing.assert_close(
        centred_advantages(rewards),
        torch.tensor([[0.75, -0.25, -0.25, -0.25], [0.0, 0.5, 0.0, -0.5]]),
    )
    torch.testing.assert_close(
        standardised_advantages(rewards),
        torch.tensor([[1.4997, -0.4999, -0.4999, -0.4999], [0.0, 1.2244449, 0.0, -1.2244449]]),
        atol=1e-5,
        rtol=0.0,
    )


def test_a_dead_group_has_no_advantage_at_all() -> None:
    # in fp32 the mean of seven times 0.1 is not 0.1
    rewards = torch.tensor([[0.1] * 7, [0.1] * 6 + [0.1000001]])
    assert dead_groups(rewards).tolist() == [True, False]
    for advantages in (centred_advantages(rewards), standardised_advantages(rewards)):
        assert (advantages[0] == 0.0).all()
        assert (advantages[1] != 0.0).any()


@pytest.mark.parametrize("shape", [(4,), (2, 1), (2, 3, 4)])
def test_a_group_is_a_row_of_two_or_more(shape: tuple[int, ...]) -> None:
    with pytest.raises(ShapeError, match="answers >= 2"):
        centred_advantages(torch.zeros(shape))


def test_clipped_surrogate_by_hand() -> None:
    ratio = torch.tensor([1.0, 1.5, 1.5, 0.5, 0.5, 1.1])
    advantages = torch.tensor([2.0, 2.0, -2.0, 2.0, -2.0, -1.0])
    behaviour = torch.full((6,), -1.0)
    now = (behaviour + ratio.log()).requires_grad_()
    loss = clipped_surrogate(now, behaviour, advantages, 0.2, 0.28)
    # 1: -1*2; 1.5 with A 2: held at 1.28; with A -2: not held; 0.5 with A 2: not held; with A -2:
    # held at 0.8; 1.1 with A -1 inside
    torch.testing.assert_close(loss, torch.tensor([-2.0, -2.56, 3.0, -1.0, 1.6, 1.1]))
    (gradient,) = torch.autograd.grad(loss.sum(), now)
    torch.testing.assert_close(gradient, torch.tensor([-2.0, 0.0, 3.0, -1.0, 0.0, 1.1]))
    silent = clipped(now.detach(), behaviour, advantages, 0.2, 0.28)
    assert silent.tolist() == [False, True, False, False, True, False]


def test_the_bounds_are_apart() -> None:
    ratio, one = torch.tensor([1.25]), torch.ones(1)
    zero = torch.zeros(1)
    wide = clipped_surrogate(ratio.log(), zero, one, 0.2, 0.28)
    narrow = clipped_surrogate(ratio.log(), zero, one, 0.2, 0.2)
    torch.testing.assert_close(torch.cat([wide, narrow]), torch.tensor([-1.25, -1.2]))


def test_normalised_by_the_tokens_of_the_whole_batch() -> None:
    parts = torch.tensor([1.0, 2.0]), torch.tensor([3.0])
    whole = token_mean(torch.cat(parts), 3)
    assert float(whole) == pytest.approx(2.0)
    assert float(sum(token_mean(part, 3) for part in parts)) == pytest.approx(2.0)


def test_entropy_by_hand() -> None:
    logits = torch.tensor([[0.0, 0.0, 0.0, 0.0], [0.0, math.log(3.0), -1e9, -1e9]])
    # ln 4; 1/4 ln 4 + 3/4 ln 4/3
    torch.testing.assert_close(entropy(logits), torch.tensor([1.3862944, 0.5623351]))


def test_divergences_by_hand() -> None:
    now, reference = torch.tensor([-1.0, -2.0]), torch.tensor([-1.5, -1.0])
    torch.testing.assert_close(k1(now, reference), torch.tensor([0.5, -1.0]))
    torch.testing.assert_close(k2(now, reference), torch.tensor([0.125, 0.5]))
    # e^-0.5 - 1 + 0.5 and e^1 - 1 - 1
    torch.testing.assert_close(k3(now, reference), torch.tensor([0.1065307, 0.7182818]))


def test_k3_stays_finite() -> None:
    far = k3(torch.tensor([-200.0]), torch.tensor([-0.1]))
    assert torch.isfinite(far).all() and float(far) > 1e6


def test_k1_and_k3_estimate_the_divergence() -> None:
    p, q = torch.tensor([0.7, 0.2, 0.1]).log(), torch.tensor([0.5, 0.3, 0.2]).log()
    exact = float((p.exp() * (p - q)).sum())
    for estimate in (k1, k3):
        assert float((p.exp() * estimate(p, q)).sum()) == pytest.approx(exact, rel=1e-5)


def test_as_a_loss_only_k2_has_the_gradient_of_the_divergence() -> None:
    logits = torch.tensor([0.3, -0.2, 0.5], requires_grad=True)
    reference = torch.tensor([0.1, 0.4, -0.3]).log_softmax(0)
    p = logits.log_softmax(0)
    (exact,) = torch.autograd.grad((p.exp() * (p - reference)).sum(), logits, retain_graph=True)
    weights = p.exp().detach()  # tokens are drawn from p, whose draw has no gradient

    def gradient(estimate: torch.Tensor) -> torch.Tensor:
        return torch.autograd.grad((weights * estimate).sum(), logits, retain_graph=True)[0]

    torch.testing.assert_close(gradient(k2(p, reference)), exact)
    torch.testing.assert_close(gradient(k1(p, reference)), torch.zeros(3), atol=1e-6, rtol=0.0)
    assert not torch.allclose(gradient(k3(p, reference)), exact, atol=1e-3)


NAN = math.nan


def test_an_answer_without_a_reward_is_compared_with_nothing() -> None:
    rewards = torch.tensor([[1.0, NAN, 0.0], [1.0, NAN, NAN], [NAN, 0.5, 0.5]])
    assert dead_groups(rewards).tolist() == [False, True, True]
    centred = centred_advantages(rewards)
    assert centred.tolist() == [[0.5, 0.0, -0.5], [0.0] * 3, [0.0] * 3]
    # unbiased deviation of a pair that is 1 apart: sqrt(1/2)
    expected = 0.5 / (0.5**0.5 + 1e-4)
    assert standardised_advantages(rewards)[0, 0].item() == pytest.approx(expected)


def test_the_deviation_of_the_batch_does_not_blow_up_a_group_that_hardly_differs() -> None:
    rewards = torch.tensor([[1.0, 0.0], [0.501, 0.499], [0.3, 0.3]], dtype=torch.float64)
    # centred: +-0.5, +-0.001, 0; two live groups of two: (2 * 0.25 + 2 * 0.000001) / (4 - 2)
    deviation = math.sqrt(0.250001) + 1e-4
    found = batch_advantages(rewards)
    assert found[0].tolist() == pytest.approx([0.5 / deviation, -0.5 / deviation])
    assert found[1].tolist() == pytest.approx([0.001 / deviation, -0.001 / deviation])
    assert found[2].tolist() == [0.0, 0.0]
    alone = standardised_advantages(rewards)[1, 0].item()
    assert alone > 0.6, "by its own deviation it is blown up"


def test_three_ways_to_normalise_by_hand() -> None:
    losses = {2: [1.0, 2.0], 4: [3.0, 3.0, 3.0, 3.0]}
    batch = BatchSize(answers=2, tokens=6, longest=8)

    def loss(normalise: Callable[[int, BatchSize], float]) -> float:
        return sum(normalise(size, batch) * sum(own) for size, own in losses.items())

    assert loss(by_tokens) == pytest.approx(2.5)
    assert loss(by_answer) == pytest.approx(2.25)
    assert loss(by_constant) == pytest.approx(0.9375)


def test_the_ratio_of_a_whole_answer_by_hand() -> None:
    log_ratio = torch.tensor([0.2, -0.1, 0.2, -0.3], requires_grad=True)
    answer = torch.tensor([0, 0, 0, 1])
    ratio = sequence_ratio(log_ratio, answer)
    torch.testing.assert_close(ratio, torch.tensor([1.10517, 1.10517, 1.10517, math.exp(-0.3)]))
    (gradient,) = torch.autograd.grad(ratio.sum(), log_ratio)
    torch.testing.assert_close(gradient, ratio.detach())
    torch.testing.assert_close(token_ratio(log_ratio, answer), log_ratio.exp())


def test_the_dual_clip_bounds_what_one_token_can_cost() -> None:
    ratio = torch.tensor([5.0, 5.0, 2.0], requires_grad=True)
    advantages = torch.tensor([-1.0, 1.0, -1.0])
    loss = bounded_surrogate(ratio, advantages, 0.2, 0.28, dual=3.0)
    assert loss.tolist() == pytest.approx([3.0, -1.28, 2.0])
    (gradient,) = torch.autograd.grad(loss.sum(), ratio)
    assert gradient.tolist() == [0.0, 0.0, 1.0]
    silent = out_of_bounds(ratio.detach(), advantages, 0.2, 0.28, dual=3.0)
    assert silent.tolist() == [True, True, False]
    assert bounded_surrogate(ratio, advantages, 0.2, 0.28)[0].item() == 5.0, "off by default"


def test_a_ratio_that_overflows_stays_a_number() -> None:
    now, was = torch.tensor([0.0]), torch.tensor([-1000.0])
    for advantage in (0.0, 1.0, -1.0):
        loss = clipped_surrogate(now, was, torch.tensor([advantage]), 0.2, 0.28)
        assert torch.isfinite(loss).all()


def test_the_divergence_in_the_reward_by_hand() -> None:
    found = penalised(torch.tensor([1.0, 0.0]), torch.tensor([2.0, 1.0]), 0.1)
    torch.testing.assert_close(found, torch.tensor([0.8, -0.1]))
    with pytest.raises(ShapeError):
        penalised(torch.zeros(2), torch.zeros(3), 0.1)
