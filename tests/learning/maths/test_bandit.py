"""learning.maths.bandit, against numbers worked out by hand."""

from __future__ import annotations

import math

import pytest
import torch

from learning.maths.bandit import (
    boltzmann,
    exp3_probabilities,
    greedy_choice,
    posterior,
    rescaled,
    shared_log_weights,
    slopes,
    updated_log_weights,
    updated_means,
    updated_preferences,
    upper_confidence,
    with_floor,
)


def test_means_of_samples_and_with_a_constant_rate() -> None:
    estimates, chosen = torch.zeros(2, 3), torch.tensor([1, 2])
    for count, reward in enumerate((4.0, 2.0, 3.0), start=1):
        rate = torch.tensor([1 / count, 0.5])
        estimates = updated_means(estimates, chosen, torch.tensor([reward, reward]), rate)
    assert estimates.tolist() == [[0, 3.0, 0], [0, 0, pytest.approx(((4 / 2 + 2) / 2 + 3) / 2)]]


def test_upper_bounds_try_every_arm_first() -> None:
    bounds = upper_confidence(
        torch.tensor([1.0, 2.0, 0.0]), torch.tensor([4.0, 1.0, 0.0]), step=5, width=2.0
    )
    assert bounds[:2].tolist() == pytest.approx(
        [1 + 2 * math.sqrt(math.log(5) / 4), 2 + 2 * math.sqrt(math.log(5))]
    )
    assert bounds[2] == math.inf


def test_preferences_use_the_mean_before_the_reward_of_now() -> None:
    preferences, arms = torch.zeros(2), torch.tensor([0, 1])
    one = updated_preferences(preferences, arms[0], torch.tensor(1.0), torch.tensor(1.0), 0.1)
    assert one.tolist() == [0, 0], "the first reward is its own baseline"
    two = updated_preferences(one, arms[1], torch.tensor(3.0), torch.tensor(1.0), 0.1)
    assert two.tolist() == pytest.approx([-0.1, 0.1])


def test_the_posterior_of_a_normal_arm() -> None:
    mean, deviation = posterior(torch.tensor([0.0, 6.0]), torch.tensor([0.0, 3.0]))
    assert mean.tolist() == [0, 1.5]
    assert deviation.tolist() == [1, 0.5]


def test_ties_are_broken_by_the_noise() -> None:
    estimates = torch.tensor([[1.0, 3.0, 3.0], [2.0, 0.0, 1.0]])
    noise = torch.tensor([[0.9, 0.1, 0.2], [0.0, 1.0, 1.0]])
    assert greedy_choice(estimates, noise).tolist() == [2, 0]


def test_boltzmann() -> None:
    found = boltzmann(torch.tensor([0.0, 0.375, 0.1]), 0.2)
    assert found.tolist() == pytest.approx([0.1091, 0.7111, 0.1798], abs=1e-4)


def test_exp3() -> None:
    log_weights = torch.zeros(4)
    chance = exp3_probabilities(log_weights, 0.2)
    assert chance.tolist() == pytest.approx([0.25] * 4)
    log_weights = updated_log_weights(log_weights, torch.tensor(2), torch.tensor(1.0), chance, 0.2)
    assert log_weights.tolist() == pytest.approx([0, 0, 0.2, 0]), "γ r / (p K)"
    chance = exp3_probabilities(log_weights, 0.2)
    share = math.exp(0.2) / (3 + math.exp(0.2))
    assert chance[2] == pytest.approx(0.8 * share + 0.05)
    assert float(chance.sum()) == pytest.approx(1)


def test_the_golden_step_of_a_self_evolving_curriculum() -> None:
    """RL.md 5.13: Q 0, α 0.5, gains 0.75 for arm 1 and 0.2 for arm 2, τ 0.2."""
    estimates = torch.zeros(3)
    for arm, gain in ((1, 0.75), (2, 0.2)):
        estimates = updated_means(
            estimates, torch.tensor(arm), torch.tensor(gain), torch.tensor(0.5)
        )
    assert estimates.tolist() == pytest.approx([0.0, 0.375, 0.1])
    assert boltzmann(estimates, 0.2).tolist() == pytest.approx([0.1091, 0.7111, 0.1798], abs=1e-4)


def test_a_floor_leaves_each_arm_its_least_and_shares_the_rest() -> None:
    found = with_floor(torch.tensor([0.0, 0.25, 0.75]), torch.tensor([0.5, 0.1, 0.0]))
    assert found.tolist() == pytest.approx([0.5, 0.2, 0.3])


def test_shared_weights_come_back() -> None:
    """w 1, 0, 0 with α 0.2: the first keeps 0.8, the others get 0.1 each."""
    found = shared_log_weights(torch.tensor([0.0, -torch.inf, -torch.inf]), 0.2)
    assert found.exp().tolist() == pytest.approx([0.8, 0.1, 0.1])


def test_rewards_are_measured_by_what_is_usual() -> None:
    """Of 0, 1, ..., 10 the 20th percentile is 2 and the 80th 8."""
    history = torch.arange(11.0)[torch.randperm(11, generator=torch.Generator().manual_seed(0))]
    found = rescaled(torch.tensor([2.0, 5.0, 8.0, 6.5, 100.0, -1.0]), history)
    assert found.tolist() == pytest.approx([-1.0, 0.0, 1.0, 0.5, 1.0, -1.0])
    assert rescaled(torch.tensor([3.0]), torch.full((4,), 2.0)).tolist() == [0.0]


def test_slopes() -> None:
    """0, 1, 5: the mean place is 1, so (-1 * 0 + 1 * 5) / 2."""
    assert slopes(torch.tensor([[0.0, 1.0, 5.0], [3.0, 3.0, 3.0]])).tolist() == [2.5, 0.0]
