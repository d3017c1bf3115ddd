"""Recognises what kind of fact the owner tells in passing, so that it can answer a question for just that.

    told = what_is_told("I work as a nurse at the county hospital")
    tells_what_is_asked("What do I do for a living?", told)  # True

The lines `t` of the lists serve as patterns, as the lines `q` do for questions. A clause tells a fact if it
begins with such a line and ends there, or goes on with a word like "at" or "since". Imports no torch. Left
out: statements in words that no line has.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from learning.text.kinds.matching import Node, all_readings, blanks_of, takes_all, tree, words_of
from learning.text.kinds.recognise import what_is_asked
from learning.text.kinds.relations import BLANK, QuestionKind, kinds
from learning.text.kinds.words import CountedWord, counted, counted_text
from learning.text.questions.asking import asks_in_any_order, without_opening


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_AFTER = _words("""at in on with for from since because when who which so but to every last this near by as
until after before although where whose together next""")
"""Words with which a clause goes on behind what it tells."""
_PAUSES = (",", ";", ":", ".", "!", "\u2026")
_BESIDE = _words("now also just actually really still currently already recently finally nowadays")
"""Words that a clause may have anywhere."""
_OPENING = re.compile(
    r"(?:(?:and|but|so|also|now|then|anyway|actually|honestly|today|yesterday|these days|last \w+"
    r"|in fact|for the record|just so you know|fyi|haha|turns out|i think|i guess|you know)\b[,:]? )+",
    re.IGNORECASE,
)
_AND = re.compile(r",? (?:and|but|so)(?: that)? ", re.IGNORECASE)
_TWO = re.compile(r"^(?:my \w+|[\w-]+) and (?:i|me)\b", re.IGNORECASE)
"""Somebody and the owner, who are "we"."""
_ARTICLE = re.compile(r"^(?:the|my|a) ")
_WIDER = {"pet_name": "thing_name", "pet_age": "thing_age", "pet_coat": "thing_colour"}
"""Kind -> a kind of the same facts about anything."""
_SAYS_LITTLE = _words("""a an the i my me am is are was were be have has had do does love like hate own want
see take get make go call this that it here there always hi by way all we our her his everything best most so
yes""")
"""Words of a line that do not tell its kind."""


@dataclass(frozen=True)
class ToldFact:
    """What a clause tells, read in one way."""

    kind: str
    person: str
    """Whom it is about, as it counts; empty: the owner."""
    things: frozenset[tuple[str, str]]
    """(slot, what fills it)."""

    def answers(self, wanted: ToldFact) -> bool:
        """Whether this is of the wanted kind, person and things; it may tell of more."""
        if self.kind not in (wanted.kind, _WIDER.get(wanted.kind)):
            return False
        person = self.person.split()
        named = len(person) == 2 and person[1] == wanted.person  # "sister clara" is "clara"
        return (named or _names(self.person, wanted.person)) and all(
            any(slot == letter and _names(text, asked) for slot, text in self.things)
            for letter, asked in wanted.things
        )


def asks_or_names(message: str) -> bool:
    """Whether something is asked, in words in whatever order, or only named that the owner may have told: "my
    wife's birthday"."""
    if asks_in_any_order(message):
        return True
    return any(kind in _told_kinds() for kind, *_ in what_is_asked(message))


@cache
def _told_kinds() -> frozenset[str]:
    return frozenset(kind.name for kind in kinds() if "t" in kind.lines)


def tells_what_is_asked(message: str, told: Collection[ToldFact]) -> bool:
    """Whether one of these facts is known to be what the message asks for, of the same person and thing."""
    asked = what_is_asked(message) if told else frozenset()
    for kind, of_vidya, person, things in asked:
        wanted = ToldFact(kind, person, frozenset(things))
        if not of_vidya and any(fact.answers(wanted) for fact in told):
            return True
    return False


def _names(told: str, asked: str) -> bool:
    """Whether who or what is told of is what is asked about: "sister clara" is "sister"."""
    told, asked = (_ARTICLE.sub("", text) for text in (told, asked))
    more = told.removeprefix(f"{asked} ") if asked else told
    return told == asked or (more != told and more.isalpha())


@dataclass(frozen=True)
class Statement:
    """What the clauses of a statement tell."""

    facts: frozenset[ToldFact]
    whole: bool
    """Whether each clause tells a fact of a known kind."""

    @classmethod
    def of(cls, clauses: Sequence[str]) -> Statement:
        """clauses: a statement, then its clauses if it has several."""
        facts = frozenset(fact for clause in clauses for fact in what_is_told(clause))
        parts = [part for clause in clauses[1:] or clauses for part in _AND.split(clause)]
        return cls(facts, all(map(what_is_told, parts)))

    def tells(self, message: str) -> bool:
        """Whether it is known to tell what the message asks for, of the same person and thing."""
        return tells_what_is_asked(message, self.facts)

    def tells_something_else(self, message: str) -> bool:
        """Whether it is known what the message asks for, and that all of this is of other kinds."""
        asked = (
            {kind for kind, *_ in what_is_asked(message)} & _told_kinds()
            if self.whole
            else set[str]()
        )
        return bool(asked) and asked.isdisjoint(fact.kind for fact in self.facts)


@lru_cache(maxsize=1 << 13)
def what_is_told(clause: str) -> frozenset[ToldFact]:
    """What a clause tells, one fact for each way to read it; empty if it is in words that no line has. Takes
    a millisecond or two."""
    found = set[ToldFact]()
    for part in dict.fromkeys([clause, *_AND.split(clause)]):
        for begun in _beginnings(_plain_words(part)):
            for _, one in all_readings(_statements(), begun, folded=True):
                things = {letter: counted_text(value.text) for letter, value in one.slots.items()}
                if not one.told:
                    person = counted_text(one.person.text)
                    found.add(ToldFact(one.relation.name, person, frozenset(things.items())))
    return frozenset(found)


def _plain_words(clause: str) -> list[CountedWord]:
    """The words of a clause without its opening and without adverbs; "Helen and I" is "we"."""
    plain = without_opening(clause)
    if opening := _OPENING.match(plain):
        plain = plain[opening.end() :]
    plain = _TWO.sub("we", without_opening(plain))
    return [word for word in words_of(plain) if word.text not in _BESIDE]


def _beginnings(words: Sequence[CountedWord]) -> Iterator[Sequence[CountedWord]]:
    """The words, and those before each word with which a clause may go on."""
    yield words
    for at in range(2, len(words)):
        if words[at].text in _AFTER or words[at - 1].typed.endswith(_PAUSES):
            yield words[:at]


@cache
def _statements() -> Node:
    return tree(found for kind in kinds() for found in _lines(kind))


def _lines(kind: QuestionKind) -> Iterator[tuple[QuestionKind, str]]:
    """The lines t of a kind that tell it, each with the kind's slots that it has."""
    for line in kind.lines.get("t", ()):
        letters = {blank[2] for blank in blanks_of(line)}
        slots = {k: v for k, v in {**kind.slots, **kind.told_slots}.items() if k in letters}
        if _tells(line) or not any(map(takes_all, slots.values())):
            yield replace(kind, slots=slots), line


def _tells(line: str) -> bool:
    """Whether a line has a word beside its blanks that few others have, so that any phrase may fill these."""
    plain = BLANK.sub(lambda found: found[3] or "", line)
    return not _SAYS_LITTLE.issuperset(word.text for word in counted(plain))
