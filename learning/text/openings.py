"""Everyday questions and remarks with which people open a conversation, for a teacher to answer.

The sentences stand in personality/openings.txt. Left out: what benchmarks ask (a test compares them),
and who Vidya is, which is the book's.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import personality
from learning.text.kinds.articles import with_article

_FILE = Path(personality.__file__).with_name("openings.txt")
_NUMBERS = (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15, 20)
_SLOT = re.compile(r"\{(a )?(\w+)\}")


def openings() -> list[str]:
    """All of them, sums of small numbers among them, each once, always in the same shuffled order."""
    found = expanded(_FILE.read_text("utf-8"))
    found += [f"What is {a} plus {b}?" for a, b in product(_NUMBERS, _NUMBERS) if a <= b]
    found += [f"how much is {a} minus {b}" for a, b in product(_NUMBERS, _NUMBERS) if b < a]
    unique = list(dict.fromkeys(found))
    random.Random(0).shuffle(unique)
    return unique


def expanded(text: str) -> list[str]:
    """The lines of a file of openings, its patterns with every combination of words from its lists; the
    file itself says how it is written. Raises KeyError for a list that is not there."""
    lists = dict[str, list[str]]()
    sentences, name = list[str](), ""
    for line in text.splitlines():
        if line.startswith("@"):
            name, words = line[1:].split(maxsplit=1)
            lists[name] = words.split("|")
        elif line.startswith("|"):
            lists[name] += line[1:].split("|")
        elif line.strip() and not line.startswith("#"):
            sentences.append(line)
    found = list[str]()
    for sentence in sentences:
        names = [slot[2] for slot in _SLOT.finditer(sentence)]
        for chosen in product(*(lists[name] for name in names)):
            found.append(_filled(sentence, iter(chosen)))
    return found


def _filled(sentence: str, words: Iterator[str]) -> str:
    return _SLOT.sub(lambda slot: _word(slot, next(words)), sentence)


def _word(slot: re.Match[str], word: str) -> str:
    """With its article where the slot asks for one."""
    return with_article(word) if slot[1] else word
