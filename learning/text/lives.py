"""Invented lives: facts as people tell them, and the many ways in which they are asked for.

    lives(1000, random.Random(0))

From them a model can learn that what is told once may be asked for in any words. Owners, relatives,
pets, towns and all else are drawn from lists, or made up; the lists and the frames of sentences are those of
learning.text.kinds.relations. Same seed, same lives. Left out: what benchmarks teach (a test compares them),
and who Vidya is, which is the book's.
"""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from learning.text.content import content_words
from learning.text.kinds.relations import (
    OWNER,
    Filling,
    Person,
    QuestionKind,
    SlotValue,
    as_person,
    kinds_of_facts,
    listed_values,
)
from learning.text.questions.yes_or_no import answered
from learning.text.synthetic import name

NOT_KNOWN = "I do not know that yet. Will you teach me?"
"""The book's answer to what nobody has told Vidya."""

_INVENTED = 0.25
"""Chance of a name to be made up instead of drawn from a list."""
_NAMES = ("first_f", "first_m", "surname", "petname", "town")
_CARELESS = 0.2
"""Chance of a reworded question to be typed carelessly."""


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


def lives(
    count: int, rng: random.Random, only: Collection[str] | None = None
) -> list[InventedLife]:
    """`count` lives of about ten facts each.

    only: names of the relations that are told and asked for, at least twelve; None: all. The names of
    relatives (`relative_name`) are told in every life.
    """
    chosen = [r for r in kinds_of_facts() if r.name != "relative_name"]
    if only is not None:
        chosen = [r for r in chosen if r.name in only]
    return [_life(rng, chosen) for _ in range(count)]


def shares_content(one: str, other: str) -> bool:
    """Whether two questions share a word that carries meaning, in any of its forms."""
    return bool(content_words(one) & content_words(other))


def values() -> dict[str, tuple[str, ...]]:
    """List -> its values, as they stand in the file."""
    return {name: tuple(v.text for v in listed) for name, listed in listed_values().items()}


def relations() -> dict[str, str]:
    """Name of a kind -> the list that its value is from, or a name for how the value is composed."""
    return {relation.name: relation.slots["X"] for relation in kinds_of_facts()}


def _life(rng: random.Random, relations: Sequence[QuestionKind]) -> InventedLife:
    everybody = listed_values()["kin"]
    by_word = {value.text: value for value in rng.sample(everybody, len(everybody))}
    kin = list(by_word.values())[: rng.randint(3, 5)]
    ways = [way for value in kin for way in value.described]
    cast = [as_person(v, {w for w in v.described if ways.count(w) > 1}) for v in kin]
    drawn = rng.sample(relations, rng.randint(6, 8))
    told = [(_relation("relative_name"), OWNER, k) for k in kin[: rng.randint(1, 2)]]
    about = list[tuple[QuestionKind, Person, SlotValue | None]](told)
    for relation in drawn:
        most = 1 if relation.who == "me" or rng.random() < 0.7 else 2
        people = [OWNER] if relation.who == "me" else rng.sample([*cast, OWNER, OWNER], most)
        about += [(relation, person, None) for person in dict.fromkeys(people)]
    names = dict[str, str]()
    facts, seen = list[LifeFact](), {(r.name, k.text if k else p.text) for r, p, k in about}
    for relation, person, relative in about:
        fact = _Fact(relation, person, _filled(relation, relative, rng), rng)
        if relative:
            names[relative.text] = fact.slots["X"].text
        strangers = [v for v in listed_values()["kin"] if (relation.name, v.text) not in seen]
        facts.append(fact.made(names.get(person.text), strangers))
    rest = [r for r in relations if r not in drawn]
    unknown = []
    for relation in rng.sample(rest, 4):
        person = OWNER if relation.who == "me" else rng.choice([*cast, OWNER, OWNER])
        unknown.append(_Fact(relation, person, _filled(relation, None, rng), rng).asked())
    rng.shuffle(facts)
    return InventedLife(tuple(facts), tuple(unknown))


def _relation(name: str) -> QuestionKind:
    return next(r for r in kinds_of_facts() if r.name == name)


def _filled(
    relation: QuestionKind, relative: SlotValue | None, rng: random.Random
) -> dict[str, SlotValue]:
    """Values of a relation's slots, and `Y`: another value than `X`."""
    slots = dict[str, SlotValue]()
    for letter, group in relation.slots.items():
        slots[letter] = relative if letter == "K" and relative else _drawn(group, slots, rng)
    while True:
        slots["Y"] = _drawn(relation.slots["X"], slots, rng)
        if slots["Y"].text != slots["X"].text:
            return slots


def _drawn(group: str, slots: Mapping[str, SlotValue], rng: random.Random) -> SlotValue:
    if group == "date":
        day, month = (rng.choice(listed_values()[part]).text for part in ("date_day", "month"))
        return SlotValue(f"{day} of {month}")
    if group == "titled":
        return SlotValue(
            f"{rng.choice(listed_values()['title']).text} {_drawn('surname', slots, rng).text}"
        )
    if group == "first":
        woman = slots["K"].group == "kin_f" if "K" in slots else rng.random() < 0.5
        group = "first_f" if woman else "first_m"
    if group in _NAMES and rng.random() < _INVENTED:
        while len(made := name(rng)) < 4:
            pass
        return SlotValue(made)
    return rng.choice(listed_values()[group])


class _Fact(Filling):
    """A fact before its sentences are written."""

    def made(self, called: str | None, strangers: Sequence[SlotValue]) -> LifeFact:
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

    def _neighbours(self, strangers: Sequence[SlotValue]) -> Iterator[str]:
        """The same question about others, and about another thing of the same kind."""
        frames = self.relation.lines["q"]
        if self.relation.who != "me":
            for stranger in self.rng.sample(strangers, 2):
                yield replace(self, person=as_person(stranger)).say(self.rng.choice(frames))
        if "K" in self.relation.slots and "{K}" in "".join(frames):
            kinds = listed_values()[self.relation.slots["K"]]
            others = strangers if kinds == listed_values()["kin"] else kinds
            others = [v for v in others if v.text != self.slots["K"].text]
            for other in self.rng.sample(others, min(2, len(others))):
                asking = [q for q in frames if "{K}" in q]
                changed = replace(self, slots={**self.slots, "K": other})
                yield changed.say(self.rng.choice(asking))

    def _typed(self, questions: Sequence[str]) -> tuple[str, ...]:
        """Some of them as people type in a hurry; each once."""
        typed = [q if self.rng.random() >= _CARELESS else _careless(q) for q in questions]
        return tuple(dict.fromkeys(typed))


def _careless(question: str) -> str:
    """Without its mark, and in small letters at its beginning."""
    plain = question.rstrip("?.")
    plain = re.sub(r"^(What|Where|Who|When|How) is\b", r"\1's", plain)
    return plain if plain.startswith("I ") else plain[0].lower() + plain[1:]
