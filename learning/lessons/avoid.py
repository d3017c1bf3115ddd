"""Teaches the model not to give an answer, nor one that is nearly the same.

Lowering an answer's likelihood mostly changes its first words; the rest then comes back behind a new
beginning. So after each attempt the model's answer is decoded, and if it is nearly the same the model
is trained against it too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from functools import partial

from engine.generate import greedy
from engine.model import Model
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.examples import Example, answered_by, asked
from learning.lessons.recipe import LessonTransaction, TeachResult, known_before
from learning.memory.tasks import LessonTask
from learning.memory.transaction import UNPUBLISHED, Commit

ALIKE = 0.7
"""Share of ids in common, in order, from which two answers count as nearly the same."""
TIMES = 3
"""Most further answers that are avoided for one task."""


def teach_or_avoid(
    transaction: LessonTransaction,
    tokenizer: Tokenizer,
    task: LessonTask,
    report: Callable[[int, float], None] = lambda _step, _loss: None,
    checking: Callable[[], None] = lambda: None,
) -> TeachResult:
    """LessonTransaction.teach; for a task without an answer also avoids nearly the same answers that come up
    in its place. One that cannot be avoided without bringing an earlier one back stays. Raises
    NumericsError."""

    def teach(part: LessonTask) -> TeachResult:
        return transaction.teach(part, report=report, checking=checking)

    def avoids(whole: LessonTask, part: TeachResult) -> Commit | None:
        done = part.known and known_before(transaction.caches.upper, whole)
        return UNPUBLISHED if done else None

    result = teach(task)
    if task.answer or not result.known:
        return result
    bad = list(task.rejected)
    for _ in range(TIMES):
        said = said_now(transaction.weights.model, tokenizer, task.example)
        if not any(alike(_as_far(said, one), one.answer) for one in bad):
            break
        bad.append(said)
        more, whole = replace(task, rejected=(said,)), LessonTask(None, tuple(bad))
        outcome = transaction.attempt(partial(teach, more), partial(avoids, whole))
        if not outcome.kept:
            break
        further = outcome.result
        ridden = result.ridden | further.ridden
        result = replace(further, steps=result.steps + further.steps, ridden=ridden)
    return result


def said_now(model: Model, tokenizer: Tokenizer, example: Example) -> Example:
    """The example's question with the answer of greedy decoding."""
    said = greedy(model, tokenizer, list(asked(example)))
    return answered_by(example, said.tokens, said.text)


def _as_far(said: Example, bad: Example) -> Sequence[int]:
    """What is compared with an answer to avoid: behind a part that is to blame more may follow."""
    return said.answer[: len(bad.answer)] if said.kept else said.answer


def alike(one: Sequence[int], other: Sequence[int]) -> bool:
    """Whether two answers (ids) are nearly the same."""
    return SequenceMatcher(None, one, other, autojunk=False).ratio() >= ALIKE
