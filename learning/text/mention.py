"""What the owner tells in a message, and how it is said back to him later. English. Imports no torch."""

from __future__ import annotations

import re
from functools import lru_cache

from learning.text.content import content_words
from learning.text.flaws import sentences_of
from learning.text.questions.asking import asks_in_any_order

LONGEST = 30
"""Most words that are quoted."""
_TO_DO = (
    "write|make|give|tell|show|list|explain|help|let['’]?s|translate|summari[sz]e|describe|sing|play|stop"
    "|try|think|imagine|pretend|say|repeat|guess|name|count|add|do|don['’]?t|be|use|answer|continue|go on"
)
_FOR_VIDYA = re.compile(rf"(?:please |now |then |ok |okay )*(?:{_TO_DO})\b", re.IGNORECASE)
"""How a sentence begins that tells Vidya what to do."""


@lru_cache(maxsize=1 << 13)
def told_in(message: str) -> tuple[str, ...]:
    """What a message tells: its sentences that neither ask nor order anything; together, or one by one where
    they have more than LONGEST words. A longer sentence is left out, and so is one of two words."""
    sentences = [one for one in sentences_of(" ".join(message.split())) if _tells(one)]
    sentences = [one for one in sentences if " " in one] or sentences  # without "Hello!"
    together = " ".join(sentences)
    found = [together] if len(together.split()) <= LONGEST else sentences
    return tuple(one for one in found if 3 <= len(one.split()) <= LONGEST and content_words(one))


def said_back(told: str) -> str:
    """What was told, as an answer to the one who told it: "Your sister is called Ingrid." for "oh, my sister
    is called Ingrid". Where it speaks to Vidya, or is perhaps not English, it is quoted as it is."""
    plain = told.replace("\u2019", "'")
    plain = plain[ahead.end() :] if (ahead := _AHEAD.match(plain)) else plain
    if _TO_VIDYA.search(plain) or not (_OF_OWNER.search(plain) or _ENGLISH.search(plain)):
        return f"You told me: \u201c{told}\u201d"
    text = _I_WAS.sub("you were", plain)
    text = _WORD.sub(lambda word: _TURNED.get(word[0].lower(), word[0]), text)
    text = _BEGINNING.sub(lambda letter: letter[0].upper(), text)
    return text if text.endswith((".", "!", "?", "\u2026")) else f"{text}."


_AHEAD = re.compile(
    r"(?:(?:(?:oh|so|honestly|actually|please|by the way|btw|fyi)[,:]?"
    r"|(?:well|yes|no|okay|ok|hello|hi|hey)[,!:.]) )*"
    r"(?:(?:remember|note|don't forget|keep in mind)\b,? (?:that )?)?",
    re.IGNORECASE,
)
"""What stands before a fact and does not belong to it."""
_TO_VIDYA = re.compile(
    r"\b(?:you|your|yours|yourself|vidya)\b|\b(?:don't|never|please|let)\b.* (?:me|us)\b",
    re.IGNORECASE,
)
_OF_OWNER = re.compile(r"\b(?:i|i'm|im|i've|my|mine|we|we're|we've|our)\b", re.IGNORECASE)
_ENGLISH = re.compile(
    r"\b(?:the|are|has|were|and|an|with|of|his|her|their|called)\b", re.IGNORECASE
)
_I_WAS = re.compile(r"\bi was\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_BEGINNING = re.compile(r"(?:^|(?<=[.!?] ))[^\W\d_]")
_TURNED = {
    **{"i": "you", "me": "you", "my": "your", "mine": "yours", "myself": "yourself", "am": "are"},
    **{"we": "you", "us": "you", "our": "your", "ours": "yours", "ourselves": "yourselves"},
    **{"im": "you're", "ive": "you've"},
    **{f"{who}'{verb}": f"you'{verb}" for who in ("i", "we") for verb in ("ve", "ll", "d")},
    **{"i'm": "you're", "we're": "you're"},
}
"""How the words of the owner are said to him."""


def _tells(sentence: str) -> bool:
    return not asks_in_any_order(sentence) and not _FOR_VIDYA.match(sentence)
