"""Finds the lines of kinds that a text has the form of, and what fills their blanks.

A text has the form of a line if it is that line with its blanks filled, apart from case, punctuation and
short forms ("what's"). Left out: which lines count (learning.text.kinds.recognise, learning.text.kinds.told).
"""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from learning.text.kinds.relations import (
    BLANK,
    OWNER,
    Filling,
    Person,
    QuestionKind,
    SlotValue,
    as_person,
    listed_values,
)
from learning.text.kinds.words import CountedWord, as_typed, counted, counted_text
from learning.text.normalise import fold

_ANY = "*"
"""The list of a slot that takes any phrase."""
_MOST_WORDS = 4
"""Of a phrase that fills a slot."""
_LONGEST, _LONGEST_TEXT = 32, 400
"""Words and characters of a text that a line may have."""
_MARKS = re.compile(r"[{}<>]")
"""What marks the blanks of lines. No text with one of them has the form of a line."""
_PEOPLE = ("who", "whose", "whom")
GENDERED = frozenset({"he", "his", "him"})
OWN = frozenset({"i", "my", "me", "mine"})
TOLD = frozenset({"you", "your", "yours"})
"""What a line calls the owner, and the assistant."""
_NO_NAME = """
a an the it its he she they them his her their this that these those there who what which where when why how
is are was were am be do does did have has had can could will would shall should to of in on at for with from
by and or not no yes some any
"""
_NO_NAMES = frozenset(_NO_NAME.split())
_NOT_IN_NAMES = OWN | TOLD | _NO_NAMES
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

Bound = Mapping[str, tuple[int, int, str]]
"""Name of a blank -> the words of the text that fill it: the index of the first word, one more than the
index of the last, and the ending that the line has after the blank ("s" for "'s")."""


@dataclass(frozen=True)
class Reading:
    """A text as a line with its blanks filled."""

    relation: QuestionKind
    person: Person
    told: bool
    """It is about the assistant ("you")."""
    gendered: bool
    """It is known whether the person is "he" or "she"."""
    slots: Mapping[str, SlotValue] = field(hash=False)
    line: str
    """The line that it has the form of."""


@dataclass
class Node:
    """The lines that go on from some words. The root of a tree has them all."""

    words: dict[str, Node] = field(default_factory=dict)
    blanks: dict[tuple[str, str], Node] = field(default_factory=dict)
    """(name of the blank, ending that stands behind it) -> what follows."""
    lines: list[tuple[QuestionKind, str]] = field(default_factory=list)
    """The lines that end here."""


Lines = Iterable[tuple[QuestionKind, str]]
"""Lines, each with its kind."""


def tree(lines: Lines) -> Node:
    """The lines as a tree of their words."""
    root = Node()
    for relation, line in lines:
        node = root
        for word in pattern_of(line):
            if isinstance(word, str):
                node = node.words.setdefault(word, Node())
            else:
                node = node.blanks.setdefault(word, Node())
        node.lines.append((relation, line))
    return root


def words_of(text: str) -> list[CountedWord]:
    """The words of a text that a line may have the form of; none of a longer one."""
    if len(text) > _LONGEST_TEXT or _MARKS.search(text):
        return []
    words = counted(text)
    return words if len(words) <= _LONGEST else []


def readings(root: Node, words: Sequence[CountedWord], folded: bool) -> list[Reading]:
    """One reading per kind, of the kinds whose lines fit the words best; an empty list if no line fits.
    folded: the text has lost its capitals and apostrophes, so any word may be a name."""
    best, found = 0.0, dict[str, Reading]()
    for fit, one in all_readings(root, words, (len(words),), folded):
        if fit > best:
            best, found = fit, {}
        if fit == best:
            found.setdefault(one.relation.name, one)
    return [*found.values()]


def all_readings(
    root: Node, words: Sequence[CountedWord], ends: Collection[int], folded: bool
) -> Iterator[tuple[float, Reading]]:
    """All readings of the words before each of these ends, each with how well it fits them. folded: as of
    `readings`."""
    for relation, line, bound, end in _fitting(root, words, ends):
        yield from _filled(relation, line, words[:end], bound, folded)


def blanks_of(line: str) -> list[re.Match[str]]:
    """The blanks of slots and pronouns in a line."""
    return [found for found in BLANK.finditer(line) if found[2]]


def name_of(blank: str) -> str:
    """A blank's name: the letter of a slot as it is, else in small letters ("Who" begins a sentence)."""
    return blank if len(blank) == 1 else blank.lower()


def pattern_of(line: str) -> list[str | tuple[str, str]]:
    """Splits a line into its words and its blanks. A blank is a pair of its name and the ending after it:
    `What's {whose} {K}'s age?` gives "what", "is", ("whose", ""), ("K", "s"), "age"."""
    names = [found[2] or found[3] for found in BLANK.finditer(line)]
    marked = BLANK.sub(lambda found: f"{found[1] or ''}zzblank", line)
    pattern = list[str | tuple[str, str]]()
    for word in counted(marked):
        if word.text.startswith("zzblank"):
            pattern.append((name_of(names.pop(0)), word.text[7:]))
        else:
            pattern.append(word.text)
    return pattern


def _fitting(
    root: Node, words: Sequence[CountedWord], ends: Collection[int]
) -> list[tuple[QuestionKind, str, Bound, int]]:
    """Every line that the words before an end may be, with what fills its blanks, and the end. Verbs and
    pronouns are not checked."""
    texts, found = [word.text for word in words], list[tuple[QuestionKind, str, Bound, int]]()

    def go_on(node: Node, at: int, bound: Bound) -> None:
        if at in ends:
            found.extend((relation, line, bound, at) for relation, line in node.lines)
        if at == len(texts):
            return
        if (after := node.words.get(texts[at])) is not None:
            go_on(after, at + 1, bound)
        for (name, ending), after in node.blanks.items():
            most = _most_words(name, texts[at])
            for end in range(at + 1, min(at + most, len(texts)) + 1):
                # nothing goes on from most nodes, which is seen soonest here
                on = bool(end in ends and after.lines)
                on |= end < len(texts) and bool(after.blanks or texts[end] in after.words)
                if on and texts[end - 1].endswith(ending):
                    here = {name: (at, end, ending), **bound}  # the first place counts
                    go_on(after, end, here)

    go_on(root, 0, {})
    return found


def _most_words(blank: str, first: str) -> int:
    """Most words that may fill a blank, of which the first is `first`: a verb or pronoun has one, "my sister"
    four, a name two (as `_people` reads them)."""
    if len(blank) == 1:
        return _MOST_WORDS
    if blank not in _PEOPLE:
        return 1
    if first == "my":
        return _MOST_WORDS
    if first in OWN | TOLD:
        return 1
    return 0 if first in _NO_NAMES else 2


def _filled(
    relation: QuestionKind, line: str, words: Sequence[CountedWord], bound: Bound, folded: bool
) -> Iterator[tuple[float, Reading]]:
    """Fills the blanks of the line with the words of the text. If that gives the text again, yields
    its score and the reading. The score is the number of the text's words that the line itself has; a
    listed value in a slot counts nearly as much."""
    people = list(_people(words, bound, folded))
    if not people:
        return
    slots, fit = dict[str, SlotValue](), float(len(words))
    for letter, group in relation.slots.items():
        if letter in bound:
            value = slots[letter] = _value(words, bound[letter], group)
            if not value.group and not (takes_all(group) and _is_thing(value.text)):
                return
            if bound[letter][2] and not (value.group or folded or _owns(words, bound[letter])):
                return
            fit -= 0.1 if value.group else bound[letter][1] - bound[letter][0]
    for person, told, gendered in people:
        text = Filling(relation, person, slots, random.Random(0)).say(line, answered=told)
        if counted_text(text) == " ".join(word.text for word in words):
            fit -= len(person.text.split()) if person.name or not person.described else 0.1
            known = gendered or any(found[2].lower() in GENDERED for found in blanks_of(line))
            yield fit, Reading(relation, person, told, known, slots, line)
            return


def takes_all(group: str) -> bool:
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
    if len(here) == 1 and here[0] in OWN | TOLD:
        yield OWNER, here[0] in TOLD, True
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
