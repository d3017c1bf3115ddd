"""Credit: from trajectories and their rewards to an advantage for every token.

The one place where group advantages, decay, generalised advantage estimation and credit by turn differ. A
decision without tokens (a table's) counts as one token of its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import torch
from torch import Tensor

from engine.errors import ShapeError
from learning.agents.interface import Move, Trajectory
from learning.maths.policy import standardised_advantages
from learning.maths.returns import generalised_advantages

Trajectories = Sequence[Trajectory[Any, Any]]
Credit = Callable[[Trajectories], list[list[Tensor]]]
"""[trajectory][move] -> [tokens] advantages; 0 where a token is not the policy's own."""
GroupAdvantages = Callable[[Tensor], Tensor]
"""Rewards [N, G] -> advantages [N, G], as in learning.maths.policy; NaN where a group has fewer."""
TokenValues = Callable[[Trajectory[Any, Any]], list[Tensor]]
"""For each move the values of the states before its tokens, [tokens], and at the end of the list the value
of the state behind the last move, [1]."""
TurnValues = Callable[[Trajectory[Any, Any]], Tensor]
"""The values of the states before each move and behind the last, [moves + 1]."""


def whole_answer(advantages: GroupAdvantages = standardised_advantages) -> Credit:
    """Every own token gets its trajectory's advantage in its group (GRPO, 2402.03300). A group of one, or one
    whose totals are all equal, gets 0."""
    return decayed(advantages, half_life=float("inf"))


def decayed(advantages: GroupAdvantages, half_life: float) -> Credit:
    """The same, halved for every `half_life` own tokens before the last one. half_life: tokens, > 0."""
    if not half_life > 0:
        raise ShapeError(f"half_life is {half_life}, more than 0 tokens are needed")

    def credit(trajectories: Trajectories) -> list[list[Tensor]]:
        found = []
        for trajectory, advantage in zip(
            trajectories, _by_group(trajectories, advantages), strict=True
        ):
            owns = [_own(move) for move in trajectory.moves]
            left, rows = sum(int(own.sum()) for own in owns), []
            for own in owns:
                behind = left - own.cumsum(0)  # own tokens after each
                rows.append(advantage * 0.5 ** (behind / half_life) * own)
                left -= int(own.sum())
            found.append(rows)
        return found

    return credit


def token_gae(values: TokenValues, lam: float, gamma: float = 1.0) -> Credit:
    """Generalised advantage estimation, one token one step (1506.02438). A move's reward and discount come
    with its last token; between tokens the reward is 0 and the discount 1. gamma: factor of each move's
    discount, above 0 to 1."""

    def credit(trajectories: Trajectories) -> list[list[Tensor]]:
        found = []
        for trajectory in trajectories:
            owns = [_own(move) for move in trajectory.moves]
            rewards, discounts = [], []
            for move, own in zip(trajectory.moves, owns, strict=True):
                rewards.append(torch.zeros_like(own))
                discounts.append(torch.ones_like(own))
                rewards[-1][-1], discounts[-1][-1] = move.reward, gamma * move.discount
            flat = generalised_advantages(
                torch.cat(rewards), torch.cat(discounts), torch.cat(values(trajectory)), lam
            )
            parts = flat.split([len(own) for own in owns])
            found.append([part * own for part, own in zip(parts, owns, strict=True)])
        return found

    return credit


def turn_gae(values: TurnValues, lam: float, gamma: float = 1.0) -> Credit:
    """The same with one move one step; all own tokens of a move share its advantage (2512.17008)."""

    def credit(trajectories: Trajectories) -> list[list[Tensor]]:
        found = []
        for trajectory in trajectories:
            rewards, discounts = (
                torch.tensor(
                    [getattr(move, name) for move in trajectory.moves], dtype=torch.float64
                )
                for name in ("reward", "discount")
            )
            turns = generalised_advantages(rewards, gamma * discounts, values(trajectory), lam)
            found.append(
                [turn * _own(move) for turn, move in zip(turns, trajectory.moves, strict=True)]
            )
        return found

    return credit


def scaled(credit: Credit) -> Credit:
    """What `credit` gives, divided by its root mean square over all tokens that get something; not centred,
    so that signs stay."""

    def even(trajectories: Trajectories) -> list[list[Tensor]]:
        found = credit(trajectories)
        given = torch.cat([row[row != 0] for rows in found for row in rows]) if found else None
        if given is None or not len(given):
            return found
        size = given.square().mean().sqrt()
        return [[row / size for row in rows] for rows in found]

    return even


def _by_group(trajectories: Trajectories, advantages: GroupAdvantages) -> list[float]:
    """Each trajectory's advantage among those of its group."""
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for number, trajectory in enumerate(trajectories):
        groups[trajectory.group].append(number)
    rows = [members for members in groups.values() if len(members) > 1]
    found = [0.0] * len(trajectories)
    if not rows:
        return found
    totals = torch.full((len(rows), max(map(len, rows))), torch.nan, dtype=torch.float64)
    for row, members in zip(totals, rows, strict=True):
        own = [trajectories[i].total for i in members]
        row[: len(members)] = torch.tensor(own, dtype=torch.float64)
    for members, row in zip(rows, advantages(totals).tolist(), strict=True):
        for i, advantage in zip(members, row, strict=False):
            found[i] = advantage
    return found


def _own(move: Move[Any, Any]) -> Tensor:
    """1 for each token that the policy drew, else 0: [tokens], float64."""
    drawn = move.decision.drawn
    return torch.tensor([1.0] if drawn is None else drawn.own, dtype=torch.float64)
