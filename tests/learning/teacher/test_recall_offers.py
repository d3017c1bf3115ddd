"""The lessons near a question: which are offered, and how near each taught answer is."""

from __future__ import annotations

from functools import partial

import pytest
import torch

from engine.encoder import shipped_encoder
from learning.teacher import recall as module
from learning.teacher.recall import LessonRecall, Recalled
from learning.text.normalise import fold
from tests.learning.teacher.conftest import Place
from tests.learning.teacher.test_recall import ASKED, DOG, DOG_LESSON, SISTER_LESSON, lesson, teach


def test_an_offer_does_not_keep_the_owner_waiting(
    tiny_place: Place, recall: LessonRecall, monkeypatch: pytest.MonkeyPatch
) -> None:
    (dog,) = teach(tiny_place[2], DOG_LESSON)
    assert recall.offer(ASKED) is None, "the questions of the book are missing"
    recall.prepare()
    found = recall.offer(ASKED)
    assert found and found.lesson.id == dog.id
    assert recall.offer(DOG) == Recalled(dog, 1.0), "it waits to be learned"
    teach(tiny_place[2], SISTER_LESSON)
    assert recall.offer(ASKED), "one new lesson is looked at at once"
    with recall._lock:
        assert recall.offer(ASKED) is None, "another thread is at work"
    monkeypatch.setattr(module, "LEAST_OFFERED", 1.0)
    assert recall.offer(ASKED) is None
    assert recall.offer("  ") is None


def test_an_answer_may_be_the_first_that_needs_the_encoder(
    tiny_place: Place, recall: LessonRecall, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = partial(torch.autocast, "cpu", torch.bfloat16)
    monkeypatch.setattr("engine.encoder.autocast", lambda _: short())  # as on a fast machine
    teach(tiny_place[2], DOG_LESSON, learned=True)
    shipped_encoder.cache_clear()
    with torch.inference_mode():  # in which answers are drawn
        assert recall.answers_near(ASKED)
    assert recall.find("Which hound is mine?"), "after it too"


def test_the_nearest_lessons_are_found_however_likely_they_are_meant(
    tiny_place: Place, recall: LessonRecall, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = tiny_place[2]
    assert recall.nearest(ASKED) == []
    greeting = lesson("Good morning!", "I slept well.")
    dog, sister, _ = teach(journal, DOG_LESSON, SISTER_LESSON, greeting, learned=True)
    monkeypatch.setattr(module, "NEARBY", -1.0)
    assert recall.nearest(ASKED) == [], "the lines of the book are missing"
    recall.prepare()
    assert [one.id for one in recall.nearest(ASKED)] == [dog.id, sister.id]
    assert recall.nearest("I had a fight with my sister") == [], "the book is meant"
    assert [one.id for one in recall.nearest(f"Tell me a joke. {ASKED}")][0] == dog.id
    assert [one.id for one in recall.nearest("I saw it. What is my dog called?")][0] == dog.id
    assert not recall.nearest("Where does Tom's sister live?"), "that is not the owner's"
    named = recall.nearest("Bruno, what is he?")
    assert [one.id for one in named] == [dog.id], "the name was taught"
    assert not recall.nearest("Do you like Bruno?"), "that is about Vidya"
    job = lesson("What is my job?", "You work as a baker at the mill.")
    teach(journal, job, learned=True)
    assert not recall.nearest("What work does Anna do?"), "work is no name"
    again = lesson("the hound that is mine, what is it called", DOG_LESSON.answer, "pick")
    hers = lesson("and the name?", DOG_LESSON.answer, "pick")
    teach(journal, again, hers, learned=True)
    found = [one.answer for one in recall.nearest(ASKED)]
    assert found.count(DOG_LESSON.answer) == 1 and len(found) == 3, "each answer once"
    teach(journal, lesson("My dog is here.", DOG_LESSON.answer), learned=True)
    assert DOG_LESSON.answer not in [one.answer for one in recall.nearest(ASKED)], "a remark too"
    monkeypatch.setattr(module, "NEAREST", 1)
    assert len(recall.nearest("my sister lives where?")) == 1
    monkeypatch.setattr(module, "NEARBY", 1.1)
    assert recall.nearest(ASKED) == []
    monkeypatch.setattr(module, "AT_ONCE", 0)
    teach(journal, lesson("Where do I work?", "You work at the mill."))
    assert recall.nearest(ASKED) == [], "it would take long"


def test_how_near_each_taught_answer_is_to_what_is_asked(
    tiny_place: Place, recall: LessonRecall, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = tiny_place[2]
    greeting = lesson("Good morning!", "I slept well.")
    teach(journal, DOG_LESSON, SISTER_LESSON, greeting, learned=True)
    teach(journal, lesson("What was my old dog called?", DOG_LESSON.answer), learned=True)
    found = recall.answers_near(ASKED)
    assert recall._index.known is None, "the book's vectors are not needed"
    dog, sister = fold(DOG_LESSON.answer), fold(SISTER_LESSON.answer)
    assert set(found) == {dog, sister}, "a greeting is answered in many words"
    assert -1.0 <= found[sister] < 0.5 < found[dog] <= 1.0
    assert recall.answers_near("What was my old dog's name?")[dog] > 0.6, (
        "its nearest lesson counts"
    )
    more = f"{ASKED[:-1]}? I need it for a long form at the town hall today."
    assert recall.answers_near(more)[dog] > 0.6, "the sentence that asks counts"
    teach(journal, lesson("Wie hei\u00dft mein Hund?", "Er hei\u00dft Bruno."), learned=True)
    assert set(recall.answers_near(ASKED)) == {dog, sister}, "the encoder reads English"
    monkeypatch.setattr(module, "PATIENCE", 0.01)
    with recall._lock:
        assert recall.answers_near(ASKED) == {}, "another thread is at work"
    assert recall.answers_near(" ") == {}
