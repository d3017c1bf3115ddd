"""Samples whole conversations with a task's partner in one batch and scores them
(learning.rewards.dialogue)."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import torch

from engine.model import Model
from engine.rollout import Answered
from learning.data.examples import Example, from_turns
from learning.envs.dialogue import DialogueEnvironment
from learning.objectives.token_credit import Ids
from learning.practice.sampling.rollouts import SHORT, Drawn, RolloutSampler, Sample
from learning.rewards.dialogue import DialogueTask
from learning.rewards.task import Problem


class Talk:
    """One conversation while it is sampled."""

    def __init__(self, world: DialogueEnvironment, seed: int) -> None:
        """seed: of the partner's chance."""
        self.world = world
        self.prompt = world.reset(random.Random(seed)).observation
        self.rewards: list[float] = []
        self.ended = False
        """Whether it came to its end, and was not cut."""

    def hear(self, reply: Ids) -> Ids:
        """What the next prompt has more than this one and the reply; nothing if the conversation is over."""
        read = len(self.world.prompt) + len(reply)
        step = self.world.step(reply)
        self.rewards.append(step.reward)
        self.ended = step.discount == 0.0
        return () if step.last else step.observation[read:]


class DialogueSampler(RolloutSampler):
    """Samples conversations. A group begins with the same message; its partners have chances of their own."""

    task: DialogueTask

    def draw_own(
        self,
        model: Model,
        problems: Sequence[Problem],
        group: int,
        generator: torch.Generator,
        greedy: bool,
    ) -> Drawn:
        """See RolloutSampler; `group` conversations about each problem."""
        started = time.monotonic()
        seed = int(torch.randint(2**31, (1,), generator=generator))
        talks = [
            Talk(self._world(model, problem), seed + place * group + number)
            for place, problem in enumerate(problems)
            for number in range(group)
        ]
        prompts = tuple(talk.prompt for talk in talks[::group])
        found = self.rollout(
            model,
            prompts,
            group,
            generator,
            greedy,
            lambda replies: [talks[number].hear(reply) for number, reply in replies],
        )
        seconds = time.monotonic() - started
        groups = tuple(
            tuple(self._sample(problem, answer, talks[answer.number]) for answer in answers)
            for problem, answers in zip(problems, found, strict=True)
        )
        tokens = sum(sample.answer.drawn for own in groups for sample in own)
        return Drawn(prompts, groups, tokens, seconds)

    def _world(self, model: Model, problem: Problem) -> DialogueEnvironment:
        return DialogueEnvironment(self.task, self.tokenizer, model.config.context, given=problem)

    def _sample(self, problem: Problem, answer: Answered, talk: Talk) -> Sample:
        whole = replace(answer, ending="end" if talk.ended else "length")
        (score,) = self.task.score(problem, ["\n".join(talk.world.replies)])
        return Sample(problem, whole, _shown(talk.world.turns), score, tuple(talk.rewards))

    def longest(self, problem: Problem) -> int:
        """See RolloutSampler."""
        return self.max_tokens * self.task.replies

    def fits(self, model: Model, problem: Problem) -> bool:
        """True if the context has room for the worked conversation and SHORT tokens more."""
        return self._worked_size(problem) + min(self.max_tokens, SHORT) <= model.config.context

    def worked(
        self, model: Model, problem: Problem, encode: Callable[[str], list[int]]
    ) -> Example | None:
        """The worked conversation, with all replies to be predicted; they have no tags to be encoded."""
        turns = self.task.worked_turns(problem)
        return from_turns(self.tokenizer, turns, model.config.context) if turns else None

    def _worked_size(self, problem: Problem) -> int:
        turns = self.task.worked_turns(problem) or [("user", problem.prompt)]
        around = self.tokenizer.chat.around_message * len(turns)
        return around + sum(len(self.tokenizer.encode(text)) for _, text in turns)


def _shown(turns: Sequence[tuple[str, str]]) -> str:
    """The conversation behind its first message, one turn a line; the partner's words behind ">"."""
    return "\n".join(text if role == "assistant" else f"> {text}" for role, text in turns[1:])
