"""The interface of all curricula, and what they read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from torch import Tensor


@dataclass(frozen=True)
class Visit:
    """The result of practising one group of answers, or training on one batch of text, of one arm."""

    arm: int
    gain: float
    """How much was to be learned: mean |advantage| of the group's answers, >= 0; or the fall of the loss on
    held-out text, below 0 where it rose."""
    success: float
    """Share of right answers, 0 to 1."""


Places = Sequence[int | None]


class Curriculum(Protocol):
    """Chooses among K arms."""

    def probabilities(self) -> Tensor:
        """Of each arm, [K], sum 1, before any floor."""
        ...

    def learn(self, visits: Sequence[Visit], drawn_with: Tensor) -> None:
        """Takes in the visits of one step. drawn_with: [K], the probabilities that their arms were drawn
        with."""
        ...

    def values(self) -> list[float]:
        """What it thinks of each arm, in its own unit; for showing."""
        ...

    def state(self) -> dict[str, Any]:
        """All that it has learned, as JSON has it."""
        ...

    def load(self, state: dict[str, Any], places: Places) -> None:
        """Loads the `state` of a curriculum whose arms may be others. places: for each of our arms its
        number among the arms of that state; None for a new arm, which begins as unknown."""
        ...
