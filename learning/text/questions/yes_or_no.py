"""Questions for a yes or no, and what a lesson says to them. English. Imports no torch."""

from __future__ import annotations

import re

from learning.text.content import content_words
from learning.text.questions.asked_for import asked_for, has_form
from learning.text.questions.asking import IS

_YES_OR_NO = re.compile(rf"{IS} (?!you (?:know|remember|recall)\b|you tell\b).+", re.IGNORECASE)


def asks_yes_or_no(message: str) -> bool:
    """Whether a question is answered by yes or no; "Do you know ...?" asks for what is known."""
    return bool(_YES_OR_NO.fullmatch(" ".join(message.split())))


def read_out(message: str, question: str, answer: str) -> str:
    """What a lesson says to a question for a yes or no about the same; empty where its words do not tell.

    Yes: the lesson contains all content words of the message, and the message names what the answer adds to
    the question ("Is my sister called Ingrid?"). No: the message names something else instead, in one or two
    words, and shares two or more with the lesson ("Is my sister called Astrid?"), and only one thing can be
    right, such as a name, or one number where a number is asked for. "Not that I know" if more than one thing
    can be right ("Does my sister live in Norway?"). Nothing is read out where a text has a negation, an "and"
    or a "yes".
    The caller makes sure that message and lesson are about the same.
    """
    texts = (message, question, answer)
    if not answer.strip() or any(_UNCLEAR.search(text.replace("\u2019", "'")) for text in texts):
        return ""
    said, asked, told = map(content_words, texts)
    fact, own = told - asked, said - asked - told
    if not own and said & fact:
        return answered(True, answer)
    if 1 <= len(own) <= 2 and not said & fact and len(said - own) >= 2:
        return answered(False, answer) if _excludes(message, question, answer) else unsure(answer)
    return ""


def _excludes(message: str, question: str, answer: str) -> bool:
    """Whether only one thing can be right, and the message names another one."""
    if _ONE_THING.search(question + answer):
        return True
    asked = asked_for(question).forms & {"number", "time", "length"}
    return bool(asked) and has_form(message, "number") and has_form(answer, "number")


def answered(yes: bool, answer: str) -> str:
    """A taught answer behind yes or no: "No, your sister is called Ingrid."."""
    return f"{'Yes' if yes else 'No'}, {_inside(answer)}"


def unsure(answer: str) -> str:
    """A taught answer to a question whether something else is so, which it does not rule out."""
    return f"Not that I know: {_inside(answer)}"


_UNCLEAR = re.compile(r"\b(?:not|no|never|nobody|nothing|none|yes|and|or)\b|n't\b", re.IGNORECASE)
_ONE_THING = re.compile(
    r"\b(?:called|named?|surname|born|birthday|married|favou?rite|colou?r)\b", re.IGNORECASE
)
"""Of these a person or a thing has one."""


def _inside(answer: str) -> str:
    """An answer as it stands behind a comma."""
    return answer[0].lower() + answer[1:] if answer.split()[0] in ("Your", "You", "The") else answer
