"""What the program tells its owner, apart from the answers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class StatusMessage:
    """Something to tell the owner."""

    text: str
    """Empty: what was said before no longer matters."""
    trouble: bool = False
    stay: bool = False
    """Until something else is said."""
