"""Questions with one right answer at a time: an answer that is taught later changes the earlier one.

"Where does my sister live?" - "Your sister lives in Oslo." is changed by "In which town is my sister's
home?" - "She lives in Bergen now.". It is not changed by "She lives in Oslo, near the harbour.", which says
the same and more. Imports no torch. Left out: questions of no known kind, and kinds with several answers side
by side (what somebody likes, greetings, jokes).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache

from learning.text.key import mostly_holds, own_words
from learning.text.kinds.recognise import Asked, kinds, what_is_asked
from learning.text.normalise import fold


@lru_cache(maxsize=1 << 15)
def asks_for_one(question: str) -> Asked:
    """What the question asks for (`what_is_asked`), if that has one right answer at a time; else empty. The
    question may be folded, and the same thing is found for it then."""
    asked = what_is_asked(fold(question))
    return asked if all(kind in _of_one() for kind, *_ in asked) else frozenset()


def says_otherwise(question: str, answer: str, earlier_question: str, earlier_answer: str) -> bool:
    """Whether an answer contradicts an earlier one to a question that asks for the same thing: they do not
    both say most of what one of them adds to its question."""
    added = own_words(question, answer), own_words(earlier_question, earlier_answer)
    agree = any(mostly_holds(answer, x) and mostly_holds(earlier_answer, x) for x in added)
    return not agree and fold(answer) != fold(earlier_answer)


def changed_by(pairs: Iterable[tuple[str, str]]) -> dict[int, int]:
    """Which pairs of (question, answer), oldest first, are changed by a later one with another question.

    Returns the place of each changed pair, mapped to the place of the pair whose answer counts instead."""
    asked_before = dict[Asked, dict[int, int]]()  # place -> place of the answer that counts
    found = list(pairs)
    for place, (question, answer) in enumerate(found):
        if not (asked := asks_for_one(question)):
            continue
        before = asked_before.setdefault(asked, {})
        for earlier, counts in before.items():
            if fold(found[earlier][0]) != fold(question):
                said = found[counts]
                if says_otherwise(question, answer, *said):
                    before[earlier] = place
        before[place] = place
    return {
        earlier: counts
        for before in asked_before.values()
        for earlier, counts in before.items()
        if earlier != counts
    }


@cache
def _of_one() -> frozenset[str]:
    """The names of the kinds with one right answer at a time."""
    return frozenset(kind.name for kind in kinds() if kind.one)
