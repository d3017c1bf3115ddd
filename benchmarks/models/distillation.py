"""Measures what a student gains from a teacher's answers, against as many tokens of the corpus.

The teacher is the model of the home named by --model. Its answers are drawn once, and kept beside it. Per
seed the student, the shipped 10m or the model of the home that VIDYA_STUDENT names, then learns from: as many
tokens of conversations of the corpus (VIDYA_CORPUS), the teacher's words, and the teacher's distributions;
each on a home of its own. The student as it was and the one that learned distributions then practise
syllogisms (GRPO, the defaults of `vidya practice` but 45 steps), and are measured again. With an output
folder an interrupted run goes on after its last arm.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks import BenchOptions
from benchmarks.common.corpus import corpus_documents
from benchmarks.common.pupil import QUICK_PRACTICE, Kept, Pupil
from benchmarks.common.report import deviation, table, with_deviation
from benchmarks.common.rows import ReportRows, about_run
from benchmarks.common.scratch import scratch_home
from benchmarks.talking.talk import answers_of, chosen_questions, scores
from benchmarks.talking.talk_samples import seed_of
from engine.config import GREEDY
from engine.errors import DataError, NotFound
from engine.model import Model
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.corpus import Document
from learning.distillation.answers import TeacherAnswer
from learning.distillation.job import (
    HELD_OUT,
    DistillationJob,
    DistillationSettings,
    TeacherModel,
    chosen_openings,
    load_teacher,
)
from learning.distillation.student import answer_loss
from learning.distillation.targets import hard_targets
from learning.home import Home
from learning.journal.journal import Journal
from learning.lessons.learner import Learner
from learning.models.store import ModelStore
from learning.practice.options import with_options
from learning.practice.run import PracticeOutcome, PracticeRun
from learning.practice.settings import PracticeSettings
from learning.rewards.registry import find_task
from learning.rewards.task import TaskOptions

NAME = "distillation"
STUDENT = "VIDYA_STUDENT"
BEFORE = "before"
ARMS = {
    BEFORE: "nothing: the student as it is",
    "corpus": "as many tokens of the corpus",
    "sequence": "the teacher's words",
    "soft": "the teacher's words and distributions",
}
PRACTISED = (BEFORE, "soft")
"""Arms that practise afterwards."""
MEASURES = {
    "nll": "nats a token on held-out answers of the teacher",
    "book": "book, %",
    "fits": "answer fits, %",
    "facts": "facts right, %",
    "repetition": "repeated 4-grams, %",
    "ends": "ends properly, %",
    "words": "words an answer",
}
"""Measure -> what it says; all but the first two are of `bench talk`'s questions, asked greedily."""
PRACTICE_MEASURES = {
    "solved": "syllogisms solved after practice, %",
    "after_nll": "nats a token before -> after practice",
    "after_fits": "answer fits before -> after practice, %",
    "after_book": "book after practice, %",
}
TASK = "syllogism"
PRACTICE = with_options(PracticeSettings(), ["steps=45"])
QUICK = with_options(PracticeSettings(), (*QUICK_PRACTICE, "steps=1", "warm_up.enough=0"))
QUICK_OPENINGS = 60
LONGEST = 60
"""Words of an answer of the corpus at most; the teacher's have as many tokens."""
ANSWER_TOKENS = 48
MakeJob = Callable[[TeacherModel, DistillationSettings], DistillationJob]
CRITERION = (
    "Criterion, written before the first run: over three seeds, the teacher's words (sequence) leave fewer "
    "nats a token on the teacher's held-out answers than as many tokens of the corpus; distributions (soft) "
    "leave fewer than words; answers that fit rise by 5 points or more over the student; the book stays at "
    "98 % or more. Nothing was tuned on these questions or on the held-out answers. Criterion for practice "
    "on top, written before its first run: the student that learned distributions then solves as many "
    "held-out syllogisms as the student as it was, or at most 3 points fewer, and its nats a token on the "
    "teacher's held-out answers stay below those of the student as it was."
)
TITLE = "Distillation: a larger model's answers, taught to a smaller one"


def run(options: BenchOptions) -> dict[str, Any]:
    """See `vidya bench`. Raises NotFound where no teacher is named, DataError where there is no corpus."""
    if options.model is None:
        raise NotFound("bench distillation: no teacher is named", "name it with --model")
    store = ModelStore(Home(options.home))
    folder = store.resolve(options.model)
    teacher = load_teacher(folder.name, folder, store.info(options.model).version)
    documents, count = corpus_documents(), QUICK_OPENINGS if options.quick else None
    settings = DistillationSettings(count=count)
    taught = replace(options, model=os.environ.get(STUDENT, "").strip() or None)
    about = about_run(taught, NAME) | {"teacher": teacher.name}
    command = options.command(NAME, seeded=True, variables=["VIDYA_CORPUS", STUDENT])
    report = ReportRows(options.out, taught.stem(NAME), about, command, TITLE, parts)
    with scratch_home(taught) as (home, student):
        answers = _drawn(home, student, teacher, settings, options)
    report.result |= {
        "openings": len(answers),
        "kept": sum(bool(row.answer) for row in answers),
        "teacher_tokens": sum(row.tokens for row in answers),
    }
    for seed in options.seeds:
        for arm in ARMS:
            if not report.has(arm=arm, seed=seed):
                found = _arm(arm, teacher, answers, documents, settings, seed, taught)
                options.say(f"seed {seed}, {arm}: {found}")
                report.add({"arm": arm, "seed": seed, **found})
    return report.result


def _drawn(
    home: Home,
    student: str,
    teacher: TeacherModel,
    settings: DistillationSettings,
    options: BenchOptions,
) -> list[TeacherAnswer]:
    """The teacher's answers; they are kept beside the teacher, so that a run that broke off goes on."""
    kept = teacher.folder / "teacher_answers.jsonl"
    with _learner(home, student, 0) as (job_of, folder):
        if kept.exists():
            shutil.copyfile(kept, folder / kept.name)
        job = job_of(teacher, settings)

        def report(done: int, tokens: int) -> None:
            shutil.copyfile(folder / kept.name, kept)
            options.say(f"{done} openings, {tokens} tokens")

        return job.answers(
            job.unknown(chosen_openings(None, settings.count)), report, lambda: False
        )


@contextmanager
def _learner(home: Home, student: str, seed: int) -> Iterator[tuple[MakeJob, Path]]:
    """Makes jobs for the student in a home; also its folder."""
    journal = Journal(home.journal_path)
    try:
        folder = ModelStore(home).resolve(student)
        learner = Learner(home, folder, journal, seed=seed)

        def job_of(teacher: TeacherModel, settings: DistillationSettings) -> DistillationJob:
            return DistillationJob(teacher, learner.transaction, learner.tokenizer, settings, seed)

        yield job_of, folder
    finally:
        journal.close()


def _arm(
    arm: str,
    teacher: TeacherModel,
    rows: Sequence[TeacherAnswer],
    documents: Sequence[Document],
    settings: DistillationSettings,
    seed: int,
    options: BenchOptions,
) -> dict[str, float]:
    kept = [row for row in rows if row.answer]
    with scratch_home(options) as (home, student):
        book = 1.0
        if arm != BEFORE:
            learned = list(rows)
            if arm == "corpus":
                learned = from_corpus(documents, kept, random.Random(seed))
            way = replace(settings, way="soft" if arm == "soft" else "sequence")
            with _learner(home, student, seed) as (job_of, _):
                told = job_of(teacher, way).run(learned, lambda _: None, lambda: False)
            book = told.last.book_recall
        pupil = Pupil.loaded(ModelStore(home).resolve(student))
        held_out = kept[::HELD_OUT]
        found = {"book": book, **measured(pupil.model, pupil.tokenizer, held_out, options)}
        if arm not in PRACTISED:
            return found
        outcome, tokenizer = _practised(pupil, seed, options)
        after = measured(pupil.model, tokenizer, held_out, options)
        return {
            **found,
            "solved": outcome.accuracy_after or 0.0,
            "practice_steps": outcome.steps,
            "after_nll": after["nll"],
            "after_fits": after["fits"],
            "after_book": pupil.book_recall(),
        }


def _practised(pupil: Pupil, seed: int, options: BenchOptions) -> tuple[PracticeOutcome, Tokenizer]:
    """Practises syllogisms as `vidya practice` does, which changes the pupil's model; also the tokenizer,
    which may have learned the tags of answers."""
    task = find_task(TASK, TaskOptions())
    trainer = pupil.trainer(task, QUICK if options.quick else PRACTICE, seed)
    outcome = PracticeRun(trainer, Kept(pupil.model)).run(warm_up=True)
    task.close()
    return outcome, trainer.tokenizer


def from_corpus(
    documents: Iterable[Document], kept: Sequence[TeacherAnswer], rng: random.Random
) -> list[TeacherAnswer]:
    """Openings and answers of the corpus's conversations, drawn by seed, with as many words as the
    teacher's answers. Raises DataError where the corpus has too few."""
    pairs = [
        (document.turns[0][1], document.turns[1][1])
        for document in documents
        if len(document.turns) > 1 and document.turns[1][0] == "assistant" and not document.held_out
    ]
    rng.shuffle(pairs)
    wanted, found = sum(len(row.answer.split()) for row in kept), list[TeacherAnswer]()
    for opening, answer in pairs:
        if wanted <= 0:
            return found
        if 0 < len(answer.split()) <= LONGEST:
            found.append(TeacherAnswer(opening, answer, "", 1.0, 0))
            wanted -= len(answer.split())
    if wanted > 0:
        raise DataError("the corpus has too few conversations", "name more of it in VIDYA_CORPUS")
    return found


def measured(
    model: Model, tokenizer: Tokenizer, held_out: Sequence[TeacherAnswer], options: BenchOptions
) -> dict[str, float]:
    """What a model does on the teacher's held-out answers and on `bench talk`'s questions."""
    model.eval()
    answerer, questions = answers_of(model, tokenizer), chosen_questions(options)
    greedy = replace(GREEDY, max_tokens=ANSWER_TOKENS)
    answers = [answerer(q.turns, greedy, seed_of(0, q.id)) for q in questions]
    found = scores(questions, answers)
    return {
        "nll": answer_loss(model, hard_targets(tokenizer, held_out, model.config.context)),
        "fits": found["fits"],
        "facts": found.get("facts/says", 0.0),
        "repetition": found["repetition"],
        "ends": found["ends_properly"],
        "words": found["words"],
    }


def parts(result: dict[str, Any]) -> list[str]:
    """The tables of the page."""
    rows = result["rows"]
    seeds = len({row["seed"] for row in rows})
    text = (
        f"Teacher: {result['teacher']}; student: {result['model']}. {result['openings']} openings, "
        f"{result['teacher_tokens']} tokens drawn, {result['kept']} answers kept, of which every "
        f"{HELD_OUT}th is held out. Seeds: {seeds} (order of training, rows of the corpus); mean ± standard "
        "deviation. All arms learn from equally many words, as often. The book and the student's lessons are "
        "rehearsed in each."
    )
    learned = [(ARMS[arm], [row for row in rows if row["arm"] == arm]) for arm in ARMS]
    lines = [
        [words, *(_cell([row[name] for row in mine], name) for name in MEASURES)]
        for words, mine in learned
        if mine
    ]
    tables = [table(["learned from", *MEASURES.values()], lines)]
    practised = [
        [words, *(_practice_cell(mine, name) for name in PRACTICE_MEASURES)]
        for words, mine in learned
        if mine and all("solved" in row for row in mine)
    ]
    if practised:
        tables.append(table(["learned from", *PRACTICE_MEASURES.values()], practised))
    return [CRITERION, text, *tables]


def _practice_cell(rows: Sequence[dict[str, Any]], name: str) -> str:
    before = name.removeprefix("after_")
    names = [name] if name in ("solved", "after_book") else [before, name]
    return " -> ".join(
        _cell([row[each] for row in rows], each.removeprefix("after_")) for each in names
    )


def _cell(values: Sequence[float], name: str) -> str:
    share = name not in ("nll", "words")
    values = [100.0 * value for value in values] if share else list(values)
    return with_deviation(fmean(values), deviation(values), 1 if share or name == "words" else 3)
