"""Temporal differences: errors, eligibility traces, steps of a linear value.

Notation: x the features of a state, z the trace, w the weights, all [D]; v = w·x. `decay` is γλ, the
discount of the step times λ. Left out: whole trajectories at once (learning.maths.returns).
"""

from __future__ import annotations

import torch
from torch import Tensor

from learning.maths.shapes import same_shape


def td_errors(
    rewards: Tensor, discounts: Tensor, values_now: Tensor, values_next: Tensor
) -> Tensor:
    """δ = r + γ v(s') - v(s)  per step. All of one shape, which is returned. Sutton and Barto, eq. 6.5.
    Raises ShapeError."""
    same_shape(rewards=rewards, discounts=discounts, values_now=values_now, values_next=values_next)
    return rewards + discounts * values_next - values_now


def accumulate(trace: Tensor, gradient: Tensor, decay: float) -> Tensor:
    """z <- γλ z + x, the accumulating trace. Returns [D]. Sutton and Barto, eq. 12.5. Raises ShapeError."""
    same_shape(trace=trace, gradient=gradient)
    return decay * trace + gradient


def replace(trace: Tensor, gradient: Tensor, decay: float) -> Tensor:
    """z <- γλ z, then z <- x where x is not 0: the replacing trace. Returns [D]. Singh and Sutton, 1996;
    Sutton and Barto, section 12.5. Raises ShapeError."""
    same_shape(trace=trace, gradient=gradient)
    return torch.where(gradient != 0, gradient, decay * trace)


def dutch(trace: Tensor, features: Tensor, decay: float, step_size: float) -> Tensor:
    """z <- γλ z + (1 - α γλ zᵀx) x, the dutch trace of true online TD(λ). Returns [D]. Sutton and Barto,
    eq. 12.11. Raises ShapeError."""
    same_shape(trace=trace, features=features)
    return decay * trace + (1 - step_size * decay * torch.dot(trace, features)) * features


def true_online_step(
    weights: Tensor,
    trace: Tensor,
    features: Tensor,
    value_before: float,
    error: float,
    value: float,
    step_size: float,
) -> Tensor:
    """w + α (δ + v - v_old) z - α (v - v_old) x.

    trace: the dutch trace with this state's features in it; value: of this state by the weights of now;
    value_before: of this state by the weights of one step earlier. Returns [D]. arXiv 1512.04087; Sutton
    and Barto, section 12.5. Raises ShapeError.
    """
    same_shape(weights=weights, trace=trace, features=features)
    change = value - value_before
    return weights + step_size * ((error + change) * trace - change * features)


def bounded_step(error: float, trace_norm: float, step_size: float, bound: float) -> float:
    """α / max(1, α κ max(|δ|, 1) ||z||₁): a step that does not overshoot its own target.

    trace_norm: ||z||₁, the sum of absolute values; bound: κ, greater for smaller steps. arXiv 2410.14606,
    algorithm 3.
    """
    return step_size / max(1.0, step_size * bound * max(abs(error), 1.0) * trace_norm)
