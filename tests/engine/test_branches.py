"""The likeliest other way to begin, which is sure to differ."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
import torch
from torch import Tensor

from engine.branches import DistinctTexts, text_key
from engine.tokenizers.tags import TagWriter
from engine.tokenizers.tokenizer import Tokenizer


def _logits(tokenizer: Tokenizer, likely: dict[str, float]) -> Tensor:
    """Of next letters, with their probabilities; all others are next to impossible."""
    values = torch.full((len(tokenizer.ranks),), -30.0)
    for letter, probability in likely.items():
        values[tokenizer.ranks[letter.encode()]] = float(torch.tensor(probability).log())
    return values


def _text(tokenizer: Tokenizer, beginning: tuple[int, ...] | None) -> str:
    assert beginning is not None
    return tokenizer.decode(list(beginning))


def test_the_likeliest_beginning_that_none_has_comes_first(tiny_tokenizer: Tokenizer) -> None:
    a, b = (tiny_tokenizer.ranks[letter] for letter in (b"a", b"b"))
    branches = DistinctTexts(tiny_tokenizer)
    branches.saw([()], _logits(tiny_tokenizer, {"a": 0.9, "c": 0.06, "d": 0.04})[None])
    branches.saw([(a,)], _logits(tiny_tokenizer, {"b": 0.8, "e": 0.15, "A": 0.05})[None])
    branches.saw([(a, b)], _logits(tiny_tokenizer, {"!": 0.99, "f": 0.01})[None])
    said = {"ab!"}
    drawn = [_text(tiny_tokenizer, branches.next(said)) for _ in range(5)]
    assert drawn == ["ae", "c", "aA", "d", "abf"]
    assert len({text_key(text) for text in drawn}) == 5
    assert not any("ab!".startswith(text_key(text)) for text in drawn)


def test_nothing_but_marks_and_nothing_that_others_say_is_a_branch(
    tiny_tokenizer: Tokenizer,
) -> None:
    branches = DistinctTexts(tiny_tokenizer)
    branches.saw([()], _logits(tiny_tokenizer, {"!": 0.5, "H": 0.3, "?": 0.15, "q": 0.05})[None])
    assert _text(tiny_tokenizer, branches.next({"hello"})) == "q"


def test_none_is_left_where_all_were_given() -> None:
    class Letters:
        ranks = {b"a": 0}

        def decode_bytes(self, ids: Iterable[int]) -> bytes:
            return b"a" * len([*ids])

        def tag_writer(self) -> TagWriter:
            return TagWriter(self.decode_bytes, None, ())

    branches = DistinctTexts(Letters())  # type: ignore[arg-type]
    assert branches.next(set()) is None, "nothing was drawn yet"
    branches.saw([()], torch.zeros(1, 1))
    assert branches.next(set()) == (0,)
    assert branches.next(set()) is None


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Good to see you!", "good to  see you.", True),
        ("Hello, Tom", "Hello Tom...", True),
        ("It is 3.5.", "It is 35.", False),
        ("x - 1", "x + 1", False),
        ("it's", "its", False),
        ("?", "!", False),
        ("...", "", False),
    ],
)
def test_texts_that_differ_in_marks_after_words_are_the_same(
    one: str, other: str, same: bool
) -> None:
    assert (text_key(one) == text_key(other)) == same
