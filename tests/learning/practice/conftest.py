from __future__ import annotations

import queue
from collections.abc import Iterator
from pathlib import Path

import pytest

import learning.memory.book_rows
import learning.memory.build
import learning.practice.request
from engine.model import Model
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.examples import Example, from_turns
from learning.memory.replay import Replay
from learning.protocol.events import Event
from learning.teacher.teacher import Teacher
from tests.learning.conftest import Place
from tests.practice_room import QUICK, Room
from tests.sums import register

LINES = (("hello", "Hello, I am well."), ("What is your name?", "My name is Vidya."))


@pytest.fixture
def memory(tiny_tokenizer: Tokenizer) -> list[Example]:
    """A book of two lines."""
    return [
        from_turns(tiny_tokenizer, [("user", asked), ("assistant", said)], 128)
        for asked, said in LINES
    ]


@pytest.fixture
def replay(tiny_model: Model, memory: list[Example]) -> Replay:
    return Replay(tiny_model, memory, [], [])


@pytest.fixture
def room(tiny_place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Room]:
    home, folder, journal = tiny_place
    monkeypatch.setattr(
        learning.memory.book_rows, "shipped_book_path", lambda: tmp_path / "none.txt"
    )
    monkeypatch.setattr(learning.memory.build, "own_talk", lambda *_: [])
    monkeypatch.setattr(learning.practice.request, "PracticeSettings", lambda: QUICK)
    register(monkeypatch)
    events: queue.Queue[Event] = queue.Queue()
    teacher = Teacher(home, folder, journal, device="cpu", seed=0, on_event=events.put)
    yield Room(teacher, journal, folder, events)
    teacher.close()
