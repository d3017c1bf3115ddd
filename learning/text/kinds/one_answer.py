"""Questions with one right answer at a time: an answer that is taught later changes the earlier one.

"Where does my sister live?" - "Your sister lives in Oslo." is changed by "In which town is my sister's
home?" - "She lives in Bergen now.". It is not changed by "She lives in Oslo, near the harbour.", which says
the same and more, nor by "I do not know.". Imports no torch. Left out: questions of no known kind, and kinds
with several answers side by side (what somebody likes, greetings, jokes).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from learning.text.key import holds, key_words, mostly_holds, own_words
from learning.text.kinds.recognise import Asked, has_one_answer, what_is_asked
from learning.text.normalise import fold

_YES_OR_NO = re.compile(
    r"\W*(?:(yes)\b|(no)(?=\W*$|[,.;!](?!\s*\d)| (?:i|you|he|she|it|we|they)\b))", re.I
)
"""An answer's beginning, but not that of "No. 5, Elm Road"."""
_NOT_KNOWN = re.compile(r"i (?:do not|dont) know\b")
_CHANGED = re.compile(r"\b(?:moved|used to|no longer|any ?more|instead|until|before|now)\b", re.I)
"""Tells what was so before: "She moved from Oslo to Bergen."."""
_WORD = re.compile(r"[^\W_]+")


@lru_cache(maxsize=1 << 15)
def asks_for_one(question: str) -> Asked:
    """What the question asks for (`what_is_asked`), if only one answer can be right at a time; else empty. If
    the question is of no known kind, it is read again without "now" at its end. A folded question gives the
    same result."""
    folded = fold(question)
    asked = folded if what_is_asked(folded) else _NOW.sub("", folded)
    return what_is_asked(asked) if has_one_answer(asked) else frozenset()


_NOW = re.compile(r" (?:now|right now|nowadays|currently|these days|at the moment)$")


@lru_cache(maxsize=1 << 15)  # the same lessons are compared after each lesson
def says_otherwise(question: str, answer: str, earlier_question: str, earlier_answer: str) -> bool:
    """Whether an answer contradicts an earlier one to a question that asks for the same thing. It does not if
    both say most of what one of them adds to its question, or the same of yes and no, unless each has a name
    or a number that the other lacks, or this one has and says that something changed. Who does not know
    contradicts nobody."""
    if fold(answer) == fold(earlier_answer) or _NOT_KNOWN.match(fold(answer)):
        return False
    said, before = _YES_OR_NO.match(answer), _YES_OR_NO.match(earlier_answer)
    if said and before:
        return said.lastindex != before.lastindex
    added = own_words(fold(question), answer), own_words(fold(earlier_question), earlier_answer)
    if not any(mostly_holds(answer, x) and mostly_holds(earlier_answer, x) for x in added):
        return True
    other = _CHANGED.search(answer) or _names(added[1], earlier_answer, answer)
    return bool(other) and _names(added[0], answer, earlier_answer)


def _names(added: Iterable[str], answer: str, other: str) -> bool:
    """Whether one of the words that an answer adds is a name or a number, which the other answer does not
    say. A name is a word that is typed with a capital."""
    typed = (word for word in _WORD.findall(answer) if word[0].isupper())
    capitals = set(key_words(" ".join(typed)))
    marked = {x for x in added if x in capitals or any(map(str.isdecimal, x))}
    return any(not holds(other, [word]) for word in marked)


def changed_by(pairs: Iterable[tuple[str, str]], first: int = 0) -> dict[int, int]:
    """Which pairs of (question, answer), oldest first, are changed by a later one with another question.

    first: place of the first pair that may change others. Returns the place of each changed pair, mapped to
    the place of the pair whose answer counts instead. Where its own question was answered again after that,
    that is the pair with that answer.
    """
    found, counts = list(pairs), dict[int, int]()
    asked_before = dict[Asked, dict[str, list[int]]]()
    """What is asked -> folded question -> its places."""
    for place, (question, answer) in enumerate(found):
        if not (asked := asks_for_one(question)):
            continue
        before, own = asked_before.setdefault(asked, {}), fold(question)
        for other, places in before.items():
            last = places[-1]
            if other == own:
                counts |= dict.fromkeys((at for at in places if at in counts), place)
            elif place >= first and says_otherwise(
                question, answer, other, found[counts.get(last, last)][1]
            ):
                counts |= dict.fromkeys(places, place)
        before.setdefault(own, []).append(place)
    return counts
