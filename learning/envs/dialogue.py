"""A conversation with a program as a world of ids.

Observation: the prompt of the next reply; action: the reply. Both are ids and are continued, never encoded
again, so that what is learned from is what was said. A conversation that has no room left in the context is
cut there: its discount stays, and the state behind it is bootstrapped from.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from engine.errors import DataError
from engine.tokenizers.chat_format import continue_prompt, encode_prompt
from engine.tokenizers.tokenizer import Tokenizer
from learning.agents.interface import TimeStep
from learning.rewards.dialogue import DialogueTask, Partner, one_line
from learning.rewards.task import Problem, Split

ROOM = 8
"""Ids of a reply for which there must be room."""
Ids = tuple[int, ...]


@dataclass
class DialogueEnvironment:
    """One conversation after another. Equal seeds give equal first messages and equal chance; with a given
    problem the seed is of the chance alone."""

    task: DialogueTask
    tokenizer: Tokenizer
    context: int
    """Of the model, in ids."""
    split: Split = "train"
    given: Problem | None = None
    """The problem of every episode; None: drawn from the task."""
    problem: Problem | None = None
    """Of this episode."""
    turns: list[tuple[str, str]] = field(default_factory=list)
    """What was said so far, (role, text)."""
    prompt: Ids = ()
    """Of the next reply, or of the last one where the conversation is over."""
    _partner: Partner | None = None

    def reset(self, rng: random.Random) -> TimeStep[Ids]:
        """Raises DataError if the task has no problem, or one that is too long."""
        self.problem = self.given or next(iter(self.task.problems(self.split, rng)), None)
        if self.problem is None:
            raise DataError(f"{self.task.name} has no problem", "choose another task or split")
        self._partner = self.task.meet(self.problem, rng)
        self.turns = [("user", self.problem.prompt)]
        self.prompt = tuple(encode_prompt(self.tokenizer, self.turns, self.context, ROOM))
        return TimeStep(self.prompt)

    def step(self, action: Ids) -> TimeStep[Ids]:
        assert self._partner is not None, "reset comes first"
        reply = one_line(self.tokenizer.decode(action))
        heard = self._partner.hear(reply)
        self.turns.append(("assistant", reply))
        so_far = (*self.prompt, *action)
        if heard.over:
            return TimeStep(so_far, heard.reward, 0.0, last=True)
        following = tuple(continue_prompt(self.tokenizer, self.prompt, action, heard.says))
        if len(following) + ROOM > self.context:
            return TimeStep(so_far, heard.reward, last=True)
        self.turns.append(("user", heard.says))
        self.prompt = following
        return TimeStep(following, heard.reward)

    @property
    def replies(self) -> list[str]:
        """What was replied so far."""
        return [text for role, text in self.turns if role == "assistant"]
