"""Weak lessons: what nobody judged and is learned a little where the owner wants that.

An answer that was left standing never teaches what was taught otherwise, nor what was taken back: it is
looked at when the lesson is made and again whenever it would ride along in a batch, since the owner may
have corrected it in between. Imports no torch.
"""

from __future__ import annotations

from collections.abc import Iterable

from learning.journal.contradictions import Contradictions, touches
from learning.journal.journal import Journal
from learning.protocol.records import Lesson
from learning.text.normalise import fold, fold_answer


def weak_lessons(lessons: Iterable[Lesson], journal: Journal) -> list[Lesson]:
    """Those of these weak lessons that nothing taught speaks against."""
    lessons = list(lessons)
    if not any(lesson.kind == "continuation" for lesson in lessons):
        return lessons
    taught, gone = Contradictions(journal.standing()), journal.taken_back()
    return [lesson for lesson in lessons if _may_teach(lesson, taught, gone)]


def _may_teach(lesson: Lesson, taught: Contradictions, gone: Iterable[Lesson]) -> bool:
    if lesson.kind != "continuation" or not lesson.prompt:
        return True
    question = lesson.prompt[-1].text
    if taught.against(question, lesson.answer):
        return False
    return taught.said(question, lesson.answer) or not any(
        fold_answer(other.answer) == fold_answer(lesson.answer)
        and (fold(asked) == fold(question) or touches(asked, question))
        for other in gone
        if other.prompt and (asked := other.prompt[-1].text)
    )
