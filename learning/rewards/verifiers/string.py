"""Compares answers with the names of one fact: equality after normalisation, never containment.

Normalises as TriviaQA does (case, punctuation, articles, white space) and removes accents. An answer
that is empty after this is wrong, whatever the truth. Left out: spelling mistakes, dates.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from learning.rewards.verifiers.answer import ParsedAnswer, without_lead
from learning.rewards.verifiers.dress import is_struck, undressed
from learning.rewards.verifiers.number import box_is_denied, boxed_or_none

LONGEST = 500
"""Characters. A longer answer is wrong."""
_ARTICLES = {"a", "an", "the"}
_NOT_WORDS = re.compile(r"[\W_]++")


def normalise(text: str) -> str:
    """Lower-case words with single spaces, without articles unless there are no other words."""
    folded = unicodedata.normalize("NFKD", text[: 2 * LONGEST]).casefold()
    kept = "".join(c for c in folded if not unicodedata.combining(c) and c not in "'’‘´`")
    words = _NOT_WORDS.sub(" ", kept).split()
    return " ".join([word for word in words if word not in _ARTICLES] or words)


def names(truth: object) -> list[str]:
    """The names of the truth (a text or several), normalised, without empty ones."""
    given = [truth] if isinstance(truth, str) else truth
    if not isinstance(given, Iterable):
        return []
    return [name for name in (normalise(n) for n in given if isinstance(n, str)) if name]


def string_score(truth: object, answer: ParsedAnswer) -> float:
    """1 if the answer is one of the names of the truth, else 0. Never raises.

    Without an answer field the last line counts, minus a leading `the answer is`.
    """
    said = answer.said
    if said is None or len(said) > LONGEST and answer.fields:
        return 0.0
    if (inside := boxed_or_none(said[-LONGEST:])) is not None:
        if box_is_denied(said, inside):
            return 0.0
        said = inside
    if not answer.fields:
        said = said.strip().splitlines()[-1] if said.strip() else ""
        if len(said) > LONGEST:
            return 0.0
        said = without_lead(said)
    right = names(truth)
    if normalise(said) in right and not is_struck(said):
        return 1.0
    return float(normalise(undressed(said)) in right)
