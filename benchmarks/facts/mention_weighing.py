"""Fits how likely a question asks for what the owner said (learning.teacher.mentions).

    python -m benchmarks.facts.mention_weighing

The facts of the tuning half of people.jsonl are said after remarks of talk_tune.jsonl: all hundred, and five
times twenty; so are those of everyday_tune.jsonl, whose rows count twice. Wanted is the fact for its question
in any words, for a question one step further and for a yes or no; nothing is wanted for the questions about
somebody else and on what was never told. Left out are questions for which a statement is known to tell just
what they ask for. Judged by five-fold cross-validation, no question in two folds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.facts.everyday import ASKED as EVERYDAY_KINDS
from benchmarks.facts.everyday import TUNING, EverydayFact, read_everyday
from benchmarks.facts.mentions import remarks
from benchmarks.facts.people_data import PersonFact, read_people
from benchmarks.facts.recall import KINDS, UNTAUGHT, questions
from benchmarks.facts.recall_weighing import BOUNDS, FOLDS, Judged, logistic, recalled
from engine.config import Sampling
from engine.encoder import shipped_encoder
from learning.journal.journal import Journal
from learning.protocol.records import Turn
from learning.teacher.mentions import Mentions, of_something_else, signs
from learning.text.flaws import with_sentences
from learning.text.kinds.told import Statement, asks_or_names
from learning.text.mention import clauses, told_in
from learning.text.questions.asked_for import lacks_form
from personality.book import read_book, shipped_book_path


@dataclass(frozen=True)
class Question:
    """A question, and the statements that answer it."""

    kind: str
    text: str
    wanted: frozenset[str]


@dataclass(frozen=True)
class Asked:
    """A question, and the message that is likeliest meant by cosine and shared words."""

    kind: str
    text: str
    features: tuple[float, float, float, float, float]
    right: bool


@contextmanager
def said(texts: Iterable[str]) -> Iterator[Mentions]:
    """What can be said back where each of these texts was a message."""
    book = [text for entry in read_book(shipped_book_path()) for _, text in entry.turns]
    with TemporaryDirectory() as folder, closing(Journal(Path(folder) / "journal")) as journal:
        for text in texts:
            journal.add_ask(journal.new_conversation(), (Turn("user", text),), Sampling())
        mentions = Mentions(journal, lambda: book)
        while mentions.step():
            pass
        yield mentions


def of_people(facts: Sequence[PersonFact]) -> list[Question]:
    """The questions about these facts."""
    return [
        Question(q.kind, q.prompt, frozenset(told_in(q.fact.said) if q.kind in KINDS else ()))
        for q in questions(facts)
    ]


def of_everyday(facts: Sequence[EverydayFact]) -> list[Question]:
    """The questions about these facts."""
    return [
        Question(
            kind, asked.prompt, frozenset(told_in(fact.said) if kind in EVERYDAY_KINDS else ())
        )
        for fact in facts
        for kind, asked in fact.questions
    ]


def gather(facts: Iterable[str], asked: Iterable[Question]) -> Iterator[Asked]:
    """What is found for each question about the facts, which are said after remarks."""
    with said([*remarks(), *facts]) as mentions:
        for question in asked:
            if asks_or_names(question.text) and (one := _likeliest(mentions, question)):
                yield one


def _likeliest(mentions: Mentions, question: Question) -> Asked | None:
    text = question.text
    parts = shipped_encoder().encode(with_sentences(text))
    found, cosines, idfs = mentions.evidence(text, parts)
    near = [
        (float(cosines[place] + idfs[place] / 10), place)
        for place, mention in enumerate(found)
        if not of_something_else(text, mention.read) and not lacks_form(text, mention.read)
    ]
    if not near:
        return None
    place = max(near)[1]
    told = found[place]
    if Statement.of(clauses(told.read)).tells(text):
        return None
    features = (float(cosines[place]), float(idfs[place]), *signs(text, told.read))
    return Asked(question.kind, text, features, told.text in question.wanted)


def fitted(rows: Sequence[Asked]) -> list[float]:
    """BIAS, NEAR, IDF, LACKING, WHOLE and PERSONS."""
    flags = [float(row.right) for row in rows]
    return logistic([row.features for row in rows], flags, [1.0] * len(rows))


def judged(rows: Sequence[Asked]) -> list[Judged]:
    """Cross-validation: one for each row."""
    fold = {text: at % FOLDS for at, text in enumerate(dict.fromkeys(row.text for row in rows))}
    ways = [fitted([row for row in rows if fold[row.text] != one]) for one in range(FOLDS)]

    def likely(row: Asked) -> float:
        bias, *own = ways[fold[row.text]]
        z = bias + sum(a * b for a, b in zip(own, row.features, strict=True))
        return 1.0 / (1.0 + math.exp(-z))

    return [Judged(row.kind, likely(row), row.right) for row in rows]


def main() -> None:
    """Prints, for each bound, the share of questions of each kind to which the right and a wrong message is
    said back; then the coefficients."""
    facts, everyday = read_people("tune"), read_everyday(TUNING)
    rows = list[Asked]()
    for first, count in ((0, len(facts)), *((first, 20) for first in range(0, len(facts), 20))):
        some = facts[first : first + count]
        rows += gather((fact.said for fact in some), of_people(some))
    rows += 2 * list(gather((fact.said for fact in everyday), of_everyday(everyday)))
    found = judged(rows)
    kinds = [*KINDS, *UNTAUGHT, *EVERYDAY_KINDS]
    print("right / wrong, %; from", *kinds, sep=" | ")
    for least in BOUNDS:
        shares = recalled(found, least)
        told = (f"{100 * shares[k][0]:.0f} / {100 * shares[k][1]:.0f}" for k in kinds)
        print(least, *told, sep=" | ")
    names = "BIAS, NEAR, IDF, LACKING, WHOLE, PERSONS"
    print(names, "=", ", ".join(f"{value:.2f}" for value in fitted(rows)))


if __name__ == "__main__":
    main()
