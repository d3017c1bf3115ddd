"""The words of a question as they count when its form is compared, and as they were typed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from learning.text.normalise import fold
from learning.text.questions.asking import without_opening

RELATIVES = {
    "mother": ("mum", "mom", "mam", "mummy", "mommy"),
    "father": ("dad", "daddy", "papa"),
    "aunt": ("auntie",),
    "grandmother": ("grandma", "gran", "granny", "nan", "nana"),
    "grandfather": ("grandpa", "granddad", "grandad"),
}
"""A relative -> other words for the same one."""
_SHORT_FORMS = {
    **{f"{word}s": f"{word} is" for word in ("what", "who", "where", "when", "how", "that")},
    **{f"{word}re": f"{word} are" for word in ("what", "who", "where", "you")},
    **{f"{word}d": f"{word} did" for word in ("what", "who", "where", "when", "how")},
    "im": "i am",
    "ive": "i have",
    "weve": "i have",
    "youve": "you have",
    "cant": "cannot",
    "an": "a",
    "our": "my",
    "we": "i",
    "us": "me",
    "which": "what",
    "dont": "do not",
    "favorite": "favourite",
    "color": "colour",
    **{word: relative for relative, words in RELATIVES.items() for word in words},
}
"""Folded word -> the words that it counts as."""
_AFTER_WE = {("are", "i"): "am", ("were", "i"): "was", ("i", "are"): "am", ("i", "were"): "was"}
"""Two words -> what the verb of them becomes where "we" counts as "I"."""
_AROUND = '?!.,;:"()'
"""Punctuation that stands around words."""
_BEHIND = ("please", "again", "vidya")
"""Words that may stand behind any question."""
_PREFIXES = """
do you know|do you remember|do you recall|do you still know|do you still remember
can you tell me|could you tell me|will you tell me|would you tell me|please tell me|let me know
can you remind me|could you remind me|please remind me|remind me|have you any idea
do you have any idea|any idea|i wonder|i want to know
i forgot|i forget|i have forgotten|i cannot remember|i do not remember|i do not know
"""
_ASKING = dict[str, list[list[str]]]()
"""First word -> what stands before an indirect question and begins with it; it counts as "tell me". None of
them begins with another."""
for _prefix in map(str.split, re.split(r"[|\n]", _PREFIXES.strip())):
    _ASKING.setdefault(_prefix[0], []).append(_prefix)
_NOT_ASKING = re.compile(r"(how|what) to\b|(about|of|a|me|you|that|it)\b|$")
"""How the rest begins where such words are no prefix: "do you know how to swim", "do you know me"."""
_PREPOSITIONS = frozenset(["about", "at", "by", "for", "from", "in", "of", "on", "to", "with"])


@dataclass(frozen=True)
class CountedWord:
    """A word as it counts, and the typed word that it is of."""

    text: str
    typed: str
    place: int
    """The number of the typed word in its text, from 0."""


def counted(text: str) -> list[CountedWord]:
    """The words of a text, folded, with short forms written out and "we" as "I". What may stand before any
    question counts as "tell me", and "in which town ..." as "what town ... in". Leaves out what may stand
    behind any question ("please"), and punctuation that stands alone ("my name ?")."""
    asked = without_opening(text)
    if len(asked.split()) >= 3:  # "hello again" is no opening of "again"
        text = asked
    typed = enumerate(word for word in text.split() if word.strip(_AROUND))
    words = [CountedWord(part, word, place) for place, word in typed for part in _parts(word)]
    for place in range(len(words) - 1):
        pair = words[place].text, words[place + 1].text
        if verb := _AFTER_WE.get(pair):
            at = place if pair[1] == "i" else place + 1
            words[at] = replace(words[at], text=verb)
    while len(words) > 2 and words[-1].text in _BEHIND:
        words.pop()
    start = _indirect(words)
    first, second = ([word.text for word in words[start : start + 2]] + ["", ""])[:2]
    if first in _PREPOSITIONS and second == "what":
        words.append(words.pop(start))
    return words


def _indirect(words: list[CountedWord]) -> int:
    """Puts "tell me" in the place of other words before an indirect question. Returns where that begins."""
    said = [word.text for word in words]
    for prefix in _ASKING.get(said[0], ()) if said else ():
        if said[: len(prefix)] == prefix:
            if not _NOT_ASKING.match(" ".join(said[len(prefix) :])):
                words[: len(prefix)] = [
                    replace(words[0], text="tell"),
                    replace(words[0], text="me"),
                ]
                return 2
            return 0
    return 2 if said[:2] == ["tell", "me"] else 0


@lru_cache(maxsize=1 << 12)  # the lines that a question may be have the same words in their blanks
def counted_text(text: str) -> str:
    """The words of `counted` as one text."""
    return " ".join(word.text for word in counted(text))


def as_typed(words: Sequence[CountedWord], first: int, end: int, ending: str = "") -> str:
    """The words from `first` to before `end` as they were typed, without the ending behind them ("'s") and
    the punctuation around them. Brackets that open among them are closed."""
    typed = {word.place: word.typed for word in words[first:end]}
    text = " ".join(typed.values()).strip(_AROUND)
    text += ")" * (text.count("(") - text.count(")"))
    return re.sub(r"(['\u2019]s?|s)$", "", text, flags=re.IGNORECASE) if ending else text


@lru_cache(maxsize=8192)  # the lists have some 4,000 different words, most of them many times
def _parts(typed: str) -> tuple[str, ...]:
    return tuple(part for word in fold(typed).split() for part in _counts_as(word))


def _counts_as(word: str) -> list[str]:
    """A word written out; a possessive keeps its ending ("mums" is "mothers")."""
    if word in _SHORT_FORMS:
        return _SHORT_FORMS[word].split()
    stem = word.removesuffix("s")
    return [f"{_SHORT_FORMS[stem]}s"] if stem in _SHORT_FORMS and len(stem) > 2 else [word]
