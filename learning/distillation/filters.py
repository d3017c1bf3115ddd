"""Which of a teacher's answers are worth learning from: pure functions of texts, no torch.

Left out: whether an answer is true, which agreement of several draws only hints at.
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
"""Words in a row that an answer may not say twice."""
ECHO = 0.6
"""Share of an answer's words that may come from the question, where there are at least ECHO_WORDS."""
ECHO_WORDS = 5


def fault(answer: str, question: str, *, ended: bool) -> Fault | None:
    """What is wrong with the form of one answer; None where nothing is.

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
    """How far each answer says what the others say, 0 to 1: its mean F1 over words with each of them.

    Self-consistency (2203.11171) for answers in free words. One answer agrees with nobody: [1.0].
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
