"""Measures how what the owner only said is said back: facts that are told in earlier talks, and never taught.

Each fact of people.jsonl is said in a conversation of its own, in the words of its owner, between remarks of
talk_tune.jsonl. Then its questions are asked in new conversations with the app's session, with the same seed
without and with offers, as in offers.py; at last for one answer alone. VIDYA_PEOPLE_HALF: "tune" (default) or
"unseen", which is for final figures only. VIDYA_PEOPLE_FACTS, VIDYA_PEOPLE_FIRST: so many facts are said, and
so many skipped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from statistics import fmean
from typing import Any

from benchmarks import DATA, BenchOptions
from benchmarks.common.report import machine, table, write
from benchmarks.common.scratch import scratch_home
from benchmarks.facts.offers import ASKED, Row, measured_both_ways, percent, shares, table_rows
from benchmarks.facts.people_data import PersonFact
from benchmarks.facts.recall import (
    FACTS_VARIABLES,
    FactsAsked,
    Heard,
    RecallPlace,
    openings,
    questions,
)
from benchmarks.talking.talk_data import load
from learning.text.mention import said_back, told_in

TITLE = "Facts that were only said, among the five answers"
REMARKS = DATA / "talk_tune.jsonl"
CRITERION = """Written before the unseen half was looked at: with the 10M and all 100 facts of it, (a) one of
the five answers is right for at least 45 % of the questions in other words and (b) for at least 25 % of
those without a shared content word; (c) the surest answer is right for at least 25 and 10 points more of
them than without; (d) of the questions about somebody else and on the same subject about what was never
told, the surest answer gives the fact for at most 10 and 20 %; (e) at most 10 % of the openings get such a
card; (f) the first token comes no later than without, within a tenth."""
CRITERION_ALONE = """Written before the unseen half was asked for one answer: with the 10M and 100 facts (g)
it is right for at least 25 % of the questions in other words and 10 % of those without a shared content word;
(h) it gives the fact to at most 10 % of the questions about somebody else and 20 % of those about what was
never told; (i) at most 5 % of the openings get such an answer."""


def run(options: BenchOptions) -> dict[str, Any]:
    """See `vidya bench`."""
    where, chosen = machine(), FactsAsked.read(options.quick)
    facts = chosen.of_turn(0)
    said = [fact.said for fact in facts]
    with said_place(said, options) as (place, model):
        found = measured_both_ways(place, facts, options, "said_back", says_back)
    with said_place(said, options) as (place, _):
        found["alone"] = alone(place, facts, options)
    result = {"benchmark": "mentions", "machine": where, "model": model, **asdict(chosen), **found}
    if options.out is not None:
        command = options.command("mentions", variables=FACTS_VARIABLES[:3])
        write(options.out, "mentions", TITLE, command, parts(result), result)
    return result


@contextmanager
def said_place(said: Iterable[str], options: BenchOptions) -> Iterator[tuple[RecallPlace, str]]:
    """(a place where this was said, each in a talk of its own, after remarks; its model). Only the newest
    2,000 messages are looked at (learning.teacher.mentions), so that not too much may be asked there."""
    with scratch_home(options) as (home, model):
        place = RecallPlace(home, model, options.seeds[0])
        try:
            for text in [*remarks()[: 2 if options.quick else None], *said]:
                place.cards(text)
            yield place, model
        finally:
            place.close()


def alone(place: RecallPlace, facts: Sequence[PersonFact], options: BenchOptions) -> dict[str, Any]:
    """Shares, 0 to 1, of each kind of question for which a single answer is right, without and with recall,
    and of those and the openings for which it says something back."""
    asked = questions(facts)
    on = [place.heard(question.prompt, True, count=1) for question in asked]
    talk = [place.heard(text, True, count=1) for text in openings(options)]
    off = [place.heard(question.prompt, False, count=1) for question in asked]
    rows: list[Row] = list(zip(asked, off, on, strict=True))
    found = dict[str, Any]()
    for kind in ASKED:
        some = [row for row in rows if row[0].kind == kind]
        found[kind] = {
            "said_back": fmean(with_recall.offered for _, _, with_recall in some),
            "off": shares([(question, without) for question, without, _ in some])["surest"],
            "on": shares([(question, with_recall) for question, _, with_recall in some])["surest"],
        }
    return {"kinds": found, "talk": fmean(one.offered for one in talk)}


def remarks() -> list[str]:
    """What the owner says besides."""
    return [question.asked for question in load(REMARKS)]


def says_back(fact: PersonFact, heard: Heard) -> bool:
    """Whether one of the cards says back what was said of the fact."""
    return not {said_back(told) for told in told_in(fact.said)}.isdisjoint(heard.texts)


def parts(result: dict[str, Any]) -> list[str]:
    """Text and table of mentions.md."""
    talk, seconds, single = result["talk"], result["seconds"], result["alone"]
    first = " without, ".join(f"{seconds[way]:.3f}" for way in ("off", "on"))
    rows = table_rows(result, ASKED, "said_back", "own")
    columns = ("asked", "asks", "something is said back", "the fact is", "one of five, without")
    return [
        CRITERION,
        f"{result['model']}, {result['facts']} facts of the half {result['half']!r} of `data/people.jsonl`, "
        "said and not taught; five answers; right is what holds the key, and for the last two kinds what "
        "gives the fact, which nobody asked for. In percent.",
        table((*columns, "with", "the surest, without", "with"), rows),
        f"Of {talk['asked']} openings of `data/talk.jsonl`, {percent(talk['said_back'])} % got something "
        f"said back. Mean seconds to the first token: {first} with.",
        CRITERION_ALONE,
        "One answer alone:",
        table(
            ("asked", "it says something back", "right, without", "with"),
            [
                [
                    words,
                    *(percent(single["kinds"][kind][what]) for what in ("said_back", "off", "on")),
                ]
                for kind, words in ASKED.items()
            ],
        ),
        f"Of the openings {percent(single['talk'])} % got something said back.",
    ]
