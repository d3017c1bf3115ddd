"""Questions for a yes or no, and what a lesson says to them. English. Imports no torch."""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from fractions import Fraction

from learning.text.content import content_words
from learning.text.number_words import find_words
from learning.text.questions.another import asked_words
from learning.text.questions.asked_for import asked_for, has_form
from learning.text.questions.asking import IS

_YES_OR_NO = re.compile(rf"{IS} (?!you (?:know|remember|recall)\b|you tell\b).+", re.IGNORECASE)


def asks_yes_or_no(message: str) -> bool:
    """Whether a question is answered by yes or no; "Do you know ...?" asks for what is known."""
    return bool(_YES_OR_NO.fullmatch(" ".join(message.split())))


def read_out(message: str, question: str, answer: str) -> str:
    """What a lesson says to a question for a yes or no about the same; empty where its words do not tell.

    Yes: the lesson contains all content words of the message, and the message names what the answer adds to
    the question ("Is my sister called Ingrid?"), or the same number. If the message names something else
    instead, in one or two words, and shares two or more with the lesson: no, where only one thing can be
    right, which is a name or a number ("Is my sister called Astrid?"); else what is known ("Does my sister
    live in Norway?"). Nothing is read out where a text has a negation, an "and" or a "yes", where the answer
    is more than one sentence, or where the message asks of Vidya or what may or should be.
    The caller makes sure that message and lesson are about the same.
    """
    texts = (message, question, answer)
    if not _ONE_SENTENCE.fullmatch(answer.strip()) or _OF_NO_FACT.match(message.strip()):
        return ""
    if any(_UNCLEAR.search(text.replace("\u2019", "'")) for text in texts):
        return ""
    said, asked, told = map(asked_words, texts)
    fact, own = told - asked, said - asked - told
    if _numbers(own) and _numbers(own) == _numbers(fact):  # six, 6
        own, said = frozenset(word for word in own if not _numbers([word])), said | fact
    if not own and said & fact:
        return answered(True, answer)
    if 1 <= len(own) <= 2 and not said & fact and len(said - own) >= 2:
        name = "name" in asked_for(question).forms and _other_name(message, own)
        other = name or _other_number(message, question, answer)
        return answered(False, answer) if other else unsure(answer)
    return ""


def answered(yes: bool, answer: str) -> str:
    """A taught answer behind yes or no: "No, your sister is called Ingrid."."""
    return f"{'Yes' if yes else 'No'}, {_inside(answer)}"


def unsure(answer: str) -> str:
    """A taught answer to a question whether something else is so, which it does not rule out."""
    return f"I only know this: {_inside(answer)}"


_UNCLEAR = re.compile(r"\b(?:not|no|never|nobody|nothing|none|yes|and|or)\b|n't\b", re.IGNORECASE)
_ONE_SENTENCE = re.compile(r"(?:[^.?!]|[.](?=\S))+[.]?")
_OF_NO_FACT = re.compile(r"(?:should|could|would|can|will|must|may)\b|\w+ you\b", re.IGNORECASE)
"""How a question begins that asks what may be, or of Vidya."""
_CALLED = re.compile(r"(?:is|are)\b.*\b(?:called|named) (.+?)[?.! ]*", re.IGNORECASE)
_LONG = re.compile(r"\b(?:year|month|week|day|hour|minute|second)s?\b", re.IGNORECASE)


def _other_name(message: str, own: AbstractSet[str]) -> bool:
    """Whether the message asks whether somebody is called by these words."""
    named = _CALLED.fullmatch(message.strip())
    if named is None:
        return False
    return content_words(named[1]) == own and not has_form(named[1], "time")


def _other_number(message: str, question: str, answer: str) -> bool:
    """Whether a number is asked for, and the message names another one, in the same unit."""
    asked, told = _numbers([message]), _numbers([answer])
    if len(asked) != 1 or len(told) != 1 or not asked_for(question).forms & {"number", "time"}:
        return False
    (one,), (other,) = asked, told
    if one is None or other is None or (one - other) % 12 == 0:  # six, 18:00
        return False
    units = {*map(str.lower, _LONG.findall(message))}
    return units <= {*map(str.lower, _LONG.findall(f"{question} {answer}"))}


def _numbers(texts: Iterable[str]) -> set[Fraction | None]:
    """The numbers of texts; None for one that is no whole number."""
    found = set[Fraction | None]()
    for text in texts:
        values = [value for _, _, value in find_words(text)]
        values += [Fraction(digits) for digits in re.findall(r"\d+", text)]
        found |= {v if v is not None and v.denominator == 1 else None for v in values}
    return found


def _inside(answer: str) -> str:
    """An answer as it stands behind a comma."""
    small = re.match(r"[\w']+", answer)
    first = small[0] if small else ""
    return first.lower() + answer[len(first) :] if first.lower() in _SMALL_INSIDE else answer


_STARTERS = (
    "your you you've you're you'd you'll the our my his her their its it it's he she they we this that a an "
    "there at on in as when every each both"
)
_SMALL_INSIDE = frozenset(_STARTERS.split())
