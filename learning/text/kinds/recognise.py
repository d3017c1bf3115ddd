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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache

from learning.text.kinds.relations import (
    BLANK,
    FOLDER,
    OWNER,
    Filling,
    Person,
    QuestionKind,
    SlotValue,
    as_person,
    listed_values,
    read_relations,
)
from learning.text.kinds.words import CountedWord, as_typed, counted, counted_text
from learning.text.normalise import fold
from learning.text.questions.asking import refers_back
from learning.text.variations import careless

_FILES = ("frames.txt", "facts.txt", "personal.txt", "general.txt")
_ANY = "*"
"""The list of a slot that takes any phrase."""
_MOST_WORDS = 4
"""Of a phrase that fills a slot."""
_LONGEST, _LONGEST_TEXT = 32, 400
"""Words and characters of a question that a line may have."""
_MARKS = re.compile(r"[{}<>]")
"""What marks the blanks of lines. No question with one of them is recognised."""
_LEAST_SAID = 2
"""If a slot of a line takes any phrase, the line must have at least this many words outside its slots. A line
with fewer would match nearly every question."""
_PEOPLE = ("who", "whose", "whom")
_GENDERED = frozenset({"he", "his", "him"})
_OWN = frozenset({"i", "my", "me", "mine"})
_TOLD = frozenset({"you", "your", "yours"})
_NO_NAME = """
a an the it its he she they them his her their this that these those there who what which where when why how
is are was were am be do does did have has had can could will would shall should to of in on at for with from
by and or not no yes some any
"""
_NOT_IN_NAMES = _OWN | _TOLD | {*_NO_NAME.split()}
"""Words that no person's name has."""
_IN_CLAUSES = """
i my me mine our we us you your yours he she it they is are was were am do does did has have had can could
will would what who whose which where when why how about if that than
favourite
"""
_CLAUSE = frozenset(_IN_CLAUSES.split())
"""Words that no free phrase has: one with them is more than a thing, or somebody's."""
_LINKS = frozenset(["of", "in", "to", "for", "from", "with", "on", "at", "by", "and", "or"])
"""Words at which no free phrase begins or ends."""
_PARTICIPLE = re.compile(r".+(ing|ed)")
_THING = r"((my|your|the|favourite|\{whose\}) )*\{K\}"
_SINGULAR = re.compile(rf"(\b(is|was|does|has)|'s) {_THING}|{_THING} (is|was|does|has)\b", re.I)
_PLURAL = re.compile(rf"\b(are|were|do|have) {_THING}|{_THING} (are|were|do|have)\b", re.I)
"""Verbs that say of the thing in a line whether it is one or several."""
_PLURAL_NOUN = re.compile(r".*[^siu]s")

Asked = frozenset[tuple[object, ...]]
"""What a question asks for: (kind, whether it is about the assistant, whom it is about, the things in it),
one for each reading. Empty for a question of no known kind."""
Bound = Mapping[str, tuple[int, int, str]]
"""Name of a blank -> the words of the question that fill it: the index of the first word, one more than the
index of the last, and the ending that the line has after the blank ("s" for "'s")."""


@dataclass(frozen=True)
class Recognised:
    """A question as one of its kind."""

    relation: QuestionKind
    person: Person
    told: bool
    """It is about the assistant ("you")."""
    gendered: bool
    """It is known whether the person is "he" or "she"."""
    slots: Mapping[str, SlotValue] = field(hash=False)
    line: str
    """The line that it has the form of."""

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
            _takes_all(self.relation.slots[letter]) and self.relation.who != "me"
        ):
            return value
        return replace(value, text=f"my {value.text}")

    def _fits(self, line: str) -> bool:
        """Whether the line names everything that the question names, and nothing else, and its verb fits."""
        if self.slots and (_SINGULAR if self._several() else _PLURAL).search(line):
            return False
        blanks = {_name(found[2]) for found in _blanks(line)}
        slots = {blank for blank in blanks if len(blank) == 1}
        if slots != {*self.slots} or (self.relation.who == "any" and not blanks):
            return False
        if self.relation.who != "any" or (self.person == OWNER and not self.told):
            return True
        if not self.gendered and _GENDERED & blanks:
            return False
        return bool(blanks - slots) and not {*fold(BLANK.sub("", line)).split()} & (_OWN | _TOLD)

    def _several(self) -> bool:
        """Whether the thing is several, by the verb of the question or by its own ending."""
        if _PLURAL.search(self.line) or _SINGULAR.search(self.line):
            return bool(_PLURAL.search(self.line))
        thing = self.slots.get("K")
        return thing is not None and bool(_PLURAL_NOUN.fullmatch(fold(thing.text)))


@dataclass
class _Node:
    """The lines that go on from some words."""

    words: dict[str, _Node] = field(default_factory=dict)
    blanks: dict[tuple[str, str], _Node] = field(default_factory=dict)
    """(name of the blank, ending that stands behind it) -> what follows."""
    lines: list[tuple[QuestionKind, str]] = field(default_factory=list)
    """The lines that end here."""


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
    if len(question) > _LONGEST_TEXT or _MARKS.search(question):
        return []
    words = counted(question)
    if len(words) > _LONGEST:
        return []
    best, found = 0.0, dict[str, Recognised]()
    for relation, line, bound in _fitting(words):
        for fit, one in _readings(relation, line, words, bound, folded):
            if fit > best:
                best, found = fit, {}
            if fit == best:
                found.setdefault(relation.name, one)
    return [*found.values()]


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
    asked, one = set[tuple[object, ...]](), True
    for found in recognise(question, folded=True):
        person = counted_text(found.person.text)
        things = {letter: counted_text(value.text) for letter, value in found.slots.items()}
        asked.add((found.relation.name, found.told, person, *things.items()))
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


def _of_anybody(asked: Asked) -> Asked:
    """What is asked, with only whether it is about somebody else than the owner, not about whom."""
    return frozenset((kind, told, bool(whom), *slots) for kind, told, whom, *slots in asked)


@cache
def kinds() -> tuple[QuestionKind, ...]:
    """All kinds of questions, those of facts first."""
    return tuple(read_relations(*(FOLDER / name for name in _FILES)))


@cache
def _patterns() -> _Node:
    root = _Node()
    for relation in kinds():
        free = any(map(_takes_all, relation.slots.values()))
        for line in relation.lines.get("q", ()):
            pattern = _pattern(line)
            beside = [word for word in pattern if isinstance(word, str) or len(word[0]) > 1]
            if any(isinstance(word, str) for word in beside) and len(beside) >= _LEAST_SAID * free:
                node = root
                for word in pattern:
                    if isinstance(word, str):
                        node = node.words.setdefault(word, _Node())
                    else:
                        node = node.blanks.setdefault(word, _Node())
                node.lines.append((relation, line))
    return root


def _blanks(line: str) -> list[re.Match[str]]:
    """The blanks of slots and pronouns in a line."""
    return [found for found in BLANK.finditer(line) if found[2]]


def _name(blank: str) -> str:
    """A blank's name: the letter of a slot as it is, else in small letters ("Who" begins a sentence)."""
    return blank if len(blank) == 1 else blank.lower()


def _pattern(line: str) -> list[str | tuple[str, str]]:
    """Splits a line into its words and its blanks. A blank is a pair of its name and the ending after it:
    `What's {whose} {K}'s age?` gives "what", "is", ("whose", ""), ("K", "s"), "age"."""
    names = [found[2] or found[3] for found in BLANK.finditer(line)]
    marked = BLANK.sub(lambda found: f"{found[1] or ''}zzblank", line)
    pattern = list[str | tuple[str, str]]()
    for word in counted(marked):
        if word.text.startswith("zzblank"):
            pattern.append((_name(names.pop(0)), word.text[7:]))
        else:
            pattern.append(word.text)
    return pattern


def _fitting(words: Sequence[CountedWord]) -> list[tuple[QuestionKind, str, Bound]]:
    """Every line that the words may be, with what fills its blanks. Verbs and pronouns are not checked."""
    texts, found = [word.text for word in words], list[tuple[QuestionKind, str, Bound]]()

    def go_on(node: _Node, at: int, bound: Bound) -> None:
        if at == len(texts):
            found.extend((relation, line, bound) for relation, line in node.lines)
            return
        if (after := node.words.get(texts[at])) is not None:
            go_on(after, at + 1, bound)
        for (name, ending), after in node.blanks.items():
            most = _MOST_WORDS if name in _PEOPLE or len(name) == 1 else 1
            for end in range(at + 1, min(at + most, len(texts)) + 1):
                # nothing goes on from most nodes, which is seen soonest here
                on = after.lines if end == len(texts) else after.blanks or texts[end] in after.words
                if on and texts[end - 1].endswith(ending):
                    here = {name: (at, end, ending), **bound}  # the first place counts
                    go_on(after, end, here)

    go_on(_patterns(), 0, {})
    return found


def _readings(
    relation: QuestionKind, line: str, words: Sequence[CountedWord], bound: Bound, folded: bool
) -> Iterator[tuple[float, Recognised]]:
    """Fills the blanks of the line with the words of the question. If that gives the question again, yields
    its score and the reading. The score is the number of the question's words that the line itself has; a
    listed value in a slot counts nearly as much."""
    slots, fit = dict[str, SlotValue](), float(len(words))
    for letter, group in relation.slots.items():
        if letter in bound:
            value = slots[letter] = _value(words, bound[letter], group)
            if not value.group and not (_takes_all(group) and _is_thing(value.text)):
                return
            if bound[letter][2] and not (value.group or folded or _owns(words, bound[letter])):
                return
            fit -= 0.1 if value.group else bound[letter][1] - bound[letter][0]
    for person, told, gendered in _people(words, bound, folded):
        text = Filling(relation, person, slots, random.Random(0)).say(line, answered=told)
        if counted_text(text) == " ".join(word.text for word in words):
            fit -= len(person.text.split()) if person.name or not person.described else 0.1
            known = gendered or any(found[2].lower() in _GENDERED for found in _blanks(line))
            yield fit, Recognised(relation, person, told, known, slots, line)
            return


def _takes_all(group: str) -> bool:
    """Whether a slot takes any phrase: names and dates have no list either."""
    return group == _ANY or group not in listed_values()


def _is_thing(text: str) -> bool:
    words = fold(text).split()
    if re.search(r"['\u2019]s? ", text, re.IGNORECASE):  # somebody's
        return False
    if not words or not _CLAUSE.isdisjoint(words) or {words[0], words[-1]} & _LINKS:
        return False
    return len(words) == 1 or not _PARTICIPLE.fullmatch(words[-1])


def _value(words: Sequence[CountedWord], place: tuple[int, int, str], group: str) -> SlotValue:
    text = as_typed(words, *place)
    known = _by_word(group).get(counted_text(text)) or SlotValue(text)
    before = words[place[0] - 1].typed.casefold() if place[0] else ""
    return replace(known, text=text, article=before if before in ("a", "an") else "")


def _owns(words: Sequence[CountedWord], place: tuple[int, int, str]) -> bool:
    """Whether the last word was typed with an apostrophe. Without one, "business" is no possessive."""
    return not {"'", "\u2019"}.isdisjoint(words[place[1] - 1].typed)


@cache
def _by_word(group: str) -> dict[str, SlotValue]:
    return {counted_text(value.text): value for value in listed_values().get(group, ())}


def _people(
    words: Sequence[CountedWord], bound: Bound, folded: bool
) -> Iterator[tuple[Person, bool, bool]]:
    """Whom the blanks may be about, whether that is the assistant, and whether "he" or "she" is known."""
    blanks = [name for name in _PEOPLE if name in bound]
    if not blanks:
        yield OWNER, False, True
        return
    first, end, _ = bound[blanks[0]]
    here = [word.text for word in words[first:end]]
    possessive = "s" if blanks[0] == "whose" else ""
    if len(here) == 1 and here[0] in _OWN | _TOLD:
        yield OWNER, here[0] in _TOLD, True
    elif not here[-1].endswith(possessive):
        return
    elif here[0] == "my" and len(here) > 1:
        value = _value(words, (first + 1, end, possessive), "kin")
        if possessive and not (value.group or folded or _owns(words, bound["whose"])):
            return
        relative = as_person(value)
        for woman in (relative.woman, not relative.woman):
            yield replace(relative, woman=woman), False, bool(relative.described)
    elif len(here) <= 2 and _NOT_IN_NAMES.isdisjoint(here):
        typed = [word.typed for word in words[first:end]]
        owns = not possessive or _owns(words, bound["whose"])
        if not folded and not (owns and all(word[:1].isupper() for word in typed)):
            return
        for woman in (True, False):
            name = as_typed(words, first, end, possessive)
            yield Person(name, woman=woman, name=True), False, False


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
