"""What decides which commands work now."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Situation:
    """What decides which commands work now."""

    cards: tuple[int, ...] = ()
    """Numbers of the candidates that can be picked."""
    waiting: bool = False
    """Candidates wait for a judgement."""
    streaming: bool = False
    """An answer is being written."""
    asked: bool = False
    """There is a message that was, or is being, answered."""
    answered: bool = False
    """The last message has its answer."""
    ratable: bool = False
    """There is an answer to rate."""
    training: bool = False
    """The book is being learned."""
    practising: bool = False
    """A task is being practised."""
    rating: str | None = None
    """How the last answer is rated."""
    taught: bool = False
    """Something was taught that could be taken back."""
    branched: bool = False
    """A message that is shown was asked in more than one way."""
