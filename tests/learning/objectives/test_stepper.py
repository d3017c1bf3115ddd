"""learning.objectives.stepper: one optimizer step, and the gradients that it refuses."""

from __future__ import annotations

import math

import pytest
import torch

from engine.errors import NumericsError
from learning.objectives.stepper import Stepper


def tensor(*values: float) -> torch.Tensor:
    return torch.tensor(values, requires_grad=True)


def test_the_first_step_moves_each_weight_by_the_rate() -> None:
    weights = tensor(1.0, -2.0)
    stepper = Stepper([weights], lr=0.5)
    weights.grad = torch.tensor([3.0, -0.01])
    stepper.step(rate=0.5)
    # Adam's first step is lr * g / (|g| + eps), whatever the size of g
    assert torch.allclose(weights.detach(), torch.tensor([0.75, -1.75]), atol=1e-4)
    assert weights.grad is None
    assert stepper.count == 1


def test_the_rate_rises_linearly_to_its_peak() -> None:
    weights = tensor(0.0)
    stepper = Stepper([weights], lr=0.4, ramp=4)
    moved = []
    for _ in range(6):
        weights.grad = torch.tensor([1.0])
        before = weights.item()
        stepper.step()
        moved.append(before - weights.item())
    # with equal gradients each step of Adam is the rate
    assert moved == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.4, 0.4], abs=1e-4)


def test_without_momentum_only_the_newest_gradient_gives_the_direction() -> None:
    weights = tensor(0.0)
    stepper = Stepper([weights], lr=0.1, momentum=0.0)
    for gradient in (1.0, -1.0):
        weights.grad = torch.tensor([gradient])
        stepper.step()
    # second moment after two steps, corrected: 1; so +0.1 undoes -0.1
    assert torch.allclose(weights.detach(), torch.tensor([0.0]), atol=1e-5)


def test_a_long_gradient_is_scaled_to_norm_one_before_the_moments_see_it() -> None:
    long, unit = tensor(0.0, 0.0), tensor(0.0, 0.0)
    for weights, first in ((long, [30.0, 40.0]), (unit, [0.6, 0.8])):
        stepper = Stepper([weights], lr=0.1)
        for gradient in (first, [0.1, 0.1]):
            weights.grad = torch.tensor(gradient)
            stepper.step()
    assert torch.allclose(long.detach(), unit.detach(), atol=1e-6)


@pytest.mark.parametrize(
    ("loss", "gradient"), [(math.nan, 1.0), (math.inf, 1.0), (0.0, math.nan), (0.0, math.inf)]
)
def test_numbers_that_are_not_finite_change_nothing(loss: float, gradient: float) -> None:
    weights = tensor(1.0)
    stepper = Stepper([weights], lr=0.5, what="teaching", advice="the lesson waits")
    weights.grad = torch.tensor([gradient])
    with pytest.raises(NumericsError, match="teaching: the loss is not finite"):
        stepper.step(loss)
    assert weights.tolist() == [1.0]
    assert weights.grad is None
    assert stepper.count == 0
