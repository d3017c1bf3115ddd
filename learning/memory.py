"""What the learner keeps in mind: the shipped and the owner's book, lessons so far, its own talk.

Where two answer the same question the later one counts: the owner's book over the shipped one, a
lesson over both.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable
from pathlib import Path

import torch

from engine.errors import DataError
from engine.model import Model
from engine.tokenizer import Tokenizer
from learning.dream import dream
from learning.examples import Example, from_answer, from_turns
from learning.home import write_atomically
from learning.journal import Journal
from learning.records import Lesson
from learning.replay import Replay
from learning.teaching import Task
from personality.book import BookError, EmptyBookError, read_book, shipped_book_path

TALK = "talk.json"
TALK_ROWS = 96
TALK_LENGTH = 48
"""Ids of each row that are replayed; longer rows hold talk no better and cost twice as much."""
MAX_RIDERS = 20


def build_replay(
    model: Model,
    tokenizer: Tokenizer,
    folder: Path,
    owner_book: Path,
    journal: Journal,
    *,
    skip_bad: bool = False,
) -> Replay:
    """All that must not be forgotten, for these weights."""
    paths, context = [shipped_book_path(), owner_book], model.config.context
    book = book_examples(tokenizer, paths, context, skip_bad)
    replay = Replay(model, book, [], own_talk(model, tokenizer, folder))
    learned = [
        x for x in journal.lessons(state="learned") if x.judgement is None or _stands(journal, x)
    ]
    replay.remember_all(
        example
        for lesson in learned
        if lesson.kind not in ("owner_words", "continuation")
        and (example := answer_example(tokenizer, lesson, model.config.context))
    )
    replay.riders = [
        (example, lesson.weight)
        for lesson in journal.riders()[-MAX_RIDERS:]
        if (example := rider_example(tokenizer, lesson, model.config.context))
    ]
    return replay


def _stands(journal: Journal, lesson: Lesson) -> bool:
    return lesson.id not in {other.id for other in journal.to_undo()}


def book_examples(
    tokenizer: Tokenizer, paths: Iterable[Path], context: int, skip_bad: bool = False
) -> list[Example]:
    """Entries of the books that exist; of several answers to one question the last stays.

    Raises DataError for a book with bad lines, unless `skip_bad`.
    """
    by_prompt: dict[str, Example] = {}
    for path in paths:
        if not path.exists():
            continue
        try:
            entries = read_book(path, skip_bad)
        except BookError as error:
            if isinstance(error, EmptyBookError) and path.name == "book.txt":
                continue  # the owner's own book may still be empty
            raise DataError(str(error).splitlines()[0], "mend the line, then try again") from error
        for entry in entries:
            example = from_turns(tokenizer, entry.turns, context)
            by_prompt.pop(example.prompt, None)
            by_prompt[example.prompt] = example
    return list(by_prompt.values())


def own_talk(model: Model, tokenizer: Tokenizer, folder: Path) -> list[Example]:
    """The model's own talk, dreamt once and kept beside the weights."""
    path = folder / TALK
    try:
        rows = json.loads(path.read_text("utf-8"))
        if all(
            isinstance(i, int) and 0 <= i < model.config.vocab_size for row in rows for i in row
        ):
            return [
                Example(tuple(row), (False, *([True] * (len(row) - 1))))
                for row in (row[:TALK_LENGTH] for row in rows)
                if len(row) > 1
            ]
    except (OSError, ValueError, TypeError):
        pass  # not there yet, or not whole: it is dreamt anew
    talk = dream(model, tokenizer, TALK_ROWS, TALK_LENGTH, torch.Generator().manual_seed(0))
    with contextlib.suppress(
        OSError
    ):  # a model that may only be read, a full disk: again next time
        write_atomically(path, json.dumps([e.ids for e in talk]))
    return talk


def answer_example(tokenizer: Tokenizer, lesson: Lesson, context: int) -> Example | None:
    """The lesson's prompt and answer; None where there is no answer to say."""
    if not lesson.answer:
        return None
    return from_answer(tokenizer, [(t.role, t.text) for t in lesson.prompt], lesson.answer, context)


def rider_example(tokenizer: Tokenizer, lesson: Lesson, context: int) -> Example | None:
    """The owner's own words as text to predict, or the answer that the talk went on with."""
    if lesson.kind == "continuation":
        return answer_example(tokenizer, lesson, context)
    body = tokenizer.encode(lesson.answer)[: context // 2]
    if not body:
        return None
    return Example((tokenizer.user, *body), (False, *([True] * len(body))))


def to_task(tokenizer: Tokenizer, lesson: Lesson, context: int) -> Task:
    """A lesson as examples to learn and to avoid."""
    prompt = [(t.role, t.text) for t in lesson.prompt]
    rejected = [t for t in dict.fromkeys(lesson.rejected) if t.strip() and t != lesson.answer]
    return Task(
        answer_example(tokenizer, lesson, context),
        tuple(from_answer(tokenizer, prompt, text, context) for text in rejected),
        lesson.weight,
    )
