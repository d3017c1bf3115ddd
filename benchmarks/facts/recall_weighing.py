"""Fits the weighing with which `recall` judges lessons (learning.teacher.recall), on one taught home.

    VIDYA_HOME=HOME vidya teach --file FILE --model NAME  # of people.jsonl (tune) and lessons_tune
    python -m benchmarks.facts.recall_weighing HOME NAME

Wanted are rewordings, paraphrases and questions one step further; not wanted is a lesson for the questions
about somebody else, for those on which nothing was said, and for the openings of data/talk_tune.jsonl. Judged
by five-fold cross-validation, no fact in two folds; the weighing printed at the end is fitted to all.
"""

from __future__ import annotations

import argparse
from collections.abc import Container, Sequence
from contextlib import closing
from dataclasses import astuple, dataclass
from pathlib import Path
from statistics import fmean

import torch

from benchmarks import DATA
from benchmarks.facts.people_data import read_people
from benchmarks.lessons.collapse_data import read_lessons
from benchmarks.talking.talk_data import load
from engine.errors import VidyaError
from learning.home import Home
from learning.journal.journal import Journal
from learning.lessons.learner import Learner
from learning.models.store import ModelStore
from learning.teacher.recall import LessonRecall
from learning.teacher.relevance import Evidence, Weighing

FOLDS = 5
DECAY = 1e-2
"""Weight decay of the regression, on features scaled to a deviation of 1."""
BOUNDS = (0.3, 0.5, 0.6, 0.7, 0.8)
LESSONS = ("lessons_tune.jsonl", "lessons_tune2.jsonl")
OPENINGS = "opening"
UNWANTED = ("neighbour", "unknown", OPENINGS)


@dataclass(frozen=True)
class Row:
    """A question and the lessons that were looked at."""

    kind: str
    fold: int
    evidence: tuple[Evidence, ...]
    right: tuple[bool, ...]
    """Which of them the question asks for."""


@dataclass(frozen=True)
class Question:
    """Something to ask."""

    kind: str
    text: str
    about: str
    """The taught question of the fact that it is about; itself if it is about none."""

    @property
    def wanted(self) -> str | None:
        """The taught question whose lesson is to be recalled."""
        return None if self.kind in UNWANTED else self.about


def asked(taught: Container[str]) -> list[Question]:
    """What is asked about the taught questions, and the openings."""
    found = list[Question]()
    for fact in read_people("tune"):
        if fact.prompt in taught:
            kinds = [("rewording", text) for text in fact.rewordings]
            kinds += [("paraphrase", text) for text in fact.paraphrases]
            kinds += [("hop", fact.hop.prompt), ("neighbour", fact.neighbour)]
            kinds += [("unknown", fact.unknown)]
            found += [Question(kind, text, fact.prompt) for kind, text in kinds if text]
    for name in LESSONS:
        for lesson in read_lessons(DATA / name):
            if lesson.prompt in taught:
                kinds = [("lesson's rewording", text) for text in lesson.rewordings]
                kinds += [("lesson's paraphrase", lesson.paraphrase)]
                found += [Question(kind, text, lesson.prompt) for kind, text in kinds if text]
    talk = [q.asked for q in load(DATA / "talk_tune.jsonl") if len(q.turns) == 1]
    return found + [Question(OPENINGS, text, text) for text in talk]


def gather(home: Home, model: str) -> list[Row]:
    """The evidence for all questions about what the home was taught."""
    with closing(Journal(home.journal_path)) as journal:
        learner = Learner(home, ModelStore(home).resolve(model), journal, seed=0)
        recall = LessonRecall(learner, journal)
        taught = {one.prompt[-1].text for one in journal.standing() if one.prompt}
        questions = asked(taught)
        folds = {
            about: at % FOLDS for at, about in enumerate(dict.fromkeys(q.about for q in questions))
        }
        rows = []
        for question in questions:
            found = recall.evidence(question.text)
            right = tuple(lesson.prompt[-1].text == question.wanted for lesson, _ in found)
            evidence = tuple(evidence for _, evidence in found)
            rows.append(Row(question.kind, folds[question.about], evidence, right))
    return rows


def fitted(rows: Sequence[Row]) -> Weighing:
    """Logistic regression on the nearest lessons of all rows, each row with the weight of one."""
    values, flags, shares = list[list[float]](), list[float](), list[float]()
    for row in rows:
        values += [[float(value) for value in astuple(one)] for one in row.evidence]
        flags += [float(right) for right in row.right]
        shares += [1 / len(row.right) for _ in row.right]
    return Weighing(*logistic(values, flags, shares))


def logistic(
    values: Sequence[Sequence[float]], flags: Sequence[float], shares: Sequence[float]
) -> list[float]:
    """Logistic regression: the bias, then the coefficient of each feature. values: [N, F]. flags: [N], 0 or
    1. shares: [N], the weight of each row."""
    features, labels = torch.tensor(values).double(), torch.tensor(flags).double()
    share = torch.tensor(shares).double()
    mean, spread = features.mean(0), features.std(0).clamp_min(1e-6)
    scaled = (features - mean) / spread
    weights = torch.zeros(len(mean) + 1, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([weights], max_iter=200, line_search_fn="strong_wolfe")

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        z = scaled @ weights[1:] + weights[0]
        each = torch.nn.functional.binary_cross_entropy_with_logits(z, labels, reduction="none")
        loss = (each * share).sum() / share.sum() + DECAY / 2 * (weights[1:] ** 2).sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    own = (weights[1:] / spread).detach()
    bias = float(weights[0].detach() - (own * mean).sum())
    return [bias, *(float(value) for value in own)]


@dataclass(frozen=True)
class Judged:
    """The likeliest lesson of a question, by the weighing fitted to the other folds."""

    kind: str
    likely: float
    right: bool


def judged(rows: Sequence[Row]) -> list[Judged]:
    """Cross-validation: one for each row."""
    weighings = [fitted([row for row in rows if row.fold != fold]) for fold in range(FOLDS)]
    found = []
    for row in rows:
        likely = [weighings[row.fold].likely(one) for one in row.evidence]
        best = max(zip(likely, row.right, strict=True), default=(0.0, False))
        found.append(Judged(row.kind, *best))
    return found


def recalled(found: Sequence[Judged], least: float) -> dict[str, tuple[float, float]]:
    """Kind -> (share of its questions for which the right lesson is recalled, share for which a wrong or
    unwanted one is), where lessons are recalled from a likelihood of `least` on."""
    counts: dict[str, list[tuple[bool, bool]]] = {}
    for one in found:
        enough = one.likely >= least
        counts.setdefault(one.kind, []).append((enough and one.right, enough and not one.right))
    return {
        kind: (fmean(right for right, _ in flags), fmean(wrong for _, wrong in flags))
        for kind, flags in counts.items()
    }


def main(words: Sequence[str] | None = None) -> None:
    """Entry point of the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.facts.recall_weighing")
    parser.add_argument("home", type=Path, help="A home whose model was taught the lessons.")
    parser.add_argument("model", help="Name of that model.")
    chosen = parser.parse_args(words)
    teach = "teach first: `vidya teach --file FILE --model NAME`"
    if not chosen.home.is_dir() or not Home(chosen.home).journal_path.is_file():
        parser.error(f"{chosen.home}: has no journal; {teach}")
    try:
        rows = gather(Home(chosen.home), chosen.model)
    except VidyaError as error:
        parser.error(str(error))
    if not any(any(row.right) for row in rows):
        parser.error(f"{chosen.home}: {chosen.model} was taught none of the lessons; {teach}")
    report(rows)


def report(rows: Sequence[Row]) -> None:
    """Prints the share of lessons that are among those looked at, the table of bounds, and the weighing."""
    kinds = list(dict.fromkeys(row.kind for row in rows))
    for kind in kinds:
        own = [row for row in rows if row.kind == kind]
        print(
            f"{kind}: {len(own)} questions, right lesson looked at {fmean(any(r.right) for r in own):.0%}"
        )
    print("right / wrong lesson recalled, %; recalled from", *kinds, sep=" | ")
    judgements = judged(rows)
    for least in BOUNDS:
        found = recalled(judgements, least)
        print(
            least, *(f"{100 * found[k][0]:.0f} / {100 * found[k][1]:.0f}" for k in kinds), sep=" | "
        )
    print(fitted(rows))


if __name__ == "__main__":
    main()
