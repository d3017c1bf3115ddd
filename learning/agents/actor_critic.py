"""The actor-critic with eligibility traces, one class for tables and for models of many weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, Protocol

import torch
from torch import Tensor

from learning.agents.interface import Action, Decision, Obs, ObsIn, Trajectory
from learning.maths.td import accumulate, bounded_step


class Actor(Protocol[ObsIn, Action]):
    """A policy with parameters."""

    @property
    def parameters(self) -> list[Tensor]:
        """Changed in place by learning."""
        ...

    def score(
        self, observation: ObsIn, decision: Decision[Action], weights: Tensor | None = None, /
    ) -> list[Tensor]:
        """Σ w ∇ ln π(token) over the decision's own tokens, by each parameter. weights: w, [tokens]; None: 1
        each, which gives the gradient of the decision's log-probability."""
        ...


class Critic(Protocol[ObsIn]):
    """A value with parameters."""

    @property
    def parameters(self) -> list[Tensor]:
        """Changed in place by learning."""
        ...

    def __call__(self, observation: ObsIn, /) -> float: ...

    def gradient(self, observation: ObsIn, /) -> list[Tensor]:
        """The gradient of the value by each parameter."""
        ...


class ActorCritic(Generic[Obs, Action]):
    """Sutton and Barto, section 13.5, "Actor-Critic with Eligibility Traces (episodic)".

    Each move: δ = r + γ v(s') - v(s); both traces decay by γλ and take in their gradient, that of the actor
    times the product of the discounts so far; both sets of parameters move by rate x δ x trace. With
    `bounds` a step that would overshoot its own target is shorter (learning.maths.td.bounded_step): states of
    a language model are alike, so its traces grow long, and a rate that suits one conversation is too great
    for a longer one.
    """

    def __init__(
        self,
        actor: Actor[Obs, Action],
        critic: Critic[Obs],
        *,
        actor_rate: float,
        critic_rate: float,
        lam: float = 0.9,
        critic_lam: float | None = None,
        bounds: tuple[float, float] | None = None,
    ) -> None:
        """lam: decay of the actor's trace, 0 to 1; critic_lam: of the critic's, the same if None. bounds: κ
        of the actor's and of the critic's step, above 0, greater for shorter steps; None: all steps have the
        full rate. 2410.14606 has (3, 2)."""
        self._actor, self._critic = actor, critic
        self._rates, self._bounds = (actor_rate, critic_rate), bounds or (0.0, 0.0)
        self._lams = (lam, lam if critic_lam is None else critic_lam)
        self._traces: tuple[list[Tensor], list[Tensor]] = ([], [])
        self._discount, self._so_far = 0.0, 1.0
        self._forget()

    def learn(self, trajectories: Sequence[Trajectory[Obs, Action]]) -> None:
        """Takes one step for each move, in order."""
        for trajectory in trajectories:
            if trajectory.begins:
                self._forget()
            moves = trajectory.moves
            for move, following in zip(moves, [*moves[1:], None], strict=True):
                after = trajectory.after if following is None else following.observation
                bootstrap = 0.0 if after is None or move.discount == 0 else self._critic(after)
                error = move.reward + move.discount * bootstrap - self._critic(move.observation)
                score = self._actor.score(move.observation, move.decision)
                weighted = [self._so_far * part for part in score]
                gradients = (weighted, self._critic.gradient(move.observation))
                self._step(error, gradients)
                self._discount = move.discount
                self._so_far *= move.discount

    def _step(self, error: float, gradients: tuple[list[Tensor], list[Tensor]]) -> None:
        parameters = (self._actor.parameters, self._critic.parameters)
        sides = zip(
            *(parameters, self._traces, gradients, self._lams, self._rates, self._bounds),
            strict=True,
        )
        for moving, traces, found, lam, rate, bound in sides:
            for i, gradient in enumerate(found):
                traces[i] = accumulate(traces[i], gradient, self._discount * lam)
            norm = sum(float(trace.abs().sum()) for trace in traces) if bound else 0.0
            step = bounded_step(error, norm, rate, bound)
            for parameter, trace in zip(moving, traces, strict=True):
                parameter.add_(trace, alpha=step * error)

    def _forget(self) -> None:
        """Drops the traces: an episode begins."""
        self._traces = (
            [torch.zeros_like(part) for part in self._actor.parameters],
            [torch.zeros_like(part) for part in self._critic.parameters],
        )
        self._discount, self._so_far = 0.0, 1.0
