"""learning.data.examples: how much of the talk before a message an example has."""

from __future__ import annotations

import pytest

from engine.tokenizers.tokenizer import Tokenizer
from learning.data import examples
from learning.data.examples import from_answer

CONTEXT = 8192
MESSAGE, ANSWER = "What is my cat called?", "It is called Oskar."


@pytest.fixture(autouse=True)
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examples, "TALK", 60)


def _talk(turns: int) -> list[tuple[str, str]]:
    said = [("user", "Tell me of the river."), ("assistant", "It runs to the sea.")]
    return said * turns


def _before(tokenizer: Tokenizer, talk: list[tuple[str, str]], message: str = MESSAGE) -> int:
    """Ids that the example has more than the one without the talk."""
    alone = from_answer(tokenizer, [("user", message)], ANSWER, CONTEXT)
    example = from_answer(tokenizer, [*talk, ("user", message)], ANSWER, CONTEXT)
    tail = len(alone.ids) - alone.start
    assert example.ids[-tail:] == alone.ids[-tail:], "the message and the answer are whole"
    assert example.answer == alone.answer
    return len(example.ids) - len(alone.ids)


def test_a_long_talk_loses_its_oldest_turns(tiny_tokenizer: Tokenizer) -> None:
    turn = _before(tiny_tokenizer, _talk(1))
    assert 0 < turn <= 60
    most = 60 // turn * turn
    assert _before(tiny_tokenizer, _talk(60 // turn)) == most
    assert _before(tiny_tokenizer, _talk(50)) == most


def test_a_long_message_keeps_as_much_talk(tiny_tokenizer: Tokenizer) -> None:
    short = _before(tiny_tokenizer, _talk(50))
    assert _before(tiny_tokenizer, _talk(50), "Well, " * 100 + "what?") == short


def test_the_models_context_still_counts(tiny_tokenizer: Tokenizer) -> None:
    whole = from_answer(tiny_tokenizer, [*_talk(50), ("user", MESSAGE)], ANSWER, CONTEXT)
    less = from_answer(tiny_tokenizer, [*_talk(50), ("user", MESSAGE)], ANSWER, len(whole.ids) - 1)
    assert len(less.ids) < len(whole.ids)


def test_the_whole_talk_names_the_question(tiny_tokenizer: Tokenizer) -> None:
    one, other = (
        from_answer(tiny_tokenizer, [*_talk(turns), ("user", MESSAGE)], ANSWER, CONTEXT)
        for turns in (50, 51)
    )
    assert one.ids == other.ids
    assert one.prompt != other.prompt
