"""What an undo would take back, and what it took back, by name. Left out: taking it back (judging.py)."""

from __future__ import annotations

import contextlib

from engine.errors import VidyaError
from learning.journal.journal import Journal
from learning.protocol.events import UndoDone
from vidya_tui.state.lessons import named


def elsewhere(journal: Journal, conversation: int | None) -> str:
    """In a sentence, what the last lesson is, where it is of another conversation than this one; else
    "". A lesson of no conversation (from a file, of practice) is of none that could be touched."""
    from learning.journal.lesson_list import taught  # loaded when it is first needed

    lesson = journal.last_lesson()
    found = taught(journal, [lesson.id]) if lesson else []
    if not found or found[0].ask is None:
        return ""
    if journal.ask(found[0].ask).conversation == conversation:
        return ""
    return f"the last lesson is of another conversation: {named(found[0].lesson)}"


def taken_back(journal: Journal, event: UndoDone) -> str:
    """What was taken back, by name."""
    with contextlib.suppress(VidyaError):  # a lesson that was forgotten meanwhile
        if event.lesson is not None:
            return f"{event.what} \u00b7 {named(journal.lesson(event.lesson))}"
    return event.what
