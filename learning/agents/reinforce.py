"""REINFORCE, with or without a baseline: learns from the returns of whole episodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic

import torch

from learning.agents.actor_critic import Actor, Critic
from learning.agents.interface import Action, Obs, Trajectory
from learning.maths.returns import discounted_returns


@dataclass
class Reinforce(Generic[Obs, Action]):
    """θ <- θ + α γᵗ (G - v(s)) ∇ ln π(a|s) for each move in order. Sutton and Barto, sections 13.3 and 13.4.

    Trajectories are whole episodes, or parts whose last state the critic can value.
    """

    actor: Actor[Obs, Action]
    rate: float
    critic: Critic[Obs] | None = None
    """The baseline; None: 0."""
    critic_rate: float = 0.0

    def learn(self, trajectories: Sequence[Trajectory[Obs, Action]]) -> None:
        """One step for each move, in order."""
        for trajectory in trajectories:
            rewards, discounts = (
                torch.tensor([getattr(m, name) for m in trajectory.moves], dtype=torch.float64)
                for name in ("reward", "discount")
            )
            behind = trajectory.after
            last = 0.0 if behind is None or self.critic is None else self.critic(behind)
            returns = discounted_returns(rewards, discounts, torch.tensor(last)).tolist()
            so_far = 1.0
            for move, gained in zip(trajectory.moves, returns, strict=True):
                score = self.actor.score(move.observation, move.decision)
                error = gained
                if self.critic is not None:
                    error -= self.critic(move.observation)
                    gradients = self.critic.gradient(move.observation)
                    for weights, part in zip(self.critic.parameters, gradients, strict=True):
                        weights.add_(part, alpha=self.critic_rate * error)
                for parameter, part in zip(self.actor.parameters, score, strict=True):
                    parameter.add_(part, alpha=self.rate * so_far * error)
                so_far *= move.discount
