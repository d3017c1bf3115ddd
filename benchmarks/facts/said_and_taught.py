"""Measures what it is worth that a fact was also said: facts that are taught, then told in an earlier talk.

Teaches facts of people.jsonl and asks their questions with the app's session, with recall and offers. Then
each fact is said in a conversation of its own, in the words of its owner, and the same questions are asked
again with the same weights and seeds. At last the owner says what has changed of a third of the facts, and is
asked for all of them in the taught and in other words. The environment is that of recall.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Any

from benchmarks import BenchOptions
from benchmarks.common.report import table
from benchmarks.facts.mentions import says_back
from benchmarks.facts.offers import ASKED, Row, counted, percent, table_rows
from benchmarks.facts.people_data import PersonFact, Told
from benchmarks.facts.recall import KINDS, RecallPlace, measured, openings, questions
from learning.text.mention import said_back, told_in

TITLE = "Taught facts that were also said"
CHANGED = ("taught", "rewording")
"""Kinds of questions that are asked after something has changed."""
CRITERION = """Written before the unseen half was looked at: with the 10M and twenty facts, where a fact was
also said, (a) the surest of five answers is right for at least 10 points more of the questions without a
shared content word, and for as many of every other taught kind, within two asks; (b) it gives the fact to at
most one more of the questions about somebody else, and four more of those on the same subject about what was
never told; (c) at most 10 % of the openings get an offered card."""
CRITERION_CHANGED = """Written before the unseen half was looked at: after the owner said what has changed
(d) the surest answer gives the new fact for at least 50 % of the questions in the taught words and 40 % of
those in other words, and one of five for at least 60 and 50 %; (e) the surest answer to questions about what
has not changed is right as often as before, within two asks of each kind."""


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
    found = counted(rows, talk, "offered", says_back)
    found["changed"] = changed(place, rows, options)
    return found


def changed(place: RecallPlace, rows: Sequence[Row], options: BenchOptions) -> dict[str, Any]:
    """Says what has changed of the facts, and asks again. rows: what was asked before, and the answers.
    Shares, 0 to 1, of the surest answers and of one of five that give the new fact and the old one, and of
    the surest answers that are right where nothing has changed."""
    for fact in dict.fromkeys(question.fact.later for question, _, _ in rows):
        if fact is not None:
            place.cards(fact.said)
    found: dict[str, Any] = {}
    for kind in CHANGED:
        some = [(question, before) for question, _, before in rows if question.kind == kind]
        heard = [(q, before, place.heard(q.prompt, True, True)) for q, before in some]
        new = [(q.fact.later, before, now) for q, before, now in heard if q.fact.later]
        old = [(q, before, now) for q, before, now in heard if not q.fact.later]
        for q, _, now in heard:
            options.say(f"changed, {kind}: {q.prompt} -> {now.texts}")
        found[kind] = {
            "asked": len(new),
            "before": share(tells(later, before.text) for later, before, _ in new),
            "surest": share(tells(later, now.text) for later, _, now in new),
            "among": share(any(tells(later, x) for x in now.texts) for later, _, now in new),
            "unchanged": {
                "asked": len(old),
                "before": share(q.right(before.text) for q, before, _ in old),
                "surest": share(q.right(now.text) for q, _, now in old),
            },
        }
    return found


def tells(later: Told, text: str) -> bool:
    """Whether a text gives the new fact, or says back what the owner said of it, which may name the old one
    too ("Eitan gave up bikes, it is a record shop now.")."""
    return later.right(text) or text in {said_back(told) for told in told_in(later.said)}


def share(right: Iterable[bool]) -> float:
    """0 to 1; 0 of none."""
    return fmean(found) if (found := list(right)) else 0.0


def parts(result: dict[str, Any]) -> list[str]:
    """Text and table of said_and_taught.md."""
    talk = result["talk"]
    rows = table_rows(result, ASKED, "own")
    columns = ("asked", "asks", "what was said is said back", "one of five, taught", "said too")
    return [
        CRITERION,
        f"{result['model']}, {result['facts']} facts of the half {result['half']!r} of `data/people.jsonl`, "
        "with recall and offers; five answers; right is what holds the key, and for the last two kinds what "
        "gives the fact, which nobody asked for. In percent.",
        table((*columns, "the surest, taught", "said too"), rows),
        f"Of {talk['asked']} openings of `data/talk.jsonl`, {percent(talk['offered'])} % got an offered "
        "card.",
        CRITERION_CHANGED,
        table(
            (
                *("asked", "what has changed, asks", "the surest gives the new fact, before"),
                *("after", "one of five does", "what has not, asks", "the surest is right, before"),
                "after",
            ),
            [
                [
                    KINDS[kind],
                    one["asked"],
                    *(percent(one[what]) for what in ("before", "surest", "among")),
                ]
                + [one["unchanged"]["asked"]]
                + [percent(one["unchanged"][what]) for what in ("before", "surest")]
                for kind, one in result["changed"].items()
            ],
        ),
    ]
