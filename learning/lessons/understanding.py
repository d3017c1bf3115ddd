"""Whether a lesson was understood: asks its question in wordings that no step has seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from learning.data.examples import Example
from learning.memory.caches import LearnerCaches
from learning.memory.tasks import stands_alone
from learning.objectives.forward import knowledge

WAYS = 5
"""Unseen wordings that are asked after a lesson."""


@dataclass(frozen=True)
class Understanding:
    """In how many unseen wordings of its question an answer is known."""

    known: int = 0
    asked: int = 0
    """0: the question makes no sense alone, or the rules give no other wording."""


def understanding(
    caches: LearnerCaches, example: Example, pause: Callable[[], None] = lambda: None
) -> Understanding:
    """Asks a remembered lesson in up to WAYS unseen wordings, alone. An answer is known if greedy decoding
    gives it word for word."""
    if not stands_alone(example.question):
        return Understanding()
    ways = caches.unseen_wordings(example, WAYS)
    checked = knowledge(caches.upper, ways, pause=pause)
    caches.tidy()  # they are hardly ever asked again
    return Understanding(sum(item.known for item in checked), len(ways))
