"""learning.teacher.inspection: checks of knowledge, and comparisons with earlier weights."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import learning.memory.build
from engine.model import Model
from engine.storage.checkpoint import save_model
from engine.tokenizers.tokenizer import Tokenizer
from learning.book_training.training_set import plan
from learning.home import Home
from learning.journal.journal import Journal
from learning.lessons.learner import Learner
from learning.models.snapshots import kept_weights
from learning.protocol.compare_events import CompareBegan, CompareDone, ComparedText
from learning.protocol.events import Checked, Event
from learning.protocol.model_events import Disputed
from learning.protocol.records import Lesson, Turn, Turns
from learning.protocol.requests import Check, Compare, FindDisputed, Probe, StopComparing
from learning.teacher.inspection import Inspector
from learning.teacher.recall import LessonRecall
from learning.teacher.scheduling import Scheduler
from tests.short_lessons import LEARNED

BOOK = "<|user|> hello <|assistant|> Hello, I am well.\n"


class Place:
    """A learner with a tiny model, an Inspector, and the events that it emitted."""

    def __init__(self, home: Home, folder: Path) -> None:
        self.home = home
        self.journal = Journal(home.journal_path)
        self.turnstile = Scheduler()
        self.said: list[Event] = []
        self.learner = Learner(home, folder, self.journal, seed=0, settings=LEARNED)
        recall = LessonRecall(self.learner, self.journal)
        self.looker = Inspector(
            self.learner, self.journal, self.turnstile, self.said.append, recall
        )

    def until(self, kind: type, key: int, seconds: float = 60.0) -> Event:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for event in self.said:
                if isinstance(event, kind) and getattr(event, "key", None) == key:
                    return event
            time.sleep(0.01)
        raise AssertionError(f"no {kind.__name__} came, only {self.said}")

    def teach(self, question: str, answer: str) -> Lesson:
        (lesson,) = self.journal.add_lessons([Lesson("example", asked(question), answer)])
        self.learner.learn(lesson)
        return lesson

    def trained(self) -> list[int]:
        """The numbers of the lessons that a training takes up."""
        tokenizer, replay = self.learner.tokenizer, self.learner.replay
        rows = self.learner.caches.book_rows
        course = plan(tokenizer, replay, self.journal, rows, None, 128, random.Random(0))
        return [lesson.id for lesson, _ in course.lessons]

    def text(self, key: int, side: str) -> str:
        return "".join(
            delta.text
            for event in self.said
            if isinstance(event, ComparedText) and (event.key, event.side) == (key, side)
            for delta in event.deltas
            if delta.index == 1
        )


def asked(text: str) -> Turns:
    return (Turn("user", text),)


@pytest.fixture
def place(
    tmp_path: Path, tiny_model: Model, tiny_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Place]:
    book = tmp_path / "shipped.txt"
    book.write_text(BOOK)
    monkeypatch.setattr(learning.memory.book_rows, "shipped_book_path", lambda: book)
    home = Home(tmp_path / "home")
    folder = home.models_path / "tiny"
    save_model(tiny_model, folder, dtype=torch.float32)
    tiny_tokenizer.save(folder)
    place = Place(home, folder)
    yield place
    place.looker.close()
    place.journal.close()


@pytest.mark.slow
def test_what_is_known_and_how_it_was_before(place: Place) -> None:
    lesson = place.teach("What is my dog called?", "Rufus.")
    probes = (
        Probe(asked("What is my dog called?"), "Rufus."),
        Probe(asked("What is my dog called?"), "Rex."),
        Probe(asked("What is my dog called?"), "", ("Rufus.", "Rex.")),
        Probe(asked("What is my dog called?"), "", ("Rex.",)),
    )
    place.looker.send(Check(1, probes))
    assert place.until(Checked, 1) == Checked(1, (True, False, False, True), place.learner.version)

    place.looker.send(Compare(2, asked("What is my dog called?"), 2, lesson.id, seed=1))
    began = place.until(CompareBegan, 2)
    assert began == CompareBegan(2, 0, place.learner.version, (0,), 1)
    assert place.until(CompareDone, 2) == CompareDone(2)
    assert place.text(2, "after").strip() == "Rufus."
    assert place.text(2, "before").strip() != "Rufus."
    texts = [e for e in place.said if isinstance(e, ComparedText) and e.side == "after"]
    assert {delta.index for e in texts for delta in e.deltas} == {1, 2}

    # the weights of now were not touched
    place.looker.send(Check(3, probes[:1]))
    assert place.until(Checked, 3) == Checked(3, (True,), place.learner.version)


@pytest.mark.slow
def test_what_cannot_be_compared_says_why(place: Place) -> None:
    place.looker.send(Compare(1, asked("hi"), 1))
    done = place.until(CompareDone, 1)
    assert isinstance(done, CompareDone) and "no earlier weights" in done.trouble
    (waits,) = place.journal.add_lessons([Lesson("example", asked("a?"), "A.")])
    place.looker.send(Compare(2, asked("hi"), 1, waits.id))
    done = place.until(CompareDone, 2)
    assert isinstance(done, CompareDone) and "wait until it is learned" in done.next_step
    lesson = place.teach("b?", "B.")
    for old in kept_weights(place.learner.folder, place.journal, place.learner.version):
        old.path.unlink()
    place.looker.send(Compare(3, asked("hi"), 1, lesson.id))
    done = place.until(CompareDone, 3)
    assert isinstance(done, CompareDone) and "only the last few are kept" in done.trouble
    place.looker.send(Compare(4, asked("hi"), 1, version=77))
    done = place.until(CompareDone, 4)
    assert isinstance(done, CompareDone) and "77" in done.trouble


@pytest.mark.slow
def test_an_answer_that_streams_and_a_stop_go_first(place: Place) -> None:
    place.teach("b?", "B.")
    with place.turnstile.answering():
        place.looker.send(Check(1, (Probe(asked("b?"), "B."),)))
        place.looker.send(Compare(2, asked("b?"), 1))
        time.sleep(0.2)
        assert place.said == []
        place.looker.send(StopComparing(2))
    place.until(Checked, 1)
    assert place.until(CompareDone, 2) == CompareDone(2)
    assert not any(isinstance(event, CompareBegan | ComparedText) for event in place.said)


def test_what_the_owner_says_is_measured(place: Place) -> None:
    place.looker.heard((*asked("hello"), Turn("assistant", "Hi."), Turn("user", "What is new?")))
    place.looker.send(Check(1, ()))
    place.until(Checked, 1)
    ((_, nll),) = place.journal.measures("owner_nll")
    assert 2.0 < nll < 10.0, "nats a token of a model that knows nothing"


@pytest.mark.slow
def test_an_answer_taken_out_of_the_book_does_not_come_back(place: Place) -> None:
    """Neither a pause nor a training brings back what the owner does not want to hear."""
    lesson = place.teach("What is my dog called?", "Rufus.")
    removal = Lesson("example", lesson.prompt, "", ("Rufus.",), replaces="Rufus.")
    place.journal.add_lessons([removal])
    place.journal.set_lesson_state(2, "learned")
    place.learner.forget_memory()
    answers = {place.learner.tokenizer.decode(e.answer[:-1]) for e in place.learner.replay.memory}
    assert not any("Rufus" in answer for answer in answers)
    assert place.trained() == []
    again = replace(lesson, id=0)
    place.journal.add_lessons([again])
    place.journal.set_lesson_state(3, "learned")
    place.learner.forget_memory()
    assert place.trained() == [3]
    assert len(place.learner.replay.taught) >= 1


def test_without_a_taste_nothing_is_in_dispute_and_why_is_told(place: Place) -> None:
    place.looker.send(FindDisputed(3))
    place.looker.send(Check(7, ()))
    place.until(Checked, 7)
    (told,) = [event for event in place.said if isinstance(event, Disputed)]
    assert told.found == () and "no taste yet" in told.trouble and told.next_step
