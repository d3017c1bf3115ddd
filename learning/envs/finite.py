"""The exact solution of finite worlds whose transitions are known."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def solved_values(transitions: Tensor, rewards: Tensor, discount: float) -> Tensor:
    """v = (I - γ P)⁻¹ r, the exact value of a policy.

    transitions: [S, S], rows add up to at most 1, what lacks is the end; rewards: [S], expected ones of each
    state's next step. Returns [S]. Sutton and Barto, eq. 4.4 in matrix form.
    """
    count = len(rewards)
    identity = torch.eye(count, dtype=rewards.dtype)
    return torch.linalg.solve(identity - discount * transitions, rewards)


def optimal_values(
    outcomes: Sequence[Sequence[tuple[int | None, float]]], discount: float
) -> Tensor:
    """v* by value iteration, to 1e-10. outcomes: [state][action] -> (next state, None: the end; reward).
    Returns [S], float64. Sutton and Barto, section 4.4."""
    values = torch.zeros(len(outcomes), dtype=torch.float64)
    while True:
        better = torch.tensor(
            [
                max(
                    reward + (0.0 if after is None else discount * float(values[after]))
                    for after, reward in row
                )
                for row in outcomes
            ],
            dtype=torch.float64,
        )
        if float((better - values).abs().max()) < 1e-10:
            return better
        values = better
