"""Policies and values of finite worlds as tables of numbers, with gradients worked out by hand."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from learning.agents.interface import Decision


class SoftmaxTable:
    """A policy π(a|s) = softmax(H[s])[a]. Sutton and Barto, eq. 13.2."""

    def __init__(self, states: int, actions: int, rng: random.Random) -> None:
        self.preferences = torch.zeros(states, actions, dtype=torch.float64)
        self._rng = rng

    def act(self, observations: Sequence[int], *, greedy: bool = False) -> list[Decision[int]]:
        """See Policy."""
        found = []
        for state in observations:
            chances = self.probabilities(state).tolist()
            if greedy:
                action = chances.index(max(chances))
            else:
                action = self._rng.choices(range(len(chances)), chances)[0]
            found.append(Decision(action))
        return found

    def probabilities(self, state: int) -> Tensor:
        """Of all actions, [A]."""
        return self.preferences[state].softmax(-1)

    @property
    def parameters(self) -> list[Tensor]:
        """What learning changes in place: the preferences, [S, A]."""
        return [self.preferences]

    def score(
        self, state: int, decision: Decision[int], weights: Tensor | None = None
    ) -> list[Tensor]:
        """See Actor: 1{a} - π in the state's row. The action is one token."""
        gradient = torch.zeros_like(self.preferences)
        gradient[state] = -self.probabilities(state)
        gradient[state, decision.action] += 1
        return [gradient if weights is None else gradient * weights.sum()]


class TableValue:
    """A value v(s) = w[s]."""

    def __init__(self, states: int, initial: float = 0.0) -> None:
        self.weights = torch.full((states,), initial, dtype=torch.float64)

    def __call__(self, state: int) -> float:
        return float(self.weights[state])

    @property
    def parameters(self) -> list[Tensor]:
        """What learning changes in place: the weights, [S]."""
        return [self.weights]

    def gradient(self, state: int) -> list[Tensor]:
        """The gradient of v(s) by each of the parameters."""
        gradient = torch.zeros_like(self.weights)
        gradient[state] = 1
        return [gradient]


@dataclass
class EpsilonGreedy:
    """The action of the greatest value; with probability ε any. Ties are broken at random."""

    values: Tensor
    """Q, [S, A]; shared with who learns it."""
    rng: random.Random
    epsilon: float = 0.1
    _actions: range = field(init=False)

    def __post_init__(self) -> None:
        self._actions = range(self.values.shape[1])

    def act(self, observations: Sequence[int], *, greedy: bool = False) -> list[Decision[int]]:
        """See Policy. greedy: never at random, of equal actions the first."""
        found = []
        for state in observations:
            row = self.values[state].tolist()
            best = [action for action in self._actions if row[action] == max(row)]
            if greedy:
                action = best[0]
            elif self.rng.random() < self.epsilon:
                action = self.rng.choice(self._actions)
            else:
                action = self.rng.choice(best)
            found.append(Decision(action))
        return found

    def expected(self, state: int) -> float:
        """The mean value of a state's actions, as this policy chooses them."""
        row = self.values[state]
        return float((1 - self.epsilon) * row.max() + self.epsilon * row.mean())
