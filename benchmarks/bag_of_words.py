"""A baseline without understanding: matches a question to the one that shares its rarest words.

For comparison with recall of lessons asked in other words. Nothing is learned.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from learning.text.normalise import fold

Bag = dict[str, float]


def share_found(
    questions: Sequence[str],
    others: Sequence[str],
    asked: Sequence[tuple[int, str]],
    count: int = 1,
) -> float:
    """Share, 0 to 1, of the reworded questions whose right question is among the `count` nearest.

    asked: (index of the question, its rewording). Candidates are `questions` and `others`; the measure is
    the cosine of idf-weighted bags of words without a final `s`.
    """
    known = [_words(text) for text in (*questions, *others)]
    seen = Counter(word for words in known for word in words)
    bags = [_bag(words, seen, len(known)) for words in known]
    hits = 0
    for place, text in asked:
        bag = _bag(_words(text), seen, len(known))
        likeness = [sum(x * other.get(word, 0.0) for word, x in bag.items()) for other in bags]
        nearest = sorted(range(len(bags)), key=likeness.__getitem__, reverse=True)
        hits += place in nearest[:count]
    return hits / len(asked)


def _words(text: str) -> set[str]:
    return {word.removesuffix("s") for word in fold(text).split()}


def _bag(words: set[str], seen: Counter[str], count: int) -> Bag:
    """The idf-weighted bag of words, of unit length."""
    weights = {word: math.log((count + 1) / (seen[word] + 0.5)) for word in words}
    length = math.sqrt(sum(x * x for x in weights.values())) or 1.0
    return {word: x / length for word, x in weights.items()}
