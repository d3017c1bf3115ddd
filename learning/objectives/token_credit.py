"""Group-relative policy gradients with any credit: groups of scored answers as trajectories, and the
advantages that a credit (learning.agents.credit) gives their tokens.

An answer is one move for each stretch of its own tokens: a plain answer is one, a conversation has one for
each reply, and what stands between two of them belongs to the prompt of the later one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from learning.agents.credit import Credit
from learning.agents.interface import Decision, DrawnTokens, Move, Trajectory
from learning.objectives.grpo import GrpoAnswer, GrpoGroup

Ids = tuple[int, ...]
Answered = Trajectory[Ids, Ids]
"""A prompt and an answer to it, or a conversation, as ids."""


Rewards = Sequence[Sequence[Sequence[float]]]
"""[group][answer][move]."""


def trajectory(
    prompt: tuple[int, ...], answer: GrpoAnswer, rewards: Sequence[float], group: int = 0
) -> Answered:
    """One answer. rewards: of each of its moves. An answer that was cut (not active) has no true end, so its
    last discount is not set to 0."""
    logprobs, moves = iter(answer.logprobs), list[Move[Ids, Ids]]()
    stretches = _stretches(answer)
    for (start, end), reward in zip(stretches, rewards, strict=True):
        last = end == stretches[-1][1]
        seen, tokens = (*prompt, *answer.tokens[:start]), answer.tokens[start:end]
        drawn = DrawnTokens(
            seen,
            tokens,
            tuple(next(logprobs) for _ in tokens),
            (True,) * len(tokens),
            "length" if last and not answer.active else "end",
        )
        discount = 0.0 if last and answer.active else 1.0
        moves.append(Move(seen, Decision(tokens, drawn), reward, discount))
    after = None if answer.active else (*prompt, *answer.tokens)
    return Trajectory(tuple(moves), group, after)


def _stretches(answer: GrpoAnswer) -> list[tuple[int, int]]:
    """(start, end) of each stretch of own tokens; end not included."""
    found: list[tuple[int, int]] = []
    for place in answer.own_places:
        if found and found[-1][1] == place:
            found[-1] = (found[-1][0], place + 1)
        else:
            found.append((place, place + 1))
    return found


def trajectories(groups: Sequence[GrpoGroup], rewards: Rewards) -> list[Answered]:
    """All answers of all groups, in order."""
    return [
        trajectory(group.prompt, answer, reward, number)
        for number, (group, scored) in enumerate(zip(groups, rewards, strict=True))
        for answer, reward in zip(group.answers, scored, strict=True)
    ]


def credited(groups: Sequence[GrpoGroup], rewards: Rewards, credit: Credit) -> list[GrpoGroup]:
    """The groups with the advantages that `credit` gives their own tokens."""
    found = iter(credit(trajectories(groups, rewards)))
    return [
        replace(
            group,
            answers=tuple(
                _with(answer, [a for row in next(found) for a in row.tolist()])
                for answer in group.answers
            ),
        )
        for group in groups
    ]


def _with(answer: GrpoAnswer, advantages: Sequence[float]) -> GrpoAnswer:
    """One number where all tokens share it."""
    if len(set(advantages)) == 1:
        return replace(answer, advantage=advantages[0], by_token=None)
    return replace(answer, by_token=tuple(advantages))
