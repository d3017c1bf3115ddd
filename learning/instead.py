"""What is said in place of an answer that was taken back and cannot be taken out of the weights."""

from __future__ import annotations

from dataclasses import replace

from learning.questions import is_question
from learning.records import Lesson

NOT_KNOWN = "I do not know that yet. Will you teach me?"
"""As the shipped book has it."""


def instead(lesson: Lesson) -> Lesson | None:
    """A lesson that says what stood there before the correction or, to a question that the owner had
    written an answer to, that Vidya does not know; the answer taken back is rejected. None where
    neither would do: what was picked or rated was Vidya's own."""
    if lesson.kind not in ("correction", "example") or not lesson.answer or not lesson.prompt:
        return None
    text = lesson.replaces or (NOT_KNOWN if is_question(lesson.prompt[-1].text) else "")
    if text in ("", lesson.answer):
        return None
    return replace(lesson, answer=text, rejected=(lesson.answer,), replaces=None)
