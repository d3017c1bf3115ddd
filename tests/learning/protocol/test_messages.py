"""Every message survives the trip between the processes, and nothing else gets through."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.config import Sampling
from engine.errors import VidyaError
from learning.protocol.events import AskDone, CandidateDone, Event, Failed
from learning.protocol.messages import Message, decode, encode
from learning.protocol.records import Candidate
from learning.protocol.requests import Generate, Request

MESSAGES = [*get_args(Request), *get_args(Event)]
SAMPLINGS = st.builds(
    Sampling,
    temperature=st.floats(0, 10),
    top_p=st.floats(0, 1, exclude_min=True),
    min_p=st.floats(0, 1, exclude_max=True),
    repetition_penalty=st.floats(1, 10),
    top_k=st.integers(0),
    max_tokens=st.integers(1),
)
ANY: dict[type, st.SearchStrategy[Message]] = {Generate: st.builds(Generate, sampling=SAMPLINGS)}


@pytest.mark.parametrize("kind", MESSAGES, ids=lambda kind: kind.__name__)
def test_the_least_and_the_strangest_of_every_kind_come_back_equal(kind: Any) -> None:
    @settings(suppress_health_check=[HealthCheck.too_slow])  # on a busy machine
    @given(ANY.get(kind, st.from_type(kind)))
    def comes_back(message: Message) -> None:
        line = encode(message)
        assert "\n" not in line
        assert line.isascii()
        assert repr(decode(line)) == repr(message)  # repr: a loss may be nan, which equals nothing

    comes_back()


def test_the_line_says_what_it_is_and_keeps_text_in_one_line() -> None:
    line = encode(Failed("generate", "two\nlines \x1b[31m \u2028", "ask again", 4))
    assert json.loads(line) == {
        "type": "Failed",
        "where": "generate",
        "what": "two\nlines \x1b[31m \u2028",
        "next_step": "ask again",
        "ask": 4,
        "refused": False,
    }


def test_tuples_and_records_are_rebuilt_as_what_they_were() -> None:
    line = (
        '{"type": "Generate", "ask": 1, "turns": [{"role": "user", "text": "hi"}], "n": 5,'
        ' "sampling": {"temperature": 0.5}, "seed": null}'
    )
    message = decode(line)
    assert isinstance(message, Generate)
    assert message.turns[0].text == "hi"
    assert isinstance(message.turns, tuple)
    assert (message.sampling.temperature, message.sampling.top_p) == (0.5, 0.95)
    done = CandidateDone(Candidate(1, 2, "hi", (5, 6), (-0.25, -1e-300), "end", 3))
    assert decode(encode(done)) == done
    assert hash(decode(encode(done))) == hash(done)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "not json",
        "[]",
        "null",
        "7",
        "{}",
        '{"type": "Nonsense"}',
        '{"type": "Keep"}',
        '{"type": "Keep", "ask": 1, "index": 2, "more": 3}',
        '{"type": ["Keep"], "ask": 1}',
        '{"type": "Generate", "ask": 1, "turns": 5, "n": 5, "sampling": {}}',
        '{"type": "Generate", "ask": 1, "turns": [], "n": 5, "sampling": {"warmth": 1}}',
        '{"type": "Generate", "ask": 1, "turns": [], "n": 5, "sampling": {"temperature": -1}}',
        encode(AskDone(1, 2.0, 3.0))[:-1],
    ],
)
def test_anything_else_is_refused_in_words(line: str) -> None:
    with pytest.raises(VidyaError) as caught:
        decode(line)
    assert "Traceback" not in str(caught.value)
