"""When two texts count as the same: questions and answers with what does not matter folded away.

Imports no torch: the interface compares the same way as the learner does.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

_SIGNS = "*/#%"
"""Kept, as symbols are: they tell one sum, one name from another ("9*3", "C#")."""
_QUOTES = "`´"
"""Symbols to Unicode, punctuation to everybody else."""
_DROPPED = "'\u2019\ufe0e\ufe0f"
"""Apostrophes, and what only says whether an emoji is drawn in colour."""
_MINUS = re.compile(r"(?<![^\W\d_])[-\u2212\u2013](?=\s*\d)")
"""Between numbers or before one; after a letter it is a hyphen ("well-known", "F-16")."""


def fold(text: str) -> str:
    """Case, white space and punctuation folded: two questions with the same fold are the same.

    Letters keep their accents and vowel signs; symbols and the signs of sums and names stand as words
    of their own, but for a slash, which would look like the end of a turn. What is nothing but
    punctuation stays as it is.
    """
    folded = unicodedata.normalize("NFC", text.casefold())
    kept = " - ".join(part.translate(_KEPT) for part in _MINUS.split(folded))
    words = " ".join(kept.split()).replace(" / ", "/")
    return words or " ".join(folded.split())


@lru_cache(maxsize=1 << 16)
def fold_word(word: str) -> str:
    """`fold` of a single word, kept: a memory has the same few thousand words again and again."""
    return fold(word)


def uncapitalised(text: str) -> str:
    """A text in capitals alone in small letters, because its capitals mark no names; others as they are."""
    return text.lower() if text.isupper() else text


def _kept(c: str) -> str:
    """What is left of a character: itself, itself as a word, a space, or nothing."""
    if c in _DROPPED:
        return ""
    if c.isalnum():
        return c
    kind = unicodedata.category(c)
    if kind.startswith("M"):
        return c
    if c in _SIGNS or (kind.startswith("S") and c not in _QUOTES):
        return f" {c} "
    return " "


class _KeptCharacters(dict[int, str]):
    """Code of a character -> what is left of it. Filled as characters are met."""

    def __missing__(self, code: int) -> str:
        self[code] = kept = _kept(chr(code))
        return kept


_KEPT = _KeptCharacters()


def fold_prompt(turns: Sequence[tuple[str, str]]) -> str:
    """The fold of a whole prompt, turn by turn."""
    return " / ".join(fold(text) for _, text in turns)


def fold_spaces(text: str) -> str:
    """Only case and white space folded: the least by which one finds a text again."""
    return " ".join(text.casefold().split())


def fold_answer(text: str) -> str:
    """Case and white space folded, no space before punctuation."""
    words = fold_spaces(text)
    for mark in ".,;:!?":
        words = words.replace(f" {mark}", mark)
    return words


def word_set(text: str) -> frozenset[str]:
    """The words of a list that is written as one text."""
    return frozenset(text.split())


def writable(text: str) -> str:
    """The text as UTF-8 can hold it: half characters, as broken pastes and file names have, become `?`."""
    return text.encode("utf-8", "replace").decode("utf-8")
