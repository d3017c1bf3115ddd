"""Measures recall of taught facts in a conversation that contains unjudged inventions of the model.

Teaches twenty lessons, then asks for each with the app's session and teacher: in a new conversation, after
ten inventions that contradict lessons (two of them about the fact itself, once in the taught words and once
in others), and after ten answers of the model to questions for which nothing was taught. An answer is right
if it is exactly the taught one. Left out: facts told in the same conversation (in_context.py).
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks import DATA, BenchOptions
from benchmarks.common.place import Place
from benchmarks.common.report import deviation, machine, table, with_deviation, write
from benchmarks.common.scratch import scratch_home
from benchmarks.lessons.collapse_data import read_lessons
from engine.config import Sampling
from learning.protocol.records import Turn, Turns
from learning.text.normalise import fold_answer

LESSONS, INVENTIONS, QUICK_LESSONS = 20, 10, 2
UNTAUGHT = (
    "What is my sister called?",
    "What colour is my car?",
    "What is my horse called?",
    "Where do I work?",
    "Where did I go on holiday?",
    "Who is my best friend?",
    "What is my favourite film?",
    "How old am I?",
    "What do I eat for breakfast?",
    "When is my wedding day?",
)
"""Questions without lessons or book entries, so that all answers are inventions."""
ARMS = {
    "new": "in a new conversation",
    "contradicted": "after ten inventions against lessons",
    "own": "after ten inventions of its own",
}
TITLE = "Taught facts after unjudged inventions"
BOUND = 0.95
"""Target for the share of right first answers after inventions of both kinds."""


@dataclass(frozen=True)
class Fact:
    """A lesson, its question in other words, and a false answer of the same form."""

    question: str
    answer: str
    again: str
    invention: str


def read_facts(count: int = LESSONS, path: Path = DATA / "inventions.jsonl") -> list[Fact]:
    """The first `count` facts."""
    false = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    rows = {row.prompt: row.answer for row in read_lessons(DATA / "lessons20.jsonl")}
    facts = [Fact(r["prompt"], rows[r["prompt"]], r["again"], r["invention"]) for r in false]
    return facts[:count]


def run(options: BenchOptions) -> dict[str, Any]:
    """See `vidya bench`."""
    where, runs = machine(), list[dict[str, Any]]()
    facts = read_facts(QUICK_LESSONS if options.quick else LESSONS)
    for seed in options.seeds:
        with scratch_home(options) as (home, model):
            place = InventionsPlace(home, model, seed)
            try:
                place.teach((fact.question, fact.answer) for fact in facts)
                options.say(f"seed {seed}: {len(facts)} lessons taught")
                runs.append({"seed": seed, **place.measure(facts, options)})
            finally:
                place.close()
    result = {"benchmark": "inventions", "machine": where, "lessons": len(facts), "runs": runs}
    result["bounds"] = [
        {"what": ARMS[arm], "limit": BOUND, "measured": found, "met": found >= BOUND}
        for arm in ("contradicted", "own")
        if (found := fmean(one[arm]["first"] for one in runs)) is not None
    ]
    if options.out is not None:
        command = options.command("inventions", seeded=True)
        write(options.out, "inventions", TITLE, command, parts(result), result)
    return result


class InventionsPlace(Place):
    """A home in which taught facts are asked for after inventions."""

    def measure(self, facts: Sequence[Fact], options: BenchOptions) -> dict[str, Any]:
        """For each arm: the share of facts, 0 to 1, whose first answer is right, for which one of the five
        is right, and whose first answer is right when asked in other words; and the wrong answers."""
        own, rng = self.own_inventions(), random.Random(self._seed)
        before = {
            "new": lambda fact: list[tuple[str, str]](),
            "contradicted": lambda fact: contradictions(facts, fact, rng),
            "own": lambda fact: own,
        }
        found: dict[str, Any] = {"inventions": own}
        for arm in ARMS:
            talks = [before[arm](fact) for fact in facts]
            both = list(zip(facts, talks, strict=True))
            rows = [self.ask(talk, fact.question) for fact, talk in both]
            again = [self.ask(talk, fact.again) for fact, talk in both]
            right = [judged(fact, said) for fact, said in zip(facts, rows, strict=True)]
            found[arm] = {
                "again": fmean(
                    judged(fact, said)[0] for fact, said in zip(facts, again, strict=True)
                ),
                "first": fmean(some[0] for some in right),
                "any": fmean(any(some) for some in right),
                "wrong": [
                    [fact.question, said[0]]
                    for fact, said, some in zip(facts, rows, right, strict=True)
                    if not some[0]
                ],
            }
            options.say(f"seed {self._seed}, {ARMS[arm]}: {found[arm]}")
        return found

    def own_inventions(self) -> list[tuple[str, str]]:
        """(question, answer) of one conversation in which the owner never judges."""
        session = self._session()
        for question in UNTAUGHT[:INVENTIONS]:
            self._answered(session, question)
        session.take_surest()
        texts = [turn.text for turn in session.turns]
        return list(zip(texts[::2], texts[1::2], strict=True))

    def ask(self, before: Sequence[tuple[str, str]], question: str) -> list[str]:
        """The answers to a question after an unjudged conversation, in the order in which they are shown."""
        session = self._session()
        if before:
            session.open(self._unjudged(before))
        return [card.said for card in self._answered(session, question)]

    def _unjudged(self, said: Sequence[tuple[str, str]]) -> int:
        """Writes an unjudged conversation into the journal; returns its id."""
        conversation, parent = self._journal.new_conversation(), None
        turns: Turns = ()
        for question, answer in said:
            turns = (*turns, Turn("user", question))
            ask = self._journal.add_ask(conversation, turns, Sampling(), parent=parent)
            self._journal.set_answer(ask.id, answer)
            turns, parent = (*turns, Turn("assistant", answer)), ask.id
        return conversation


def judged(fact: Fact, said: Sequence[str]) -> list[bool]:
    """For each answer, whether it is exactly the taught one."""
    return [fold_answer(text) == fold_answer(fact.answer) for text in said]


def contradictions(facts: Sequence[Fact], asked: Fact, rng: random.Random) -> list[tuple[str, str]]:
    """INVENTIONS (question, false answer) pairs in random order: the asked fact in both wordings, and other
    facts in one wording."""
    others = rng.sample(
        [fact for fact in facts if fact != asked], min(len(facts), INVENTIONS - 1) - 1
    )
    said = [(asked.question, asked.invention), (asked.again, asked.invention)]
    said += [(rng.choice((fact.question, fact.again)), fact.invention) for fact in others]
    rng.shuffle(said)
    return said


def parts(result: dict[str, Any]) -> list[str]:
    """Text and table of inventions.md."""
    lines = []
    for arm, words in ARMS.items():
        line: list[object] = [words]
        for key in ("first", "any", "again"):
            values = [100 * one[arm][key] for one in result["runs"]]
            line.append(with_deviation(fmean(values), deviation(values)))
        lines.append(line)
    said = [f"- {q} \u2192 {a}" for q, a in result["runs"][0]["inventions"]]
    return [
        f"{result['lessons']} lessons (`data/lessons20.jsonl`), five answers with the app's settings. An "
        "answer is right if it is exactly the taught one; in percent, means and standard deviations over "
        f"the seeds. The target is {100 * BOUND:.0f} % of first answers after inventions.",
        table(
            (
                "asked",
                "first answer right",
                "a right one among the five",
                "first right, asked in other words",
            ),
            lines,
        ),
        "The model's own inventions with the first seed:",
        "\n".join(said),
    ]
