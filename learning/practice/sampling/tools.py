"""Samples answers that call programs (learning.rewards.tools), in one batch, and scores them.

A reply that stops at a call is answered in its row: the result's ids are read, not drawn, so they have no
probability and no gradient, and nothing the model said is encoded again. All calls that come in one step of
decoding run side by side. Results are encoded as ordinary text: one that prints `<|answer|>` holds no tag.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import torch

from engine.model import Model
from engine.rollout import Answered
from learning.data.examples import Example, conversation
from learning.objectives.token_credit import Ids
from learning.practice.background import in_background
from learning.practice.sampling.rollouts import Drawn, RolloutSampler, Sample
from learning.practice.tags import result_ids
from learning.rewards.task import Problem, Score
from learning.rewards.tools import (
    ToolAnswer,
    ToolCall,
    ToolTask,
    call_of,
    own_and_given,
    refusal,
)

ROOM = 8
"""Ids of a reply for which there must be room behind a result."""


@dataclass
class Calling:
    """One answer while it is sampled."""

    left: int
    """Ids for which the context still has room."""
    said: list[str] = field(default_factory=list)
    """Own words, without programs."""
    shown: list[str] = field(default_factory=list)
    """All of it as text."""
    calls: list[ToolCall] = field(default_factory=list)
    results: int = 0
    """Calls whose results were read."""
    cut: bool = False
    """Whether there was no room for a result."""

    @property
    def answer(self) -> ToolAnswer:
        return ToolAnswer("".join(self.said).strip(), tuple(self.calls))


class ToolSampler(RolloutSampler):
    """Samples answers with calls."""

    task: ToolTask

    def draw_own(
        self,
        model: Model,
        problems: Sequence[Problem],
        group: int,
        generator: torch.Generator,
        greedy: bool,
    ) -> Drawn:
        """See RolloutSampler. Raises NoSandbox where programs cannot be isolated."""
        self.task.open()
        started = time.monotonic()
        prompts = tuple(self.prompt(model, problem) for problem in problems)
        context = model.config.context
        rows = [Calling(context - len(prompt)) for prompt in prompts for _ in range(group)]
        found = self.rollout(
            model,
            prompts,
            group,
            generator,
            greedy,
            lambda replies: self._heard([(rows[number], reply) for number, reply in replies]),
        )
        drawn = time.monotonic()
        groups = tuple(
            self._judged(problem, answers, [rows[answer.number] for answer in answers])
            for problem, answers in zip(problems, found, strict=True)
        )
        tokens = sum(sample.answer.drawn for own in groups for sample in own)
        return Drawn(prompts, groups, tokens, drawn - started)

    def longest(self, problem: Problem) -> int:
        """See RolloutSampler."""
        return self.max_tokens * (self.task.limit + 1)

    def fits(self, model: Model, problem: Problem) -> bool:
        """See RolloutSampler; there is room for the worked answer too."""
        if not super().fits(model, problem):
            return False
        return problem.worked is None or self._worked_size(problem) <= model.config.context

    def worked(
        self, model: Model, problem: Problem, encode: Callable[[str], list[int]]
    ) -> Example | None:
        """The worked answer with its own words to be predicted, and not the results; None if there is
        none."""
        if problem.worked is None:
            return None
        ids, target = list(self.prompt(model, problem)), list[bool]()
        target += [False] * len(ids)
        for said, given in own_and_given(problem.worked):
            own = [*encode(said), self.tokenizer.chat.end]
            tagged = bool(self.tokenizer.own_tags.intersection(own))
            read = [] if given is None else result_ids(self.tokenizer, given, tagged=tagged)
            ids += [*own, *read]
            target += [True] * len(own) + [False] * len(read)
        return conversation(self.tokenizer, ids, target)

    def _worked_size(self, problem: Problem) -> int:
        """Most ids of the worked answer with its prompt: with tags as text."""
        texts = [problem.prompt, problem.worked or ""]
        around = self.tokenizer.chat.around_message + self.task.limit + 1
        return around + sum(len(self.tokenizer.encode(text)) for text in texts)

    def _heard(self, replies: Sequence[tuple[Calling, Ids]]) -> list[Ids]:
        """The ids that follow each reply; none where the answer is over."""
        calls = list[tuple[int, str]]()
        found: list[Ids] = [()] * len(replies)
        for place, (row, reply) in enumerate(replies):
            program = self._program(row, reply)
            if program is not None:
                calls.append((place, program))
        ran = iter(self._ran([p for at, p in calls if not self.task.refused(replies[at][0].calls)]))
        for place, called in calls:
            row, _ = replies[place]
            call = refusal(called) if self.task.refused(row.calls) else next(ran)
            found[place] = self._given(row, call)
        return found

    def _program(self, row: Calling, reply: Ids) -> str | None:
        """Takes a reply; the program that it calls, or None where the answer is over."""
        row.left -= len(reply)
        text = self.tokenizer.decode(reply)
        row.shown.append(text)
        stopped = reply[-1] in self.tokenizer.chat.stop_ids
        call = call_of(text) if stopped and self.task.answered(row.calls) else None
        said, program = call or (text, None)
        row.said.append(said)
        return program

    def _ran(self, programs: Sequence[str]) -> list[ToolCall]:
        """Runs programs, and lets others have the machine meanwhile."""
        if not programs:
            return []
        return in_background(lambda: self.task.execute(programs), self.pause)

    def _given(self, row: Calling, call: ToolCall) -> Ids:
        """Notes a call; the ids of its result, or none where they do not fit."""
        row.calls.append(call)
        ids = tuple(result_ids(self.tokenizer, call.result, tagged=self.says_tags))
        if len(ids) + ROOM > row.left:
            row.cut = True
            return ()
        row.left -= len(ids)
        row.results += 1
        row.shown.append(f"<result>{call.result}</result>")
        return ids

    def _judged(
        self, problem: Problem, answers: Sequence[Answered], rows: Sequence[Calling]
    ) -> tuple[Sample, ...]:
        self.pause()
        scores = self.task.judge(problem, [row.answer for row in rows])
        return tuple(map(_sample, [problem] * len(rows), answers, rows, scores))


def _sample(problem: Problem, answer: Answered, row: Calling, score: Score) -> Sample:
    """All is paid at the end: earlier stretches of own words get nothing of their own."""
    if row.cut:
        answer = replace(answer, ending="length")
    paid = (*[0.0] * row.results, score.total)
    return Sample(problem, answer, "".join(row.shown).strip(), score, paid)
