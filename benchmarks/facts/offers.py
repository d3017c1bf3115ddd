"""Measures `offers`: among the five answers stands that of a lesson which the question perhaps asks for.

Teaches facts of people.jsonl, then asks with the app's session and teacher, with the same seed without and
with offers. The surest of the five counts, and whether one of the five is right. VIDYA_PEOPLE_HALF: "tune"
(default) or "unseen", which is for final figures only. VIDYA_PEOPLE_FIRST, VIDYA_PEOPLE_FACTS: so many
facts are skipped, and so many taught. VIDYA_PEOPLE_PAUSE: seconds of a pause
after each lesson (0: none). Left out: `recall`, which puts the lesson
before the question (recall.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any

from benchmarks import BenchOptions
from benchmarks.common.report import table
from benchmarks.facts.people_data import PersonFact
from benchmarks.facts.recall import (
    KINDS,
    UNTAUGHT,
    FactQuestion,
    Heard,
    RecallPlace,
    measured,
    openings,
    questions,
)

Row = tuple[FactQuestion, Heard, Heard]
"""A question, and what was answered without and with what is measured."""
TITLE = "Taught facts among the five answers: offered lessons"
ASKED = KINDS | UNTAUGHT
CRITERION = """Written before the unseen half was looked at: offers are on at first if, there, (a) one of
the five answers is right for at least 15 points more of the questions in other words; (b) the surest answer
gives the fact for no fewer of the taught questions, in any words, and for no more of the untaught ones, by
more than two asks of each kind; (c) at most 10 % of the openings that have nothing to do with a lesson get an
offer; and (d) the first token comes no later than without, within a tenth."""


def run(options: BenchOptions) -> dict[str, Any]:
    """See `vidya bench`."""
    return measured("offers", TITLE, measure, parts, options)


def measure(
    place: RecallPlace, facts: Sequence[PersonFact], options: BenchOptions
) -> dict[str, Any]:
    """Shares, 0 to 1, of each kind of question without and with offers, and seconds to the first token."""
    place.heard("Hello.", True)  # what is known of the lessons is computed
    return measured_both_ways(place, facts, options, "offered")


def measured_both_ways(
    place: RecallPlace,
    facts: Sequence[PersonFact],
    options: BenchOptions,
    offered: str,
    own: Callable[[PersonFact, Heard], bool] | None = None,
) -> dict[str, Any]:
    """Shares, 0 to 1, of each kind of question without and with offers, and seconds to the first token.
    offered: key of the share of asks with a card that the program offered. own: whether a card says what the
    owner said of the fact; the key of its share is "own"."""
    rows = list[Row]()
    for question in questions(facts):
        without, with_offers = (place.heard(question.prompt, False, on) for on in (False, True))
        rows.append((question, without, with_offers))
        options.say(f"{question.kind}: {question.prompt} -> {with_offers.texts}")
    talk = [place.heard(text, False, True) for text in openings(options)]
    return counted(rows, talk, offered, own)


def counted(
    rows: Sequence[Row],
    talk: Sequence[Heard],
    offered: str,
    own: Callable[[PersonFact, Heard], bool] | None = None,
) -> dict[str, Any]:
    """What `measured_both_ways` returns. talk: what was answered to openings."""
    kinds = {}
    for kind in ASKED:
        some = [row for row in rows if row[0].kind == kind]
        kinds[kind] = {
            "asked": len(some),
            offered: fmean(on.offered for _, _, on in some),
            "off": shares([(question, off) for question, off, _ in some]),
            "on": shares([(question, on) for question, _, on in some]),
        }
        if own is not None:
            kinds[kind]["own"] = fmean(own(question.fact, on) for question, _, on in some)
    return {
        "kinds": kinds,
        "talk": {"asked": len(talk), offered: fmean(one.offered for one in talk)},
        "seconds": {
            "off": fmean(off.seconds for _, off, _ in rows),
            "on": fmean(on.seconds for _, _, on in rows),
        },
    }


def shares(rows: Sequence[tuple[FactQuestion, Heard]]) -> dict[str, float]:
    """Of these questions: the surest answer is right, one of the five is. To an untaught question an answer
    is "right" if it gives the fact, which nobody asked for."""
    return {
        "surest": fmean(q.right(one.text) for q, one in rows),
        "among": fmean(any(map(q.right, one.texts)) for q, one in rows),
    }


def parts(result: dict[str, Any]) -> list[str]:
    """Text and tables of offers.md."""
    talk, seconds = result["talk"], result["seconds"]
    return [
        f"{result['model']}, {result['facts']} facts of the half {result['half']!r} of `data/people.jsonl`; "
        "five answers; right is what holds the key. In percent.",
        CRITERION,
        table(
            (
                "asked",
                "asks",
                "offered",
                "one is right without",
                "with",
                "surest is right without",
                "with",
            ),
            table_rows(result, KINDS, "offered"),
        ),
        "Questions to which nothing was taught, and answers that give the fact:",
        table(
            ("asked", "asks", "offered", "one does without", "with", "the surest without", "with"),
            table_rows(result, UNTAUGHT, "offered"),
        ),
        f"Of {talk['asked']} openings of `data/talk.jsonl`, {percent(talk['offered'])} % got an offer. Mean "
        f"seconds to the first token: {seconds['off']:.3f} without, {seconds['on']:.3f} with.",
    ]


def table_rows(result: dict[str, Any], kinds: dict[str, str], *shares: str) -> list[list[Any]]:
    """One row for each kind of question: the kind in words, the number of asks, then shares in percent. These
    are `shares`, then how often one of five answers is right without and with, then the surest answer."""
    found = [(words, result["kinds"][kind]) for kind, words in kinds.items()]
    return [
        [words, one["asked"], *(percent(one[share]) for share in shares)]
        + [percent(one[way][what]) for what in ("among", "surest") for way in ("off", "on")]
        for words, one in found
    ]


def percent(share: float) -> str:
    return f"{100 * share:.0f}"
