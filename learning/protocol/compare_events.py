"""The events of comparing earlier weights with the present ones (learning.teacher.inspection)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from learning.protocol.records import TextDelta


@dataclass(frozen=True)
class CompareBegan:
    """A comparison began: the earlier weights are loaded."""

    key: int
    before: int
    """Version of the earlier weights; 0: the model as shipped or imported."""
    after: int
    """Version of the current weights."""
    kept: tuple[int, ...]
    """All earlier versions that are available, newest first."""
    lessons: int
    """Number of lessons that `after` contains and `before` does not."""


@dataclass(frozen=True)
class ComparedText:
    """New text of the answers of one side of a comparison, from one decoding step."""

    key: int
    side: Literal["before", "after"]
    deltas: tuple[TextDelta, ...]
    """Answer 1 is decoded greedily, the others are sampled."""


@dataclass(frozen=True)
class CompareDone:
    """A comparison ended, and the earlier weights are unloaded."""

    key: int
    trouble: str = ""
    """Why it failed; empty if it did not."""
    next_step: str = ""
