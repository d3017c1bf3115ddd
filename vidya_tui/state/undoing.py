"""Names the lesson that an undo would undo, or has undone. Left out: undoing it (session/judging.py)."""

from __future__ import annotations

import contextlib

from engine.errors import VidyaError
from learning.journal.journal import Journal
from learning.protocol.events import UndoDone
from vidya_tui.state.lessons import named


def elsewhere(journal: Journal, conversation: int | None) -> str:
    """A sentence that names the last lesson, where it belongs to another conversation than this one; else
    "". Also "" for a lesson that belongs to none (one from a file, or a practice)."""
    from learning.journal.lesson_list import taught  # loaded when it is first needed

    lesson = journal.last_lesson()
    found = taught(journal, [lesson.id]) if lesson else []
    if not found or found[0].ask is None:
        return ""
    if journal.ask(found[0].ask).conversation == conversation:
        return ""
    return f"the last lesson is of another conversation: {named(found[0].lesson)}"


def taken_back(journal: Journal, event: UndoDone) -> str:
    """A sentence that says which lesson was undone; "" for an answer that leaves with the judgement whose
    reason was carried over to it."""
    with contextlib.suppress(VidyaError):  # a lesson that was forgotten meanwhile
        if event.lesson is not None:
            lesson = journal.lesson(event.lesson)
            others = journal.lessons_of(lesson.judgement or 0) if lesson.kind == "reason" else []
            if any(other.kind != "reason" and other.state == "undone" for other in others):
                return ""
            if lesson.kind != "practice":  # what was practised is said already
                return f"{event.what} \u00b7 {named(lesson)}"
    return event.what
