"""The contract of `Environment`: every world passes."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from engine.tokenizers.ranks import RankTokenizer
from learning.agents.interface import TimeStep
from learning.envs.bandit import TenArmed
from learning.envs.corridor import Corridor
from learning.envs.dialogue import DialogueEnvironment
from learning.envs.gridworld import two_jumps, way_out
from learning.envs.question import QuestionEnvironment
from learning.envs.umbrella import UmbrellaChain
from learning.envs.walk import RandomWalk
from learning.rewards.dialogue import DialogueTask
from learning.rewards.registry import find_task
from tests.implementations import implementations
from tests.sums import Sums

WORLDS: dict[str, Callable[[], Any]] = {
    "TenArmed": lambda: TenArmed.drawn(random.Random(0)),
    "Gridworld": way_out,
    "Gridworld, no end": two_jumps,
    "RandomWalk": RandomWalk,
    "Corridor": Corridor,
    "UmbrellaChain": UmbrellaChain,
    "QuestionEnvironment": lambda: QuestionEnvironment(Sums()),
    "DialogueEnvironment": lambda: Spoken("umbrella_talk"),
    "DialogueEnvironment, detective": lambda: Spoken("detective"),
}
LONGEST = 2000


class Spoken(DialogueEnvironment):
    """A conversation with one id a byte, for a test that acts with texts."""

    def __init__(self, name: str) -> None:
        task = find_task(name)
        assert isinstance(task, DialogueTask)
        tokenizer = RankTokenizer({bytes([b]): b for b in range(256)})
        super().__init__(task, tokenizer, context=4000)

    def step(self, action: Any) -> TimeStep[Any]:
        return super().step(tuple(action.encode()))


def episode(world: Any, seed: int) -> list[TimeStep[Any]]:
    """All steps of an episode of random actions, cut after LONGEST."""
    chance, choice = random.Random(seed), random.Random(seed + 1000)
    steps = [world.reset(chance)]
    while not steps[-1].last and len(steps) < LONGEST:
        action = choice.randrange(world.actions) if hasattr(world, "actions") else "7"
        steps.append(world.step(action))
    return steps


@pytest.mark.parametrize("name", WORLDS)
def test_the_contract(name: str) -> None:
    world = WORLDS[name]()
    for seed in range(20):
        steps = episode(world, seed)
        assert (steps[0].reward, steps[0].discount, steps[0].last) == (0, 1, False)
        for step in steps[1:]:
            assert 0 <= step.discount <= 1
            assert step.last or step.discount > 0, "only an ended episode is worth nothing more"
        if steps[-1].last:
            assert steps[-1].discount == 0, "these worlds cut nothing off"
        if hasattr(world, "states"):
            assert all(0 <= step.observation < world.states for step in steps)
        assert episode(world, seed) == steps, "the same chance, the same episode"


def test_every_world_is_tested() -> None:
    methods = {"reset": "self, rng: random.Random"}
    assert implementations(methods) == {name.split(",")[0] for name in WORLDS}
