"""The event of reasons that pauses carry over to other messages (learning.lessons.reasons)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ReasonGivenUp:
    """A reason was tried on other messages twice, and no answer followed it. It is not tried again."""

    judgement: int
    reason: str
    """In the owner's words."""
