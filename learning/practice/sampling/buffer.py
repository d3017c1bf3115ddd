"""Groups of answers that wait until there are enough for an update.

A step on a few groups is as long as one on many, because Adam does not shrink it, but its direction is noise.
So groups whose answers differ in reward are collected, over several rollouts if need be, and each is used for
one update. A group is as old as the updates since it was drawn: without one the weights are still those that
drew it. The log-probabilities at the time of drawing stay with it, so ratios are right however old it is.
Left out: which groups have something to learn from (learning.practice.trainer).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from learning.objectives.grpo import GrpoAnswer, GrpoGroup
from learning.practice.figures import judged
from learning.practice.sampling.rollouts import Sample


@dataclass(frozen=True)
class ScoredGroup:
    """A prompt, the answers to it that could be judged, and their rewards."""

    prompt: tuple[int, ...]
    answers: tuple[GrpoAnswer, ...]
    """Their advantages are set when the group is used."""
    rewards: tuple[tuple[float, ...], ...]
    """Of each answer what each of its moves was paid (learning.objectives.token_credit)."""
    longest: int | None = None
    """Most own tokens that an answer to it may have; see GrpoGroup."""

    @property
    def plain(self) -> GrpoGroup:
        """The group without its rewards, and so without advantages."""
        return GrpoGroup(self.prompt, self.answers, self.longest)


def scored_group(
    prompt: tuple[int, ...], samples: Sequence[Sample], longest: int | None = None
) -> ScoredGroup:
    """The judged answers of a group with their rewards. Truncated answers enter the mean but give no
    gradient."""
    known = judged(samples)
    answers = [
        GrpoAnswer(s.answer.tokens, s.answer.logprobs, 0.0, not s.truncated, own=s.answer.own)
        for s in known
    ]
    return ScoredGroup(prompt, tuple(answers), tuple(s.paid for s in known), longest)


@dataclass(frozen=True)
class Kept:
    """A group in the buffer."""

    group: ScoredGroup
    born: int
    """Number of the weights that drew it."""


class ExperienceBuffer:
    """Collects live groups until `size` of them are there."""

    def __init__(self, size: int, max_age: int, most: int | None = None) -> None:
        """size: groups that an update needs. max_age: updates that a group may outlive; 0: none. most:
        groups that an update takes if they are there; None: `size`."""
        self.size, self.max_age, self.most = size, max_age, most or size
        self._kept: list[Kept] = []

    def __len__(self) -> int:
        return len(self._kept)

    def add(self, groups: Sequence[ScoredGroup], weights: int) -> None:
        """Adds the live groups of a rollout. weights: their number, one more after each update."""
        self._kept += [Kept(group, weights) for group in groups]

    def drop_old(self, weights: int) -> int:
        """Drops groups that are too old for these weights; returns how many."""
        kept = [one for one in self._kept if weights - one.born <= self.max_age]
        dropped, self._kept = len(self._kept) - len(kept), kept
        return dropped

    def waiting(self, weights: int) -> list[Kept]:
        """Those of earlier weights."""
        return [one for one in self._kept if one.born < weights]

    def drop(self, some: Sequence[Kept]) -> None:
        """Drops these groups."""
        gone = {id(one) for one in some}
        self._kept = [one for one in self._kept if id(one) not in gone]

    def batch(self, rng: random.Random) -> list[Kept] | None:
        """Takes out up to `most` groups, the oldest first and at random among equally old ones; None while
        there are fewer than `size`."""
        if len(self._kept) < self.size:
            return None
        order = sorted(rng.sample(self._kept, len(self._kept)), key=lambda one: one.born)
        chosen, self._kept = order[: self.most], order[self.most :]
        return chosen
