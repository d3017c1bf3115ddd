"""Measures what a student gains from a teacher's answers, against as many tokens of the corpus.

The teacher is the model of the home named by --model. Its answers are drawn once. Per seed the shipped 10m
then learns from: as many tokens of conversations of the corpus (VIDYA_CORPUS), the teacher's words, and
the teacher's distributions; each on a home of its own. Left out: reinforcement learning on top.
"""

from __future__ import annotations

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
from benchmarks.common.report import deviation, machine, table, with_deviation, write
from benchmarks.common.scratch import DEFAULT_MODEL, scratch_home
from benchmarks.talking.talk import answers_of, chosen_questions, scores
from benchmarks.talking.talk_samples import seed_of
from engine.config import GREEDY
from engine.errors import DataError, NotFound
from engine.storage.checkpoint import load_model
from engine.tokenizers.load import load_tokenizer
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

ARMS = {
    "before": "the shipped 10m",
    "corpus": "as many tokens of the corpus",
    "sequence": "the teacher's words",
    "soft": "the teacher's words and distributions",
}
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
QUICK_OPENINGS = 60
LONGEST = 60
"""Words of an answer of the corpus at most; the teacher's have as many tokens."""
ANSWER_TOKENS = 48
MakeJob = Callable[[TeacherModel, DistillationSettings], DistillationJob]
CRITERION = (
    "Criterion, written before the first run: over three seeds, the teacher's words (sequence) leave fewer "
    "nats a token on the teacher's held-out answers than as many tokens of the corpus; distributions (soft) "
    "leave fewer than words; answers that fit rise by 5 points or more over the shipped 10m; the book stays "
    "at 98 % or more. Nothing was tuned on these questions or on the held-out answers."
)
TITLE = "Distillation: a larger model's answers, taught to 10M weights"


def run(options: BenchOptions) -> dict[str, Any]:
    """See `vidya bench`. Raises NotFound where no teacher is named, DataError where there is no corpus."""
    if options.model is None:
        raise NotFound("bench distillation: no teacher is named", "name it with --model")
    store = ModelStore(Home(options.home))
    folder = store.resolve(options.model)
    teacher = load_teacher(folder.name, folder, store.info(options.model).version)
    documents, count = corpus_documents(), QUICK_OPENINGS if options.quick else None
    settings = DistillationSettings(count=count)
    result: dict[str, Any] = {
        "benchmark": "distillation",
        "machine": machine(),
        "quick": options.quick,
        "teacher": teacher.name,
        "runs": [],
    }
    plain = replace(options, model=None)
    with scratch_home(plain) as (home, _):
        rows = _drawn(home, teacher, settings, plain)
        kept = [row for row in rows if row.answer]
        result |= {
            "openings": len(rows),
            "kept": len(kept),
            "teacher_tokens": sum(row.tokens for row in rows),
        }
        for seed in options.seeds:
            run: dict[str, Any] = {"seed": seed}
            for arm in ARMS:
                run[arm] = _arm(arm, teacher, rows, documents, settings, seed, plain)
                options.say(f"seed {seed}, {arm}: {run[arm]}")
            result["runs"].append(run)
            if options.out is not None:
                command = options.command("distillation", seeded=True, variables=["VIDYA_CORPUS"])
                write(options.out, "distillation", TITLE, command, parts(result), result)
    return result


def _drawn(
    home: Home, teacher: TeacherModel, settings: DistillationSettings, options: BenchOptions
) -> list[TeacherAnswer]:
    """The teacher's answers; they are kept beside the teacher, so that a run that broke off goes on."""
    kept = teacher.folder / "teacher_answers.jsonl"
    with _learner(home, 0) as (job_of, folder):
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
def _learner(home: Home, seed: int) -> Iterator[tuple[MakeJob, Path]]:
    """Makes jobs for the shipped model in a home; also its folder."""
    journal = Journal(home.journal_path)
    try:
        folder = ModelStore(home).resolve(DEFAULT_MODEL)
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
    with scratch_home(options) as (home, _):
        book = 1.0
        if arm != "before":
            learned = list(rows)
            if arm == "corpus":
                learned = from_corpus(documents, kept, random.Random(seed))
            way = replace(settings, way="soft" if arm == "soft" else "sequence")
            with _learner(home, seed) as (job_of, _):
                told = job_of(teacher, way).run(learned, lambda _: None, lambda: False)
            book = told.last.book_recall
        folder = ModelStore(home).resolve(DEFAULT_MODEL)
        return {"book": book, **measured(folder, kept[::HELD_OUT], options)}


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
    folder: Path, held_out: Sequence[TeacherAnswer], options: BenchOptions
) -> dict[str, float]:
    """What the model of a folder does on the teacher's held-out answers and on `bench talk`'s questions."""
    model, tokenizer = load_model(folder).eval(), load_tokenizer(folder)
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
    runs = result["runs"]
    text = (
        f"Teacher: {result['teacher']}, {result['openings']} openings, {result['teacher_tokens']} tokens "
        f"drawn, {result['kept']} answers kept, of which every {HELD_OUT}th is held out. "
        f"Seeds: {len(runs)} (order of training, rows of the corpus); mean ± standard deviation. All arms "
        "learn from equally many words, as often. The book and the shipped model's lessons are rehearsed "
        "in each."
    )
    rows = [
        [words, *(_cell([run[arm][name] for run in runs], name) for name in MEASURES)]
        for arm, words in ARMS.items()
        if all(arm in run for run in runs)
    ]
    return [CRITERION, text, table(["learned from", *MEASURES.values()], rows)]


def _cell(values: Sequence[float], name: str) -> str:
    share = name not in ("nll", "words")
    values = [100.0 * value for value in values] if share else list(values)
    return with_deviation(fmean(values), deviation(values), 1 if share or name == "words" else 3)
