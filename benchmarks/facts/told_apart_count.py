"""Counts which taught answers learning.teacher.answer_check tells apart, without an answer of the model.

    python -m benchmarks.facts.told_apart_count tune

Each file of lessons, and each owner of people.jsonl, is taught as a whole. For every rewording and paraphrase
this counts whether the lesson's own answer would be refused, which is wrong, and whether the answer of the
nearest other lesson would be. For questions about somebody else, or never told, it counts whether the answer
of the lesson that they resemble would be. All of it without and with the kinds of questions
(learning.text.kinds). "unseen" is for final figures only. Left out: what the model answers (told_apart.py).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from unittest.mock import patch

from benchmarks import DATA, BenchOptions
from benchmarks.common.report import table
from benchmarks.common.scratch import scratch_home
from benchmarks.facts.people_data import HALVES, read_people
from benchmarks.lessons.collapse_data import read_lessons
from learning.journal.journal import Journal
from learning.lessons.learner import Learner
from learning.models.store import ModelStore
from learning.protocol.records import Lesson, Turn
from learning.teacher.answer_check import AnswerCheck
from learning.teacher.known import Known, KnownTexts
from learning.teacher.recall import LessonRecall
from learning.text.normalise import fold

FILES = {"tune": ("lessons_tune.jsonl", "lessons_tune2.jsonl"), "unseen": ("lessons100.jsonl",)}
"""The files of lessons that belong to each half of people.jsonl."""
MEANT = ("rewording", "paraphrase")
NEAREST = "nearest other lesson"


@dataclass(frozen=True)
class Wording:
    """Something to ask when all lessons are taught."""

    kind: str
    text: str
    lesson: Lesson
    """Of a rewording or paraphrase: the lesson that it asks for. Else a lesson with a question like it."""


@dataclass(frozen=True)
class Refused:
    """Whether one answer is told apart from one question."""

    kind: str
    message: str
    question: str
    """For which the answer was taught."""
    before: bool
    """Without the kinds of questions."""
    now: bool
    """With them."""


def wordings(half: str) -> dict[str, list[Wording]]:
    """File, or owner, -> what is asked. Raises DataError."""
    found: dict[str, list[Wording]] = {}
    for name in FILES[half]:
        for row in read_lessons(DATA / name):
            texts = [("rewording", text) for text in row.rewordings]
            texts += [("paraphrase", row.paraphrase)]
            found.setdefault(name, []).extend(Wording(k, t, row.lesson()) for k, t in texts)
    for fact in read_people(half):
        texts = [("rewording", text) for text in fact.rewordings]
        texts += [("paraphrase", text) for text in fact.paraphrases]
        texts += [("neighbour", fact.neighbour), ("unknown", fact.unknown)]
        asked = [Wording(kind, text, fact.lesson()) for kind, text in texts if text]
        found.setdefault(f"people.jsonl, {fact.owner}", []).extend(asked)
    return found


@contextmanager
def without_kinds() -> Iterator[None]:
    """Answers are told apart without the kinds of questions."""
    with (
        patch.object(Known, "of_same_kind", lambda *_: False),
        patch.object(Known, "of_other_kind", lambda *_: False),
    ):
        yield


def counted(asked: Sequence[Wording]) -> list[Refused]:
    """Teaches all lessons of what is asked, as the journal knows them, and checks their answers."""
    lessons = list({fold(one.lesson.prompt[-1].text): one.lesson for one in asked}.values())
    found = list[Refused]()
    with (
        scratch_home(BenchOptions(Path())) as (home, model),
        closing(Journal(home.journal_path)) as journal,
    ):
        journal.add_lessons(lessons)
        learner = Learner(home, ModelStore(home).resolve(model), journal, seed=0)
        recall = LessonRecall(learner, journal)
        recall.prepare()
        known = KnownTexts(journal, home.book_path).now()
        for one in asked:
            near = recall.answers_near(one.text)
            turns = (Turn("user", one.text),)
            check = AnswerCheck(turns, known, True, near=partial(dict, near))
            found.append(_refused(one.kind, check, one.lesson))
            others = [x for x in lessons if fold(x.answer) in near]
            others = [x for x in others if fold(x.answer) != fold(one.lesson.answer)]
            if one.kind in MEANT and others:
                nearest = max(others, key=partial(_nearness, near))
                found.append(_refused(NEAREST, check, nearest))
    return found


def _nearness(near: Mapping[str, float], lesson: Lesson) -> float:
    return near[fold(lesson.answer)]


def _refused(kind: str, check: AnswerCheck, lesson: Lesson) -> Refused:
    with without_kinds():
        before = check.answers_another(lesson.answer)
    now = check.answers_another(lesson.answer)
    return Refused(kind, check.turns[-1].text, lesson.prompt[-1].text, before, now)


def report(found: Sequence[Refused]) -> list[list[object]]:
    """Rows of a table: kind, answers, refused without kinds, refused by them alone, given because of them."""
    rows: list[list[object]] = []
    for kind in dict.fromkeys(one.kind for one in found):
        own = [one for one in found if one.kind == kind]
        newly = sum(one.now and not one.before for one in own)
        given = sum(one.before and not one.now for one in own)
        rows.append([kind, len(own), sum(one.before for one in own), newly, given])
    return rows


def main(words: Sequence[str] | None = None) -> None:
    """Entry point of the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.facts.told_apart_count")
    parser.add_argument("half", choices=HALVES, help="Which data; unseen: for final figures only.")
    half = parser.parse_args(words).half
    groups: dict[str, list[Refused]] = {}
    for name, asked in wordings(half).items():
        groups.setdefault(name.partition(",")[0], []).extend(counted(asked))
    head = [
        "answer to",
        "answers",
        "refused without kinds",
        "newly refused",
        "not refused any more",
    ]
    for name, found in groups.items():
        print(f"{name}\n\n{table(head, report(found))}\n")
        for one in found:
            if one.kind in MEANT and one.now != one.before:
                way = "refused now" if one.now else "given now"
                print(f"- {way}: {one.message!r} for {one.question!r}")
        print()


if __name__ == "__main__":
    main()
