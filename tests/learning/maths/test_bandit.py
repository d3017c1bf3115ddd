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
    updated_log_weights,
    updated_means,
    updated_preferences,
    upper_confidence,
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
