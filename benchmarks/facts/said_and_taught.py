"""Measures what it is worth that a fact was also said: facts that are taught, then told in an earlier talk.

Teaches facts of people.jsonl and asks their questions with the app's session, with recall and offers. Then
each fact is said in a conversation of its own, in the words of its owner, and the same questions are asked
again with the same weights and seeds. The environment is that of recall.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks import BenchOptions
from benchmarks.common.report import table
from benchmarks.facts.mentions import says_back
from benchmarks.facts.offers import ASKED, counted, percent
from benchmarks.facts.people_data import PersonFact
from benchmarks.facts.recall import RecallPlace, measured, openings, questions

TITLE = "Taught facts that were also said"
CRITERION = """Written before the unseen half was looked at: with the 10M and twenty facts, where a fact was
also said, (a) the surest of five answers is right for at least 10 points more of the questions without a
shared content word, and for as many of every other taught kind, within two asks; (b) it gives the fact to at
most one more of the questions about somebody else, and four more of those on the same subject about what was
never told; (c) at most 10 % of the openings get an offered card."""


def run(options: BenchOptions) -> dict[str, Any]:
    """See `vidya bench`."""
    return measured("said_and_taught", TITLE, measure, parts, options)


def measure(
    place: RecallPlace, facts: Sequence[PersonFact], options: BenchOptions
) -> dict[str, Any]:
    """Shares, 0 to 1, of each kind of question before and after the facts were said."""
    place.heard("Hello.", True, True)  # what is known of the lessons is computed
    asked = questions(facts)
    before = [place.heard(question.prompt, True, True) for question in asked]
    for fact in facts:
        place.cards(fact.said)
    after = [place.heard(question.prompt, True, True) for question in asked]
    rows = list(zip(asked, before, after, strict=True))
    for question, off, on in rows:
        if off.texts != on.texts:
            options.say(f"{question.kind}: {question.prompt} -> {off.texts} | {on.texts}")
    talk = [place.heard(text, True, True) for text in openings(options)]
    return counted(rows, talk, "offered", says_back)


def parts(result: dict[str, Any]) -> list[str]:
    """Text and table of said_and_taught.md."""
    talk = result["talk"]
    rows = [
        [words, one["asked"], percent(one["own"])]
        + [percent(one[way][what]) for what in ("among", "surest") for way in ("off", "on")]
        for kind, words in ASKED.items()
        for one in [result["kinds"][kind]]
    ]
    columns = ("asked", "asks", "what was said is said back", "one of five, taught", "said too")
    return [
        CRITERION,
        f"{result['model']}, {result['facts']} facts of the half {result['half']!r} of `data/people.jsonl`, "
        "with recall and offers; five answers; right is what holds the key, and for the last two kinds what "
        "gives the fact, which nobody asked for. In percent.",
        table((*columns, "the surest, taught", "said too"), rows),
        f"Of {talk['asked']} openings of `data/talk.jsonl`, {percent(talk['offered'])} % got an offered "
        "card.",
    ]
