"""Learns a policy from whole trajectories by any credit: the policy gradient without clipping."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic

import torch

from learning.agents.actor_critic import Actor
from learning.agents.credit import Credit
from learning.agents.interface import Action, Obs, Trajectory


@dataclass
class PolicyGradient(Generic[Obs, Action]):
    """θ <- θ + rate x the mean over trajectories of Σ A ∇ ln π(token), summed over the own tokens of all
    decisions. With the credit of learning.agents.credit.whole_answer this is GRPO with one update a rollout,
    where the ratio is 1 and nothing is clipped (2402.03300), normalised by a constant and not by the answers'
    lengths (2503.20783)."""

    actor: Actor[Obs, Action]
    credit: Credit
    rate: float

    def learn(self, trajectories: Sequence[Trajectory[Obs, Action]]) -> None:
        """One step for all trajectories together; none if all advantages are 0."""
        sums = [torch.zeros_like(part) for part in self.actor.parameters]
        for trajectory, rows in zip(trajectories, self.credit(trajectories), strict=True):
            for move, advantages in zip(trajectory.moves, rows, strict=True):
                if advantages.any():
                    score = self.actor.score(move.observation, move.decision, advantages)
                    for total, part in zip(sums, score, strict=True):
                        total.add_(part)
        for parameter, total in zip(self.actor.parameters, sums, strict=True):
            parameter.add_(total, alpha=self.rate / max(1, len(trajectories)))
