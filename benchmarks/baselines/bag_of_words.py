"""A baseline without understanding: matches a question to the text that shares its rarest words.

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

    asked: (index of the question, its rewording). Candidates are `questions` and `others`.
    """
    index = WordIndex([*questions, *others])
    return sum(place in index.nearest(text, count) for place, text in asked) / len(asked)


class WordIndex:
    """Texts by the cosine of idf-weighted bags of words without a final `s`."""

    def __init__(self, texts: Sequence[str]) -> None:
        words = [_words(text) for text in texts]
        self._seen = Counter(word for one in words for word in one)
        self._bags = [self._bag(one, len(words)) for one in words]

    def nearest(self, text: str, count: int) -> list[int]:
        """Indices of the `count` nearest texts, the nearest first; of equally near ones the earlier."""
        bag = self._bag(_words(text), len(self._bags))
        likeness = [
            sum(x * other.get(word, 0.0) for word, x in bag.items()) for other in self._bags
        ]
        return sorted(range(len(likeness)), key=lambda place: -likeness[place])[:count]

    def _bag(self, words: set[str], count: int) -> Bag:
        """The idf-weighted bag of words, of unit length. count: of all texts."""
        weights = {word: math.log((count + 1) / (self._seen[word] + 0.5)) for word in words}
        length = math.sqrt(sum(x * x for x in weights.values())) or 1.0
        return {word: x / length for word, x in weights.items()}


def _words(text: str) -> set[str]:
    return {word.removesuffix("s") for word in fold(text).split()}
