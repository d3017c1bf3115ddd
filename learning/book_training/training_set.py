"""Chooses the examples of a book training: a book, or everything taught, with reworded questions."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.errors import DataError, NotFound
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.examples import Example, gives
from learning.journal.journal import Journal
from learning.memory.book_rows import BookRow, book_rows, careless_examples, latest_answers
from learning.memory.current_answers import CurrentAnswers
from learning.memory.replay import Replay
from learning.memory.tasks import LessonTask, to_task, with_wordings
from learning.protocol.records import Lesson


@dataclass(frozen=True)
class Course:
    """The examples of one training."""

    examples: list[Example]
    """Examples to know afterwards."""
    rest: list[Example]
    """Other remembered examples, which must not be lost."""
    lessons: list[tuple[Lesson, Example]]
    """The lessons among the examples."""
    otherwise: list[Example]
    """The same answers to other questions: careless spelling, and rewordings of lessons."""
    left_out: list[str]
    """File and line, or lesson, of entries that are too long for the model."""


def plan(
    tokenizer: Tokenizer,
    replay: Replay,
    journal: Journal,
    rows: Sequence[BookRow],
    book: Path | None,
    context: int,
    rng: random.Random,
    skip_bad: bool = False,
) -> Course:
    """The course for `book`; for None, the shipped book, the owner's, and all standing lessons. rows: of the
    shipped book and the owner's.

    context: tokens. Raises DataError for a book with bad lines (unless `skip_bad`) or with too long ones
    only, NotFound if it does not exist or has no conversation.
    """
    taught = [] if book else [(x, to_task(tokenizer, x, context)) for x in journal.standing()]
    too_long = {x.id for x, task in taught if task.answer and task.answer.cut}
    known = CurrentAnswers(replay.memory)
    lessons = _latest_answers([(x, t) for x, t in taught if x.id not in too_long], known, context)
    chosen = book_rows(tokenizer, [book], context, skip_bad) if book else rows
    left_out = [row.place for row in chosen if not row.whole]
    left_out += [f"lesson {lesson}" for lesson in sorted(too_long)]
    if book:
        examples = latest_answers(chosen)
        if not examples and left_out:
            raise DataError(
                f"{', '.join(left_out)}: too long for this model", "write shorter answers"
            )
        if not examples:
            what = "holds no conversation" if book.exists() else "does not exist"
            raise NotFound(f"{book}: {what}", "give the path of a book, or none for Vidya's own")
    else:
        examples = list(({e.prompt: e for e in replay.memory} | known.by_prompt).values())
    new = {e.prompt for e in examples}
    rest = [e for e in replay.memory if e.prompt not in new]
    answers = {example.prompt: example.answer for example in [*examples, *rest]}
    careless = careless_examples(tokenizer, [*rows, *chosen] if book else rows, context)
    otherwise = [e for e in careless if answers.get(e.prompt) == e.answer]
    frames = replay.frames
    for _, example in lessons:
        task = with_wordings(tokenizer, LessonTask(example), frames, context, rng)
        otherwise += [e for e in task.variations if e.prompt not in answers]
    return Course(examples, rest, lessons, otherwise, left_out)


def _latest_answers(
    lessons: Iterable[tuple[Lesson, LessonTask]], known: CurrentAnswers, context: int
) -> list[tuple[Lesson, Example]]:
    """The latest lesson with an answer for each prompt, with its example. lessons: oldest first. `known` is
    given each of them, and loses answers that a later lesson only rejects."""
    latest: dict[str, tuple[Lesson, Example]] = {}
    for lesson, task in lessons:
        for changed in (e for answer in task.answers for e in known.give(answer, context)):
            if changed.prompt in latest:
                latest[changed.prompt] = (latest[changed.prompt][0], changed)
        if task.answer:
            latest[task.answer.prompt] = (lesson, task.answer)
            continue
        for bad in task.rejected:  # an answer taught before is no longer wanted
            if bad.prompt in latest and gives(latest[bad.prompt][1], bad):
                del latest[bad.prompt]
                known.drop(bad.prompt)
    return list(latest.values())


def failed_avoidance(tokenizer: Tokenizer, journal: Journal, context: int) -> list[Lesson]:
    """Standing lessons to avoid an answer that could not be learned, and whose answer no later lesson
    teaches as right."""
    failed: list[tuple[Lesson, LessonTask]] = []
    for lesson in journal.standing():
        task = to_task(tokenizer, lesson, context)
        pairs = [(right, x) for x in failed for right in task.answers]
        taught = {x[0].id for right, x in pairs if any(gives(right, e) for e in x[1].rejected)}
        failed = [x for x in failed if x[0].id not in taught]
        if not task.answer and lesson.state == "needs_practice":
            failed.append((lesson, task))
    return [lesson for lesson, _ in failed]
