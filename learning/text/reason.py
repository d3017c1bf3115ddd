"""How an owner's reason is put to the model: as a message after the answer that it is about.

Imports nothing else of learning.
"""

from __future__ import annotations

from collections.abc import Sequence

Turns = Sequence[tuple[str, str]]


def asked_again(turns: Turns, old: str, reason: str) -> list[tuple[str, str]]:
    """The turns (role, text), then the answer `old` to the last of them, then the reason against it. For the
    prompt only: neither the conversation nor a lesson has it."""
    return [*turns, ("assistant", old), ("user", f"Say it again, {_sentence(reason)}")]


def praised(turns: Turns, liked: str, reason: str, message: str) -> list[tuple[str, str]]:
    """The turns, then the answer that was liked, then another message after the praise."""
    said = f"That was good, {_sentence(reason)} {message}"
    return [*turns, ("assistant", liked), ("user", said)]


def _sentence(reason: str) -> str:
    reason = reason.strip()
    return reason if reason[-1:] in tuple(".!?") else f"{reason}."
