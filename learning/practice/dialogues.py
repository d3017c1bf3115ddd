"""Samples whole conversations with a task's partner in one batch and scores them
(learning.rewards.dialogue)."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence

import torch

from engine.model import Model
from engine.rollout import ROWS, Answered
from engine.tokenizers.tokenizer import Tokenizer
from learning.agents.language import LanguagePolicy
from learning.agents.run import collect
from learning.data.examples import Example, from_turns
from learning.envs.dialogue import DialogueEnvironment
from learning.objectives.token_credit import joined
from learning.practice.rollouts import SHORT, Drawn, RolloutSampler, Sample
from learning.rewards.dialogue import DialogueTask
from learning.rewards.task import Problem, Task


class DialogueSampler(RolloutSampler):
    """Samples conversations. A group begins with the same message; its partners have chances of their own."""

    task: DialogueTask

    def draw(
        self,
        model: Model,
        problems: Sequence[Problem],
        group: int,
        generator: torch.Generator,
        *,
        greedy: bool = False,
    ) -> Drawn:
        """See RolloutSampler. All conversations go on in lock step."""
        started = time.monotonic()
        worlds = [
            DialogueEnvironment(self.task, self.tokenizer, model.config.context, given=problem)
            for problem in problems
            for _ in range(group)
        ]
        seed = int(torch.randint(2**31, (1,), generator=generator))
        policy = LanguagePolicy(
            model,
            self.tokenizer.not_text(model.config.vocab_size),
            self.max_tokens,
            generator,
            self.temperature,
            self.rows,
            self.pause,
        )
        chances = [random.Random(seed + number) for number in range(len(worlds))]
        talks = collect(worlds, policy, chances, greedy=greedy)
        samples = []
        for number, (world, talk) in enumerate(zip(worlds, talks, strict=True)):
            problem, whole = problems[number // group], joined(talk)
            answer = Answered(
                number // group,
                whole.tokens,
                whole.logprobs,
                "end" if whole.active else "length",
                whole.own,
            )
            (score,) = self.task.score(problem, ["\n".join(world.replies)])
            rewards = tuple(move.reward for move in talk.moves)
            samples.append(Sample(problem, answer, _shown(world.turns), score, rewards))
        groups = tuple(
            tuple(samples[start : start + group]) for start in range(0, len(samples), group)
        )
        prompts = tuple(talk.moves[0].observation for talk in talks[::group])
        tokens = sum(sample.answer.drawn for sample in samples)
        return Drawn(prompts, groups, tokens, time.monotonic() - started)

    @property
    def longest(self) -> int:
        return self.max_tokens * self.task.replies

    def fits(self, model: Model, problem: Problem) -> bool:
        """True if the context has room for the worked conversation and SHORT tokens more."""
        return self._worked_size(problem) + min(self.max_tokens, SHORT) <= model.config.context

    def worked(self, model: Model, problem: Problem) -> Example | None:
        """The worked conversation, with all replies to be predicted."""
        turns = self.task.worked_turns(problem)
        return from_turns(self.tokenizer, turns, model.config.context) if turns else None

    def _worked_size(self, problem: Problem) -> int:
        turns = self.task.worked_turns(problem) or [("user", problem.prompt)]
        around = self.tokenizer.chat.around_message * len(turns)
        return around + sum(len(self.tokenizer.encode(text)) for _, text in turns)


def sampler(
    tokenizer: Tokenizer,
    task: Task,
    *,
    max_tokens: int,
    temperature: float = 1.0,
    rows: int = ROWS,
    pause: Callable[[], None] = lambda: None,
) -> RolloutSampler:
    """The sampler that fits a task."""
    kind = DialogueSampler if isinstance(task, DialogueTask) else RolloutSampler
    return kind(
        tokenizer, task, max_tokens=max_tokens, temperature=temperature, rows=rows, pause=pause
    )


def _shown(turns: Sequence[tuple[str, str]]) -> str:
    """The conversation behind its first message, one turn a line; the partner's words behind ">"."""
    return "\n".join(text if role == "assistant" else f"> {text}" for role, text in turns[1:])
