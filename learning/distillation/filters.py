"""Filters a teacher's answers by their form and their agreement. Pure functions of texts; imports no torch.

Left out: whether an answer is true, for which agreement between samples is only a hint.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import fmean
from typing import Literal

from learning.text.content import content_words
from learning.text.flaws import broken, ends_sentence
from learning.text.normalise import fold

Fault = Literal["cut off", "empty", "broken", "unfinished", "repeats itself", "echoes"]

GRAM = 4
"""Length of a sequence of words that an answer must not repeat."""
ECHO = 0.5
"""An echo contains more than this share of the content words of its question."""
_ASKS_YES_OR_NO = frozenset(
    (
        *("am", "is", "are", "was", "were", "do", "does", "did", "has", "have", "had"),
        *("can", "could", "would", "should", "will", "shall", "may", "might"),
    )
)
"""First words of questions that ask for yes or no."""
_DENIALS = frozenset(("no", "not", "never", "nobody", "nothing"))


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
    if _echoes(answer, question):
        return "echoes"
    return None


def _echoes(answer: str, question: str) -> bool:
    """Whether an answer repeats what was said to it and adds nothing: no content word, no denial, no number.

    "Dogs can see." adds that it is so where that was asked, "Tea." adds which of two, and a greeting is
    returned in the same words.
    """
    words, asked = fold(answer).split(), fold(question).split()
    asks, content = "?" in answer, content_words(question)
    repeated = content_words(answer) & content
    if words == asked:
        return asks or "?" in question
    if not repeated or len(repeated) <= ECHO * len(content):
        return False
    chooses = "or" in asked and "or" not in words
    if not asks and (chooses or asked[0] in _ASKS_YES_OR_NO):
        return False
    denies = _DENIALS.intersection(words).difference(asked)
    return not (denies or content_words(answer) - content or _numbers(words) - _numbers(asked))


def _numbers(words: Sequence[str]) -> Counter[str]:
    """How often each number occurs: "8 minus 4 is 4" has one more than its question."""
    return Counter(word for word in words if word.isdigit())


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
