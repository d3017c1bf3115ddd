"""learning.maths.td, against numbers worked out by hand and against the forward view."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from learning.maths.returns import lambda_returns
from learning.maths.td import (
    accumulate,
    bounded_step,
    dutch,
    replace,
    td_errors,
    true_online_step,
)

DISCOUNT, LAM, RATE = 0.9, 0.5, 0.5
DECAY = DISCOUNT * LAM
Trace = Callable[[Tensor, Tensor], Tensor]


def zeros(count: int) -> Tensor:
    return torch.zeros(count, dtype=torch.float64)


def one_hot(state: int, count: int) -> Tensor:
    return torch.eye(count, dtype=torch.float64)[state]


@pytest.mark.parametrize(
    ("trace", "ends", "weights"),
    [
        (lambda z, x: accumulate(z, x, DECAY), (1.2025, 0.45), (1.44224844, 0.53971875)),
        (lambda z, x: replace(z, x, DECAY), (1.0, 0.45), (1.300625, 0.53971875)),
        (lambda z, x: dutch(z, x, DECAY, RATE), (1.10125, 0.45), (1.37143672, 0.53971875)),
    ],
    ids=["accumulating", "replacing", "dutch"],
)
def test_traces(trace: Trace, ends: tuple[float, ...], weights: tuple[float, ...]) -> None:
    """States 0, 1, 0, end with rewards 1, 0, 2."""
    w, z, errors = zeros(2), zeros(2), []
    for state, reward, after in ((0, 1.0, 1), (1, 0.0, 0), (0, 2.0, None)):
        next_value = 0.0 if after is None else float(w[after])
        error = reward + DISCOUNT * next_value - float(w[state])
        z = trace(z, one_hot(state, 2))
        w = w + RATE * error * z
        errors.append(error)
    assert errors == pytest.approx([1, 0.45, 1.39875])
    assert z.tolist() == pytest.approx(ends)
    assert w.tolist() == pytest.approx(weights, abs=1e-8)


def true_online(
    episode: list[tuple[Tensor, float, float, Tensor]], start: Tensor, lam: float, rate: float
) -> tuple[Tensor, Tensor]:
    """(weights, trace) after true online TD(λ) on (features, reward, discount, next features)."""
    w, z, before, decay = start, torch.zeros_like(start), 0.0, 0.0
    for features, reward, discount, after in episode:
        value, following = float(w @ features), float(w @ after)
        error = reward + discount * following - value
        z = dutch(z, features, decay, rate)
        w = true_online_step(w, z, features, before, error, value, rate)
        before, decay = following, discount * lam
    return w, z


def test_true_online_on_a_chain() -> None:
    steps = [(0, 1.0, 0.9, one_hot(1, 3)), (1, 0.0, 0.9, one_hot(2, 3)), (2, 2.0, 0.0, zeros(3))]
    episode = [(one_hot(state, 3), reward, discount, x) for state, reward, discount, x in steps]
    w, z = true_online(episode, zeros(3), LAM, RATE)
    assert z.tolist() == pytest.approx([0.2025, 0.45, 1])
    assert w.tolist() == pytest.approx([0.7025, 0.45, 1.0])


def random_episode(
    seed: int, steps: int = 8, size: int = 3
) -> list[tuple[Tensor, float, float, Tensor]]:
    drawn = torch.Generator().manual_seed(seed)
    features = torch.randn(steps + 1, size, generator=drawn, dtype=torch.float64) * 0.5
    rewards = torch.randn(steps, generator=drawn).tolist()
    discounts = [*torch.rand(steps - 1, generator=drawn).tolist(), 0.0]
    return list(zip(features, rewards, discounts, features[1:], strict=False))


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("lam", [0.0, 0.4, 0.9, 1.0])
def test_true_online_equals_the_online_lambda_return_algorithm(seed: int, lam: float) -> None:
    """The definition: after each step, all steps so far again with λ-returns cut off now (12.3)."""
    episode, rate = random_episode(seed), 0.1
    start = zeros(3)
    history = [start]
    for horizon in range(1, len(episode) + 1):
        w = start
        part = episode[:horizon]
        rewards = torch.tensor([reward for _, reward, _, _ in part], dtype=torch.float64)
        discounts = torch.tensor([discount for _, _, discount, _ in part], dtype=torch.float64)
        # the value of each next state by the weights of the time at which it was first seen
        values = torch.stack([history[t] @ after for t, (_, _, _, after) in enumerate(part)])
        targets = lambda_returns(rewards, discounts, values, lam)
        for (features, _, _, _), target in zip(part, targets, strict=True):
            w = w + rate * (target - w @ features) * features
        history.append(w)
    assert torch.allclose(true_online(episode, start, lam, rate)[0], history[-1], atol=1e-9)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("lam", [0.0, 0.4, 1.0])
def test_backward_and_forward_view_agree_with_frozen_weights(seed: int, lam: float) -> None:
    episode = random_episode(seed)
    w = torch.randn(3, generator=torch.Generator().manual_seed(seed + 100), dtype=torch.float64)
    x, rewards, discounts, after = (list(part) for part in zip(*episode, strict=True))
    r, g = (torch.tensor(part, dtype=torch.float64) for part in (rewards, discounts))
    now, following = torch.stack(x) @ w, torch.stack(after) @ w
    errors = td_errors(r, g, now, following)
    z, backward, decay = zeros(3), zeros(3), 0.0
    for features, error, discount in zip(x, errors, discounts, strict=True):
        z = accumulate(z, features, decay)
        backward = backward + error * z
        decay = discount * lam
    targets = lambda_returns(r, g, following, lam)
    forward = ((targets - now)[:, None] * torch.stack(x)).sum(0)
    assert torch.allclose(backward, forward, atol=1e-9)


@pytest.mark.parametrize(
    ("error", "norm", "step"), [(0.5, 4.0, 1 / 8), (-3.0, 4.0, 1 / 24), (0.1, 0.2, 1.0)]
)
def test_a_bounded_step(error: float, norm: float, step: float) -> None:
    assert bounded_step(error, norm, step_size=1.0, bound=2.0) == pytest.approx(step)
