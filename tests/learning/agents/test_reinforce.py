"""REINFORCE against hand-worked steps."""

from __future__ import annotations

import random

import pytest

from learning.agents.interface import Decision, Move, Trajectory
from learning.agents.reinforce import Reinforce
from learning.agents.tables import SoftmaxTable, TableValue

MOVES = (Move(0, Decision(0), 1.0, 0.5), Move(1, Decision(1), 4.0, 0.0))


def test_without_a_baseline() -> None:
    policy = SoftmaxTable(2, 2, random.Random(0))
    Reinforce(policy, rate=1.0).learn([Trajectory(MOVES)])
    # returns 1 + 0.5 x 4 = 3 and 4; the second counts by the discount so far, 0.5; scores are ±1/2
    assert policy.preferences.flatten().tolist() == pytest.approx([1.5, -1.5, -1.0, 1.0])


def test_with_a_baseline() -> None:
    policy, value = SoftmaxTable(2, 2, random.Random(0)), TableValue(2, initial=2.0)
    Reinforce(policy, 1.0, value, critic_rate=0.5).learn([Trajectory(MOVES)])
    assert value.weights.tolist() == pytest.approx([2 + 0.5 * 1, 2 + 0.5 * 2])
    assert policy.preferences.flatten().tolist() == pytest.approx([0.5, -0.5, -0.5, 0.5])


def test_a_cut_episode_is_bootstrapped() -> None:
    policy, value = SoftmaxTable(2, 2, random.Random(0)), TableValue(2, initial=2.0)
    part = Trajectory((MOVES[0],), None, 1)
    Reinforce(policy, 1.0, value, critic_rate=0.0).learn([part])
    assert policy.preferences[0].tolist() == pytest.approx([0.0, 0.0]), "1 + 0.5 x 2 - 2 = 0"
