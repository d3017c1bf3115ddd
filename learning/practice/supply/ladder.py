"""Practice that climbs: a task without settings is practised on all rungs of its ladder reached so far.

A rung is an arm. When the highest one is solved the next rung joins, and the solved ones stay arms, so that
the curriculum's floor keeps them. What has joined is in the journal with the runs, for each model by itself.
Left out: the ladders (learning.rewards.ladders).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from learning.practice.supply.arms import arm_name, label, split_arm
from learning.protocol.requests import Practise
from learning.rewards.ladders import LADDERS

SOLVED = 0.9
"""Held-out accuracy of the highest rung, 0 to 1, from which on the next one joins."""
MOSTLY = 0.5
"""The same at the end of a run in which too few problems had answers that differ: answers that are all alike
are then mostly right."""
EXHAUSTED = ("solved", "too_few")
"""Ways a run ends that had too little left to learn."""


def climbs(arms: Sequence[str]) -> bool:
    """Whether one of these arms has a ladder: it is a task without settings."""
    return any(arm in LADDERS for arm in arms)


def climbed(request: Practise, joined: Collection[str]) -> Practise:
    """The request with the rungs reached in place of each task without settings. joined: rungs that have
    joined before. The first arm's rungs come first, and count together as the owner's task."""
    found = [(arm, *_reached(arm, joined)) for arm in request.arms]
    arms = tuple(dict.fromkeys(rung for rungs in found for rung in rungs))
    return replace(request, task=label(arms), arms=arms, own_arms=len(found[0]))


def joining(arms: Sequence[str], accuracy: Mapping[str, float], ended: str) -> tuple[str, ...]:
    """The rungs that join after a run of these arms. accuracy: of each arm on held-out problems, 0 to 1, as
    the run left it. ended: see learning.practice.run.PracticeOutcome."""
    enough = MOSTLY if ended in EXHAUSTED else SOLVED
    found = []
    for task in LADDERS:
        if task not in arms:
            continue
        rungs = rungs_of(task)
        highest = max(number for number, rung in enumerate(rungs) if rung in arms)
        if highest + 1 < len(rungs) and accuracy.get(rungs[highest], 0.0) >= enough:
            found.append(rungs[highest + 1])
    return tuple(found)


def rungs_of(task: str) -> tuple[str, ...]:
    """The rungs of a task as arms, easiest first; the task alone where it has no ladder."""
    return tuple(arm_name(task, settings) for settings in LADDERS.get(task, ((),)))


def below(rung: str) -> str:
    """The rung before this one on its ladder; "" where there is none."""
    rungs = rungs_of(split_arm(rung)[0])
    return rungs[rungs.index(rung) - 1] if rung in rungs[1:] else ""


def _reached(arm: str, joined: Collection[str]) -> tuple[str, ...]:
    """The rungs behind the first one that have joined; none for an arm with settings, which is as typed."""
    return tuple(rung for rung in rungs_of(arm)[1:] if rung in joined) if arm in LADDERS else ()
