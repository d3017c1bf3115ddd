"""A pick among answers about which the owner's taste is unsure: it counts as one in a conversation."""

from __future__ import annotations

from pathlib import Path

from engine.config import Sampling
from learning.journal.journal import Journal
from learning.protocol.messages import TeacherPort
from learning.protocol.records import DisputedAnswers, Turn
from vidya_tui.session.session import Session


def journal_disputed(journal: Journal, one: DisputedAnswers) -> int:
    """Writes message and answers into a conversation of their own; returns the ask's id."""
    turns = (Turn("user", one.message),)
    number = journal.add_ask(journal.new_conversation(), turns, Sampling()).id
    journal.add_candidates(one.candidates(number))
    return number


def pick_disputed(
    journal: Journal, teacher: TeacherPort, book_path: Path, one: DisputedAnswers, index: int
) -> None:
    """Picks answer `index`, 1 to n, of a new conversation. Raises as `Session.pick`."""
    session = Session(journal, teacher, book_path=book_path)
    session.reopen(journal.ask(journal_disputed(journal, one)))
    session.pick(index)
