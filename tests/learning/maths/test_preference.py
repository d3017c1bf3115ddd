"""Losses of reward models against numbers worked out by hand."""

from __future__ import annotations

import math

import pytest
import torch

from engine.errors import ShapeError
from learning.maths.preference import (
    bradley_terry_loss,
    calibration_error,
    centring,
    fitted_temperature,
    luce_loss,
    verdict_loss,
)


def test_luce_is_one_fact_and_not_four() -> None:
    rewards = torch.tensor([[1.0, 0.0, 0.0, 0.0, 0.0]], requires_grad=True)
    loss = luce_loss(rewards, torch.tensor([0]))
    assert loss.item() == pytest.approx(0.9048324, abs=1e-6)
    loss.sum().backward()
    assert rewards.grad is not None
    assert rewards.grad[0].tolist() == pytest.approx([-0.5954, *[0.1488] * 4], abs=1e-4)


def test_answers_that_were_not_offered_do_not_count() -> None:
    rewards = torch.tensor([[1.0, 0.0, 50.0]])
    offered = torch.tensor([[True, True, False]])
    assert luce_loss(rewards, torch.tensor([0]), offered).item() == pytest.approx(0.3132617)


def test_equal_rewards_cost_ln_2_and_pull_apart() -> None:
    chosen = torch.zeros(1, requires_grad=True)
    rejected = torch.zeros(1, requires_grad=True)
    bradley_terry_loss(chosen, rejected).sum().backward()
    assert bradley_terry_loss(chosen, rejected).item() == pytest.approx(math.log(2.0))
    assert chosen.grad is not None and chosen.grad.item() == pytest.approx(-0.5)


def test_one_and_the_same_answer_teaches_nothing() -> None:
    reward = torch.ones(1, requires_grad=True)
    bradley_terry_loss(reward, reward).sum().backward()
    assert reward.grad is not None and reward.grad.item() == 0.0


def test_pairs_by_hand() -> None:
    """σ(0) = 1/2, σ(ln 3) = 3/4."""
    found = bradley_terry_loss(torch.tensor([-1.0, 0.0]), torch.tensor([-1.0, -math.log(3.0)]))
    torch.testing.assert_close(found, torch.tensor([math.log(2.0), math.log(4.0 / 3.0)]))


@pytest.mark.parametrize(
    ("difference", "margin", "loss"),
    [(1.0, 0.0, 0.3132617), (0.0, 0.0, 0.6931472), (1.0, 0.5, 0.4740770)],
)
def test_bradley_terry(difference: float, margin: float, loss: float) -> None:
    found = bradley_terry_loss(torch.tensor([difference]), torch.zeros(1), margin)
    assert found.item() == pytest.approx(loss, abs=1e-6)


def test_verdicts_are_about_the_threshold() -> None:
    rewards, good = torch.tensor([1.5, 1.5]), torch.tensor([True, False])
    found = verdict_loss(rewards, good, torch.tensor(0.5))
    assert found.tolist() == pytest.approx([0.3132617, 1.3132617], abs=1e-6)


def test_centring_is_the_mean_square_of_the_prompts_means() -> None:
    assert centring(torch.tensor([1.0, -3.0])).item() == pytest.approx(5.0)


def test_the_temperature_that_makes_margins_honest() -> None:
    # 3 of 4 right at Δ = ±1: log-odds ln 3, so τ = 1 / ln 3
    margins = torch.tensor([1.0, 1.0, 1.0, -1.0])
    assert fitted_temperature(margins) == pytest.approx(1.0 / math.log(3.0), rel=1e-4)
    assert fitted_temperature(-margins) == 50.0
    assert fitted_temperature(torch.zeros(0)) == 50.0


def test_calibration_error_by_hand() -> None:
    # bin 0.9: said 0.9, half of two happened; bin 0.1: said 0.1, none of two
    said = torch.tensor([0.95, 0.95, 0.15, 0.15])
    happened = torch.tensor([True, False, False, False])
    assert calibration_error(said, happened) == pytest.approx(0.5 * 0.45 + 0.5 * 0.15)


def test_shapes_are_checked() -> None:
    with pytest.raises(ShapeError):
        luce_loss(torch.zeros(2, 3), torch.zeros(3, dtype=torch.long))
    with pytest.raises(ShapeError):
        bradley_terry_loss(torch.zeros(2), torch.zeros(3))
