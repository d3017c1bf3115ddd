"""Fits how likely a question asks for what the owner said (learning.teacher.mentions).

    python -m benchmarks.facts.mention_weighing

The facts of the tuning half of people.jsonl are said after remarks of talk_tune.jsonl: all hundred, and five
times twenty. Wanted is the fact for its question in any words, for a question one step further and for a
yes or no; nothing is wanted for the questions about somebody else and on what was never told. Judged by
five-fold cross-validation, no question in two folds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.facts.mentions import remarks
from benchmarks.facts.people_data import PersonFact, read_people
from benchmarks.facts.recall import KINDS, UNTAUGHT, FactQuestion, questions
from benchmarks.facts.recall_weighing import BOUNDS, FOLDS, Judged, logistic, recalled
from engine.config import Sampling
from engine.encoder import shipped_encoder
from learning.journal.journal import Journal
from learning.protocol.records import Turn
from learning.teacher.mentions import Mentions
from learning.text.flaws import with_sentences
from learning.text.mention import told_in
from learning.text.questions.another import of_somebody_else
from learning.text.questions.asked_for import seems_to_lack_form
from learning.text.questions.asking import asks_in_any_order
from personality.book import read_book, shipped_book_path


@dataclass(frozen=True)
class Asked:
    """A question, and the message that is likeliest meant by cosine and shared words."""

    kind: str
    text: str
    features: tuple[float, float, float]
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


def gather(facts: Sequence[PersonFact], others: Sequence[str]) -> Iterator[Asked]:
    """What is found for each question about the facts, which are said after the others."""
    with said([*others, *(fact.said for fact in facts)]) as mentions:
        for question in questions(facts):
            if asks_in_any_order(question.prompt) and (one := _likeliest(mentions, question)):
                yield one


def _likeliest(mentions: Mentions, question: FactQuestion) -> Asked | None:
    text = question.prompt
    parts = shipped_encoder().encode(with_sentences(text))
    found, cosines, idfs = mentions.evidence(text, parts)
    near = [
        (float(cosines[place] + idfs[place] / 10), place)
        for place, mention in enumerate(found)
        if not of_somebody_else(text, mention.text)
    ]
    if not near:
        return None
    place = max(near)[1]
    own = found[place].text in told_in(question.fact.said)
    lacking = float(seems_to_lack_form(text, found[place].text))
    features = (float(cosines[place]), float(idfs[place]), lacking)
    return Asked(question.kind, text, features, own and question.kind in KINDS)


def fitted(rows: Sequence[Asked]) -> list[float]:
    """BIAS, NEAR, IDF and LACKING."""
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
    facts, others = read_people("tune"), remarks()
    rows = list(gather(facts, others))
    for first in range(0, len(facts), 20):
        rows += gather(facts[first : first + 20], others)
    found = judged(rows)
    kinds = [*KINDS, *UNTAUGHT]
    print("right / wrong, %; from", *kinds, sep=" | ")
    for least in BOUNDS:
        shares = recalled(found, least)
        told = (f"{100 * shares[k][0]:.0f} / {100 * shares[k][1]:.0f}" for k in kinds)
        print(least, *told, sep=" | ")
    print("BIAS, NEAR, IDF, LACKING =", ", ".join(f"{value:.2f}" for value in fitted(rows)))


if __name__ == "__main__":
    main()
