"""The facts of ten invented owners, data/people.jsonl: what they said, and all that is asked about it.

Each line is one fact of one owner. Half of the owners are for tuning ("tune"); the others ("unseen") are
looked at only for final figures. Left out: teaching and asking (people.py).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import DATA
from engine.errors import DataError, reason
from learning.data.json_lines import parse
from learning.protocol.records import Lesson, Turn
from learning.text.key import Key, holds, key_words, read_key

PEOPLE = DATA / "people.jsonl"
HALVES = ("tune", "unseen")
WORDINGS = 3
"""Rewordings, and paraphrases, of each fact."""
_ADVICE = "mend the line; benchmarks/data/README.md describes the fields"
_FUNCTION_WORDS = """
a an the i me my mine myself we us our ours you your yours he him his she her hers it its they them their
theirs this that these those there here one ones who whom whose what which when where why how am is are was
were be been being do does did done have has had having can could will would shall should may might must of
to in on at for with by from about into onto over under up down out off as if so than then and or but nor
not no yes any some each every both all just ever again please tell much many something anything thing
somebody anybody someone anyone im ive id ill youre youve whats whos wheres whens hows thats its hes shes
theyre isnt arent dont doesnt didnt cant wont wouldnt shouldnt
"""
_FUNCTION = {word for text in _FUNCTION_WORDS.split() for word in key_words(text)}


@dataclass(frozen=True)
class Asked:
    """A question and what a right answer says."""

    prompt: str
    key: Key
    without: Key = ()

    def right(self, answer: str) -> bool:
        return holds(answer, self.key, self.without)


@dataclass(frozen=True)
class Told:
    """A fact as its owner says it, and as a lesson."""

    said: str
    """What the owner would type as a statement."""
    prompt: str
    answer: str
    key: Key
    without: Key = ()

    def right(self, answer: str) -> bool:
        return holds(answer, self.key, self.without)

    def lesson(self) -> Lesson:
        return Lesson("example", (Turn("user", self.prompt),), self.answer)


@dataclass(frozen=True)
class PersonFact(Told):
    """One line of the file; what is asked about the fact is never taught."""

    owner: str = ""
    half: str = ""
    """One of HALVES."""
    rewordings: tuple[str, ...] = ()
    """The question again, partly in the same words."""
    paraphrases: tuple[str, ...] = ()
    """The question again with no content word of the prompt."""
    hop: Asked = Asked("", ())
    """A question that needs the fact and one step more."""
    yes: Asked = Asked("", ())
    no: Asked = Asked("", ())
    """The right and a false value, to be confirmed."""
    neighbour: str = ""
    """A question of the same kind about somebody or something else; teaching must not change its answer."""
    unknown: str = ""
    """A question on the same subject about which nothing was said."""
    later: Told | None = None
    """What contradicts the fact afterwards."""


def read_people(half: str | None = None, path: Path = PEOPLE) -> list[PersonFact]:
    """The facts of "tune", of "unseen", or all, in the order of the file. Raises DataError with file and
    line, and for another half."""
    if half not in (None, *HALVES):
        raise DataError(f"half {half!r} does not exist", f"choose among: {', '.join(HALVES)}")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({reason(error)})", _ADVICE) from error
    facts = []
    for line, row in parse(data, str(path), _ADVICE):
        try:
            facts.append(_fact(row))
        except (KeyError, TypeError, ValueError) as error:
            what = f"has no {error}" if isinstance(error, KeyError) else str(error)
            raise DataError(f"{path}:{line}: {what}", _ADVICE) from error
    return [fact for fact in facts if half in (None, fact.half)]


def content_words(text: str) -> set[str]:
    """The words of a text that say what it is about, without common endings; function words left out."""
    return {_stem(word) for word in key_words(text) if word not in _FUNCTION}


def _stem(word: str) -> str:
    stem = re.sub("(?<=...)(?:ing|ed|e|er|ly)$", "", word)
    return re.sub(r"(.)\1$", r"\1", stem)


_FIELDS = {
    "owner", "half", "said", "prompt", "answer", "key", "not", "rewordings", "paraphrases", "hop",
    "yes_no", "neighbour", "unknown", "later",
}  # fmt: skip


def _fact(row: Mapping[str, Any]) -> PersonFact:
    if unknown := set(row) - _FIELDS:
        raise ValueError(f"has unknown fields: {', '.join(sorted(unknown))}")
    told = _told(row)
    half = _text(row["half"], "half")
    if half not in HALVES:
        raise ValueError(f"half is {half!r}, not one of {', '.join(HALVES)}")
    pair = row["yes_no"]
    if not isinstance(pair, list) or len(pair) != 2:
        raise ValueError("yes_no must be two questions")
    yes, no = (_asked(one, "yes_no") for one in pair)
    if not (yes.right("yes") and no.right("no")) or yes.right("no") or no.right("yes"):
        raise ValueError("yes_no must be a question with yes and one with no for an answer")
    later = _told(row["later"]) if "later" in row else None
    if later and (later.right(told.answer) or told.right(later.answer)):
        raise ValueError("later and the fact do not contradict each other")
    return PersonFact(
        **vars(told),
        owner=_text(row["owner"], "owner"),
        half=half,
        rewordings=_wordings(row["rewordings"], "rewordings"),
        paraphrases=_wordings(row["paraphrases"], "paraphrases"),
        hop=_asked(row["hop"], "hop"),
        yes=yes,
        no=no,
        neighbour=_text(_part(row["neighbour"], "neighbour")["prompt"], "neighbour"),
        unknown=_text(_part(row["unknown"], "unknown")["prompt"], "unknown"),
        later=later,
    )


def _told(row: Any) -> Told:
    part = _part(row, "later")
    said, prompt, answer = (_text(part[name], name) for name in ("said", "prompt", "answer"))
    told = Told(said, prompt, answer, *_keys(part))
    if not told.right(answer):
        raise ValueError(f"the answer {answer!r} does not hold its own key")
    return told


def _asked(row: Any, name: str) -> Asked:
    part = _part(row, name)
    return Asked(_text(part["prompt"], f"the prompt of {name}"), *_keys(part))


def _keys(row: Mapping[str, Any]) -> tuple[Key, Key]:
    return read_key(row["key"]), read_key(row["not"], "not") if "not" in row else ()


def _part(row: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(row, dict):
        raise ValueError(f"{name} must be an object")
    return row


def _wordings(value: Any, name: str) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) != WORDINGS:
        raise ValueError(f"{name} must be {WORDINGS} questions")
    return tuple(_text(one, name) for one in value)


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{name} must be a text that is not empty")
    return value
