"""Teaches that an answer is not said any more, nor one that is nearly the same.

A likelihood is lowered where it falls fastest, at the answer's first words: what was said by heart is
then said with another beginning. So it is looked what is said, and that is avoided as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from engine.generate import greedy
from engine.model import Model
from engine.tokenizer import Tokenizer
from learning.data.examples import Example, answered_by, asked
from learning.lessons.recipe import LessonTransaction, TeachResult, known_before
from learning.memory.tasks import LessonTask

ALIKE = 0.7
"""Two answers are nearly the same from this share of their ids on that they have in common, in order."""
TIMES = 3
"""What is said then is avoided so many times at most."""


def teach_or_avoid(
    transaction: LessonTransaction,
    tokenizer: Tokenizer,
    task: LessonTask,
    report: Callable[[int, float], None] = lambda _step, _loss: None,
    checking: Callable[[], None] = lambda: None,
) -> TeachResult:
    """As LessonTransaction.teach; of a task without an answer it is looked what is said instead. What of that
    cannot be avoided, or not without what was avoided before it, is said. Raises NumericsError."""

    def teach(part: LessonTask) -> TeachResult:
        return transaction.teach(part, report=report, checking=checking)

    result = teach(task)
    if task.answer or not result.known:
        return result
    bad = list(task.rejected)
    for _ in range(TIMES):
        said = said_now(transaction.weights.model, tokenizer, task.example)
        if not any(alike(said.answer, one.answer) for one in bad):
            break
        bad.append(said)
        before = transaction.as_now()
        further = teach(replace(task, rejected=(said,)))
        if not (
            further.known and known_before(transaction.caches.upper, LessonTask(None, tuple(bad)))
        ):
            transaction.put_back(before)
            break
        ridden = result.ridden | further.ridden
        result = replace(further, steps=result.steps + further.steps, ridden=ridden)
    return result


def said_now(model: Model, tokenizer: Tokenizer, example: Example) -> Example:
    """What greedy decoding answers to the example's question."""
    return answered_by(example, greedy(model, tokenizer, list(asked(example))).tokens)


def alike(one: Sequence[int], other: Sequence[int]) -> bool:
    """Whether two answers are nearly the same, as ids."""
    return SequenceMatcher(None, one, other, autojunk=False).ratio() >= ALIKE
