"""TD(λ) and Sarsa(λ) against hand-worked steps."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
import torch

from learning.agents.interface import Decision, Move, Trajectory
from learning.agents.linear import one_hot
from learning.agents.tables import EpsilonGreedy
from learning.agents.td_lambda import (
    LinearPrediction,
    Sarsa,
    TrueOnlinePrediction,
)
from learning.maths.td import accumulate, replace

EPISODE = tuple(
    Move(state, Decision(0), reward, discount)
    for state, reward, discount in ((0, 1.0, 0.9), (1, 0.0, 0.9), (0, 2.0, 0.0))
)
"""States 0, 1, 0, end with rewards 1, 0, 2."""


def parts(moves: Sequence[Move[int, int]]) -> list[Trajectory[int, int]]:
    """The same moves one by one, as a run gives them."""
    behind = [move.observation for move in moves[1:]]
    return [
        Trajectory((move,), None, after, begins=not number)
        for number, (move, after) in enumerate(zip(moves, [*behind, None], strict=True))
    ]


@pytest.mark.parametrize(
    ("trace", "weights"),
    [(accumulate, (1.44224844, 0.53971875)), (replace, (1.300625, 0.53971875))],
)
def test_prediction_move_by_move_and_whole(trace: object, weights: tuple[float, ...]) -> None:
    for trajectories in (parts(EPISODE), [Trajectory(EPISODE)]):
        learner: LinearPrediction[int, int] = LinearPrediction(
            one_hot(2),
            torch.zeros(2, dtype=torch.float64),
            0.5,
            0.5,
            trace,  # type: ignore[arg-type]
        )
        learner.learn(trajectories)
        assert learner.weights.tolist() == pytest.approx(weights, abs=1e-8)


def test_true_online_prediction_on_a_chain() -> None:
    chain = tuple(
        Move(state, Decision(0), reward, discount)
        for state, reward, discount in ((0, 1.0, 0.9), (1, 0.0, 0.9), (2, 2.0, 0.0))
    )
    for trajectories in (parts(chain), [Trajectory(chain)]):
        learner: TrueOnlinePrediction[int, int] = TrueOnlinePrediction(
            one_hot(3), torch.zeros(3, dtype=torch.float64), 0.5, 0.5
        )
        learner.learn(trajectories)
        assert learner.weights.tolist() == pytest.approx([0.7025, 0.45, 1.0])


def test_sarsa_waits_for_the_next_action() -> None:
    values = torch.zeros(3, 2, dtype=torch.float64)
    learner = Sarsa(EpsilonGreedy(values, random.Random(0), 0.0), rate=0.5, lam=0.5)
    first, second = (Move(0, Decision(1), 1.0, 0.9), Move(1, Decision(0), 2.0, 0.0))
    learner.learn([Trajectory((first,), None, 1)])
    assert not values.any(), "the next action is not known yet"
    values[1, 0] = 4.0
    learner.learn([Trajectory((second,), None, None, begins=False)])
    # first: 1 + 0.9 x 4 = 4.6, half of it 2.3; second: 2 - 4 = -2, half of it -1, and 0.45 of it back
    assert values.tolist() == [[0, pytest.approx(2.3 - 0.45)], [pytest.approx(3.0), 0], [0, 0]]


def test_sarsa_bootstraps_where_an_episode_was_cut() -> None:
    values = torch.tensor([[0.0, 0.0], [2.0, 4.0]], dtype=torch.float64)
    learner = Sarsa(EpsilonGreedy(values, random.Random(0), 0.5), rate=1.0, lam=0.0)
    learner.learn([Trajectory((Move(0, Decision(1), 1.0, 0.5),), None, 1)])
    learner.finish()
    # half of the time 4, half of the time the mean of 2 and 4
    assert values[0].tolist() == [0, pytest.approx(1 + 0.5 * 3.5)]
