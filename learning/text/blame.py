"""The part of an answer that its owner blames: its last sentence, or words of it.

A part is (start, end) in characters of the answer, end not included. Imports no torch.
Left out: which tokens that is (learning.memory.tasks).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from engine.errors import VidyaError

Part = Callable[[str], tuple[int, int]]
"""Finds the blamed part of an answer. Raises VidyaError."""

_NEXT = re.compile(
    r"(?:[!?\u2026]+[\"'\u201d\u2019)\]*]*\s+|\.+[\"'\u201d\u2019)\]*]*\s+(?![a-z])|[^\S\n]*\n\s*)(?=\S)"
)
"""The end of a sentence and the space behind it. After a full stop a small letter goes on with it."""
_SHORT = re.compile(r"(?:\b(?:Mr|Mrs|Ms|Dr|St|No|vs|etc|e\.g|i\.e)|\b[A-Z])\.\s+\Z")
"""A full stop that ends no sentence."""
_SHOWN = 60


def last_sentence(answer: str) -> tuple[int, int]:
    """The last sentence of an answer that has several; lines are sentences too. Raises VidyaError for one
    that has one alone."""
    whole = answer.rstrip()
    starts = [
        found.end() for found in _NEXT.finditer(whole) if not _SHORT.search(whole[: found.end()])
    ]
    if not starts:
        raise VidyaError(
            "the answer has one sentence only, so it has no other to keep",
            "rate it bad without --end, which blames all of it, or name where the fault begins: --from WORDS",
        )
    return starts[-1], len(whole)


def from_words(answer: str, words: str) -> tuple[int, int]:
    """From these words to the end of the answer. Raises VidyaError as `these_words`."""
    return these_words(answer, words)[0], len(answer.rstrip())


def these_words(answer: str, words: str) -> tuple[int, int]:
    """These words of the answer, in any case and with any white space between them. Raises VidyaError if
    there are none, or if the answer does not have them, or has them twice."""
    wanted = words.split()
    if not wanted:
        raise VidyaError("no words were given", "name words of the answer: --from WORDS")
    said = "\u201c" + _cut(" ".join(wanted)) + "\u201d"
    pattern = r"\s+".join(map(re.escape, wanted))
    first = r"(?<!\w)" if wanted[0][0].isalnum() else ""
    last = r"(?!\w)" if wanted[-1][-1].isalnum() else ""
    found = list(re.finditer(first + pattern + last, answer, re.IGNORECASE))
    if not found:
        raise VidyaError(
            f"the answer does not have the words {said}",
            f"it is \u201c{_cut(' '.join(answer.split()))}\u201d: take whole words of it",
        )
    if len(found) > 1:
        raise VidyaError(
            f"the answer has the words {said} {len(found)} times", "name more of its words"
        )
    return found[0].span()


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "\u2026"
