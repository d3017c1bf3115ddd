"""What a teacher tells of its candidates: fit to be shown, all different, and how sure it is of each."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import engine.generate as engine_generate
from engine.config import Sampling
from engine.tokenizers.chat_format import encode_prompt
from engine.tokenizers.load import load_tokenizer
from learning.home import Home
from learning.journal.journal import Journal
from learning.memory.tasks import NOT_KNOWN
from learning.protocol.events import (
    AskDone,
    CandidateDone,
    CandidateReset,
    CandidateTexts,
    Event,
    Failed,
    Ready,
)
from learning.protocol.records import Turn
from learning.protocol.requests import Cancel, Generate
from learning.teacher import generation
from learning.teacher.teacher import open_teacher
from learning.text.comfort import CRISIS
from learning.text.flaws import broken, seams
from learning.text.normalise import fold

Place = tuple[Home, Path, Journal]


def _ask(place: Place, message: str, n: int, asks: int, others: bool = False) -> list[list[Event]]:
    """The events of each ask, which are drawn from different dice. others: wants other answers."""
    return _ask_each(place, [(message, others)] * asks, n)


def _ask_each(
    place: Place,
    asked: Sequence[tuple[str, bool]],
    n: int,
    sampling: Sampling = Sampling(max_tokens=60),  # noqa: B008
) -> list[list[Event]]:
    """The same for each (message, whether it wants other answers)."""
    home, _, journal = place
    events, ended = list[Event](), threading.Semaphore(0)

    def hear(event: Event) -> None:
        events.append(event)
        if isinstance(event, AskDone):
            ended.release()

    teacher = open_teacher(home, model="tiny", on_event=hear, journal=journal)
    try:
        for ask, (message, others) in enumerate(asked):
            turns = (Turn("user", message),)
            teacher.send(Generate(ask, turns, n, sampling, seed=ask, others=others))
            assert ended.acquire(timeout=120)
    finally:
        teacher.close()
    return [[e for e in events if _ask_of(e) == ask] for ask in range(len(asked))]


def _ask_of(event: Event) -> int | None:
    return getattr(getattr(event, "candidate", event), "ask", None)


@pytest.mark.slow
def test_a_model_that_knows_nothing_says_so_once_and_shows_no_broken_text(
    tiny_place: Place,
) -> None:
    for events in _ask(tiny_place, "What is my cat called?", 5, 2):
        done = [event.candidate for event in events if isinstance(event, CandidateDone)]
        texts = [event.text for event in done]
        assert sorted(event.index for event in done) == [1, 2, 3, 4, 5]
        assert texts.count(NOT_KNOWN) == 1
        assert len(set(map(fold, texts))) == 5
        assert not any(broken(text) or seams(text) for text in texts)
        assert all(event.certainty is not None and 0 <= event.certainty <= 1 for event in done)
        assert any(isinstance(event, CandidateReset) for event in events)
        last = max(i for i, e in enumerate(events) if isinstance(e, CandidateReset))
        index = events[last].index  # type: ignore[union-attr]
        deltas = [d for e in events[last:] if isinstance(e, CandidateTexts) for d in e.deltas]
        after = [delta.text for delta in deltas if delta.index == index]
        (whole,) = [event.text for event in done if event.index == index]
        assert "".join(after).strip() == whole or broken("".join(after)) or seams("".join(after))


def test_what_is_no_question_is_not_answered_so(tiny_place: Place) -> None:
    for events in _ask(tiny_place, "My cat sleeps.", 5, 1):
        assert NOT_KNOWN not in [e.candidate.text for e in events if isinstance(e, CandidateDone)]


@pytest.mark.slow
def test_one_answer_alone_is_shown_unbroken(tiny_place: Place) -> None:
    for events in _ask(tiny_place, "My cat sleeps.", 1, 3):
        (done,) = [event.candidate for event in events if isinstance(event, CandidateDone)]
        assert done.text and not broken(done.text) and not seams(done.text)


@pytest.fixture
def likeliest(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each ask, whether the likeliest answer is to be among its own."""
    found = list[bool]()

    def spied(*given: Any, **named: Any) -> Iterator[engine_generate.Event]:
        found.append(named["likeliest"])
        return engine_generate.generate(*given, **named)

    monkeypatch.setattr(generation, "generate", spied)
    return found


def test_other_answers_are_all_drawn(tiny_place: Place, likeliest: list[bool]) -> None:
    _ask(tiny_place, "My cat sleeps.", 2, 2)
    _ask(tiny_place, "My cat sleeps.", 2, 3, others=True)
    first, *rest = likeliest[2:]
    assert likeliest[:2] == [True, True], "asked again, in another conversation perhaps"
    assert first and not any(rest), "the likeliest one was among the first answers"


def test_other_answers_are_others(tiny_place: Place) -> None:
    asked = [("My cat sleeps.", others) for others in (False, True, True, False)]
    sure = Sampling(temperature=0.01, max_tokens=8)  # the same answers, however the dice fall
    texts = [
        {e.candidate.text for e in events if isinstance(e, CandidateDone)}
        for events in _ask_each(tiny_place, asked, 3, sure)
    ]
    assert not texts[0] & texts[1] and not (texts[0] | texts[1]) & texts[2]
    assert texts[3] == texts[0], "asked anew, perhaps in another conversation"


def test_other_answers_include_the_likeliest_if_something_else_was_answered_since(
    tiny_place: Place, likeliest: list[bool]
) -> None:
    _ask_each(tiny_place, [("My cat.", False), ("Hi", False), ("My cat.", True)], 2)
    assert likeliest[-1], "the weights that answered it then may not be these"


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_no_setting_keeps_the_crisis_line_from_who_may_hurt_himself(
    tiny_place: Place, n: int, temperature: float
) -> None:
    short = Sampling(temperature=temperature, max_tokens=4)
    (events,) = _ask_each(tiny_place, [("I want to kill myself", False)], n, short)
    cards = [event.candidate for event in events if isinstance(event, CandidateDone)]
    assert CRISIS in [card.text for card in cards]


def test_an_ask_that_is_sent_again_while_it_is_answered_is_answered_again(
    tiny_place: Place,
) -> None:
    home, _, journal = tiny_place
    events: queue.Queue[Event] = queue.Queue()
    teacher = open_teacher(home, model="tiny", on_event=events.put, journal=journal)
    asked = Generate(5, (Turn("user", "My cat sleeps."),), 2, Sampling(max_tokens=40), seed=0)
    try:
        for request in (asked, Cancel(5), asked):
            teacher.send(request)
        heard = list[Event]()
        while sum(isinstance(event, AskDone) for event in heard) < 2:
            heard.append(events.get(timeout=120))
    finally:
        teacher.close()
    assert not [event for event in heard if isinstance(event, Failed)]
    endings = [event.candidate.ending for event in heard if isinstance(event, CandidateDone)]
    assert "cancelled" not in endings[-2:]


@pytest.mark.slow
def test_what_all_candidates_drew_in_a_step_is_one_message(tiny_place: Place) -> None:
    for events in _ask(tiny_place, "My cat sleeps.", 5, 2):
        texts = [event for event in events if isinstance(event, CandidateTexts)]
        assert len(texts[0].deltas) > 1  # one that drew half a character has no text yet
        for event in texts:
            numbers = [delta.index for delta in event.deltas]
            assert len(set(numbers)) == len(numbers) > 0 and all(d.text for d in event.deltas)
        done = [event.candidate for event in events if isinstance(event, CandidateDone)]
        redrawn = sum(isinstance(event, CandidateReset) for event in events)
        longest = max(len(candidate.tokens) for candidate in done)
        assert len(texts) <= longest * (1 + redrawn)  # each redrawn one is stepped by itself


@pytest.mark.slow
def test_between_asks_freed_memory_is_returned_and_the_next_is_answered(
    tiny_place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, _, journal = tiny_place
    events: queue.Queue[Event | str] = queue.Queue()
    monkeypatch.setattr(generation, "REST", 0.05)
    monkeypatch.setattr(generation, "return_freed_memory", lambda: events.put("returned"))
    teacher = open_teacher(home, model="tiny", on_event=events.put, journal=journal)
    try:
        for ask in range(2):
            teacher.send(Generate(ask, (Turn("user", "Hi"),), 1, Sampling(max_tokens=8), seed=0))
            while not isinstance(events.get(timeout=120), AskDone):
                pass
            while events.get(timeout=120) != "returned":
                pass
    finally:
        teacher.close()


@pytest.mark.slow
def test_a_request_may_name_where_an_answer_ends(tiny_place: Place) -> None:
    home, _, journal = tiny_place
    events: queue.Queue[Event] = queue.Queue()
    teacher = open_teacher(home, model="tiny", on_event=events.put, journal=journal)
    try:
        asked = Generate(0, (Turn("user", "Hi"),), 3, Sampling(max_tokens=20), seed=0)
        teacher.send(replace(asked, stops=("e", "a"), system="ignored: it takes none"))
        heard = [events.get(timeout=120)]
        while not isinstance(heard[-1], AskDone):
            heard.append(events.get(timeout=120))
    finally:
        teacher.close()
    ready = next(event for event in heard if isinstance(event, Ready))
    assert not ready.takes_system
    done = [event.candidate for event in heard if isinstance(event, CandidateDone)]
    assert len(done) == 3 and not any({"e", "a"} & set(one.text) for one in done)
    prompt = encode_prompt(load_tokenizer(home.models_path / "tiny"), [("user", "Hi")], 128, 20)
    assert isinstance(heard[-1], AskDone) and heard[-1].prompt_tokens == len(prompt)


@pytest.mark.slow
def test_a_prompt_that_leaves_no_room_is_refused(
    tiny_place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, _, journal = tiny_place
    events: queue.Queue[Event] = queue.Queue()
    teacher = open_teacher(home, model="tiny", on_event=events.put, journal=journal)
    # as a system prompt that is longer than the context
    monkeypatch.setattr(generation, "encode_prompt", lambda *_: [65] * 500)
    try:
        teacher.send(Generate(7, (Turn("user", "Hi"),), 1, Sampling(max_tokens=20), seed=0))
        while not isinstance(event := events.get(timeout=120), Failed):
            pass
    finally:
        teacher.close()
    assert (event.ask, event.refused) == (7, True)
    assert "fills the model's context" in event.what
