"""A message of the program to its owner, as opposed to an answer of the model."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class StatusMessage:
    """Words for the line above the prompt."""

    text: str
    """Empty: clears the line."""
    trouble: bool = False
    stay: bool = False
    """Whether it is shown until the next message, and not for some seconds only."""
