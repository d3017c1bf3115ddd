"""The state that decides which commands are available."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Situation:
    """The state that decides which commands are available."""

    cards: tuple[int, ...] = ()
    """Numbers of the candidates that can be picked."""
    waiting: bool = False
    """Candidates wait for a judgement."""
    streaming: bool = False
    """An answer is streaming."""
    asked: bool = False
    """There is a message with an answer, finished or streaming."""
    answered: bool = False
    """The last message has its answer."""
    ratable: bool = False
    """There is an answer to rate."""
    training: bool = False
    """A book training is running."""
    practising: bool = False
    """Practice is running."""
    rating: str | None = None
    """Rating of the last answer; None: not rated."""
    taught: bool = False
    """There is a lesson to undo."""
    branched: bool = False
    """A message on the screen has more than one branch."""
