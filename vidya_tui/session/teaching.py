"""Judges any ask of the journal, and forms the report of its lesson: for `vidya teach` and `vidya serve`.

Left out: reading what is judged, and waiting until it is learned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from engine.errors import DataError, VidyaError
from learning.protocol.events import LessonDone
from learning.protocol.records import Ask
from learning.text.blame import Part

if TYPE_CHECKING:  # commands import the session when it is needed
    from learning.journal.judgements import Judged
    from vidya_tui.session.session import Session


@dataclass(frozen=True)
class AskVerdict:
    """What the owner says of an ask: exactly one of `pick`, `text` and `rate`."""

    pick: int | None = None
    """Number of the best candidate, from 1."""
    text: str | None = None
    """The answer that should have been given."""
    rate: Literal["good", "bad"] | None = None
    reason: str = ""
    """Why it is rated so, in the owner's words."""
    part: Part | None = None
    """Finds the part of a bad answer that is to blame; None: all of it."""
    index: int | None = None
    """Number of the candidate that is corrected or rated; None: the answer, or the surest candidate."""


class NoSuchCandidate(VidyaError):
    """The ask has no candidate of this number, or it has no text. field: of AskVerdict."""

    def __init__(self, ask: int, field: str, number: int, there: Sequence[int]) -> None:
        numbers = ", ".join(map(str, sorted(there))) or "none"
        super().__init__(f"ask {ask} has no candidate {number}", f"there are: {numbers}")
        self.field = field


def judge(
    session: Session,
    ask: Ask,
    verdict: AskVerdict,
    tell: Callable[[str], None],
    *,
    first: int = 1,
) -> list[Judged]:
    """Judges an ask as the app does: an earlier judgement of the same ask is withdrawn. Returns the new
    judgement as the journal has it; none if it stands already.

    tell: gets a message if the owner's book cannot be written; the judgement is taken all the same. first:
    number of the first candidate in errors. Raises NoSuchCandidate, or another VidyaError if the ask cannot
    be judged so.
    """
    before = len(session.journal.judgements(ask.id))
    try:
        _judge(session, ask, verdict, first)
    except DataError as error:
        tell(f"not written into the book: {error}")
    return session.journal.judgements(ask.id)[before:]


def _judge(session: Session, ask: Ask, verdict: AskVerdict, first: int) -> None:
    session.reopen(ask)
    numbers = [card.index for card in session.cards if card.said]
    for field, number in (("pick", verdict.pick), ("index", verdict.index)):
        if number is not None and number not in numbers:
            there = [one - 1 + first for one in numbers]
            raise NoSuchCandidate(ask.id, field, number - 1 + first, there)
    if verdict.pick is not None:
        session.pick(verdict.pick)
    elif verdict.text is not None:
        session.correct(verdict.text, verdict.index)
    else:
        if verdict.index is None and session.take_surest() is None:
            raise VidyaError(f"ask {ask.id} has no answer to rate", "say what it should have been")
        session.rate(verdict.rate, verdict.reason, verdict.part, verdict.index)


def lesson_row(event: LessonDone) -> dict[str, Any]:
    """The report of a lesson as `vidya teach --json` prints it."""
    empty = [name for name in ("why", "changed") if not vars(event)[name]]
    left_out = {"version", "state", "understanding", *empty}
    row = {key: value for key, value in vars(event).items() if key not in left_out}
    return row | event.understanding.figures


def waiting_row(waiting: int) -> dict[str, Any]:
    """What is printed where nobody waits for the learning. waiting: lessons that wait."""
    return {"event": "journaled", "waiting": waiting}
