"""Tasks of every kind in turns: sampled by the sampler that fits each, and learned from in one step."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import islice
from typing import Any

import pytest
import torch

from engine.model import Model
from engine.tokenizers.tokenizer import Tokenizer
from learning.curriculum.methods import ArmChoice, Uniform
from learning.curriculum.settings import CurriculumSettings
from learning.memory.replay import Replay
from learning.objectives.grpo import GrpoGroup, grpo_gradients
from learning.objectives.settings import RetentionSettings
from learning.practice.sampling.dialogues import DialogueSampler
from learning.practice.sampling.mixed import MixtureSampler, sampler
from learning.practice.sampling.rollouts import Drawn, RolloutSampler
from learning.practice.settings import PracticeSettings
from learning.practice.supply.mixture import CurriculumSource, TaskMixture
from learning.practice.trainer import GrpoTrainer
from learning.rewards.dialogue import DialogueTask
from learning.rewards.registry import find_task
from learning.rewards.task import Problem, TaskOptions
from learning.rewards.tools import ToolCall, ToolTask
from tests.random_model import roomy
from tests.sums import Sums

NOTHING = RetentionSettings(lines=0, talk=0)


@pytest.fixture
def mixture(monkeypatch: pytest.MonkeyPatch) -> TaskMixture:
    """A conversation, a plain task and one with a tool, whose programs are not run."""

    def ran(_: ToolTask, programs: Sequence[str]) -> list[ToolCall]:
        return [ToolCall(program, "5", done=True) for program in programs]

    monkeypatch.setattr(ToolTask, "open", lambda _: None)
    monkeypatch.setattr(ToolTask, "execute", ran)
    talk = find_task("umbrella_talk", TaskOptions(difficulty={"small_talk": 2}))
    tool = find_task("tool_sums", TaskOptions(difficulty={"digits": 1}))
    return TaskMixture({"umbrella_talk": talk, "sums": Sums(), "tool_sums": tool})


def problems(mixture: TaskMixture, count: int) -> list[Problem]:
    return list(islice(mixture.problems("train", random.Random(0)), count))


def test_plain_tasks_alone_are_sampled_in_one_batch(tiny_tokenizer: Tokenizer) -> None:
    plain = TaskMixture({"a": Sums(3), "b": Sums(9)})
    assert type(sampler(tiny_tokenizer, plain, max_tokens=8)) is RolloutSampler


@torch.no_grad()
def test_groups_come_in_the_order_of_the_problems_each_by_its_own_rules(
    tiny_model: Model, tiny_tokenizer: Tokenizer, mixture: TaskMixture
) -> None:
    roller = sampler(tiny_tokenizer, mixture, max_tokens=8)
    assert isinstance(roller, MixtureSampler)
    asked = random.Random(3).sample(problems(mixture, 9), 9)
    drawn = roller.draw(roomy(tiny_model), asked, 2, torch.Generator().manual_seed(0))
    assert [len(group) for group in drawn.groups] == [2] * 9
    for problem, prompt, group in zip(asked, drawn.prompts, drawn.groups, strict=True):
        assert all(sample.problem is problem for sample in group)
        assert problem.prompt in tiny_tokenizer.decode(prompt)
        replies = {"umbrella_talk": 3, "sums": 1}.get(problem.arm)
        assert replies is None or {len(sample.paid) for sample in group} == {replies}
        counted = ["python_count" in sample.score.components for sample in group]
        assert counted == [problem.arm == "tool_sums"] * 2
    assert drawn.tokens == sum(sample.answer.drawn for sample in drawn.samples)
    talk, tool = mixture.tasks["umbrella_talk"], mixture.tasks["tool_sums"]
    assert isinstance(talk, DialogueTask) and isinstance(tool, ToolTask)
    by_arm = {problem.arm: problem for problem in asked}
    longest = {arm: roller.longest(problem) for arm, problem in by_arm.items()}
    assert longest == {
        **{"sums": 8, "umbrella_talk": 8 * talk.replies},
        "tool_sums": 8 * (tool.limit + 1),
    }
    lines = {
        arm: roller.worked(roomy(tiny_model), problem, tiny_tokenizer.encode)
        for arm, problem in by_arm.items()
    }
    ends = {
        arm: list(line.ids).count(tiny_tokenizer.chat.end) for arm, line in lines.items() if line
    }
    assert ends["umbrella_talk"] > ends["sums"], "the whole conversation"
    endless = find_task("umbrella_talk", TaskOptions(difficulty={"small_talk": 40}))
    long = TaskMixture({"umbrella_talk": endless})
    (first,) = problems(long, 1)
    assert not sampler(tiny_tokenizer, long, max_tokens=8).fits(tiny_model, first)


def test_what_warm_up_has_taught_reaches_every_sampler(
    tiny_tokenizer: Tokenizer,
    mixture: TaskMixture,
    monkeypatch: pytest.MonkeyPatch,
    tiny_model: Model,
) -> None:
    roller = sampler(tiny_tokenizer, mixture, max_tokens=8)
    told = list[bool]()

    def draw_own(self: RolloutSampler, *_: object) -> Drawn:
        told.append(self.says_tags)
        return Drawn(((1,),), ((),), 0, 0.0)

    own = [one for one in problems(mixture, 3) if one.arm == "umbrella_talk"]
    monkeypatch.setattr(DialogueSampler, "draw_own", draw_own)
    roller.says_tags = True
    roller.draw(tiny_model, own, 1, torch.Generator())
    assert told == [True]


def test_a_step_learns_from_all_of_them(
    tiny_model: Model,
    tiny_tokenizer: Tokenizer,
    mixture: TaskMixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = roomy(tiny_model)
    settings = PracticeSettings(
        groups=6, group_size=4, updates=1, max_tokens=8, held_out=6, lr=2e-3, keep=NOTHING
    )
    choice = ArmChoice(3, CurriculumSettings(method=Uniform))
    session = GrpoTrainer(
        *(model, tiny_tokenizer, mixture, Replay(model, [], [], []), settings),
        seed=3,
        source=lambda task, rng, fits: CurriculumSource(mixture, choice, rng, fits),
    )
    assert {problem.arm for problem in session.problems_held_out} == set(mixture.tasks)
    learned = list[GrpoGroup]()

    def gradients(model: Model, groups: Sequence[GrpoGroup], *more: Any, **options: Any) -> Any:
        learned.extend(groups)
        return grpo_gradients(model, groups, *more, **options)

    monkeypatch.setattr("learning.practice.trainer.grpo_gradients", gradients)
    reports = [session.step() for _ in range(2)]
    own = {session.roller.longest(problem) for problem in problems(mixture, 3)}
    weighed = {group.longest for group in learned}
    assert len(weighed) > 1 and weighed <= own, "each by its own task"
    assert sum(report.updates for report in reports) >= 1
    assert {arm.name for arm in reports[0].arms if arm.groups} == set(mixture.tasks)
    assert all(abs(report.mismatch) < 0.02 for report in reports)
    assert session.look().by_arm().keys() == set(mixture.tasks)
