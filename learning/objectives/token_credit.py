"""Group-relative policy gradients with any credit: groups of scored answers as trajectories of one move, and
the advantages that a credit (learning.agents.credit) gives their tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from learning.agents.credit import Credit
from learning.agents.interface import Decision, DrawnTokens, Move, Trajectory
from learning.objectives.grpo import GrpoAnswer, GrpoGroup

Answered = Trajectory[tuple[int, ...], tuple[int, ...]]
"""A prompt and an answer to it, as ids."""


def trajectory(
    prompt: tuple[int, ...], answer: GrpoAnswer, reward: float, group: int = 0
) -> Answered:
    """One answer as a move. Where it was cut (it is not active), it is no true end: the discount stays."""
    own, ended = (True,) * len(answer.tokens), answer.active
    drawn = DrawnTokens(
        prompt, answer.tokens, answer.logprobs, own, "end" if answer.active else "length"
    )
    move = Move(prompt, Decision(answer.tokens, drawn), reward, 0.0 if ended else 1.0)
    after = None if ended else (*prompt, *answer.tokens)
    return Trajectory((move,), group, after)


def trajectories(groups: Sequence[GrpoGroup], rewards: Sequence[Sequence[float]]) -> list[Answered]:
    """All answers of all groups, in order. rewards: [group][answer]."""
    return [
        trajectory(group.prompt, answer, reward, number)
        for number, (group, scored) in enumerate(zip(groups, rewards, strict=True))
        for answer, reward in zip(group.answers, scored, strict=True)
    ]


def credited(
    groups: Sequence[GrpoGroup], rewards: Sequence[Sequence[float]], credit: Credit
) -> list[GrpoGroup]:
    """The groups with the advantages that `credit` gives their tokens. rewards: [group][answer]."""
    found = iter(credit(trajectories(groups, rewards)))
    return [
        replace(
            group, answers=tuple(_with(answer, next(found)[0].tolist()) for answer in group.answers)
        )
        for group in groups
    ]


def _with(answer: GrpoAnswer, advantages: Sequence[float]) -> GrpoAnswer:
    """One number where all tokens share it."""
    if len(set(advantages)) == 1:
        return replace(answer, advantage=advantages[0], by_token=None)
    return replace(answer, by_token=tuple(advantages))
