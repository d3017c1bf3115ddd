"""Whether an answer says what it should, in whatever words: the key of a lesson.

A key lists what an answer must contain: each element is a word or phrase, or a list of alternatives of
which one is enough. Words are compared after `fold`, and further: accents are dropped, numbers in words are
digits ("forty-three" is 43, "ninth" and "9th" are 9), and plural and possessive endings are dropped.

A word that is denied does not count: "Your sister is not called Ingrid." does not say Ingrid. Denied means
that a negation stands before it in the same clause with nothing between them but the small words of
`_BETWEEN`. So a negation of the verb does not deny its object: "Do not bring nuts" says nuts, as does "You do
not eat meat" meat. Left out: denial after the word ("Ingrid is not her name"), questions, irony, synonyms;
who needs them writes alternatives. Imports no torch.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from learning.text.content import content_words
from learning.text.normalise import fold

Key = tuple[tuple[str, ...], ...]
"""Alternatives of each element."""

_UNIT_WORDS = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen
"""
_TEN_WORDS = "twenty thirty forty fifty sixty seventy eighty ninety"
_VALUES = {word: value for value, word in enumerate(_UNIT_WORDS.split())}
_VALUES |= {word: 10 * value for value, word in enumerate(_TEN_WORDS.split(), 2)}
ORDINALS = {f"{word}th": value for word, value in _VALUES.items()}
ORDINALS |= {f"{word[:-1]}ieth": _VALUES[word] for word in _TEN_WORDS.split()}
ORDINALS |= {
    "first": 1,
    "second": 2,
    "third": 3,
    "fifth": 5,
    "eighth": 8,
    "ninth": 9,
    "twelfth": 12,
}
_LARGE = {"hundred": 100, "thousand": 1000}

_CLAUSE = re.compile(r"(?<!\d)[.,:]|[.,:](?!\d)|[!?;\u2026\u2014()\n]|\s[\u2013-]\s")
_GROUPED = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_RANK = re.compile(r"(?<=\d)(?:st|nd|rd|th)\b")
_GLUED = re.compile(r"(?<=\d)(?=[^\W\d_])")
"""Between a figure and the letters after it: 7pm, 3kg."""
_ACCENTS = re.compile("[\u0300-\u036f]")

_NEGATION_WORDS = """
no not never neither nor without cannot isnt arent wasnt werent dont doesnt didnt hasnt havent hadnt wont
wouldnt cant couldnt aint
"""
_BETWEEN = """
a an the my your his her its our their be been being called named at in on of to from with for by as really
actually just even longer any now live lives lived living work works worked working born based
"""


def holds(
    answer: str, key: Sequence[str | Sequence[str]], without: Sequence[str | Sequence[str]] = ()
) -> bool:
    """Whether the answer says each element of the key, and none of `without`. See the file's header.

    An element, or one of its alternatives, is said where it stands as whole words and is not denied. An
    empty key is held by any answer.
    """
    said = _Said(answer)
    return all(map(said.one_of, key)) and not any(map(said.one_of, without))


def read_key(value: Any, name: str = "key") -> Key:
    """A key as JSON has it: a list of which each element is a text or a list of texts. Raises ValueError."""
    if not isinstance(value, list) or not value:
        raise ValueError(f"{name} must be a list of words, or of lists of alternatives")
    elements = [[element] if not isinstance(element, list) else element for element in value]
    if not all(elements):
        raise ValueError(f"{name} must not hold an empty list")
    return tuple(tuple(_text(one, name) for one in element) for element in elements)


def key_words(text: str) -> list[str]:
    """The words of a text as keys are compared: folded, numbers as digits, endings dropped."""
    return [word for word, _ in _words(text)]


def own_words(question: str, answer: str) -> tuple[str, ...]:
    """What an answer adds to its question, as the elements of a key that nobody wrote: "ingrid" for "What is
    my sister called?" and "Your sister is called Ingrid.". Left out are small words, yes and no."""
    left_out, asked = {*_SMALL, *key_words(question), "yes", "no"}, content_words(question)
    words = (word for word in dict.fromkeys(key_words(answer)) if word not in left_out)
    return tuple(word for word in words if content_words(word) - asked)


def mostly_holds(answer: str, words: Sequence[str]) -> bool:
    """Whether the answer says more than half of the words; False if there are none."""
    said = _Said(answer)
    return 2 * sum(map(said.one_of, words)) > len(words)


class _Said:
    """The words of an answer."""

    def __init__(self, answer: str) -> None:
        words = _words(answer)
        self._words = [word for word, _ in words]
        self._clauses = [clause for _, clause in words]

    def one_of(self, element: str | Sequence[str]) -> bool:
        return any(self._says(text) for text in _alternatives(element))

    def _says(self, text: str) -> bool:
        words = key_words(text)
        last = len(self._words) - len(words)
        return bool(words) and any(
            self._words[at : at + len(words)] == words and not self._denied(at)
            for at in range(last + 1)
        )

    def _denied(self, at: int) -> bool:
        """Whether a negation stands before this place with only small words between."""
        clause = self._clauses[at]
        for before in range(at - 1, -1, -1):
            if self._clauses[before] != clause:
                return False
            if self._words[before] in _NEGATIONS:
                return True
            if self._words[before] not in _SMALL:
                return False
        return False


def _alternatives(element: str | Sequence[str]) -> Sequence[str]:
    return (element,) if isinstance(element, str) else element


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str) or not any(map(str.isalnum, value)):
        raise ValueError(f"{name} must hold texts of at least one letter or digit")
    return value


@lru_cache(maxsize=1 << 12)  # an answer is compared with several others
def _words(text: str) -> tuple[tuple[str, int], ...]:
    """Each word with the number of its clause."""
    text = _ACCENTS.sub("", unicodedata.normalize("NFD", _GROUPED.sub("", text)))
    found = list[tuple[str, int]]()
    for number, clause in enumerate(_CLAUSE.split(text)):
        words = _GLUED.sub(" ", _RANK.sub("", fold(clause))).split()
        found += [(word, number) for word in _numbers(list(map(_base, words)))]
    return tuple(found)


def _base(word: str) -> str:
    """A word without the ending of a plural or possessive."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and re.search("(?:ch|sh|ss|x|zz)es$", word):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and word[-2] != "s":
        word = word[:-1]
    return word[:-1] if len(word) > 4 and word.endswith("oe") else word  # volcanoes


_NEGATIONS = set(map(_base, _NEGATION_WORDS.split()))
_SMALL = set(map(_base, _BETWEEN.split()))


def _numbers(words: list[str]) -> list[str]:
    """Runs of number words as digits: "a hundred and seven" is 107, "four seven two" stays three numbers.
    Two of two digits are a year: "nineteen eighty-four" is 1984."""
    result: list[str] = []
    at = 0
    while at < len(words):
        value, end = _number(words, at)
        if value is None:
            result.append(words[at])
            at += 1
            continue
        year, stop = _under_hundred(words, end)
        if 10 <= value <= 20 and end == at + 1 and year is not None and year >= 10:
            value, end = 100 * value + year, stop
        result.append(str(value))
        at = end
    return result


def _number(words: list[str], at: int) -> tuple[int | None, int]:
    """(the number that begins at this word or None, the place after it)."""
    part, end = _under_hundred(words, at)
    if part is None and words[at] == "a" and _scale(words, at + 1):
        part, end = 1, at + 1
    if part is None:
        return None, at
    whole = 0
    while scale := _scale(words, end):
        part, end = part * scale, end + 1
        if scale == 1000:
            whole, part = whole + part, 0
        rest, stop = _under_hundred(words, end + (words[end : end + 1] == ["and"]))
        if rest is not None:
            part, end = part + rest, stop
    return whole + part, end


def _scale(words: list[str], at: int) -> int:
    """100, 1000, or 0 where the word is neither."""
    return _LARGE.get(words[at].removesuffix("th"), 0) if at < len(words) else 0


def _under_hundred(words: list[str], at: int) -> tuple[int | None, int]:
    """(a number from 0 to 99 in words or None, the place after it)."""
    if at >= len(words):
        return None, at
    ten = _VALUES.get(words[at])
    if ten is not None and ten >= 20 and at + 1 < len(words):
        unit = _VALUES.get(words[at + 1], ORDINALS.get(words[at + 1]))
        if unit is not None and 0 < unit < 10:
            return ten + unit, at + 2
    value = _VALUES.get(words[at], ORDINALS.get(words[at]))
    return value, at + 1
