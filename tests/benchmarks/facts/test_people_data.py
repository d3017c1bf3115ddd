"""data/people.jsonl keeps the rules of its kind; the reader says which line is wrong."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.facts.people_data import HALVES, PEOPLE, PersonFact, content_words, read_people
from engine.errors import DataError
from learning.text.key import Key, holds, key_words
from learning.text.normalise import fold

OWNERS, FACTS, LATER = 5, 20, 66
"""Owners of each half; facts of each owner; facts with a later contradiction, at least."""
_ORDINARY_WORDS = """
i january february march april may june july august september october november december monday tuesday
wednesday thursday friday saturday sunday mondays sundays saturdays english french america christmas
easter day new year mr mrs miss mum grandma gran uncle aunt father saint gp la wet loud choir tuesdays
polish don
"""
ORDINARY = set(_ORDINARY_WORDS.split())
"""Capitalised words that are no names of the benchmark's own."""


def test_the_file_keeps_its_rules() -> None:
    facts = read_people()
    faults = [*counts(facts), *wordings(facts), *answers(facts), *halves(facts), *others(facts)]
    assert not faults, "\n".join(["", *faults])


def counts(facts: list[PersonFact]) -> Iterator[str]:
    for half in HALVES:
        owners = Counter(fact.owner for fact in facts if fact.half == half)
        if len(owners) != OWNERS:
            yield f"{half}: {len(owners)} owners"
        yield from (f"{owner}: {n} facts" for owner, n in owners.items() if n != FACTS)
    if (later := sum(fact.later is not None for fact in facts)) < LATER:
        yield f"{later} facts with a later contradiction"


def wordings(facts: list[PersonFact]) -> Iterator[str]:
    """Questions: all different, rewordings near, paraphrases far, and none gives the value away."""
    asked = Counter(fold(text) for fact in facts for text in questions(fact))
    yield from (f"asked twice: {text}" for text, n in asked.items() if n > 1)
    for fact in facts:
        words = content_words(fact.prompt)
        for text in fact.rewordings:
            if not words & content_words(text):
                yield f"{fact.owner}: rewording shares no word with {fact.prompt!r}: {text}"
        for text in fact.paraphrases:
            if shared := words & content_words(text):
                yield f"{fact.owner}: paraphrase shares {shared} with {fact.prompt!r}: {text}"
        for text in (*questions(fact)[:7], fact.hop.prompt):
            if holds(text, fact.key):
                yield f"{fact.owner}: the question says the value: {text}"


def answers(facts: list[PersonFact]) -> Iterator[str]:
    """Neighbours and what is not known are neither this fact's question nor answered by its value."""
    for fact in facts:
        said = content_words(fact.said)
        for text in (fact.yes.prompt, fact.no.prompt):
            if not content_words(text) & (said | content_words(fact.prompt)):
                yield f"{fact.owner}: not about the fact: {text}"
        if holds(fact.no.prompt, fact.key):
            yield f"{fact.owner}: the wrong value is the right one: {fact.no.prompt}"
        if content_words(fact.neighbour) == content_words(fact.prompt):
            yield f"{fact.owner}: the neighbour is the fact: {fact.neighbour}"
        if content_words(fact.unknown) == content_words(fact.prompt):
            yield f"{fact.owner}: what is not known is the fact: {fact.unknown}"
        if fact.later and fact.later.prompt != fact.prompt:
            yield f"{fact.owner}: the later fact asks otherwise: {fact.later.prompt}"


def halves(facts: list[PersonFact]) -> Iterator[str]:
    """No name or value of the one half in the other."""
    tune, unseen = (names([f for f in facts if f.half == half]) for half in HALVES)
    yield from (f"in both halves: {word}" for word in sorted(tune & unseen))


def others(facts: list[PersonFact]) -> Iterator[str]:
    """No question, name or value in what else is taught or measured."""
    texts = set(other_texts())
    taken = {fold(text) for text in texts}
    written = [(phrase(text), text) for text in sorted(texts)]
    for fact in facts:
        yield from (f"asked elsewhere: {q}" for q in questions(fact) if fold(q) in taken)
        for values in keys(fact):
            for value in (alternatives[0] for alternatives in values):
                said = phrase(value)
                if found := next((text for words, text in written if said in words), None):
                    yield f"{fact.owner}: {value!r} stands elsewhere: {found}"
    known = {word for text in texts for word in re.findall(r"[^\W\d_]+", text.casefold())}
    yield from (f"a name elsewhere: {word}" for word in sorted(proper(facts) & known))


def questions(fact: PersonFact) -> list[str]:
    """The seven wordings of the fact first."""
    asked = [fact.prompt, *fact.rewordings, *fact.paraphrases]
    return [
        *asked,
        *(one.prompt for one in (fact.hop, fact.yes, fact.no)),
        fact.neighbour,
        fact.unknown,
    ]


def keys(fact: PersonFact) -> list[Key]:
    return [fact.key, *([fact.later.key] if fact.later else [])]


def phrase(text: str) -> str:
    """The words of a text in one line; a phrase is said where its line is part of another."""
    return f" {' '.join(key_words(text))} "


def names(facts: list[PersonFact]) -> set[str]:
    """Words of the values, but for figures, and proper names."""
    values = (element[0] for f in facts for key in keys(f) for element in key)
    words = {word for value in values for word in content_words(value)}
    return {word for word in words if not word.isdigit()} | proper(facts)


def proper(facts: list[PersonFact]) -> set[str]:
    """Owners, and capitalised words that do not begin a sentence, in lower case."""
    texts = [
        t for f in facts for t in (f.answer, *questions(f), *([f.later.answer] if f.later else []))
    ]
    found = {name for t in texts for name in re.findall(r"(?<![.?!] )(?<!^)\b[A-Z][^\W\d_]+", t)}
    return {name.casefold() for name in found} - ORDINARY | {fact.owner for fact in facts}


def other_texts() -> Iterator[str]:
    """Every text of the lesson files and of the personality."""
    data = PEOPLE.parent
    for path in sorted(data.glob("lessons*.jsonl")) + [
        data / "inventions.jsonl",
        data / "talk.jsonl",
    ]:
        for line in path.read_text("utf-8").splitlines():
            yield from strings(json.loads(line))
    for path in sorted((PEOPLE.parents[2] / "personality").glob("*.txt")):
        for line in path.read_text("utf-8").splitlines():
            yield from re.split(r"<\|\w+\|>", line)


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for one in (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    ):
        yield from strings(one)


def test_halves_are_read_apart() -> None:
    assert {fact.half for fact in read_people("tune")} == {"tune"}
    assert len(read_people("tune")) + len(read_people("unseen")) == len(read_people())
    with pytest.raises(DataError, match="half 'both' does not exist"):
        read_people("both")


def good_row() -> dict[str, Any]:
    row: dict[str, Any] = json.loads(PEOPLE.read_text("utf-8").splitlines()[0])
    return row


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"half": "test"}, "half is 'test', not one of tune, unseen"),
        ({"key": "Ingrid"}, "key must be a list of words"),
        ({"key": ["Astrid"]}, "does not hold its own key"),
        ({"not": [3]}, "not must hold texts"),
        ({"rewordings": ["one", "two"]}, "rewordings must be 3 questions"),
        ({"paraphrases": "one"}, "paraphrases must be 3 questions"),
        ({"hop": {"prompt": "Who?"}}, "has no 'key'"),
        ({"yes_no": []}, "yes_no must be two questions"),
        (
            {"yes_no": [{"prompt": "Is it?", "key": ["no"]}] * 2},
            "a question with yes and one with no",
        ),
        ({"neighbour": "Who?"}, "neighbour must be an object"),
        ({"prompt": " "}, "prompt must be a text that is not empty"),
        ({"colour": "red"}, "has unknown fields: colour"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    path = tmp_path / "people.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in (good_row(), good_row() | change)))
    with pytest.raises(DataError, match=f"^{re.escape(str(path))}:2: .*{re.escape(message)}"):
        read_people(path=path)


def test_a_later_fact_must_contradict(tmp_path: Path) -> None:
    path, row = tmp_path / "people.jsonl", good_row()
    row["later"] = {name: row[name] for name in ("said", "prompt", "answer", "key")}
    path.write_text(json.dumps(row))
    with pytest.raises(DataError, match=":1: later and the fact do not contradict each other"):
        read_people(path=path)


def test_content_words() -> None:
    assert content_words("What is my sister's name?") == content_words("the names of sisters")
    assert content_words("Do I work?") == content_words("am I working") == {"work"}
    assert not content_words("What is it that you do with them?")
