"""The gridworlds of Sutton and Barto: example 3.5 (two jumps) and example 4.1 (the shortest way out)."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import torch
from torch import Tensor

from learning.agents.interface import TimeStep

MOVES = ((-1, 0), (1, 0), (0, 1), (0, -1))
"""Up, down, right, left, as (row, column)."""


@dataclass
class Gridworld:
    """A square of cells, numbered row by row. A move off the edge stays.

    `jumps`: cell -> (cell to land in, reward), whatever the move. `ends`: cells in which an episode is over.
    It begins in a random cell that is no end.
    """

    side: int
    discount: float
    reward: float = 0.0
    """Of a move."""
    wall: float = 0.0
    """Of a move off the edge."""
    jumps: dict[int, tuple[int, float]] = field(default_factory=dict)
    ends: frozenset[int] = frozenset()
    _at: int = 0

    actions = len(MOVES)

    @property
    def states(self) -> int:
        return self.side**2

    def reset(self, rng: random.Random) -> TimeStep[int]:
        self._at = rng.choice([cell for cell in range(self.states) if cell not in self.ends])
        return TimeStep(self._at)

    def step(self, action: int) -> TimeStep[int]:
        self._at, reward = self.outcome(self._at, action)
        ended = self._at in self.ends
        return TimeStep(self._at, reward, 0.0 if ended else self.discount, ended)

    def outcome(self, cell: int, action: int) -> tuple[int, float]:
        """(cell after the move, reward)."""
        if cell in self.jumps:
            return self.jumps[cell]
        row, column = (
            at + by for at, by in zip(divmod(cell, self.side), MOVES[action], strict=True)
        )
        if 0 <= row < self.side and 0 <= column < self.side:
            return row * self.side + column, self.reward
        return cell, self.wall

    def outcomes(self) -> list[list[tuple[int | None, float]]]:
        """[cell][action] -> (cell after it, None: the end; reward), for learning.envs.finite."""
        return [
            [
                (None if after in self.ends else after, reward)
                for after, reward in (self.outcome(cell, action) for action in range(self.actions))
            ]
            if cell not in self.ends
            else [(None, 0.0)]
            for cell in range(self.states)
        ]

    def random_walk(self) -> tuple[Tensor, Tensor]:
        """(transitions [S, S], rewards [S]) of the policy that moves at random; the end has no row."""
        transitions = torch.zeros(self.states, self.states, dtype=torch.float64)
        rewards = torch.zeros(self.states, dtype=torch.float64)
        for cell, row in enumerate(self.outcomes()):
            for after, reward in row:
                rewards[cell] += reward / len(row)
                if after is not None:
                    transitions[cell, after] += 1 / len(row)
        return transitions, rewards


def two_jumps() -> Gridworld:
    """Example 3.5: 5 x 5, a jump worth 10 and one worth 5, -1 at the walls, discount 0.9, no end."""
    return Gridworld(5, 0.9, wall=-1.0, jumps={1: (21, 10.0), 3: (13, 5.0)})


def way_out() -> Gridworld:
    """Example 4.1: 4 x 4, -1 a move, two corners are the end, no discount."""
    return Gridworld(4, 1.0, reward=-1.0, wall=-1.0, ends=frozenset((0, 15)))
