"""Reads drawn answers again: what the weights that train, and those before the first step, say of them.

Answers are drawn in float32 or float16 (engine.packed), and trained in bfloat16 where that is fast. By
rounding alone the two then differ by 0.05 nats a token on unsure answers, and PPO's ratios would not start at
1. So the behaviour's log-probabilities are read again, in the arithmetic of training.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from engine.model import Model
from learning.maths.kl import k1, k3, penalised
from learning.objectives.grpo import log_probabilities
from learning.objectives.processes import ALONE, ProcessGroup
from learning.objectives.settings import GrpoSettings
from learning.practice.sampling.buffer import ScoredGroup


@dataclass(frozen=True)
class Reader:
    """Reads answers with the settings of one practice."""

    objective: GrpoSettings
    never: Callable[[Model], Sequence[int]] = lambda _: ()
    """Ids that answers never have (RolloutSampler.never)."""
    pause: Callable[[], None] = lambda: None
    team: ProcessGroup = ALONE

    def read(
        self, model: Model, groups: Sequence[ScoredGroup], *, precise: bool = False
    ) -> list[list[Tensor]]:
        """Log-probabilities, [group][answer] -> [own tokens], in nats. precise: in float32."""
        return log_probabilities(
            model,
            [group.plain for group in groups],
            self.objective,
            never=self.never(model),
            precise=precise,
            pause=self.pause,
        )

    def as_trained(self, model: Model, groups: Sequence[ScoredGroup]) -> list[ScoredGroup]:
        """The groups with log-probabilities in the arithmetic of training: in the first update after it all
        ratios are 1. Of several processes each reads its share."""
        own = self.team.share(groups)
        found = []
        for group, read in zip(own, self.read(model, own), strict=True):
            answers = [
                replace(answer, logprobs=tuple(values.tolist()))
                for answer, values in zip(group.answers, read, strict=True)
            ]
            found.append(replace(group, answers=tuple(answers)))
        return self.team.gather(found)

    def penalised(
        self, start: Model, groups: Sequence[ScoredGroup], weight: float
    ) -> list[ScoredGroup]:
        """The groups with the divergence (k1) from the weights before the first step taken off their
        rewards. weight: reward per nat."""
        found = []
        for group, was in zip(groups, self.read(start, groups), strict=True):
            sums = torch.stack(
                [
                    k1(torch.tensor(answer.logprobs), values.cpu()).sum()
                    for answer, values in zip(group.answers, was, strict=True)
                ]
            )
            last = penalised(torch.tensor([paid[-1] for paid in group.rewards]), sums, weight)
            rewards = [
                (*paid[:-1], end) for paid, end in zip(group.rewards, last.tolist(), strict=True)
            ]
            found.append(replace(group, rewards=tuple(rewards)))
        return found

    def divergence(self, start: Model, groups: Sequence[ScoredGroup]) -> float:
        """Mean KL per token to the weights before the first step, in nats, estimated by k3."""
        now, was = _drawn(groups), _flat(self.read(start, groups, precise=True))
        return float(k3(now, was).mean()) if len(now) else 0.0

    def mismatch(self, model: Model, groups: Sequence[ScoredGroup]) -> float:
        """Mean of |log π_drawn - log π| per token, in nats, π in float32. A value above rounding means
        that drawing has an error."""
        drawn, now = _drawn(groups), _flat(self.read(model, groups, precise=True))
        return float((drawn - now).abs().mean()) if len(drawn) else 0.0


def _drawn(groups: Sequence[ScoredGroup]) -> Tensor:
    """Log-probabilities of all own tokens of the groups, as they were drawn."""
    return torch.tensor(
        [p for group in groups for answer in group.answers for p in answer.logprobs]
    )


def _flat(read: list[list[Tensor]]) -> Tensor:
    values = [values for own in read for values in own]
    return torch.cat(values).cpu() if values else torch.empty(0)
