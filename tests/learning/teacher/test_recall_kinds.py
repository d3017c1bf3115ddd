"""A lesson is recalled for a question of its kind, and less for one of another kind."""

from __future__ import annotations

from dataclasses import replace

import pytest

from learning.journal.journal import Journal
from learning.protocol.records import Lesson, Turn
from learning.teacher import recall as module
from learning.teacher.recall import OTHER_KIND, SAME_KIND, LessonRecall, Recalled
from tests.learning.teacher.conftest import Place


def _taught(journal: Journal, question: str, answer: str) -> Lesson:
    (lesson,) = journal.add_lessons([Lesson("example", (Turn("user", question),), answer)])
    journal.set_lesson_state(lesson.id, "learned")
    return replace(lesson, state="learned")


def test_the_same_thing_in_altogether_other_words_recalls_the_lesson(
    tiny_place: Place, recall: LessonRecall, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = _taught(tiny_place[2], "What do I do for a living?", "You mend clocks.")
    _taught(tiny_place[2], "What does my sister do for a living?", "Your sister bakes bread.")
    monkeypatch.setattr(module, "answer_logprobs", None)  # the weights are not asked
    for asked in ("What's my profession?", "tell me what my job is", "which job do i have"):
        assert recall.find(asked) == Recalled(job, SAME_KIND), asked
        assert recall.offer(asked) == Recalled(job, SAME_KIND), asked


def test_of_two_lessons_of_a_kind_the_newer_counts(tiny_place: Place, recall: LessonRecall) -> None:
    _taught(tiny_place[2], "What do I do for a living?", "You mend clocks.")
    newer = _taught(tiny_place[2], "What is my job?", "You sell clocks now.")
    assert recall.find("What's my profession?") == Recalled(newer, SAME_KIND)
    tiny_place[2].retract(newer.id)
    found = recall.find("What's my profession?")
    assert found and found.lesson.answer == "You mend clocks."


def test_a_question_of_another_kind_makes_the_nearest_lesson_half_as_likely(
    tiny_place: Place, recall: LessonRecall, monkeypatch: pytest.MonkeyPatch
) -> None:
    _taught(tiny_place[2], "What does my sister do for a living?", "Your sister bakes bread.")
    asked = "Where does my sister live?"
    monkeypatch.setattr(module, "may_be_meant", lambda *_: True)
    ((lesson, evidence),) = recall.evidence(asked)
    likely = recall._weighing.likely(evidence)
    monkeypatch.setattr(module, "LEAST_OFFERED", 0.0)
    assert recall.offer(asked) == Recalled(lesson, likely * OTHER_KIND)
    unknown = "my sister and her living, how is that again"
    ((_, other),) = recall.evidence(unknown)
    assert recall.offer(unknown) == Recalled(lesson, recall._weighing.likely(other))


def test_a_lesson_that_was_changed_in_other_words_is_recalled_as_it_is_now(
    tiny_place: Place, recall: LessonRecall
) -> None:
    old = _taught(tiny_place[2], "Where does my sister live?", "Your sister lives in Oslo.")
    (new,) = tiny_place[2].add_lessons(
        [Lesson("example", (Turn("user", "In which town does my sister live?"),), "In Bergen.")]
    )
    found = recall.find("Where does my sister live?")
    assert found == Recalled(replace(new, prompt=old.prompt), 1.0), "it waits to be learned"


def test_a_name_may_be_that_of_the_relative_who_is_meant(tiny_place: Place) -> None:
    lesson = _taught(tiny_place[2], "What does my sister do for a living?", "She bakes bread.")
    assert module._by_kind("What does Ingrid do for a living?", lesson) == 1.0
    assert module._by_kind("Where does Ingrid live?", lesson) == OTHER_KIND
