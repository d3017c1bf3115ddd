"""TD(λ): prediction with accumulating, replacing or true online traces, and Sarsa(λ) for control."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic

import torch
from torch import Tensor

from learning.agents.interface import Action, Move, Obs, Trajectory
from learning.agents.tables import EpsilonGreedy
from learning.maths.td import accumulate, dutch, true_online_step

Trace = Callable[[Tensor, Tensor, float], Tensor]
"""(trace, features, decay) -> trace: learning.maths.td.accumulate or replace."""


@dataclass
class LinearPrediction(Generic[Obs, Action]):
    """Learns the value v(s) = w·x(s) of the policy that acts, by semi-gradient TD(λ). Sutton and Barto,
    section 12.2."""

    features: Callable[[Obs], Tensor]
    weights: Tensor
    rate: float
    lam: float
    trace: Trace = accumulate
    _z: Tensor = field(init=False)
    _decay: float = 0.0

    def __post_init__(self) -> None:
        self._z = torch.zeros_like(self.weights)

    def learn(self, trajectories: Sequence[Trajectory[Obs, Action]]) -> None:
        """Takes one step for each move, in order."""
        for trajectory in trajectories:
            if trajectory.begins:
                self._z, self._decay = torch.zeros_like(self.weights), 0.0
            for move, x, following in _transitions(trajectory, self.features):
                after = 0.0 if following is None else float(self.weights @ following)
                error = move.reward + move.discount * after - float(self.weights @ x)
                self._z = self.trace(self._z, x, self._decay)
                self.weights = self.weights + self.rate * error * self._z
                self._decay = move.discount * self.lam


@dataclass
class TrueOnlinePrediction(Generic[Obs, Action]):
    """The same by true online TD(λ). arXiv 1512.04087; Sutton and Barto, section 12.5."""

    features: Callable[[Obs], Tensor]
    weights: Tensor
    rate: float
    lam: float
    _z: Tensor = field(init=False)
    _decay: float = 0.0
    _before: float = 0.0

    def __post_init__(self) -> None:
        self._z = torch.zeros_like(self.weights)

    def learn(self, trajectories: Sequence[Trajectory[Obs, Action]]) -> None:
        """Takes one step for each move, in order."""
        for trajectory in trajectories:
            if trajectory.begins:
                self._z, self._decay, self._before = torch.zeros_like(self.weights), 0.0, 0.0
            for move, x, following in _transitions(trajectory, self.features):
                value = float(self.weights @ x)
                after = 0.0 if following is None else float(self.weights @ following)
                error = move.reward + move.discount * after - value
                self._z = dutch(self._z, x, self._decay, self.rate)
                self.weights = true_online_step(
                    self.weights, self._z, x, self._before, error, value, self.rate
                )
                self._before, self._decay = after, move.discount * self.lam


@dataclass
class Sarsa:
    """Sarsa(λ) with a table. Sutton and Barto, section 12.7.

    A move is learned when the next action is known, or at once at a true end. Where an episode was cut, the
    policy's mean value of the last state takes the place of the action.
    """

    policy: EpsilonGreedy
    """Acts by the table that is learned here, in place."""
    rate: float
    lam: float
    trace: Trace = accumulate
    _z: Tensor = field(init=False)
    _decay: float = 0.0
    _waiting: tuple[Move[int, int], int | None] | None = None
    """The last move and the state behind it, until the next action is known."""

    def __post_init__(self) -> None:
        self._z = torch.zeros_like(self.policy.values)

    def learn(self, trajectories: Sequence[Trajectory[int, int]]) -> None:
        """Takes one step for each move, in order."""
        for trajectory in trajectories:
            if trajectory.begins:
                self.finish()
                self._z, self._decay = torch.zeros_like(self.policy.values), 0.0
            for number, move in enumerate(trajectory.moves):
                if self._waiting is not None:
                    before, _ = self._waiting
                    chosen = self.policy.values[move.observation, move.decision.action]
                    self._step(before, float(chosen))
                final = number == len(trajectory.moves) - 1
                behind = trajectory.after if final else trajectory.moves[number + 1].observation
                self._waiting = (move, behind)
                if move.discount == 0:
                    self.finish()

    def finish(self) -> None:
        """Learns the move that waits for its next action, which will not come."""
        if self._waiting is not None:
            move, behind = self._waiting
            ended = behind is None or move.discount == 0
            self._step(move, 0.0 if ended or behind is None else self.policy.expected(behind))

    def _step(self, move: Move[int, int], following: float) -> None:
        values, at = self.policy.values, (move.observation, move.decision.action)
        error = move.reward + move.discount * following - float(values[at])
        gradient = torch.zeros_like(values)
        gradient[at] = 1
        self._z = self.trace(self._z, gradient, self._decay)
        values.add_(self._z, alpha=self.rate * error)
        self._decay, self._waiting = move.discount * self.lam, None


def _transitions(
    trajectory: Trajectory[Obs, Action], features: Callable[[Obs], Tensor]
) -> list[tuple[Move[Obs, Action], Tensor, Tensor | None]]:
    """(move, features before it, features after it; None at a true end), in order."""
    moves, found = trajectory.moves, []
    for move, following in zip(moves, [*moves[1:], None], strict=True):
        after = trajectory.after if following is None else following.observation
        ended = after is None or move.discount == 0
        found.append(
            (move, features(move.observation), None if ended or after is None else features(after))
        )
    return found
