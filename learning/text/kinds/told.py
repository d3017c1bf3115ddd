"""Recognises what kind of fact the owner tells in passing, so that it can answer a question for just that.

    told = Statement.of(["I work as a nurse at the county hospital"])
    told.tells("What do I do for a living?")  # True

The lines `t` of the lists serve as patterns, as the lines `q` do for questions. A clause tells a fact if,
behind its opening and without some adverbs, it begins with such a line and ends there, or goes on with a word
like "at" or "since". Imports no torch. Left out: statements in words that no line has, and what somebody else
said or only may be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from learning.text.kinds.matching import Node, all_readings, blanks_of, takes_all, tree, words_of
from learning.text.kinds.recognise import what_is_asked
from learning.text.kinds.relations import BLANK, QuestionKind, kinds, listed_values
from learning.text.kinds.words import CountedWord, counted, counted_text
from learning.text.normalise import word_set
from learning.text.questions.asked_for import has_form
from learning.text.questions.asking import asks_in_any_order, without_opening
from learning.text.questions.likely_asked import asks_by_its_look

_AFTER = word_set(
    "at in on with for from since because who which every last this near by after before whose next"
)
"""Words with which a clause goes on behind what it tells."""
_PAUSES = (",", ";", ":", ".", "!", "\u2026")
_BESIDE = word_set(
    "now also just actually really still currently already recently finally nowadays"
)
"""Words that a clause may have anywhere."""
_FILLERS = re.compile(
    r"^(?:(?:also|anyway|actually|honestly|today|yesterday|these days|last \w+|in fact|for the record"
    r"|just so you know|fyi|haha|turns out|i think|i guess|you know)\b[,:]? )+",
    re.IGNORECASE,
)
_AND = re.compile(r",? (?:and|but|so)(?: that)? ", re.IGNORECASE)
_TWO = re.compile(r"^(?:my \w+|[\w-]+) and (?:i|me)\b", re.IGNORECASE)
"""Somebody and the owner, who are "we"."""
_UNSURE = re.compile(
    r"\b(?:said|says|wrote|writes|thinks?|told|hopes?|wish(?:es)?|dreams?|pretend|imagine|if|when i'?m|unless"
    r"|whether|in (?:this|the|my) (?:game|story|novel|book|film|dream))\b(?! (?:so|yes|no)\b)",
    re.IGNORECASE,
)
"""What says that a statement is somebody else's, or only may be."""
_NO_VALUE = word_set("""not never no nothing nobody none nowhere it that this these those which what here
there him her them me you hard easy over off up tomorrow soon later furious tired ill""")
"""Words that never stand in a name, place or other value: "My name is not Tom" and "My boss is furious" name
nobody."""
_ARTICLE = re.compile(r"^(?:the|my|a|an) ")
_DETERMINED = re.compile(
    r"^(?:the|my|a|an|his|her|their|some) |^(?:bed|town|school|prison|hospital|work|home)$"
)
_WIDER = {"pet_name": "thing_name", "pet_age": "thing_age", "pet_coat": "thing_colour"}
"""Kind of a fact about an animal -> the kind of the same fact about anything."""
_SAYS_LITTLE = word_set("""a an the i my me am is are was were be have has had do does love like hate own want
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
        things = {(slot, _ARTICLE.sub("", text)) for slot, text in self.things}
        asked = {(slot, _ARTICLE.sub("", text)) for slot, text in wanted.things}
        return asked <= things and _is_person(self.person, wanted.person)


def asks_or_names(message: str) -> bool:
    """Whether something is asked, in words in whatever order and spelling, or only named that the owner may
    have told: "my wife's birthday", "wat day is the vet"."""
    return asks_by_its_words(message) or asks_by_its_look(message)


def asks_by_its_words(message: str) -> bool:
    """The same by its grammar alone. A thing that is only named has one word: "my favourite team lost" names
    none."""
    if asks_in_any_order(message):
        return True
    return any(
        kind in _told_kinds() and not any(" " in thing for _, thing in things)
        for kind, _, _, things in what_is_asked(message)
    )


@cache
def _told_kinds() -> frozenset[str]:
    return frozenset(kind.name for kind in kinds() if "t" in kind.lines)


def _is_person(told: str, asked: str) -> bool:
    """Whether who is told of is who is asked about: "sister clara" is "sister", and "clara"."""
    kin, _, name = told.partition(" ")
    return told == asked or (kin in _kin() and name.isalpha() and asked in (kin, name))


@cache
def _kin() -> frozenset[str]:
    return frozenset(counted_text(value.text) for value in listed_values()["kin"])


@dataclass(frozen=True)
class Statement:
    """What the clauses of a statement tell."""

    facts: frozenset[ToldFact]
    whole: bool
    """Whether each clause, and each part of one behind an "and", tells a fact of a known kind."""

    @classmethod
    def of(cls, clauses: Sequence[str]) -> Statement:
        """clauses: a statement, then its clauses if it has several. Takes some three milliseconds."""
        if _UNSURE.search(clauses[0]):
            return cls(frozenset(), False)
        parts = [part for clause in clauses[1:] or clauses for part in _AND.split(clause)]
        told = {part: what_is_told(part) for part in dict.fromkeys([*clauses, *parts])}
        return cls(frozenset().union(*told.values()), all(told[part] for part in parts))

    def tells(self, message: str) -> bool:
        """Whether it is known to tell what the message asks for, of the same person and thing."""
        asked = what_is_asked(message) if self.facts else frozenset()
        for kind, of_vidya, person, things in asked:
            wanted = ToldFact(kind, person, frozenset(things))
            if not of_vidya and any(fact.answers(wanted) for fact in self.facts):
                return True
        return False

    def tells_something_else(self, message: str) -> bool:
        """Whether it is known what the message asks for, and that all of this is of other kinds."""
        if not self.whole:
            return False
        asked = {kind for kind, *_ in what_is_asked(message)} & _told_kinds()
        return bool(asked) and asked.isdisjoint(fact.kind for fact in self.facts)


def what_is_told(clause: str) -> frozenset[ToldFact]:
    """What a clause tells, one fact for each way to read it; empty if it is in words that no line has."""
    words, found = _plain_words(clause), set[ToldFact]()
    for _, one in all_readings(_statements(), words, _ends(words), folded=True):
        things = {letter: counted_text(value.text) for letter, value in one.slots.items()}
        if not one.told and all(_may_be(one.relation.slots[k], text) for k, text in things.items()):
            person = counted_text(one.person.text)
            found.add(ToldFact(one.relation.name, person, frozenset(things.items())))
    return frozenset(found)


def _may_be(group: str, value: str) -> bool:
    """Whether a value may fill a slot of this group."""
    if not _NO_VALUE.isdisjoint(value.split()):
        return False
    match group:
        case "PLACE":
            return not has_form(value, "time")
        case "SPOT":
            return bool(_DETERMINED.search(value))
        case "TIME":
            return has_form(value, "time")
        case "NUMBER":
            return has_form(value, "number")
    return True


def _plain_words(clause: str) -> list[CountedWord]:
    """The words of a clause without its opening and without adverbs; "Helen and I" is "we"."""
    plain = _FILLERS.sub("", without_opening(clause), count=1)
    plain = _TWO.sub("we", without_opening(plain))
    return [word for word in words_of(plain) if word.text not in _BESIDE]


def _ends(words: Sequence[CountedWord]) -> list[int]:
    """The places at which what is told may end: behind the last word, and before a word with which a clause
    may go on."""
    return [
        at
        for at in range(2, len(words) + 1)
        if at == len(words) or words[at].text in _AFTER or words[at - 1].typed.endswith(_PAUSES)
    ]


@cache
def _statements() -> Node:
    return tree(found for kind in kinds() for found in _lines(kind))


def _lines(kind: QuestionKind) -> Iterator[tuple[QuestionKind, str]]:
    """The lines t of a kind that tell it, each with the kind's slots that it has. Some lines of lives would
    match nearly every statement."""
    for line in kind.lines.get("t", ()):
        if says_enough(kind, line):
            yield replace(kind, slots=_slots_of(kind, line)), line


def says_enough(kind: QuestionKind, line: str) -> bool:
    """Whether a line t tells its kind, whatever fills its blanks."""
    free = any(map(takes_all, _slots_of(kind, line).values()))
    return not free or _tells(line)


def _slots_of(kind: QuestionKind, line: str) -> dict[str, str]:
    letters = {blank[2] for blank in blanks_of(line)}
    return {k: v for k, v in {**kind.slots, **kind.told_slots}.items() if k in letters}


def _tells(line: str) -> bool:
    """Whether a line has, outside its blanks, a word that few other kinds have ("work", but not "be")."""
    plain = BLANK.sub(lambda found: found[3] or "", line)
    return not _SAYS_LITTLE.issuperset(word.text for word in counted(plain))
