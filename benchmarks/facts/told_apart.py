"""Measures what telling questions apart does to answers that were taught for another question.

Teaches facts of people.jsonl with pauses, then asks with the app's session and teacher, five answers each,
with the same weights and the same seed: without the rules of learning.teacher.answer_check about other
persons, other forms of answers, other kinds of questions and lessons that are far from the question, and
with them. Right is what holds
the fact's key. Each seed has other facts. The environment chooses as in recall.py (FactsAsked). Left out:
the weights alone (people.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from itertools import product
from statistics import fmean
from typing import Any
from unittest.mock import patch

from benchmarks import BenchOptions
from benchmarks.common.report import deviation, machine, table, with_deviation, write
from benchmarks.facts.offers import shares
from benchmarks.facts.people_data import PersonFact
from benchmarks.facts.recall import (
    FACTS_VARIABLES,
    KINDS,
    UNTAUGHT,
    FactQuestion,
    FactsAsked,
    Heard,
    RecallPlace,
    questions,
    taught_place,
)
from learning.teacher.known import Known
from learning.teacher.recall import LessonRecall

TITLE = "Answers that were taught for another question"
ASKED = {kind: KINDS[kind] for kind in ("taught", "rewording")} | UNTAUGHT
CRITERION = """Written before the run: in the mean of three seeds on the unseen half, with pauses of 5 s,
(a) the surest answer to questions on the same subject, never told, gives the fact at least a quarter less
often with the rules than without; (b) of the questions about somebody else neither the surest nor one of the
five gives it more often; (c) of the questions in other words the surest and one of the five are right for at
most one of 40 less."""


def run(options: BenchOptions) -> dict[str, Any]:
    """See `vidya bench`."""
    where, chosen = machine(), FactsAsked.read(options.quick)
    rows, models = list[dict[str, Any]](), set[str]()
    for turn, seed in enumerate(options.seeds[:1] if options.quick else options.seeds):
        facts = chosen.of_turn(turn)
        with taught_place(facts, seed, chosen.pause, options) as (place, model):
            models.add(model)
            rows.append({"seed": seed, **measure(place, facts, options)})
    result = {
        "benchmark": "told_apart",
        "machine": where,
        "model": ", ".join(models),
        **asdict(chosen),
        "rows": rows,
    }
    if options.out is not None:
        command = options.command("told_apart", seeded=True, variables=FACTS_VARIABLES)
        write(options.out, "told_apart", TITLE, command, parts(result), result)
    return result


@contextmanager
def untold() -> Iterator[None]:
    """Without the rules."""
    with (
        patch.object(Known, "of_others", lambda *_: []),
        patch.object(Known, "of_other_form", lambda *_: False),
        patch.object(LessonRecall, "answers_near", lambda *_: {}),
    ):
        yield


def measure(
    place: RecallPlace, facts: Sequence[PersonFact], options: BenchOptions
) -> dict[str, Any]:
    """For each kind of question the shares, 0 to 1, without and with the rules."""
    rows: list[tuple[FactQuestion, Heard, Heard]] = []
    for question in (one for one in questions(facts) if one.kind in ASKED):
        with untold():
            off = place.heard(question.prompt, False)
        on = place.heard(question.prompt, False)
        rows.append((question, off, on))
        if off.texts != on.texts:
            options.say(f"{question.kind}: {question.prompt} -> {off.texts} | {on.texts}")
    found = {}
    for kind in ASKED:
        some = [row for row in rows if row[0].kind == kind]
        found[kind] = {
            "asked": len(some),
            "off": shares([(question, off) for question, off, _ in some]),
            "on": shares([(question, on) for question, _, on in some]),
        }
    return found


def parts(result: dict[str, Any]) -> list[str]:
    """Text and table of told_apart.md."""
    rows = result["rows"]

    def line(kind: str, words: str) -> list[Any]:
        cells = []
        for what, way in product(("surest", "among"), ("off", "on")):
            shares = [100 * row[kind][way][what] for row in rows]
            cells.append(with_deviation(fmean(shares), deviation(shares)))
        return [words, sum(row[kind]["asked"] for row in rows), *cells]

    return [
        f"{result['model']}, {len(rows)} times {result['facts']} facts of the half {result['half']!r} of "
        f"`data/people.jsonl`, pauses of {result['pause']:g} s; five answers. In percent: answers that hold "
        "the key, which is right for the first two kinds and wrong for the others. Without and with the "
        "rules the weights and the seed are the same.",
        CRITERION,
        table(
            ("asked", "asks", "the surest, without", "with", "one of five, without", "with"),
            [line(kind, words) for kind, words in ASKED.items()],
        ),
    ]
