"""Whether the owner's words tell that something is no longer as it was taught. English. Imports no torch."""

from __future__ import annotations

import re

from learning.text.content import content_words


def tells_a_change(told: str, question: str, answer: str) -> bool:
    """Whether a statement about what a lesson answers says that it has changed: "My sister goes by Runa
    now." It does not if it repeats the answer and denies nothing, or if all that it tells is a new thing
    which the lesson does not speak of: "My sister has a new dog."."""
    plain = told.replace("\u2019", "'")
    fact = content_words(answer) - content_words(question)
    if fact and fact <= content_words(plain) and not _ENDED.search(plain):
        return False
    if _CHANGE.search(_NEW.sub("", plain)):
        return True
    taught = content_words(f"{question} {answer}")
    return any(content_words(" ".join(words)) & taught for words in _NEW.findall(plain))


_CHANGE = re.compile(
    r"^actually\b|\b(?:now|nowadays|these days|lately|recently|from now on|as of|instead|no longer|any ?more"
    r"|turns out|down to|up to|off the|goes by|passed (?:on|away)|got rid of|after all|again"
    r"|(?:chang|switch|swapp|replac|renam|mov|dropp|scrapp|quitt|stopp|retir|divorc|marri|hand|respray|turn)ed"
    r"|change|scrap|quit|sold|died|became|(?:gave|given) (?:up|in)|(?:gone|went) off|used to"
    r"|since (?:last|then|this)|left (?:the|my|our|his|her|their))\b",
    re.IGNORECASE,
)
"""What says that something is no longer as it was."""
_NEW = re.compile(r"\bnew ([\w-]+)(?: ([\w-]+))?", re.IGNORECASE)
"""A new thing, in one or two words."""
_ENDED = re.compile(
    r"\b(?:not?|never|no longer|any ?more|used to|was|were|sold|died|retired|(?:gave|given) (?:up|in)"
    r"|(?:gone|went) off|off|left|quit|got rid of|(?:chang|switch|swapp|replac|dropp|scrapp|stopp|cancell)ed"
    r"|scrap|instead|now called)\b|n't\b",
    re.IGNORECASE,
)
"""What denies a fact, or says that it was so once."""
