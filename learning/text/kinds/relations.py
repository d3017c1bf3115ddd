"""Kinds of facts, as frames.txt and values.txt list them, and their sentences with the blanks filled.

frames.txt says how it is written.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from learning.text.kinds.articles import with_article

FOLDER = Path(__file__).parent
_FRAMES, _VALUES = "frames.txt", "values.txt"
_FILES = (_FRAMES, "facts.txt", "personal.txt", "general.txt", "told.txt")
BLANK = re.compile(r"\{(a )?(\w+)\}|<(\w+)>")
"""A blank of a frame: a slot or pronoun, with "a " before it if its article is wanted, or a verb."""
_FORMS = {"be": ("am", "are", "is"), "was": ("was", "were", "was"), "have": ("have", "have", "has")}
_KINDS_OF_LINES = set("tqQpyah")
_SLOTS = r"((?: +[A-Z]:\S+)*)"
_HEADER = re.compile(rf"= +(\S+) +(me|any|none){_SLOTS}( +one)? *")
_MORE = re.compile(rf"\+ +(\S+){_SLOTS} *")


@dataclass(frozen=True)
class SlotValue:
    """A value of a list, with what describes it in other words."""

    text: str
    described: tuple[str, ...] = ()
    group: str = ""
    """The list it is from."""
    article: str = ""
    """a or an, as the owner wrote it; empty: as the text sounds."""


@dataclass(frozen=True)
class QuestionKind:
    """A kind of fact or of question."""

    name: str
    who: str
    """me or any: the owner, or also a relative; none: nobody."""
    slots: Mapping[str, str] = field(hash=False)
    """Letter -> list of values; `*`: any phrase."""
    lines: Mapping[str, tuple[str, ...]] = field(hash=False)
    """t, q, p, y, a, h -> frames. Q: those frames of q whose right answer may be another one."""
    told_slots: Mapping[str, str] = field(hash=False)
    """Further slots, of lines t alone."""
    one: bool
    """A question of the kind has one right answer at a time, for the same person and thing. False: it may
    have several side by side."""

    def one_for(self, frame: str) -> bool:
        """Whether a question of this frame has the one right answer that the kind has at a time."""
        return self.one and frame not in self.lines.get("Q", ())


@dataclass(frozen=True)
class Person:
    """Whom a fact is about. The owner has no text."""

    text: str = ""
    described: tuple[str, ...] = ()
    woman: bool = False
    name: bool = False
    """The text is a name, which no "my" stands before."""


OWNER = Person()


@cache
def listed_values() -> dict[str, tuple[SlotValue, ...]]:
    """List -> its values."""
    found = dict[str, list[SlotValue]]()
    for line in FOLDER.joinpath(_VALUES).read_text("utf-8").splitlines():
        if line.startswith("@"):
            group, _, listed = line[1:].partition(" ")
            for value in listed.split("|"):
                text, _, described = value.partition("=")
                ways = tuple(filter(None, described.split("/")))
                found.setdefault(group, []).append(SlotValue(text, ways, group))
    found["kin"] = found["kin_f"] + found["kin_m"]
    return {group: tuple(listed) for group, listed in found.items()}


@cache
def kinds_of_facts() -> tuple[QuestionKind, ...]:
    """The relations of frames.txt: what invented lives are made of."""
    return tuple(read_relations(FOLDER / _FRAMES))


@cache
def kinds() -> tuple[QuestionKind, ...]:
    """All kinds of questions, those of facts first."""
    return tuple(read_relations(*(FOLDER / name for name in _FILES)))


def read_relations(*files: Path) -> Iterator[QuestionKind]:
    """The relations of the files, in their order. `+ name` adds lines to a relation that stood before, and
    perhaps slots for its lines t.

    Raises ValueError if the header of a relation is malformed.
    """
    heads = dict[str, re.Match[str]]()
    lines = dict[str, dict[str, list[str]]]()
    more = defaultdict[str, dict[str, str]](dict)
    here = dict[str, list[str]]()
    for file in files:
        for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
            kind, _, text = line.partition(" ")
            if kind == "=":
                head = _header(line, f"{file.name}, line {number}")
                heads[head[1]] = head
                here = lines[head[1]] = {}
            elif kind == "+":
                head = _header(line, f"{file.name}, line {number}", _MORE)
                here = lines[head[1]]
                more[head[1]] |= _slots(head[2])
            elif kind in _KINDS_OF_LINES:
                for each in {kind, kind.lower()}:
                    here.setdefault(each, []).append(text)
    for name, found in lines.items():
        frames = {kind: tuple(dict.fromkeys(texts)) for kind, texts in found.items()}
        _, who, slots, one = heads[name].groups()
        yield QuestionKind(name, who, _slots(slots), frames, more[name], one is not None)


def _slots(listed: str) -> dict[str, str]:
    """Letter -> list of values, of the slots in a header."""
    return {slot[0]: slot[2:] for slot in listed.split()}


def _header(line: str, place: str, form: re.Pattern[str] = _HEADER) -> re.Match[str]:
    """The parts of a header. form: _HEADER for a new relation (name, who, slots, `one`), or _MORE for lines
    that are added to a relation (name, slots)."""
    found = form.fullmatch(line)
    if found is None:
        raise ValueError(
            f'{place}: "{line}" is no header. Write "= name who", who being me, any or none, '
            'then slots like K:pet, then "one" or nothing.'
        )
    return found


def as_person(value: SlotValue, unclear: Collection[str] = ()) -> Person:
    """A relative or neighbour of a list. unclear: descriptions that others have too; they are left out."""
    described = tuple(way for way in value.described if way not in unclear)
    return Person(value.text, described, value.group == "kin_f")


@dataclass(frozen=True)
class Filling:
    """What fills the blanks of a relation's lines."""

    relation: QuestionKind
    person: Person
    slots: Mapping[str, SlotValue]
    rng: random.Random

    def lines(self, kind: str) -> list[str]:
        """Frames of a kind that fit the person, in any order: where "I" does something for somebody, that
        is not the owner."""
        fitting = self.relation.lines.get(kind, ())
        if self.relation.who == "any" and not self.person.text:
            fitting = tuple(line for line in fitting if not re.search(r"\bI\b", line))
        return self.rng.sample(fitting, len(fitting))

    def say(
        self, frame: str, *, answered: bool = False, described: bool = False, sentence: bool = True
    ) -> str:
        """A frame, filled. answered: as Vidya says it to the owner. described: people and values in other
        words than their own."""
        who = self.person
        if described and who.described:
            who = replace(who, text=self.rng.choice(who.described), name=True)

        def fill(found: re.Match[str]) -> str:
            article, blank, verb = found.groups()
            if verb:
                return _conjugated(verb, who, answered)
            value = self.slots.get(blank)
            if value is None:
                return _pronoun(blank, who, answered)
            if described and blank == "K" and value.described:
                way = self.rng.choice(value.described)
                his = _pronoun("his", who, answered)
                return re.sub(r"\b(my|our)\b", his, way) if who.text else way
            text = BLANK.sub(fill, value.text)
            if not article:
                return text
            return f"{value.article} {text}" if value.article else with_article(text)

        text = re.sub(r"\bthe ([\w ]+?) of me\b", r"my \1", BLANK.sub(fill, frame))
        if not sentence:
            return text
        return text[0].upper() + text[1:] if frame[0] == "{" and frame[1].isupper() else text


def _pronoun(blank: str, person: Person, answered: bool) -> str:
    """Who a fact is about, as the blank asks for it, in the owner's words or in Vidya's."""
    case = blank.lower()
    if not person.text:
        owner = {"who": "I", "he": "I", "whose": "my", "his": "my", "whom": "me", "him": "me"}
        told = {
            "who": "you",
            "he": "you",
            "whose": "your",
            "his": "your",
            "whom": "you",
            "him": "you",
        }
        text = (told if answered else owner)[case]
    elif case in ("he", "his", "him"):
        forms = ("she", "her", "her") if person.woman else ("he", "his", "him")
        text = forms[("he", "his", "him").index(case)]
    else:
        text = person.text if person.name else f"{'your' if answered else 'my'} {person.text}"
        if answered and person.text.startswith("my "):
            text = f"your {person.text.removeprefix('my ')}"
        text += "'s" if case == "whose" else ""
    return text[0].upper() + text[1:] if blank[0].isupper() else text


def _conjugated(verb: str, person: Person, answered: bool) -> str:
    base = verb.lower()
    if base in _FORMS:
        text = _FORMS[base][2 if person.text else int(answered)]
    elif not person.text:
        text = base
    elif base.endswith("y") and base[-2] not in "aeiou":
        text = f"{base[:-1]}ies"
    else:
        text = base + ("es" if base.endswith(("s", "sh", "ch", "x", "o")) else "s")
    return text[0].upper() + text[1:] if verb[0].isupper() else text
