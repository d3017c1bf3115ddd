"""Builds the replay memory: the shipped book, the owner's book, the lessons so far, and the model's own
talk.

Where two answer the same question the later counts: the owner's book over the shipped one, a lesson
over both.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from engine.model import Model
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.examples import Example, gives
from learning.journal.journal import Journal
from learning.memory.book_rows import BookRow, latest_answers
from learning.memory.current_answers import CurrentAnswers
from learning.memory.own_talk import own_talk
from learning.memory.replay import Replay
from learning.memory.rewording import talk_frames
from learning.memory.tasks import (
    folded_prompt,
    replacement_lesson,
    to_task,
    with_wordings,
)
from learning.text.frames import Questions
from learning.text.paraphrases import Frames

WORDED = 300
"""The newest lessons that are replayed in other words too; making the words takes some ms a lesson."""


def build_replay(
    model: Model,
    tokenizer: Tokenizer,
    folder: Path,
    rows: Sequence[BookRow],
    journal: Journal,
    version: int,
) -> Replay:
    """The memory for the weights of that version, with these rows of the books. For undone lessons that
    these weights were taught against it holds the replacement answers too."""
    context = model.config.context
    book = latest_answers(rows)
    talk = own_talk(model, tokenizer, folder)
    replay = Replay(model, book, [], talk, turns=talk_frames(tokenizer, talk))
    # rejected answers are not replayed, whether or not avoiding them was learned
    kept = [x for x in journal.standing() if x.state == "learned" or not x.answer]
    tasks = [(x, to_task(tokenizer, x, context)) for x in kept]
    tasks = [(x, task) for x, task in tasks if task.answer is None or not task.answer.cut]
    asked = [folded_prompt(x) for x, _ in tasks]
    frames = Frames(Questions([*(e.prompt for e in book), *asked]), replay.turns)
    worded = [
        with_wordings(tokenizer, task, frames, context, random.Random(lesson.id))
        if place < WORDED
        else task
        for place, (lesson, task) in enumerate(reversed(tasks))
    ]
    said: dict[str, tuple[Example, Sequence[Example]]] = {}
    known, avoided = CurrentAnswers(book), list[Example]()
    for task in reversed(worded):
        for answer in task.answers:
            for example in (answer, *known.give(answer, context)):
                said[example.prompt] = (example, task.variations)
        for bad in task.rejected if not task.answers else ():
            avoided.append(bad)
            if (old := said.get(bad.prompt)) and gives(old[0], bad):
                del said[bad.prompt]
                known.drop(bad.prompt)
    replay.avoid(avoided)
    claimed = {*said, *(e.prompt for e in replay.book)}
    undone = journal.undone_by_training(version)
    for other in filter(None, (replacement_lesson(x, known) for x in undone)):
        task = to_task(tokenizer, other, context, random.Random(other.id), frames)
        said |= {e.prompt: (e, task.variations) for e in task.answers if e.prompt not in claimed}
    replay.remember_all(said.values())
    return replay
