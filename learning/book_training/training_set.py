"""What a book training goes through: a book, or all that was taught, and other ways to ask for it."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from engine.errors import DataError, NotFound
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.examples import Example, excess
from learning.journal.journal import Journal
from learning.memory.book_rows import book_examples, book_paths, careless_examples, too_long_entries
from learning.memory.replay import Replay
from learning.memory.tasks import LessonTask, overrule, to_task
from learning.protocol.records import Lesson


@dataclass(frozen=True)
class Course:
    """Examples to train on."""

    examples: list[Example]
    """What is to be known afterwards."""
    rest: list[Example]
    """The memory that is not among them, and must not be lost."""
    lessons: list[tuple[Lesson, Example]]
    """Lessons that are among the examples."""
    otherwise: list[Example]
    """Other ways to ask for what is known: as people type, and lessons in other words."""
    left_out: list[str]
    """Too long for the model, by place."""


def plan(
    tokenizer: Tokenizer,
    replay: Replay,
    journal: Journal,
    owner_book: Path,
    book: Path | None,
    context: int,
    rng: random.Random,
    skip_bad: bool = False,
) -> Course:
    """`book`, or with None the shipped book, the owner's, and all lessons that stand.

    Raises DataError for a book with bad lines, unless `skip_bad`, and NotFound where there is none.
    """
    taught = [] if book else journal.standing()
    too_long = {x.id for x in taught if excess(tokenizer, x.answer, context)}
    fitting = [x for x in taught if x.id not in too_long]
    lessons = _latest_answers(tokenizer, fitting, context)
    paths = [*book_paths(owner_book), *([book] if book else [])]
    left_out = too_long_entries(tokenizer, [book] if book else paths, context, skip_bad)
    left_out += [f"lesson {lesson}" for lesson in sorted(too_long)]
    if book:
        examples = book_examples(tokenizer, [book], context, skip_bad)
        if not examples and left_out:
            raise DataError(
                f"{', '.join(left_out)}: too long for this model", "write shorter answers"
            )
        if not examples:
            what = "holds no conversation" if book.exists() else "does not exist"
            raise NotFound(f"{book}: {what}", "give the path of a book, or none for Vidya's own")
    else:
        latest = [*replay.memory, *(example for _, example in lessons)]
        examples = list({example.prompt: example for example in latest}.values())
    new = {e.prompt for e in examples}
    rest = [e for e in replay.memory if e.prompt not in new]
    answers = {example.prompt: example.answer for example in [*examples, *rest]}
    careless = careless_examples(tokenizer, paths, context, skip_bad)
    otherwise = [e for e in careless if answers.get(e.prompt) == e.answer]
    frames = replay.frames
    for lesson, _ in lessons:
        wordings = to_task(tokenizer, lesson, context, rng, frames).variations
        otherwise += [e for e in wordings if e.prompt not in answers]
    return Course(examples, rest, lessons, otherwise, left_out)


def _latest_answers(
    tokenizer: Tokenizer, lessons: Iterable[Lesson], context: int
) -> list[tuple[Lesson, Example]]:
    """Of lessons, oldest first, those with an answer, the latest of each prompt."""
    latest: dict[str, tuple[Lesson, Example]] = {}
    known: dict[str, Example] = {}
    for lesson in lessons:
        task = to_task(tokenizer, lesson, context)
        for changed in (e for answer in task.answers for e in overrule(known, answer, context)):
            if changed.prompt in latest:
                latest[changed.prompt] = (latest[changed.prompt][0], changed)
        if task.answer:
            latest[task.answer.prompt] = (lesson, task.answer)
            continue
        for bad in task.rejected:  # what was taught before is not wanted any more
            if bad.prompt in latest and latest[bad.prompt][1].answer == bad.answer:
                del latest[bad.prompt]
    return list(latest.values())


def failed_avoidance(tokenizer: Tokenizer, journal: Journal, context: int) -> list[Lesson]:
    """Lessons that an answer is to be avoided, which could not be learned and still stand: no later
    lesson says that the answer is right."""
    failed: list[tuple[Lesson, LessonTask]] = []
    for lesson in journal.standing():
        task = to_task(tokenizer, lesson, context)
        right = {(e.prompt, e.answer) for e in task.answers}
        failed = [x for x in failed if not right & {(e.prompt, e.answer) for e in x[1].rejected}]
        if not task.answer and lesson.state == "needs_practice":
            failed.append((lesson, task))
    return [lesson for lesson, _ in failed]
