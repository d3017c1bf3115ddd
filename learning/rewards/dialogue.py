"""Practice in several turns: a task whose problems are conversations with a program.

The partner is a program that hears one reply at a time, answers it, and pays for it; what it pays may come
many turns after the reply that earned it. A problem's prompt is the partner's first message. Left out: how
replies are generated (learning.envs.dialogue), and what is learned from what was paid. Loads no torch.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from learning.rewards.registry import tasks
from learning.rewards.task import Problem, RewardWeights, Score, Split
from learning.rewards.verifiers.verified import Supply


@dataclass(frozen=True)
class PartnerTurn:
    """What the partner makes of a reply."""

    says: str
    """The next message; empty where the conversation is over."""
    reward: float = 0.0
    """For the reply, or for what led to it."""
    over: bool = False


class Partner(Protocol):
    """One conversation's other side. Any text is a reply; none may raise."""

    @property
    def right(self) -> float:
        """How well the conversation went so far, 0 to 1; chance and small talk left out."""
        ...

    def hear(self, reply: str) -> PartnerTurn:
        """The answer to a reply. After the last one nothing may follow."""
        ...


Meet = Callable[[Problem, random.Random], Partner]
"""(problem, all chance of this conversation) -> its partner."""


@dataclass
class DialogueTask:
    """Implements learning.rewards.task.Task. As one text, an answer is the replies, one a line."""

    name: str
    supply: Supply
    meet: Meet
    replies: int
    """Most replies of a conversation, >= 1."""
    weights: RewardWeights = RewardWeights()

    def describe(self) -> str:
        """See Task."""
        return tasks()[self.name]

    def problems(self, split: Split, rng: random.Random) -> Iterator[Problem]:
        """See Task. The worked answers show the form, and may think aloud; which replies pay has to be found
        out."""
        return self.supply(split, rng)

    def score(self, problem: Problem, answers: Sequence[str]) -> list[Score]:
        """See Task. A conversation that is not over is not right."""
        return [self._score(problem, answer) for answer in answers]

    def close(self) -> None:
        """See Task."""

    def worked_turns(self, problem: Problem) -> list[tuple[str, str]]:
        """The worked answer as a conversation, (role, text), the partner's first message first. Empty if
        there is none."""
        if problem.worked is None:
            return []
        turns, over = self._played(problem, problem.worked.splitlines())
        return turns if over else []

    def _score(self, problem: Problem, answer: str) -> Score:
        partner = self.meet(problem, _chance(problem))
        over = any(partner.hear(one_line(reply)).over for reply in answer.splitlines())
        return Score.of({"correct": partner.right if over else 0.0}, self.weights)

    def _played(
        self, problem: Problem, replies: Sequence[str]
    ) -> tuple[list[tuple[str, str]], bool]:
        partner, turns = self.meet(problem, _chance(problem)), [("user", problem.prompt)]
        for reply in replies:
            turns.append(("assistant", reply))
            heard = partner.hear(reply)
            if heard.over:
                return turns, True
            turns.append(("user", heard.says))
        return turns, False


def one_line(reply: str) -> str:
    """A reply as it is heard and kept: without line breaks and extra white space."""
    return " ".join(reply.split())


def _chance(problem: Problem) -> random.Random:
    """The same for the same problem."""
    return random.Random(zlib.crc32(problem.prompt.encode("utf-8", "surrogatepass")))
