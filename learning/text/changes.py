"""Tells by its words whether a statement of the owner's changes what he taught, or repeats it. English.
Imports no torch."""

from __future__ import annotations

import re

from learning.text.content import content_words


def tells_a_change(told: str, question: str, answer: str) -> bool:
    """Whether a statement about what a lesson answers says that it has changed: "My sister goes by Runa
    now." It does not if it repeats the answer and denies nothing, or if all that it tells is a new thing
    which the lesson does not speak of: "My sister has a new dog."."""
    plain = told.replace("\u2019", "'")
    if repeats(told, question, answer):
        return False
    if _CHANGE.search(_NEW.sub("", plain)):
        return True
    taught = content_words(f"{question} {answer}")
    return any(content_words(" ".join(words)) & taught for words in _NEW.findall(plain))


def repeats(told: str, question: str, answer: str) -> bool:
    """Whether a statement says the fact of a lesson once more, and denies nothing: "My sister is called
    Ingrid after all."."""
    fact = content_words(answer) - content_words(question)
    return bool(fact) and fact <= content_words(told) and not _ENDED.search(told)


_OVER = (
    r"no longer|any ?more|used to|instead|sold|died|quit|scrap|got rid of|(?:gave|given) (?:up|in)"
    r"|(?:gone|went) off|(?:chang|switch|swapp|replac|renam|dropp|scrapp|stopp|retir)ed"
)
_CHANGE = re.compile(
    rf"^actually\b|\b(?:{_OVER}|now|nowadays|these days|lately|recently|from now on|as of|turns out|down to"
    r"|off the|goes by|passed (?:on|away)|(?:mov|quitt|divorc|marri|hand|respray|turn)ed|change|became"
    r"|since (?:last|then|this)|left (?:the|my|our|his|her|their))\b",
    re.IGNORECASE,
)
"""What says that something is no longer as it was."""
_NEW = re.compile(r"\bnew ([\w-]+)(?: ([\w-]+))?", re.IGNORECASE)
"""A new thing, in one or two words."""
_ENDED = re.compile(
    rf"\b(?:{_OVER}|not?|never|was|were|off|left|cancelled|now called)\b|n['\u2019]t\b",
    re.IGNORECASE,
)
"""What denies a fact, or says that it was so once."""
