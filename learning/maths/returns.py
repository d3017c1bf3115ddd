"""Returns and advantages of trajectories.

Notation: T steps, time last. At index t stand the reward r_{t+1} and the discount γ_{t+1} that followed step
t. A discount of 0 is a true end; where a trajectory is merely cut, the discount stays and the value after it
is bootstrapped from. Left out: errors and traces of one step at a time (learning.maths.td).
"""

from __future__ import annotations

import torch
from torch import Tensor

from engine.errors import ShapeError
from learning.maths.discounting import discounted_sums
from learning.maths.shapes import same_shape
from learning.maths.td import td_errors


def lambda_returns(
    rewards: Tensor, discounts: Tensor, values: Tensor, lam: float | Tensor
) -> Tensor:
    """G_t = r_{t+1} + γ_{t+1} [(1 - λ) v(s_{t+1}) + λ G_{t+1}], begun with G_T = v(s_T).

    rewards, discounts, values: [..., T], values of the states *after* each step; lam: 0 to 1, a number or
    [T]. Returns [..., T]. Sutton and Barto, Reinforcement Learning, 2nd edition, eq. 12.18. Raises
    ShapeError.
    """
    same_shape(rewards=rewards, discounts=discounts, values=values)
    steps = _steps(rewards)
    rate = torch.as_tensor(lam, dtype=rewards.dtype).expand(steps)
    after, found = values[..., -1], list[Tensor]()
    for t in reversed(range(steps)):
        mixed = (1 - rate[t]) * values[..., t] + rate[t] * after
        after = rewards[..., t] + discounts[..., t] * mixed
        found.append(after)
    return torch.stack(found[::-1], -1)


def discounted_returns(rewards: Tensor, discounts: Tensor, last_value: Tensor) -> Tensor:
    """G_t = r_{t+1} + γ_{t+1} G_{t+1}, begun with G_T = the value of the last state.

    rewards, discounts: [..., T]; last_value: [...]. Returns [..., T]. Raises ShapeError.
    """
    same_shape(rewards=rewards, discounts=discounts)
    _steps(rewards)
    return torch.stack(discounted_sums(rewards.unbind(-1), discounts.unbind(-1), last_value), -1)


def generalised_advantages(
    rewards: Tensor, discounts: Tensor, values: Tensor, lam: float
) -> Tensor:
    """A_t = δ_t + γ_{t+1} λ A_{t+1}, with δ_t = r_{t+1} + γ_{t+1} v(s_{t+1}) - v(s_t).

    rewards, discounts: [..., T]; values: [..., T + 1], of every state with the last one; lam: 0 to 1.
    Returns [..., T]. It is lambda_returns minus v(s_t). arXiv 1506.02438, eq. 16. Raises ShapeError.
    """
    same_shape(rewards=rewards, discounts=discounts)
    steps = _steps(rewards)
    if values.shape[-1] != steps + 1 or values.shape[:-1] != rewards.shape[:-1]:
        raise ShapeError(
            f"values is {tuple(values.shape)}, one more than rewards {tuple(rewards.shape)} is needed"
        )
    errors = td_errors(rewards, discounts, values[..., :-1], values[..., 1:])
    none, rates = torch.zeros_like(errors[..., 0]), (discounts * lam).unbind(-1)
    return torch.stack(discounted_sums(errors.unbind(-1), rates, none), -1)


def _steps(rewards: Tensor) -> int:
    """T. Raises ShapeError for no step at all."""
    if rewards.dim() == 0 or rewards.shape[-1] == 0:
        raise ShapeError(f"rewards is {tuple(rewards.shape)}, at least one step is needed")
    return rewards.shape[-1]
