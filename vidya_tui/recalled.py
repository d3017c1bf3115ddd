"""What stands under an answer of a conversation that is opened again, as the journal has it."""

from __future__ import annotations

from learning.journal import Journal
from learning.journal_judgements import Judged
from learning.records import Rating
from vidya_tui.picture import Note, note_of
from vidya_tui.session import Session

BECAME = {"learned": "learned", "needs_practice": "needs practice"}
"""A lesson's state as it is told."""


def recalled(journal: Journal, session: Session, position: int) -> Note:
    """The note of the answer at that place among the turns."""
    ask = session.asked(position)
    if ask is None:
        return Note()
    given = journal.judgements(ask)
    standing = [judged for judged in given if judged.stands]
    text = session.turns[position].text
    note = note_of(text, standing, lambda: [c.index for c in journal.candidates(ask)])
    if not note.words():
        if any(_made(judged, text) for judged in given):
            note.judgement = "taken back"
        elif journal.candidates(ask):  # else it comes from elsewhere, and nobody had a choice
            note.judgement = "went on with this one, unjudged"
    lessons = journal.lessons_of(note.rated or note.made) if note.rated or note.made else []
    note.outcome = next((BECAME[one.state] for one in lessons if one.state in BECAME), "")
    return note


def _made(judged: Judged, text: str) -> bool:
    """Whether this judgement, which may be withdrawn, made the text the answer."""
    return not isinstance(judged.judgement, Rating) and judged.answer == text
