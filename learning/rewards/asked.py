"""Tasks whose questions a model may ask itself: a program reads each question and answers it.

The answer to a question never comes from a model. Left out: what a question is worth, and who answers it
(learning.practice.self_play). Loads no torch.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from learning.rewards.task import Problem
from learning.rewards.verifiers.verified import Draw, VerifiedTask


@dataclass(kw_only=True)
class AskedTask(VerifiedTask):
    """A VerifiedTask that can read questions, whatever its settings of difficulty."""

    invitation: str
    """The message after which a question is asked. Only practice says it."""
    read: Callable[[str], Problem | None]
    """The problem that a text asks, with its answer; None: it is no question of this task. Never raises."""
    level: Callable[[Problem], str]
    """How hard a problem is, in a word; few different ones."""
    example: Draw
    """Draws a problem of any level that `read` can read; None: this draw gave none."""

    def accept(self, text: str) -> Problem | None:
        """The problem that a text asks, if it may be practised: none that is held out, and none that says
        its own answer (`What is 5 + 0?`)."""
        problem = self.read(text)
        refused = problem is None or problem.split == "held_out" or says_answer(problem)
        return None if refused else problem


def says_answer(problem: Problem) -> bool:
    """Whether the answer is among the words of the question."""
    answer = re.escape(str(problem.truth))
    return re.search(rf"(?<!\w){answer}(?!\w)", problem.prompt) is not None
