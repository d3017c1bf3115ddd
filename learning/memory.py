"""What the learner keeps in mind: the shipped and the owner's book, lessons so far, its own talk.

Where two answer the same question the later one counts: the owner's book over the shipped one, a
lesson over both.
"""

from __future__ import annotations

import contextlib
import json
import random
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import torch

from engine.errors import DataError
from engine.files import write_atomically
from engine.model import Model
from engine.reading import read_json
from engine.tokenizer import Tokenizer
from learning.dream import dream, looking_back, talk_example
from learning.examples import Example, answered_by, asked, excess, from_answer, from_turns
from learning.folding import fold, fold_prompt
from learning.instead import instead
from learning.journal import Journal
from learning.journal_lessons import RIDER_KINDS
from learning.records import Lesson, LessonKind
from learning.replay import Replay
from learning.splices import Questions
from learning.teaching import Task
from learning.weak import weak_lessons
from learning.wordings import NO_FRAMES, Frames, asked_otherwise, talk_frames
from personality.book import BookError, EmptyBookError, Entry, read_book, shipped_book_path

TALK = "talk.json"
TALK_BYTES = 1 << 26
"""Of the largest such file that is read; one of 768 rows has 1 MB."""
TALK_ROWS = 768
"""Of own talk at most; a quarter as many are learned by heart: other talk of a model of 10M weights
then drifts further (benchmarks/results/recipe.md)."""
FEWEST_ROWS = 192
"""Of own talk at least."""
WEIGHTS_A_ROW = 10_000
"""A model that has few of them learns nothing any more where it must not change at all."""
TALK_LENGTH = 48
"""Ids of each row that are replayed; longer rows hold talk no better and cost twice as much."""
LOOK_BACK = 4
"""For so many rows of own talk there is one of a conversation that needs what was said before."""
LOOK_BACK_LENGTH = 128
"""Most ids of such a row."""
MAX_RIDERS = 20
"""Weak lessons that a lesson's batches draw from; the others wait for the next."""
WORDED = 300
"""Latest lessons that are replayed in other words too; making these takes a few milliseconds each."""
WORDED_BEFORE = 8
"""Ways in which the memory has a question that its new answer has to be known in at once."""
_LEANING = {
    "it",
    "its",
    "that",
    "this",
    "those",
    "these",
    "they",
    "them",
    "he",
    "she",
    "him",
    "her",
}
_LEANING |= {"then", "there", "one", "ones", "else", "instead"}


def build_replay(
    model: Model,
    tokenizer: Tokenizer,
    folder: Path,
    owner_book: Path,
    journal: Journal,
    version: int,
    *,
    skip_bad: bool = False,
) -> Replay:
    """All that must not be forgotten, for the weights of that version: where they were taught not to
    say what was taken back, what they say in its place too."""
    context = model.config.context
    book = book_examples(tokenizer, book_paths(owner_book), context, skip_bad)
    talk = own_talk(model, tokenizer, folder)
    replay = Replay(model, book, [], talk, turns=talk_frames(tokenizer, talk))
    # what is not to be said any more is not replayed, whether or not that could be learned
    kept = [x for x in journal.standing() if x.state == "learned" or not x.answer]
    kept = [x for x in kept if not excess(tokenizer, x.answer, context)]
    frames = Frames(Questions([*(e.prompt for e in book), *map(folded_prompt, kept)]), replay.turns)
    tasks = [
        to_task(
            tokenizer, lesson, context, random.Random(lesson.id) if place < WORDED else None, frames
        )
        for place, lesson in enumerate(reversed(kept))
    ]
    said: dict[str, tuple[Example, Sequence[Example]]] = {}
    known, avoided = {e.prompt: e for e in book}, list[Example]()
    for task in reversed(tasks):
        for answer in task.answers:
            for example in (answer, *overrule(known, answer, context)):
                said[example.prompt] = (example, task.variations)
        for bad in task.rejected if not task.answers else ():
            avoided.append(bad)
            if (old := said.get(bad.prompt)) and old[0].answer == bad.answer:
                del said[bad.prompt], known[bad.prompt]
    replay.avoid(avoided)
    claimed = {*said, *(e.prompt for e in replay.book)}
    for other in filter(None, map(instead, journal.turned_away(version))):
        task = to_task(tokenizer, other, context, random.Random(other.id), frames)
        said |= {e.prompt: (e, task.variations) for e in task.answers if e.prompt not in claimed}
    replay.remember_all(said.values())
    return replay


def folded_prompt(lesson: Lesson) -> str:
    """As examples have it, see learning.folding."""
    return fold_prompt([(t.role, t.text) for t in lesson.prompt])


def book_paths(owner_book: Path) -> list[Path]:
    """The shipped book and the owner's, whose lines count over the shipped ones."""
    return [shipped_book_path(), owner_book]


def book_examples(
    tokenizer: Tokenizer, paths: Iterable[Path], context: int, skip_bad: bool = False
) -> list[Example]:
    """Entries of the books that exist and are not too long; of several answers to one question the
    last stays.

    Raises DataError for a book with bad lines, unless `skip_bad`.
    """
    by_prompt: dict[str, Example] = {}
    for path in paths:
        for entry in _entries(path, skip_bad):
            example = from_turns(tokenizer, entry.turns, context)
            if not _whole(tokenizer, entry, example, context):
                continue
            by_prompt.pop(example.prompt, None)
            by_prompt[example.prompt] = example
    return list(by_prompt.values())


def too_long_entries(
    tokenizer: Tokenizer, paths: Iterable[Path], context: int, skip_bad: bool = False
) -> list[str]:
    """Where the books have entries that are too long for the model, as "book.txt:12"."""
    return [
        f"{path.name}:{entry.line}"
        for path in paths
        for entry in _entries(path, skip_bad)
        if not _whole(tokenizer, entry, from_turns(tokenizer, entry.turns, context), context)
    ]


def _whole(tokenizer: Tokenizer, entry: Entry, example: Example, context: int) -> bool:
    """Whether nothing of the entry was cut, and no answer is too long."""
    if len(example.ids) <= context // 2:
        return True
    answers = (text for role, text in entry.turns if role == "assistant")
    fit = not any(excess(tokenizer, text, context) for text in answers)
    return fit and example.ids[-1] == tokenizer.end


def _entries(path: Path, skip_bad: bool) -> Sequence[Entry]:
    """None of a book that does not exist, or in which nothing is written yet."""
    if not path.exists():
        return ()
    try:
        return read_book(path, skip_bad)
    except EmptyBookError:
        return ()
    except BookError as error:
        raise DataError(str(error).splitlines()[0], "mend the line, then try again") from error


def careless_examples(
    tokenizer: Tokenizer, paths: Iterable[Path], context: int, skip_bad: bool = False
) -> list[Example]:
    """The books' single questions in small letters, without the mark at the end, and both.

    Raises DataError for a book with bad lines, unless `skip_bad`.
    """
    found: dict[tuple[int, ...], Example] = {}
    for path in paths:
        for entry in _entries(path, skip_bad):
            (_, question), *rest = entry.turns
            if len(rest) == 1:
                bare = question.rstrip("?!. ")
                for text in dict.fromkeys((question.lower(), bare, bare.lower())):
                    if text in ("", question):
                        continue
                    example = from_turns(tokenizer, [("user", text), *rest], context)
                    found[example.ids] = example
    return list(found.values())


def talk_rows(model: Model) -> int:
    """How many rows of own talk are dreamt, for a model of that size."""
    return min(TALK_ROWS, max(FEWEST_ROWS, model.config.parameters // WEIGHTS_A_ROW))


def own_talk(model: Model, tokenizer: Tokenizer, folder: Path) -> list[Example]:
    """The model's own talk, dreamt once and kept beside the weights; with it conversations in which it
    has to look back, which dreams seldom hold and lessons would make it forget."""
    path = folder / TALK
    try:
        rows = read_json(path, TALK_BYTES)
        if all(
            isinstance(i, int) and 0 <= i < model.config.vocab_size for row in rows for i in row
        ):
            return _with_targets(talk_example(tokenizer, row[:LOOK_BACK_LENGTH]) for row in rows)
    except (OSError, ValueError, TypeError):
        pass  # not there yet, or not whole: it is dreamt anew
    rows = talk_rows(model)
    talk = dream(model, tokenizer, rows, TALK_LENGTH, torch.Generator().manual_seed(0))
    length = min(LOOK_BACK_LENGTH, model.config.context)
    talk += looking_back(tokenizer, rows // LOOK_BACK, length)
    with contextlib.suppress(
        OSError
    ):  # a model that may only be read, a full disk: again next time
        write_atomically(path, json.dumps([e.ids for e in talk]))
    return _with_targets(talk)


def _with_targets(examples: Iterable[Example]) -> list[Example]:
    return [example for example in examples if example.targets]


def answer_example(tokenizer: Tokenizer, lesson: Lesson, context: int) -> Example | None:
    """The lesson's prompt and answer; None where there is no answer to say."""
    if not lesson.answer:
        return None
    return from_answer(tokenizer, [(t.role, t.text) for t in lesson.prompt], lesson.answer, context)


def waiting_riders(
    tokenizer: Tokenizer,
    journal: Journal,
    context: int,
    kinds: Collection[LessonKind] = RIDER_KINDS,
    memory: Iterable[Example] = (),
) -> dict[int, tuple[Example, float]]:
    """The newest weak lessons of these kinds that wait to ride along, with their weights, by number;
    none against what was taught, or against what the memory answers."""
    riders = weak_lessons([rider for rider in journal.riders() if rider.kind in kinds], journal)
    known = {example.prompt: example.answer for example in memory} if riders else {}
    found: dict[int, tuple[Example, float]] = {}
    for rider in riders[-MAX_RIDERS:]:
        example = rider_example(tokenizer, rider, context)
        if example and known.get(example.prompt, example.answer) == example.answer:
            found[rider.id] = (example, rider.weight)
    return found


def rider_example(tokenizer: Tokenizer, lesson: Lesson, context: int) -> Example | None:
    """The owner's own words as text to predict, or the answer that the talk went on with."""
    if lesson.kind == "continuation":
        return answer_example(tokenizer, lesson, context)
    body = tokenizer.encode(lesson.answer)[: context // 2]
    if not body:
        return None
    return Example((tokenizer.user, *body), (False, *([True] * len(body))))


def to_task(
    tokenizer: Tokenizer,
    lesson: Lesson,
    context: int,
    rng: random.Random | None = None,
    frames: Frames = NO_FRAMES,
) -> Task:
    """A lesson as examples to learn and to avoid; with `rng` also in other wordings."""
    prompt = [(t.role, t.text) for t in lesson.prompt]
    rejected = [t for t in dict.fromkeys(lesson.rejected) if t.strip() and t != lesson.answer]
    question = prompt[-1][1] if prompt else ""
    wordings: list[str] = []
    if rng and lesson.answer and stands_alone(question):
        wordings = asked_otherwise(question, frames, rng, fold_prompt(prompt))
    alone = lesson.answer and len(prompt) > 1 and stands_alone(question)
    return Task(
        answer_example(tokenizer, lesson, context),
        tuple(from_answer(tokenizer, prompt, text, context) for text in rejected),
        lesson.weight,
        tuple(from_answer(tokenizer, [("user", q)], lesson.answer, context) for q in wordings),
        (alone_example(tokenizer, lesson, context),) if alone else (),
    )


def overrule(known: dict[str, Example], example: Example, context: int) -> list[Example]:
    """Puts an example among those that are known by their prompts, and what it changes with it, which is
    returned: the same question after other talk, where it had the answer that it had by itself."""
    old, question = known.get(example.prompt), example.prompt
    known[question] = example
    if old is None or old.answer == example.answer:
        return []
    if " / " in question or not stands_alone(question):
        return []
    in_talk = [e for e in known.values() if e.prompt.endswith(f" / {question}")]
    changed = [answered_by(e, example.answer) for e in in_talk if e.answer == old.answer]
    changed = [e for e in changed if len(e.ids) <= context]
    known |= {e.prompt: e for e in changed}
    return changed


def as_worded_before(task: Task, memory: Iterable[Example], context: int) -> Task:
    """The task with its answer after the very words, too, in which the memory has the same question,
    and after talk in which it had the answer that is replaced: else the old answer is still given to
    "Where do I live?" after "where do i live" was corrected."""
    body = task.answer.answer if task.answer else ()
    if not body:
        return task
    known = {e.prompt: e for e in memory}
    same = [known[prompt] for prompt in task.prompts if prompt in known]
    for answer in task.answers:
        same += overrule(known, answer, context)
    heads = {asked(e) for e in task.answers}
    found: dict[tuple[int, ...], Example] = {}
    for example in same:
        head = asked(example)
        if head not in heads and len(head + body) <= context:
            found[head] = answered_by(example, body)
    return replace(task, reworded=tuple(found.values())[-WORDED_BEFORE:])


def stands_alone(question: str) -> bool:
    """Can it be understood without the talk before it? "Why?" and "and then" cannot."""
    words = fold(question).split()
    return len(words) >= 3 and not _LEANING & set(words)


def alone_example(tokenizer: Tokenizer, lesson: Lesson, context: int) -> Example:
    """The answer to the last message by itself."""
    last = [(t.role, t.text) for t in lesson.prompt[-1:]]
    return from_answer(tokenizer, last, lesson.answer, context)
