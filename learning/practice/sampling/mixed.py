"""The sampler that fits a task: `sampler`; and that of several tasks of any kind, in one step.

Problems of plain tasks are answered in one batch. Conversations, and answers that call programs, have
samplers of their own. The groups come back in the order of the problems.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from engine.model import Model
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.examples import Example
from learning.practice.sampling.dialogues import DialogueSampler
from learning.practice.sampling.rollouts import Drawn, RolloutSampler, Sample
from learning.practice.sampling.tools import ToolSampler
from learning.practice.supply.mixture import TaskMixture
from learning.rewards.dialogue import DialogueTask
from learning.rewards.task import Problem, Task
from learning.rewards.tools import ToolTask


class MixtureSampler(RolloutSampler):
    """Samples answers to the problems of several tasks."""

    task: TaskMixture

    def __init__(self, tokenizer: Tokenizer, task: TaskMixture, **more: Any) -> None:
        """more: as of RolloutSampler."""
        super().__init__(tokenizer, task, **more)
        self._own = {
            arm: sampler(tokenizer, one, **more)
            for arm, one in task.tasks.items()
            if sampler_kind(one) is not RolloutSampler
        }
        """Arm -> its sampler, where its answers are not plain texts."""

    def draw_own(
        self,
        model: Model,
        problems: Sequence[Problem],
        group: int,
        generator: torch.Generator,
        greedy: bool,
    ) -> Drawn:
        """See RolloutSampler."""
        places: dict[str, list[int]] = {}
        for place, problem in enumerate(problems):
            places.setdefault(problem.arm if problem.arm in self._own else "", []).append(place)
        prompts: list[tuple[int, ...]] = [()] * len(problems)
        groups: list[tuple[Sample, ...]] = [()] * len(problems)
        tokens, seconds = 0, 0.0
        for arm, own in places.items():
            draw = self._sampler(arm).draw_own if arm else super().draw_own
            found = draw(model, [problems[place] for place in own], group, generator, greedy)
            for place, prompt, samples in zip(own, found.prompts, found.groups, strict=True):
                prompts[place], groups[place] = prompt, samples
            tokens, seconds = tokens + found.tokens, seconds + found.seconds
        return Drawn(tuple(prompts), tuple(groups), tokens, seconds)

    def longest(self, problem: Problem) -> int:
        """See RolloutSampler."""
        own = self._own.get(problem.arm)
        return own.longest(problem) if own else super().longest(problem)

    def fits(self, model: Model, problem: Problem) -> bool:
        """See RolloutSampler."""
        if problem.arm in self._own:
            return self._sampler(problem.arm).fits(model, problem)
        return super().fits(model, problem)

    def worked(
        self, model: Model, problem: Problem, encode: Callable[[str], list[int]]
    ) -> Example | None:
        """See RolloutSampler."""
        if problem.arm in self._own:
            return self._sampler(problem.arm).worked(model, problem, encode)
        return super().worked(model, problem, encode)

    def _sampler(self, arm: str) -> RolloutSampler:
        """That of the arm, which knows what warm-up has taught meanwhile."""
        own = self._own[arm]
        own.says_tags = self.says_tags
        return own


def sampler_kind(task: Task) -> type[RolloutSampler]:
    """The class of sampler that fits a task."""
    if isinstance(task, DialogueTask):
        return DialogueSampler
    if isinstance(task, ToolTask):
        return ToolSampler
    if isinstance(task, TaskMixture):
        kinds = {sampler_kind(one) for one in task.tasks.values()}
        return RolloutSampler if kinds == {RolloutSampler} else MixtureSampler
    return RolloutSampler


def sampler(tokenizer: Tokenizer, task: Task, **more: Any) -> RolloutSampler:
    """The sampler that fits a task. more: as of RolloutSampler."""
    return sampler_kind(task)(tokenizer, task, **more)  # type: ignore[arg-type]
