"""learning.maths.returns, against numbers worked out by hand."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from engine.errors import ShapeError
from learning.maths.returns import (
    discounted_returns,
    generalised_advantages,
    lambda_returns,
)


def row(*numbers: float) -> Tensor:
    return torch.tensor(numbers, dtype=torch.float64)


REWARDS, ENDED, CUT = row(1, 0, 2), row(0.9, 0.9, 0), row(0.9, 0.9, 0.9)


@pytest.mark.parametrize(
    ("rewards", "discounts", "values", "lam", "returns"),
    [
        (REWARDS, ENDED, row(0.5, 1, 7), 0.5, row(1.8325, 1.35, 2.0)),
        (REWARDS, CUT, row(0.5, 1, 3), 0.5, row(2.37925, 2.565, 4.7)),
        (  # the test row of DeepMind's rlax
            row(1, 0, -1, 0, 1),
            row(0.5, 0.9, 1, 0.5, 0.8),
            row(3, 1, 5, -5, 3),
            0.75,
            row(1.6460547, 0.7228125, 0.7375, 0.65, 3.4),
        ),
    ],
)
def test_lambda_returns(
    rewards: Tensor, discounts: Tensor, values: Tensor, lam: float, returns: Tensor
) -> None:
    assert torch.allclose(lambda_returns(rewards, discounts, values, lam), returns, atol=1e-7)
    twice = lambda_returns(*(t.repeat(2, 1) for t in (rewards, discounts, values)), lam)
    assert torch.allclose(twice, returns.repeat(2, 1), atol=1e-7), "a batch, row by row"


def test_a_value_behind_a_true_end_does_not_matter() -> None:
    found = [lambda_returns(REWARDS, ENDED, row(0.5, 1, last), 0.5) for last in (7.0, -100.0)]
    assert torch.equal(*found)


def test_advantages() -> None:
    values = row(0.2, 0.5, 1, 7)
    assert torch.allclose(
        generalised_advantages(REWARDS, ENDED, values, 0.5), row(1.6325, 0.85, 1.0)
    )
    assert torch.allclose(
        generalised_advantages(REWARDS, ENDED, values, 0.0), row(1.25, 0.4, 1.0)
    ), "the errors of one step"
    whole = discounted_returns(REWARDS, ENDED, values[-1]) - values[:-1]
    assert torch.allclose(generalised_advantages(REWARDS, ENDED, values, 1.0), whole)


def test_an_advantage_is_the_return_less_the_value() -> None:
    drawn = torch.Generator().manual_seed(3)
    for _ in range(50):
        rewards, values = (torch.randn(4, n, generator=drawn).double() for n in (7, 8))
        discounts = torch.rand(4, 7, generator=drawn).double().round(decimals=1)
        lam = float(torch.rand((), generator=drawn))
        returns = lambda_returns(rewards, discounts, values[:, 1:], lam)
        advantages = generalised_advantages(rewards, discounts, values, lam)
        assert torch.allclose(advantages, returns - values[:, :-1], atol=1e-12)


def test_wrong_shapes_are_refused() -> None:
    with pytest.raises(ShapeError, match="discounts"):
        lambda_returns(REWARDS, row(1, 1), REWARDS, 0.5)
    with pytest.raises(ShapeError, match="one more than rewards"):
        generalised_advantages(REWARDS, ENDED, REWARDS, 0.5)
    with pytest.raises(ShapeError, match="at least one step"):
        lambda_returns(row(), row(), row(), 0.5)
