"""Invented lives: facts as people tell them, and the many ways in which they are asked for.

    lives(1000, random.Random(0))

From them a model can learn that what is told once may be asked for in any words. Owners, relatives,
pets, towns and all else are drawn from lives_values.txt, or made up; sentences come from
lives_frames.txt, which says how it is written. Same seed, same lives. Left out: what benchmarks teach (a
test compares them), and who Vidya is, which is the book's.
"""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from learning.text.asking import answered
from learning.text.content import content_words
from learning.text.synthetic import name

NOT_KNOWN = "I do not know that yet. Will you teach me?"
"""The book's answer to what nobody has told Vidya."""

_FRAMES = Path(__file__).with_name("lives_frames.txt")
_VALUES = Path(__file__).with_name("lives_values.txt")
_INVENTED = 0.25
"""Chance of a name to be made up instead of drawn from a list."""
_NAMES = ("first_f", "first_m", "surname", "petname", "town")
_CARELESS = 0.2
"""Chance of a reworded question to be typed carelessly."""
_BLANK = re.compile(r"\{(a )?(\w+)\}|<(\w+)>")
_FORMS = {"be": ("am", "are", "is"), "was": ("was", "were", "was"), "have": ("have", "have", "has")}


@dataclass(frozen=True)
class Inquiry:
    """A question and its right answer."""

    question: str
    answer: str


@dataclass(frozen=True)
class LifeFact:
    """Something in a life, told and asked for in many ways."""

    relation: str
    """The name of its frames: `job`, `pet_name` ..."""
    statements: tuple[str, ...]
    """As the owner may tell it."""
    question: str
    """The wording in which it is taught."""
    answer: str
    key: str
    """What every right answer contains."""
    rewordings: tuple[str, ...]
    """The same question in other words, each sharing a content word with `question`."""
    paraphrases: tuple[str, ...]
    """The same question in words none of which is a content word of `question`."""
    right: tuple[Inquiry, ...]
    """Inquiry for yes or no: it is so."""
    wrong: tuple[Inquiry, ...]
    """Inquiry for yes or no: it is not."""
    follows: tuple[Inquiry, ...]
    """Questions that need the fact."""
    neighbours: tuple[str, ...]
    """The question about somebody or something else, of which nothing was said: the answer is NOT_KNOWN."""


@dataclass(frozen=True)
class InventedLife:
    """What an owner might tell in some weeks."""

    facts: tuple[LifeFact, ...]
    unknown: tuple[str, ...]
    """Questions about which nothing was said: the answer is NOT_KNOWN."""


@dataclass(frozen=True)
class _Value:
    """A value of a list, with what describes it in other words."""

    text: str
    described: tuple[str, ...] = ()
    group: str = ""
    """The list it is from."""


@dataclass(frozen=True)
class _Relation:
    name: str
    who: str
    """me or any: the owner, or also a relative."""
    slots: Mapping[str, str]
    """Letter -> list of values."""
    lines: Mapping[str, tuple[str, ...]] = field(hash=False)
    """t, q, p, y, a, h -> frames."""


@dataclass(frozen=True)
class _Person:
    """Whom a fact is about. The owner has no text."""

    text: str = ""
    described: tuple[str, ...] = ()
    woman: bool = False
    name: bool = False
    """The text is a name, which no "my" stands before."""


_OWNER = _Person()


def lives(
    count: int, rng: random.Random, only: Collection[str] | None = None
) -> list[InventedLife]:
    """`count` lives of about ten facts each.

    only: names of the relations that are told and asked for, at least twelve; None: all. The names of
    relatives (`relative_name`) are told in every life.
    """
    chosen = [r for r in _relations() if r.name != "relative_name"]
    if only is not None:
        chosen = [r for r in chosen if r.name in only]
    return [_life(rng, chosen) for _ in range(count)]


def shares_content(one: str, other: str) -> bool:
    """Whether two questions share a word that carries meaning, in any of its forms."""
    return bool(content_words(one) & content_words(other))


def values() -> dict[str, tuple[str, ...]]:
    """List -> its values, as they stand in the file."""
    return {name: tuple(v.text for v in listed) for name, listed in _values().items()}


def relations() -> dict[str, str]:
    """Relation -> the list that its value is from, or a name for how it is composed."""
    return {relation.name: relation.slots["X"] for relation in _relations()}


@cache
def _values() -> dict[str, tuple[_Value, ...]]:
    found = dict[str, list[_Value]]()
    for line in _VALUES.read_text("utf-8").splitlines():
        if line.startswith("@"):
            group, _, listed = line[1:].partition(" ")
            for value in listed.split("|"):
                text, _, described = value.partition("=")
                ways = tuple(filter(None, described.split("/")))
                found.setdefault(group, []).append(_Value(text, ways, group))
    found["kin"] = found["kin_f"] + found["kin_m"]
    return {group: tuple(listed) for group, listed in found.items()}


@cache
def _relations() -> tuple[_Relation, ...]:
    found, lines = list[_Relation](), dict[str, list[str]]()
    for line in _FRAMES.read_text("utf-8").splitlines():
        kind, _, text = line.partition(" ")
        if kind == "=":
            title, who, *slots = text.split()
            lines = {}
            found.append(_Relation(title, who, dict(s.split(":") for s in slots), lines))  # type: ignore[arg-type]
        elif kind in set("tqpyah"):
            lines.setdefault(kind, []).append(text)
    return tuple(replace(r, lines={k: tuple(v) for k, v in r.lines.items()}) for r in found)


def _life(rng: random.Random, relations: Sequence[_Relation]) -> InventedLife:
    by_word = {value.text: value for value in rng.sample(_values()["kin"], len(_values()["kin"]))}
    kin = list(by_word.values())[: rng.randint(3, 5)]
    ways = [way for value in kin for way in value.described]
    cast = [_person(v, {w for w in v.described if ways.count(w) > 1}) for v in kin]
    drawn = rng.sample(relations, rng.randint(6, 8))
    told = [(_relation("relative_name"), _OWNER, k) for k in kin[: rng.randint(1, 2)]]
    about = list[tuple[_Relation, _Person, _Value | None]](told)
    for relation in drawn:
        most = 1 if relation.who == "me" or rng.random() < 0.7 else 2
        people = [_OWNER] if relation.who == "me" else rng.sample([*cast, _OWNER, _OWNER], most)
        about += [(relation, person, None) for person in dict.fromkeys(people)]
    names = dict[str, str]()
    facts, seen = list[LifeFact](), {(r.name, k.text if k else p.text) for r, p, k in about}
    for relation, person, relative in about:
        fact = _Fact(relation, person, _filled(relation, relative, rng), rng)
        if relative:
            names[relative.text] = fact.slots["X"].text
        strangers = [v for v in _values()["kin"] if (relation.name, v.text) not in seen]
        facts.append(fact.made(names.get(person.text), strangers))
    rest = [r for r in relations if r not in drawn]
    unknown = []
    for relation in rng.sample(rest, 4):
        person = _OWNER if relation.who == "me" else rng.choice([*cast, _OWNER, _OWNER])
        unknown.append(_Fact(relation, person, _filled(relation, None, rng), rng).asked())
    rng.shuffle(facts)
    return InventedLife(tuple(facts), tuple(unknown))


def _relation(name: str) -> _Relation:
    return next(r for r in _relations() if r.name == name)


def _person(value: _Value, unclear: set[str] | None = None) -> _Person:
    """unclear: descriptions that others in the same life have too."""
    described = tuple(way for way in value.described if way not in (unclear or ()))
    return _Person(value.text, described, value.group == "kin_f")


def _filled(relation: _Relation, relative: _Value | None, rng: random.Random) -> dict[str, _Value]:
    """Values of a relation's slots, and `Y`: another value than `X`."""
    slots = dict[str, _Value]()
    for letter, group in relation.slots.items():
        slots[letter] = relative if letter == "K" and relative else _drawn(group, slots, rng)
    while True:
        slots["Y"] = _drawn(relation.slots["X"], slots, rng)
        if slots["Y"].text != slots["X"].text:
            return slots


def _drawn(group: str, slots: Mapping[str, _Value], rng: random.Random) -> _Value:
    if group == "date":
        day, month = (rng.choice(_values()[part]).text for part in ("date_day", "month"))
        return _Value(f"{day} of {month}")
    if group == "titled":
        return _Value(f"{rng.choice(_values()['title']).text} {_drawn('surname', slots, rng).text}")
    if group == "first":
        woman = slots["K"].group == "kin_f" if "K" in slots else rng.random() < 0.5
        group = "first_f" if woman else "first_m"
    if group in _NAMES and rng.random() < _INVENTED:
        while len(made := name(rng)) < 4:
            pass
        return _Value(made)
    return rng.choice(_values()[group])


@dataclass(frozen=True)
class _Fact:
    """A fact before its sentences are written."""

    relation: _Relation
    person: _Person
    slots: Mapping[str, _Value]
    rng: random.Random

    def made(self, called: str | None, strangers: Sequence[_Value]) -> LifeFact:
        """called: the person's name, if it was told. strangers: of whom this was not told."""
        answer = self.say(self.lines("a")[0], answered=True)
        question, *others = [self.say(q) for q in self.lines("q")]
        others += [self.say(p, described=True) for p in self.lines("p")]
        far = [q for q in others if not shares_content(question, q)]
        near = [q for q in others if q not in far]
        follows = [h.partition(" | ") for h in self.lines("h")]
        made = [Inquiry(self.say(q), self.say(a, answered=True)) for q, _, a in follows]
        if called:
            by_name = replace(self, person=replace(self.person, text=called, name=True))
            made += [Inquiry(by_name.say(q), answer) for q in self.lines("q")[:2]]
        other = replace(self, slots={**self.slots, "X": self.slots["Y"]})
        return LifeFact(
            relation=self.relation.name,
            statements=tuple(self.say(t) for t in self.lines("t")),
            question=question,
            answer=answer,
            key=self.say("{X}", answered=True, sentence=False),
            rewordings=self._typed(near),
            paraphrases=self._typed(far),
            right=tuple(Inquiry(self.say(y), answered(True, answer)) for y in self.lines("y")),
            wrong=tuple(Inquiry(other.say(y), answered(False, answer)) for y in self.lines("y")),
            follows=tuple(made),
            neighbours=tuple(dict.fromkeys(self._neighbours(strangers))),
        )

    def asked(self) -> str:
        """A question for it, in any words."""
        described = self.rng.random() < 0.3
        return self.say(self.lines("p" if described else "q")[0], described=described)

    def lines(self, kind: str) -> list[str]:
        """Frames of a kind that fit the person, in any order: where "I" does something for somebody, that
        is not the owner."""
        fitting = self.relation.lines.get(kind, ())
        if self.relation.who != "me" and not self.person.text:
            fitting = tuple(line for line in fitting if not re.search(r"\bI\b", line))
        return self.rng.sample(fitting, len(fitting))

    def say(
        self, frame: str, *, answered: bool = False, described: bool = False, sentence: bool = True
    ) -> str:
        """A frame, filled. answered: as Vidya says it to the owner. described: people and values in other
        words than their own."""
        person = self.person
        if described and person.described:
            person = replace(person, text=self.rng.choice(person.described), name=True)

        def fill(found: re.Match[str]) -> str:
            article, blank, verb = found.groups()
            if verb:
                return _conjugated(verb, person, answered)
            value = self.slots.get(blank)
            if value is None:
                return _pronoun(blank, person, answered)
            if described and blank == "K" and value.described:
                way = self.rng.choice(value.described)
                his = _pronoun("his", person, answered)
                return re.sub(r"\b(my|our)\b", his, way) if person.text else way
            text = _BLANK.sub(fill, value.text)
            return f"{'an' if text[0].lower() in 'aeio' else 'a'} {text}" if article else text

        text = re.sub(r"\bthe ([\w ]+?) of me\b", r"my \1", _BLANK.sub(fill, frame))
        if not sentence:
            return text
        return text[0].upper() + text[1:] if frame[0] == "{" and frame[1].isupper() else text

    def _neighbours(self, strangers: Sequence[_Value]) -> Iterator[str]:
        """The same question about others, and about another thing of the same kind."""
        frames = self.relation.lines["q"]
        if self.relation.who != "me":
            for stranger in self.rng.sample(strangers, 2):
                yield replace(self, person=_person(stranger)).say(self.rng.choice(frames))
        if "K" in self.relation.slots and "{K}" in "".join(frames):
            kinds = _values()[self.relation.slots["K"]]
            others = strangers if kinds == _values()["kin"] else kinds
            others = [v for v in others if v.text != self.slots["K"].text]
            for other in self.rng.sample(others, min(2, len(others))):
                asking = [q for q in frames if "{K}" in q]
                changed = replace(self, slots={**self.slots, "K": other})
                yield changed.say(self.rng.choice(asking))

    def _typed(self, questions: Sequence[str]) -> tuple[str, ...]:
        """Some of them as people type in a hurry; each once."""
        typed = [q if self.rng.random() >= _CARELESS else _careless(q) for q in questions]
        return tuple(dict.fromkeys(typed))


def _pronoun(blank: str, person: _Person, answered: bool) -> str:
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


def _conjugated(verb: str, person: _Person, answered: bool) -> str:
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


def _careless(question: str) -> str:
    """Without its mark, and in small letters at its beginning."""
    plain = question.rstrip("?.")
    plain = re.sub(r"^(What|Where|Who|When|How) is\b", r"\1's", plain)
    return plain if plain.startswith("I ") else plain[0].lower() + plain[1:]
