"""What the chat shows of a session: the entries of the log, and which commands work now.

No widgets. Left out: drawing (screens/chat/screen.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

from vidya_tui.commands.situation import Situation
from vidya_tui.state.notes import Notes

if TYPE_CHECKING:  # the first frame waits for no more than it needs
    from learning.protocol.records import Role
    from vidya_tui.session.candidate import Card
    from vidya_tui.session.session import Session

NAMES: dict[str, str] = {"user": "You", "assistant": "Vidya"}
"""The names of the two speakers."""


@dataclass(frozen=True)
class LogEntry:
    """One message as it is shown."""

    role: Role
    text: str
    note: str = ""
    """The line under it: how it was judged, or which wording of the message it is."""
    streaming: bool = False


def running_card(session: Session) -> Card | None:
    """The chosen candidate while it is still being written."""
    if session.waiting:
        return None
    return next((card for card in session.cards if card.chosen and card.state != "done"), None)


class Log(Sequence[LogEntry]):
    """The entries of a conversation. Each is made when it is read, since few are on the screen."""

    def __init__(self, session: Session, notes: Notes) -> None:
        self._session, self._notes = session, notes
        self._turns = session.turns
        self._running = running_card(session)

    def __len__(self) -> int:
        return len(self._turns)

    @overload
    def __getitem__(self, at: int) -> LogEntry: ...
    @overload
    def __getitem__(self, at: slice) -> list[LogEntry]: ...
    def __getitem__(self, at: int | slice) -> LogEntry | list[LogEntry]:
        if isinstance(at, slice):
            return [self._entry(one) for one in range(*at.indices(len(self)))]
        return self._entry(range(len(self))[at])

    def _entry(self, at: int) -> LogEntry:
        turn = self._turns[at]
        if turn.role == "user":
            which, many = self._session.variants(at)
            return LogEntry(
                "user", turn.text, f"\u2039 {which} of {many} \u203a" if many > 1 else ""
            )
        if self._running is not None and at == len(self) - 1:
            return LogEntry("assistant", self._running.text, self._notes.at(at), streaming=True)
        return LogEntry("assistant", turn.text, self._notes.at(at))


def situation(
    session: Session, *, training: bool, taught: bool, practising: bool = False
) -> Situation:
    """What decides which commands work now."""
    waiting, asked = session.waiting, session.ask is not None
    answered = session.answer is not None and running_card(session) is None
    # in plain chat (one candidate) nothing needs to be picked before it is rated
    single = waiting and len(session.cards) == 1 and not session.streaming
    return Situation(
        cards=tuple(c.index for c in session.cards if c.text.strip()) if waiting else (),
        waiting=waiting,
        streaming=session.streaming,
        asked=asked,
        answered=answered,
        ratable=answered or (single and bool(session.cards[0].text.strip())),
        training=training,
        practising=practising,
        rating=session.rating,
        taught=taught,
        branched=session.branched,
    )
