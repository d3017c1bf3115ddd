"""Teaches that an answer is not said any more, nor one that is nearly the same.

A likelihood is lowered where it falls fastest, at the answer's first words: what was said by heart is
then said with another beginning. So it is looked what is said, and that is avoided as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

import torch

from engine.config import GREEDY
from engine.generate import Finished, generate
from engine.model import Model
from engine.tokenizer import Tokenizer
from learning.examples import Example, answered_by, asked
from learning.teaching import Task, TeachResult, known_before
from learning.workshop import Workshop

ALIKE = 0.7
"""Two answers are nearly the same from this share of their ids on that they have in common, in order."""
TIMES = 3
"""What is said then is avoided so many times at most."""


def avoid(
    shop: Workshop,
    tokenizer: Tokenizer,
    task: Task,
    report: Callable[[int, float], None] = lambda _step, _loss: None,
    checking: Callable[[], None] = lambda: None,
) -> TeachResult:
    """As Workshop.teach, for a task that has no answer. What else is said and cannot be avoided is
    said. Raises NumericsError."""
    result = shop.teach(task, shop.settings, report=report, checking=checking)
    bad = list(task.rejected)
    for _ in range(TIMES if result.known else 0):
        said = said_now(shop.weights.model, tokenizer, task.example)
        if not any(alike(said.answer, one.answer) for one in bad):
            break
        bad = list(dict.fromkeys([*bad, said]))
        before = shop.as_now()
        further = shop.teach(
            replace(task, rejected=(said,)), shop.settings, report=report, checking=checking
        )
        if not (further.known and known_before(shop.mind.upper, Task(None, tuple(bad)))):
            shop.put_back(
                before
            )  # it could not be avoided, or what was avoided before it is said again
            break
        ridden = result.ridden | further.ridden
        result = replace(further, steps=result.steps + further.steps, ridden=ridden)
    return result


def said_now(model: Model, tokenizer: Tokenizer, example: Example) -> Example:
    """What greedy decoding answers to the example's question."""
    head, generator = list(asked(example)), torch.Generator()
    events = generate(model, tokenizer, head, 1, GREEDY, generator=generator)
    tokens = next(event.tokens for event in events if isinstance(event, Finished))
    return answered_by(example, tokens)


def alike(one: Sequence[int], other: Sequence[int]) -> bool:
    """Whether two answers are nearly the same, as ids."""
    return SequenceMatcher(None, one, other, autojunk=False).ratio() >= ALIKE
