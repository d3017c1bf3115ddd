"""The contract of `TeacherPort`: every teacher, in this process or in another, scripted or real, passes.

A new implementation fails `test_every_implementation_is_here` until it has a line in `STARTS`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from engine.config import Sampling
from learning.home import Home
from learning.journal.journal import Journal
from learning.protocol.compare_events import CompareDone
from learning.protocol.events import (
    AskDone,
    CandidateDone,
    CandidateReset,
    CandidateTexts,
    Checked,
    Event,
    LessonDone,
    Ready,
    UndoDone,
)
from learning.protocol.messages import TeacherPort, decode, encode
from learning.protocol.records import Candidate, Lesson, Turn, Turns
from learning.protocol.requests import (
    Cancel,
    CancelPractice,
    CancelTraining,
    Check,
    Compare,
    Generate,
    Keep,
    Learn,
    OwnerActive,
    Probe,
    Request,
    SetLearning,
    StopComparing,
    Undo,
)
from tests.fakes import ScriptedTeacher
from tests.implementations import implementations
from vidya_tui.worker.supervisor import WorkerTeacher
from vidya_tui.worker.switching import SwitchingTeacher

OnEvent = Callable[[Event], None]
TEXTS = ("one answer", "two answers", "three answers")
PATIENCE = 120.0
"""Seconds; a machine with other work loads a model slowly."""
HELLO: Turns = (Turn("user", "hello"),)
BOOK = "<|user|> hello <|assistant|> Hello, I am well.\n"
SMALL = """
import pathlib, sys
import personality.book
personality.book.shipped_book_path = lambda: pathlib.Path({book!r})
if "vidya_tui.worker.main" in sys.orig_argv:
    import learning.lessons.learner
    from learning.lessons.batch import Mixture
    short = learning.lessons.learner.TeachSettings(steps=2, repair=1, mixture=Mixture(batch=12))
    learning.lessons.learner.TeachSettings = lambda: short
"""
"""A short book and short lessons, in every process that is started here."""
Kind = TypeVar("Kind", bound=Event)


class Place:
    """A home with a tiny model, made once for all."""

    def __init__(self, folder: Path) -> None:
        self.home = Home(folder / "home")
        self.journal = Journal(self.home.journal_path)


def scripted(place: Place, on_event: OnEvent) -> TeacherPort:
    on_event(Ready("tiny", 1, 1, "cpu"))
    return ScriptedTeacher(TEXTS, on_event, journal=place.journal, before=())


def here(place: Place, on_event: OnEvent) -> TeacherPort:
    from learning.teacher.teacher import open_teacher

    return open_teacher(place.home, model="tiny", seed=0, on_event=on_event)


def worker(place: Place, on_event: OnEvent) -> TeacherPort:
    return WorkerTeacher(place.home, on_event=on_event, model="tiny", seed=0, patience=60.0)


def switching(place: Place, on_event: OnEvent) -> TeacherPort:
    return SwitchingTeacher(lambda hear, model=None, /: scripted(place, hear), on_event)


STARTS: dict[str, Callable[[Place, OnEvent], TeacherPort]] = {
    "ScriptedTeacher": scripted,
    "SwitchingTeacher": switching,
    "Teacher": here,
    "WorkerTeacher": worker,
}
"""How each implementation is started."""
ANSWERS_NOBODY = {"_Nobody"}
"""Of the shell's `teach`: it drops all requests, because the command learns by itself."""
SLOW = {"WorkerTeacher"}


class Port:
    """A teacher and the events that it emitted."""

    def __init__(self, place: Place, start: Callable[[Place, OnEvent], TeacherPort]) -> None:
        self.place = place
        self.events: list[Event] = []
        self.hear: OnEvent = lambda event: None
        self._heard = threading.Condition()
        self.teacher = start(place, self._hear)
        self.until(Ready)

    def _hear(self, event: Event) -> None:
        with self._heard:
            self.events.append(event)
            self._heard.notify_all()
        self.hear(event)

    def until(
        self, kind: type[Kind], fits: Callable[[Kind], bool] = lambda event: True, after: int = 0
    ) -> Kind:
        """The first event of that kind that fits, from number `after` on."""

        def found() -> Kind | None:
            said = (event for event in self.events[after:] if isinstance(event, kind))
            return next((event for event in said if fits(event)), None)

        with self._heard:
            self._heard.wait_for(lambda: found() is not None, PATIENCE)
            event = found()
        assert event is not None, f"no {kind.__name__} came, only {self.events[after:]}"
        return event

    def ask(self, number: int, n: int = 3, *then: Request, raw: bool = False) -> list[Event]:
        """Asks, sends more at once, and gives what was said of this ask up to its end."""
        before = len(self.events)
        self.teacher.send(Generate(number, HELLO, n, Sampling(max_tokens=6), seed=1, raw=raw))
        for request in then:
            self.teacher.send(request)
        self.until(AskDone, lambda done: done.ask == number, before)
        return [event for event in self.events[before:] if ask_of(event) == number]


def ask_of(event: Event) -> int | None:
    """The ask that an event is about, if any."""
    return getattr(event.candidate if isinstance(event, CandidateDone) else event, "ask", None)


def checked(events: list[Event], n: int, *, raw: bool = False) -> list[Candidate]:
    """What was said of one ask, held against the contract; the candidates by their index.

    raw: nothing is mended, so that an end has the text that streamed, and perhaps a character that
    was cut within its bytes.
    """
    assert isinstance(events[-1], AskDone)
    assert sum(isinstance(event, AskDone) for event in events) == 1
    shown = dict.fromkeys(range(1, n + 1), "")
    done: dict[int, Candidate] = {}
    for event in events:
        if isinstance(event, CandidateTexts):
            assert event.deltas
            for delta in event.deltas:
                assert delta.index in shown and delta.index not in done, event
                assert delta.text
                shown[delta.index] += delta.text
        elif isinstance(event, CandidateReset):
            assert event.index in shown and event.index not in done, event
            shown[event.index] = ""
        elif isinstance(event, CandidateDone):
            one = event.candidate
            assert one.index in shown and one.index not in done, event
            done[one.index] = one
            assert not raw or one.text.rstrip("\ufffd") == shown[one.index].rstrip("\ufffd")
            assert len(one.tokens) == len(one.logprobs)
            assert all(logprob <= 0 for logprob in one.logprobs)
            assert one.ending in ("end", "length", "cancelled")
            assert one.certainty is None or 0 <= one.certainty <= 1
    assert sorted(done) == sorted(shown)
    return [done[index] for index in sorted(done)]


@pytest.fixture(scope="module")
def fresh(
    tmp_path_factory: pytest.TempPathFactory, tiny_tokenizer: object
) -> Iterator[Callable[[], Place]]:
    """Makes homes with a tiny model and a short book, for every process that is started here."""
    from dataclasses import replace

    import torch

    from engine.config import CONFIGS
    from engine.model import Model
    from engine.storage.checkpoint import save_model

    folder = tmp_path_factory.mktemp("port")
    (folder / "book.txt").write_text(BOOK)
    (folder / "sitecustomize.py").write_text(SMALL.format(book=str(folder / "book.txt")))
    config = replace(CONFIGS["tiny"], vocab_size=tiny_tokenizer.vocab_size)  # type: ignore[attr-defined]
    model = Model(config, generator=torch.Generator().manual_seed(0))
    made: list[Place] = []

    def make() -> Place:
        place = Place(folder / str(len(made)))
        made.append(place)
        save_model(model, place.home.models_path / "tiny", dtype=torch.float32)
        tiny_tokenizer.save(place.home.models_path / "tiny")  # type: ignore[attr-defined]
        return place

    import learning.lessons.learner
    import learning.memory.book_rows
    from tests.short_lessons import SHORT

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(folder))
        patch.setattr(learning.memory.book_rows, "shipped_book_path", lambda: folder / "book.txt")
        patch.setattr(learning.lessons.learner, "TeachSettings", lambda: SHORT)
        yield make
    for place in made:
        place.journal.close()


KINDS = [
    pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in sorted(STARTS)
]


@pytest.fixture(scope="module", params=KINDS)
def port(request: pytest.FixtureRequest, fresh: Callable[[], Place]) -> Iterator[Port]:
    """One teacher of each kind for all tests that do not close it."""
    port = Port(fresh(), STARTS[request.param])
    yield port
    port.teacher.close()


def test_every_implementation_is_here() -> None:
    methods = {"send": "self, request: Request", "close": "self"}
    missing = implementations(methods) - set(STARTS) - ANSWERS_NOBODY
    assert not missing, f"give a line of STARTS to {missing}"


def test_every_candidate_streams_to_its_end(port: Port) -> None:
    for candidate in checked(port.ask(1), 3):
        assert candidate.ending in ("end", "length")
        assert candidate.version >= 0


def test_a_text_that_is_gone_on_with_ends_as_it_streamed(port: Port) -> None:
    checked(port.ask(5, raw=True), 3, raw=True)


def test_asks_are_answered_one_after_another(port: Port) -> None:
    for number in (11, 12):
        port.teacher.send(Generate(number, HELLO, 2, Sampling(max_tokens=4)))
    port.until(AskDone, lambda done: done.ask == 12)
    ends = [event.ask for event in port.events if isinstance(event, AskDone) and event.ask > 10]
    assert ends == [11, 12]
    for number in ends:
        said = [event for event in port.events if ask_of(event) == number]
        checked(said, 2)


def test_a_cancelled_ask_ends_every_candidate(port: Port) -> None:
    checked(port.ask(21, 3, Cancel(21)), 3)


def test_a_pick_before_the_end_lets_that_candidate_finish(port: Port) -> None:
    candidates = checked(port.ask(31, 3, Keep(31, 2)), 3)
    assert candidates[1].ending in ("end", "length")


def test_requests_about_what_there_is_not_do_no_harm(port: Port) -> None:
    for request in (Cancel(999), Keep(999, 1), StopComparing(999), CancelTraining()):
        port.teacher.send(request)
    for request in (CancelPractice(), OwnerActive(), SetLearning(True)):
        port.teacher.send(request)
    checked(port.ask(41), 3)


def test_a_listener_may_send_from_where_it_hears(port: Port) -> None:
    def again(event: Event) -> None:
        if isinstance(event, AskDone) and event.ask == 51:
            port.teacher.send(Generate(52, HELLO, 1, Sampling(max_tokens=4)))

    port.hear = again
    try:
        port.ask(51)
        port.until(AskDone, lambda done: done.ask == 52)
    finally:
        port.hear = lambda event: None


def test_a_check_answers_each_probe_under_its_key(port: Port) -> None:
    probes = (Probe(HELLO, "a"), Probe(HELLO, "", rejected=("b",)))
    port.teacher.send(Check(7, probes))
    event = port.until(Checked, lambda said: said.key == 7)
    assert len(event.known) == 2 and event.version >= 0


def test_without_earlier_weights_a_comparison_says_so(port: Port) -> None:
    port.teacher.send(Compare(8, HELLO, 2))
    assert port.until(CompareDone, lambda said: said.key == 8).trouble


def test_lessons_that_wait_are_learned_and_taken_back(port: Port) -> None:
    before = len(port.events)
    journal = port.place.journal
    (lesson,) = journal.add_lessons([Lesson("example", (Turn("user", "Where?"),), "Here.")])
    port.teacher.send(Learn())
    done = port.until(LessonDone, lambda said: said.lesson == lesson.id, before)
    assert journal.lesson(lesson.id).state in ("learned", "needs_practice")
    port.teacher.send(Undo())
    undone = port.until(UndoDone, lambda said: said.lesson == lesson.id, before)
    assert undone.version >= done.version
    assert journal.lesson(lesson.id).state == "undone"
    checked(port.ask(61), 3)


def test_an_undo_of_nothing_is_told(port: Port) -> None:
    before = len(port.events)
    port.teacher.send(Undo())
    undone = port.until(UndoDone, after=before)
    assert undone.lesson is None and undone.what


def test_all_that_was_said_goes_between_processes(port: Port) -> None:
    port.ask(71)
    assert [decode(encode(event)) for event in port.events] == port.events


@pytest.mark.parametrize("kind", KINDS)
def test_after_the_close_nothing_is_said_and_nothing_fails(
    fresh: Callable[[], Place], kind: str
) -> None:
    port = Port(fresh(), STARTS[kind])
    port.teacher.send(Generate(1, HELLO, 3, Sampling(max_tokens=200)))
    port.teacher.close()
    said = len(port.events)
    port.teacher.close()
    port.teacher.send(OwnerActive())
    time.sleep(0.05)
    assert len(port.events) == said
    with port.place.home.learning():  # given back: the next teacher may have it
        pass


def test_a_teacher_that_answers_nobody_takes_everything() -> None:
    from vidya_tui.cli.teach import _Nobody

    nobody: TeacherPort = _Nobody()
    nobody.send(Learn())
    nobody.close()
    nobody.close()
