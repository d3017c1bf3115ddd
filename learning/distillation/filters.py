"""Filters a teacher's answers by their form and their agreement. Pure functions of texts; imports no torch.

Left out: whether an answer is true, for which agreement between samples is only a hint.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import fmean
from typing import Literal

from learning.text.flaws import broken, ends_sentence
from learning.text.normalise import fold

Fault = Literal["cut off", "empty", "broken", "unfinished", "repeats itself", "echoes"]

GRAM = 4
"""Length of a sequence of words that an answer must not repeat."""
ECHO = 0.6
"""Share of an answer's words that may come from the question, where there are at least ECHO_WORDS."""
ECHO_WORDS = 5


def fault(answer: str, question: str, *, ended: bool) -> Fault | None:
    """The fault in the form of an answer; None if it has none.

    ended: the teacher closed the answer itself, so it was not cut off at the token limit.
    """
    words = fold(answer).split()
    if not ended:
        return "cut off"
    if not words:
        return "empty"
    if broken(answer):
        return "broken"
    if not ends_sentence(answer):
        return "unfinished"
    grams = Counter(tuple(words[i : i + GRAM]) for i in range(len(words) - GRAM + 1))
    if grams and grams.most_common(1)[0][1] > 1:
        return "repeats itself"
    if _echo(words, fold(question).split()) >= ECHO:
        return "echoes"
    return None


def _echo(words: Sequence[str], asked: Sequence[str]) -> float:
    """Share of the answer's words in its longest run of words that is also in the question."""
    text = f" {' '.join(asked)} "
    for length in range(len(words), ECHO_WORDS - 1, -1):
        for start in range(len(words) - length + 1):
            if f" {' '.join(words[start : start + length])} " in text:
                return length / len(words)
    return 0.0


def agreement(answers: Sequence[str]) -> list[float]:
    """Agreement of each answer with the others, 0 to 1: the mean F1 over words with each of them.

    This is self-consistency (2203.11171) for free text. The agreement of a single answer is 1.0.
    """
    bags = [Counter(fold(answer).split()) for answer in answers]
    if len(bags) < 2:
        return [1.0] * len(bags)
    return [
        fmean(_f1(bag, other) for place, other in enumerate(bags) if place != own)
        for own, bag in enumerate(bags)
    ]


def _f1(first: Counter[str], second: Counter[str]) -> float:
    """Harmonic mean of precision and recall of words, as in 1606.05250; 0 for empty texts."""
    common = (first & second).total()
    return 2.0 * common / max(1, first.total() + second.total())
