"""Filters weak lessons, which the owner did not judge and which are learned only if the settings allow it.

An answer that the owner left without a judgement must not teach anything that contradicts a lesson or that
was taken back. This is checked when the weak lesson is made, and again each time before it is added to a
batch, because the owner may have corrected it in between. Imports no torch.
"""

from __future__ import annotations

from collections.abc import Iterable

from learning.journal.contradictions import Contradictions, touches
from learning.journal.journal import Journal
from learning.protocol.records import Lesson
from learning.text.normalise import fold, fold_answer


def weak_lessons(lessons: Iterable[Lesson], journal: Journal) -> list[Lesson]:
    """Those of the weak lessons that contradict no lesson in effect and repeat none that was taken back."""
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
