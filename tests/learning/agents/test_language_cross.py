"""A language model in the same loops as a table: every kind of learner in both worlds of words."""

from __future__ import annotations

import copy
import random
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from engine.model import Model
from engine.tokenizers.tokenizer import Tokenizer
from learning.agents.actor_critic import ActorCritic
from learning.agents.credit import decayed, whole_answer
from learning.agents.interface import Decision, DrawnTokens, Move, TimeStep, Trajectory
from learning.agents.language import IDS, LanguagePolicy, PromptForm, texts, turn_features
from learning.agents.linear import LinearValue
from learning.agents.policy_gradient import PolicyGradient
from learning.agents.run import collect, run
from learning.envs.dialogue import DialogueEnvironment
from learning.envs.question import QuestionEnvironment
from learning.maths.normalise import by_constant
from learning.maths.policy import centred_advantages
from learning.objectives.grpo import GrpoAnswer, GrpoGroup, grpo_gradients
from learning.objectives.settings import GrpoSettings
from learning.rewards.dialogue import DialogueTask
from learning.rewards.registry import find_task
from learning.rewards.task import TaskOptions
from tests.random_model import roomy

RATE = 1e-3
Credits = {
    "PolicyGradient, whole answer": whole_answer(),
    "PolicyGradient, decayed": decayed(centred_advantages, half_life=3.0),
}
LEARNERS = [*Credits, "ActorCritic"]
WORLDS = ["chain_sum", "umbrella_talk"]


@dataclass
class Paid:
    """A world that pays besides 0 to 1, the same for the same reply: a model with random weights earns little
    else that differs."""

    world: Any

    def reset(self, rng: random.Random) -> TimeStep[Any]:
        return self.world.reset(rng)  # type: ignore[no-any-return]

    def step(self, action: Any) -> TimeStep[Any]:
        step: TimeStep[Any] = self.world.step(action)
        return replace(step, reward=step.reward + zlib.crc32(repr(action).encode()) % 11 / 10)


class Room:
    """A tiny model, a policy and worlds."""

    def __init__(self, model: Model, tokenizer: Tokenizer, world: str) -> None:
        self.model, self.tokenizer, self.name = roomy(model), tokenizer, world
        context = self.model.config.context
        self.form: PromptForm[Any, Any] = (
            IDS if world == "umbrella_talk" else texts(tokenizer, context)
        )
        self.policy: LanguagePolicy[Any, Any] = LanguagePolicy(
            self.model,
            tokenizer,
            self.form,
            max_tokens=6,
            generator=torch.Generator().manual_seed(0),
        )
        self.value: LinearValue[Any] | None = None

    def world(self) -> Any:
        short = TaskOptions(difficulty={"small_talk": 1}) if self.name == "umbrella_talk" else None
        task = find_task(self.name, short)
        if isinstance(task, DialogueTask):
            return DialogueEnvironment(task, self.tokenizer, self.model.config.context)
        return QuestionEnvironment(task)

    def learner(self, name: str) -> Any:
        if name in Credits:
            return PolicyGradient(self.policy, Credits[name], RATE)
        frozen = copy.deepcopy(self.model).requires_grad_(False)
        self.value = LinearValue(turn_features(frozen, self.form), frozen.config.dim + 1)
        return ActorCritic(self.policy, self.value, actor_rate=RATE, critic_rate=0.05)

    def group(self, seed: int, world: Callable[[Any], Any]) -> list[Trajectory[Any, Any]]:
        worlds = [world(self.world()) for _ in range(4)]
        beginnings = [random.Random(seed) for _ in worlds]
        return collect(worlds, self.policy, beginnings, groups=[seed] * 4)

    def weights(self) -> Tensor:
        value = self.value.parameters if self.value else []
        return torch.cat([part.flatten().double() for part in [*self.policy.parameters, *value]])


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("name", LEARNERS)
def test_three_steps_of_every_learner_in_every_world(
    tiny_model: Model, tiny_tokenizer: Tokenizer, name: str, world: str
) -> None:
    room = Room(tiny_model, tiny_tokenizer, world)
    learner, before = room.learner(name), room.weights()
    learner.learn([])
    assert torch.equal(room.weights(), before), "nothing to learn from, nothing changed"
    for step in range(3):
        drawn, before = room.group(step, Paid), room.weights()
        assert len({one.total for one in drawn}) > 1
        learner.learn(drawn)
        assert not torch.equal(room.weights(), before)
    before = room.weights()
    totals = run(Paid(room.world()), room.policy, learner, 3, random.Random(0))
    assert len(totals) == 3
    if name == "ActorCritic":
        assert not torch.equal(room.weights(), before)
    else:
        assert torch.equal(room.weights(), before), "a move alone is a group of one"
    assert bool(room.weights().isfinite().all())


def test_the_example_of_the_page_runs(tiny_model: Model, tiny_tokenizer: Tokenizer) -> None:
    page = (Path(__file__).parents[3] / "docs" / "architecture.md").read_text("utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict[str, Any] = {"model": roomy(tiny_model), "tokenizer": tiny_tokenizer}
    exec(example, names)
    learned = [*names["policy"].parameters, *names["value"].parameters]
    assert all(bool(part.isfinite().all()) for part in learned)


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("name", Credits)
def test_a_group_of_equal_rewards_teaches_nothing(
    tiny_model: Model, tiny_tokenizer: Tokenizer, name: str, world: str
) -> None:
    room = Room(tiny_model, tiny_tokenizer, world)
    learner, before = room.learner(name), room.weights()
    equal = [
        replace(one, moves=tuple(replace(move, reward=1.0) for move in one.moves))
        for one in room.group(0, Paid)
    ]
    assert len({one.total for one in equal}) == 1
    learner.learn(equal)
    assert torch.equal(room.weights(), before)


def test_a_conversation_goes_on_with_the_ids_that_were_said(
    tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    for talk in Room(tiny_model, tiny_tokenizer, "umbrella_talk").group(0, Paid):
        assert len(talk.moves) > 1
        for move, after in zip(talk.moves, talk.moves[1:], strict=False):
            said = (*move.observation, *move.decision.action)
            assert after.observation[: len(said)] == said
            assert after.decision.drawn is not None
            assert after.decision.drawn.prompt == after.observation


def reply(own: tuple[bool, ...], reward: float, first: int) -> Trajectory[Any, Any]:
    tokens = tuple(range(first, first + len(own)))
    drawn = DrawnTokens((1, 2, 3), tokens, (0.0,) * len(own), own)
    return Trajectory((Move((1, 2, 3), Decision(tokens, drawn), reward, 0.0),), "a")


PAIR = [reply((True, False, True, True), 1.0, 10), reply((True, True), 0.0, 20)]


@pytest.mark.parametrize("name", Credits)
def test_a_step_is_that_of_a_masked_loss(
    tiny_model: Model, tiny_tokenizer: Tokenizer, name: str
) -> None:
    room = Room(tiny_model, tiny_tokenizer, "umbrella_talk")
    loss = torch.zeros(())
    for trajectory, (advantages,) in zip(PAIR, Credits[name](PAIR), strict=True):
        drawn = trajectory.moves[0].decision.drawn
        assert drawn is not None
        whole = torch.tensor([[*drawn.prompt, *drawn.tokens]])
        logits = room.model(whole)[0, len(drawn.prompt) - 1 : -1].log_softmax(-1)
        picked = logits[torch.arange(len(drawn.tokens)), torch.tensor(drawn.tokens)]
        mask = torch.tensor(drawn.own).float() * advantages.float()
        loss = loss - (picked * mask).sum() / len(PAIR)
    wanted = torch.autograd.grad(loss, list(room.model.parameters()))
    before = [part.clone() for part in room.policy.parameters]
    room.learner(name).learn(PAIR)
    for old, new, part in zip(before, room.policy.parameters, wanted, strict=True):
        assert float((new - old + RATE * part).norm()) <= 0.05 * RATE * float(part.norm()) + 1e-6


def test_praise_and_blame_in_one_reply_do_not_cancel(
    tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    room = Room(tiny_model, tiny_tokenizer, "umbrella_talk")
    learner: PolicyGradient[Any, Any] = PolicyGradient(
        room.policy, lambda _: [[torch.tensor([1.0, -1.0])]], RATE
    )
    drawn = PAIR[1].moves[0].decision
    before = room.policy.log_probabilities(drawn)
    learner.learn(PAIR[1:])
    change = room.policy.log_probabilities(drawn) - before
    assert change[0] > 0 > change[1]


def test_it_is_the_gradient_of_practice(tiny_model: Model, tiny_tokenizer: Tokenizer) -> None:
    """That of learning.objectives.grpo in the first update after a rollout, normalised by a constant."""
    room = Room(tiny_model, tiny_tokenizer, "umbrella_talk")
    rows = [row.float() for (row,) in Credits["PolicyGradient, decayed"](PAIR)]
    answers = []
    for trajectory, row in zip(PAIR, rows, strict=True):
        decision = trajectory.moves[0].decision
        own = decision.drawn.own if decision.drawn else ()
        odds = room.policy.log_probabilities(decision).detach()[torch.tensor(own)]
        answers.append(
            GrpoAnswer(
                decision.action,
                tuple(odds.tolist()),
                0.0,
                by_token=tuple(row[torch.tensor(own)].tolist()),
                own=own,
            )
        )
    settings = GrpoSettings(normalise=by_constant, temperature=1.0)
    grpo_gradients(room.model, [GrpoGroup((1, 2, 3), tuple(answers), longest=1)], settings)
    wanted = [part.grad for part in room.model.parameters()]
    before = [part.clone() for part in room.policy.parameters]
    room.learner("PolicyGradient, decayed").learn(PAIR)
    for old, new, part in zip(before, room.policy.parameters, wanted, strict=True):
        assert part is not None
        assert float((new - old + RATE * part).norm()) <= 0.05 * RATE * float(part.norm()) + 1e-6
