"""What a book training goes through: a book, or all that was taught, and other ways to ask for it."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

from engine.errors import NotFound
from engine.tokenizer import Tokenizer
from learning.examples import Example
from learning.journal import Journal
from learning.memory import book_examples, book_paths, careless_examples, to_task
from learning.records import Lesson
from learning.replay import Replay


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
    lessons = [] if book else _standing_lessons(tokenizer, journal, context)
    if book:
        examples = book_examples(tokenizer, [book], context, skip_bad)
        if not examples:
            raise NotFound(
                f"{book}: does not exist", "give the path of a book, or none for Vidya's own"
            )
    else:
        latest = [*replay.memory, *(example for _, example in lessons)]
        examples = list({example.prompt: example for example in latest}.values())
    new = {e.prompt for e in examples}
    rest = [e for e in replay.memory if e.prompt not in new]
    answers = {example.prompt: example.answer for example in [*examples, *rest]}
    paths = [*book_paths(owner_book), *([book] if book else [])]
    careless = careless_examples(tokenizer, paths, context, skip_bad)
    otherwise = [e for e in careless if answers.get(e.prompt) == e.answer]
    for lesson, _ in lessons:
        wordings = to_task(tokenizer, lesson, context, rng, replay.memory).variations
        otherwise += [e for e in wordings if e.prompt not in answers]
    return Course(examples, rest, lessons, otherwise)


def _standing_lessons(
    tokenizer: Tokenizer, journal: Journal, context: int
) -> list[tuple[Lesson, Example]]:
    """All lessons with an answer that stand, the latest of each prompt."""
    undone = {lesson.id for lesson in journal.to_undo()}
    latest: dict[str, tuple[Lesson, Example]] = {}
    for lesson in journal.lessons(kinds=("pick", "correction", "rating", "example")):
        if lesson.state == "undone" or lesson.id in undone:
            continue
        task = to_task(tokenizer, lesson, context)
        if task.answer:
            latest[task.answer.prompt] = (lesson, task.answer)
            continue
        for bad in task.rejected:  # what was taught before is not wanted any more
            if bad.prompt in latest and latest[bad.prompt][1].answer == bad.answer:
                del latest[bad.prompt]
    return list(latest.values())
