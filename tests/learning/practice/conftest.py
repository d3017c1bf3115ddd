from __future__ import annotations

import pytest

from engine.model import Model
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.examples import Example, from_turns
from learning.memory.replay import Replay

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
