"""Measures plain facts: what people tell an assistant in passing, and ask it days later in ordinary words.

Each fact of everyday.jsonl is said in a conversation of its own, after remarks of talk_tune.jsonl, and never
taught. Then its questions are asked in new conversations with the app's session, for five answers and for
one alone. VIDYA_EVERYDAY_FACTS: so many facts are said (default: all). Left out: unusual facts, and questions
that share no word with them (mentions.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks import DATA, BenchOptions
from benchmarks.common.asked import count_asked
from benchmarks.common.report import machine, table, write
from benchmarks.facts.mentions import said_place
from benchmarks.facts.offers import percent
from benchmarks.facts.people_data import Asked
from benchmarks.facts.recall import RecallPlace, openings
from engine.errors import DataError
from learning.data.json_lines import parse
from learning.text.key import read_key

TITLE = "Everyday facts that were only said"
NAME = "everyday"
EVERYDAY, TUNING = DATA / "everyday.jsonl", DATA / "everyday_tune.jsonl"
COUNT_VARIABLE = "VIDYA_EVERYDAY_FACTS"
QUICK = 2
ASKED = {"plain": "plainly", "other": "in other words", "careless": "carelessly typed"}
UNTOLD = {"unknown": "about the same, never told", "neighbour": "about somebody else"}
CRITERION = """Written before any model was asked: with the 10M and all 100 facts, (a) the surest of five
answers is right for at least 60 % of the questions that ask plainly and 45 % of those in other words, one of
five for 80 and 65 %; (b) one answer alone is right for 70 and 55 %; (c) the surest answer gives the fact for
at most 10 % of the questions about what was never told, and one alone for at most 25 %; (d) about somebody
else both give it for at most 5 %; (e) at most 5 % of the openings get such an answer alone."""


@dataclass(frozen=True)
class EverydayFact:
    """One line of the file."""

    said: str
    questions: tuple[tuple[str, Asked], ...]
    """(kind, question), with the words that a right answer has, or one that gives the fact unasked."""


def read_everyday(path: Path | None = None) -> list[EverydayFact]:
    """path: None for the facts that are measured. Raises DataError for a line that is none."""
    path, found = path or EVERYDAY, list[EverydayFact]()
    for number, row in parse(path.read_bytes(), path.name, "mend the line"):
        try:
            key = read_key(row["key"])
            kinds = [*zip(ASKED, row["asked"], strict=True), *((k, row[k]) for k in UNTOLD)]
            asked = tuple((kind, Asked(text, key)) for kind, text in kinds)
            found.append(EverydayFact(row["said"], asked))
        except (KeyError, TypeError, ValueError) as error:
            what = f"{path.name}:{number}: no fact ({error})"
            raise DataError(what, "mend the line") from error
    return found


def run(options: BenchOptions) -> dict[str, Any]:
    """See `vidya bench`."""
    where = machine()
    facts = read_everyday()
    facts = facts[: QUICK if options.quick else count_asked(COUNT_VARIABLE, len(facts))]
    with said_place((fact.said for fact in facts), options) as (place, model):
        kinds = {kind: answered(place, facts, kind, options) for kind in ASKED | UNTOLD}
        talk = [place.heard(text, True, True, count=1).offered for text in openings(options)]
    result = {"benchmark": NAME, "machine": where, "model": model, "facts": len(facts)}
    result |= {"seed": options.seeds[0], "kinds": kinds, "openings": fmean(talk)}
    if options.out is not None:
        command = options.command(NAME, seeded=True, variables=[COUNT_VARIABLE])
        write(options.out, options.stem(NAME), TITLE, command, parts(result), result)
    return result


def answered(
    place: RecallPlace, facts: Sequence[EverydayFact], kind: str, options: BenchOptions
) -> dict[str, float]:
    """Shares, 0 to 1, of the questions of a kind: something is said back; the surest answer, one of five, and
    one alone give the fact."""
    rows = list[tuple[bool, bool, bool, bool]]()
    for fact in facts:
        asked = dict(fact.questions)[kind]
        five = place.heard(asked.prompt, True, True)
        alone = place.heard(asked.prompt, True, True, count=1)
        among = any(map(asked.right, five.texts))
        rows.append((five.offered, asked.right(five.text), among, asked.right(alone.text)))
        options.say(f"{kind}: {asked.prompt} -> {five.texts} | {alone.text}")
    shares = [fmean(column) for column in zip(*rows, strict=True)]
    return dict(zip(("said_back", "surest", "among", "alone"), shares, strict=True))


def parts(result: dict[str, Any]) -> list[str]:
    """Text and table of everyday.md."""
    head = (
        "asked",
        "something is said back",
        "the surest gives the fact",
        "one of five",
        "one alone",
    )
    rows = [
        [words, *(percent(share) for share in result["kinds"][kind].values())]
        for kind, words in (ASKED | UNTOLD).items()
    ]
    return [
        CRITERION,
        f"{result['model']}, {result['facts']} facts, said and never taught; seed {result['seed']}; recall "
        "and offers on, as in the app. A right answer has the key; for the last two kinds none should have "
        "it. In percent.",
        table(head, rows),
        f"Of the openings of `data/talk.jsonl` {percent(result['openings'])} % got something said back as "
        "the one answer.",
    ]
