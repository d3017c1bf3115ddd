"""Recognises what kind of question a question is, and asks it in the other ways of its kind.

    asked_as("What do I do for a living?", random.Random(0), 8)
    # "How do I earn my money?", "Which job do I have?", "what's my profession" ...

A kind is a relation of the lists in this folder. Its lines `q` serve as patterns: a question has the form of
a line if it is that line with its blanks filled, apart from case, punctuation and short forms ("what's").
The lines `q` and `p` of its kind are then filled with the same people and things.

Left out: questions that no line has the form of. The rules of learning.text.paraphrases reword those.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, lru_cache

from learning.text.kinds.matching import (
    GENDERED,
    OWN,
    TOLD,
    Node,
    Reading,
    blanks_of,
    name_of,
    pattern_of,
    readings,
    takes_all,
    tree,
    words_of,
)
from learning.text.kinds.relations import (
    BLANK,
    OWNER,
    Filling,
    Person,
    QuestionKind,
    SlotValue,
    kinds,
    listed_values,
)
from learning.text.kinds.words import counted_text
from learning.text.normalise import fold
from learning.text.questions.asking import refers_back
from learning.text.variations import careless

_LEAST_SAID = 2
"""If a slot of a line takes any phrase, the line must have at least this many words outside its slots. A line
with fewer would match nearly every question."""
_THING = r"((my|your|the|favourite|\{whose\}) )*\{K\}"
_SINGULAR = re.compile(rf"(\b(is|was|does|has)|'s) {_THING}|{_THING} (is|was|does|has)\b", re.I)
_PLURAL = re.compile(rf"\b(are|were|do|have) {_THING}|{_THING} (are|were|do|have)\b", re.I)
"""Verbs that say of the thing in a line whether it is one or several."""
_PLURAL_NOUN = re.compile(r".*[^siu]s")

Things = tuple[tuple[str, str], ...]
"""(letter of a slot, what fills it)."""
Asked = frozenset[tuple[str, bool, str, Things]]
"""What a question asks for: (kind, whether it is about the assistant, whom it is about, the things in it),
one for each reading. Empty for a question of no known kind."""


class Recognised(Reading):
    """A question as one of its kind."""

    def ways(self, rng: random.Random) -> Iterator[str]:
        """The question in every way of its kind, drawing descriptions of people and things. Lines that
        would leave something of the question out are not used."""
        slots = {letter: replace(v, described=_clear(v)) for letter, v in self.slots.items()}
        plain = Filling(self.relation, replace(self.person, described=()), slots, rng)
        others = replace(plain, slots={k: self._described(k, v) for k, v in slots.items()})
        in_words = replace(others, person=replace(self.person, described=_clear(self.person)))
        for kind in ("q", "p"):
            for line in filter(self._fits, plain.lines(kind)):
                long = "{whose}" in line.casefold()  # "the girl I grew up with's" is no English
                filled = plain if kind == "q" else others if long else in_words
                text = filled.say(line, answered=self.told, described=kind == "p")
                yield re.sub(r"\b(my|our|the|a|an) my\b", r"\1", text)

    def _described(self, letter: str, value: SlotValue) -> SlotValue:
        """The value for lines whose blanks want "the one on the leash" or "my dog", not "dog"."""
        if value.described or (
            takes_all(self.relation.slots[letter]) and self.relation.who != "me"
        ):
            return value
        return replace(value, text=f"my {value.text}")

    def _fits(self, line: str) -> bool:
        """Whether the line names everything that the question names, and nothing else, and its verb fits."""
        if self.slots and (_SINGULAR if self._several() else _PLURAL).search(line):
            return False
        blanks = {name_of(found[2]) for found in blanks_of(line)}
        slots = {blank for blank in blanks if len(blank) == 1}
        if slots != {*self.slots} or (self.relation.who == "any" and not blanks):
            return False
        if self.relation.who != "any" or (self.person == OWNER and not self.told):
            return True
        if not self.gendered and GENDERED & blanks:
            return False
        return bool(blanks - slots) and not {*fold(BLANK.sub("", line)).split()} & (OWN | TOLD)

    def _several(self) -> bool:
        """Whether the thing is several, by the verb of the question or by its own ending."""
        if _PLURAL.search(self.line) or _SINGULAR.search(self.line):
            return bool(_PLURAL.search(self.line))
        thing = self.slots.get("K")
        return thing is not None and bool(_PLURAL_NOUN.fullmatch(fold(thing.text)))


def asked_as(question: str, rng: random.Random, count: int) -> list[str]:
    """Up to `count` other ways to ask the question, in any order, some typed carelessly; none for a question
    that is of no known kind."""
    made = dict[str, str]()
    for found in recognise(question):
        for text in found.ways(rng):
            made.setdefault(fold(text), careless(text, rng))
    made.pop(fold(question), None)
    return rng.sample([*made.values()], min(count, len(made)))


def recognise(question: str, *, folded: bool = False) -> list[Recognised]:
    """Matches the question against all lines. Returns one reading per kind, of the kinds whose lines fit the
    question best; an empty list if no line fits.

    folded: the question has lost its capitals and apostrophes, so any word may be a name.
    """
    found = readings(_questions(), words_of(question), folded)
    return [Recognised(**vars(one)) for one in found]


@cache
def _questions() -> Node:
    """Without the lines that would match nearly every question."""
    lines = ((kind, line) for kind in kinds() for line in kind.lines.get("q", ()))
    return tree((kind, line) for kind, line in lines if _says_enough(kind, line))


def _says_enough(kind: QuestionKind, line: str) -> bool:
    pattern = pattern_of(line)
    beside = [word for word in pattern if isinstance(word, str) or len(word[0]) > 1]
    free = any(map(takes_all, kind.slots.values()))
    return any(isinstance(word, str) for word in beside) and len(beside) >= _LEAST_SAID * free


def what_is_asked(question: str) -> Asked:
    """The same for two questions that ask for the same thing in different words; empty if the question is
    of no known kind. Compare questions that are all folded or none: signs and apostrophes tell more kinds."""
    return _asked(question)[0]


def has_one_answer(question: str) -> bool:
    """Whether the question asks for something that has one right answer at a time. False if the question is
    of no known kind, and if it names its person or thing by a pronoun ("How old is that?")."""
    return _asked(question)[1]


@lru_cache(maxsize=1 << 15)  # ten thousand lessons, as they were typed and folded, and the book
def _asked(question: str) -> tuple[Asked, bool]:
    """(`what_is_asked`, `has_one_answer`)."""
    asked, one = set[tuple[str, bool, str, Things]](), True
    for found in recognise(question, folded=True):
        person = counted_text(found.person.text)
        things = {letter: counted_text(value.text) for letter, value in found.slots.items()}
        asked.add((found.relation.name, found.told, person, tuple(things.items())))
        one &= found.relation.one_for(found.line)
        one &= not any(map(refers_back, (person, *things.values())))
    return frozenset(asked), one and bool(asked)


def asks_the_same(message: str, question: str) -> bool:
    """Whether two questions are known to ask for the same thing, perhaps in different words."""
    return not what_is_asked(message).isdisjoint(what_is_asked(question))


def asks_for_another(message: str, question: str) -> bool:
    """Whether two questions are of known kinds and ask for different things. Two that differ only in whom
    they name do not count: "Ingrid" may be "my sister"."""
    asked, taught = map(_of_anybody, (what_is_asked(message), what_is_asked(question)))
    return bool(asked and taught) and asked.isdisjoint(taught)


def _of_anybody(asked: Asked) -> frozenset[tuple[str, bool, bool, Things]]:
    """What is asked, with only whether it is about somebody else than the owner, not about whom."""
    return frozenset((kind, told, bool(whom), things) for kind, told, whom, things in asked)


def _clear(of: Person | SlotValue) -> tuple[str, ...]:
    """The descriptions that fit one value of the lists alone."""
    return tuple(way for way in of.described if _times_described()[way] == 1)


@cache
def _times_described() -> dict[str, int]:
    """Description -> number of different words that it describes."""
    found = dict[str, set[str]]()
    for listed in listed_values().values():
        for value in listed:
            for way in value.described:
                found.setdefault(way, set()).add(value.text)
    return {way: len(texts) for way, texts in found.items()}
