"""Data of the collapse benchmark: lessons, prompts, held-out talk, the preference."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from benchmarks import DATA
from benchmarks.common.corpus import named_corpus
from benchmarks.talking.talk import held_out
from benchmarks.talking.talk_data import load
from engine.errors import DataError
from engine.model import Model
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.examples import Example, from_answer, from_turns
from learning.data.lesson_file import check_measured, measured, read_rows
from learning.memory.book_rows import book_examples
from learning.memory.own_talk import LOOK_BACK_LENGTH, TALK_LENGTH, generate_talk, recall_talk
from learning.protocol.records import Lesson, Turn
from learning.text.key import Key
from personality.book import shipped_book_path

LESSONS = DATA / "lessons100.jsonl"
OPENINGS = DATA / "talk_openings.txt"
TALK_ROWS = 60
"""Number of held-out conversations (without a corpus: rows of the model's own talk) for the talk loss."""
TALK_TOKENS = 96
"""Longest of these conversations, in tokens."""
WIN_PROMPTS = 80
"""Prompts without picks, for the win rate."""


@dataclass(frozen=True)
class Row:
    """One lesson of the file."""

    prompt: str
    answer: str
    paraphrase: str
    """The same question with few words in common with the prompt, so that answering it needs meaning."""
    contradicts: bool
    """True if it contradicts an entry of the book."""
    rewordings: tuple[str, ...] = ()
    """The same question as people ask it again on another day."""
    key: Key = ()
    """What a right answer says; empty where the file has no key."""
    without: Key = ()

    def lesson(self) -> Lesson:
        return Lesson("example", (Turn("user", self.prompt),), self.answer)


def read_lessons(path: Path = LESSONS) -> list[Row]:
    """Raises DataError with file and line, for a malformed key too."""
    rows = read_rows(path)
    check_measured(rows, str(path))
    return [
        Row(
            r["prompt"],
            r["answer"],
            r["paraphrase"],
            bool(r.get("contradicts")),
            more.rewordings,
            more.key,
            more.without,
        )
        for r in rows
        for more in (measured(r),)
    ]


@dataclass(frozen=True)
class Yardstick:
    """All examples whose recall or likelihood is measured, for one tokenizer. Lessons, paraphrases,
    rewordings and rows are in the same order."""

    lessons: list[Example]
    paraphrases: list[Example]
    rewordings: list[list[Example]]
    contradicts: list[bool]
    book: list[Example]
    """Book entries that no lesson contradicts."""
    talk: list[Example]
    talk_source: str


def make_yardstick(
    tokenizer: Tokenizer, model: Model, rows: Sequence[Row], replayed: Sequence[Example]
) -> Yardstick:
    """replayed: own talk that a method may train on. Without a corpus, other own talk is generated for the
    talk loss."""
    context = model.config.context

    def example(question: str, row: Row) -> Example:
        return from_answer(tokenizer, [("user", question)], row.answer, context)

    lessons = [example(row.prompt, row) for row in rows]
    asked = {e.prompt for e in lessons}
    book = book_examples(tokenizer, [shipped_book_path()], context)
    talk, source = _held_out_talk(tokenizer, context), "held-out conversations of the corpus"
    if not talk:
        talk = other_talk(model, tokenizer, replayed)
        source = (
            "the model's own, dreamt anew and never replayed, since VIDYA_CORPUS names no corpus"
        )
    return Yardstick(
        lessons,
        [example(row.paraphrase, row) for row in rows],
        [[example(again, row) for again in row.rewordings] for row in rows],
        [row.contradicts for row in rows],
        [e for e in book if e.prompt not in asked],
        talk,
        source,
    )


def other_talk(model: Model, tokenizer: Tokenizer, replayed: Sequence[Example]) -> list[Example]:
    """Own talk as made by learning.memory.own_talk.own_talk, with another seed; excludes replayed rows."""
    back = TALK_ROWS // 5
    rows = generate_talk(
        model, tokenizer, TALK_ROWS - back, TALK_LENGTH, torch.Generator().manual_seed(1)
    )
    rows += recall_talk(tokenizer, back, min(LOOK_BACK_LENGTH, model.config.context), seed=1)
    trained = {e.ids for e in replayed}
    return [e for e in rows if e.targets and e.ids not in trained]


def _held_out_talk(tokenizer: Tokenizer, context: int) -> list[Example]:
    """A fixed set of short held-out conversations; the assistant's words are the targets."""
    corpus = named_corpus()
    if not corpus:
        return []
    documents = sorted((d for d in held_out(corpus) if d.turns), key=lambda d: d.lot)
    examples = (from_turns(tokenizer, d.turns, context) for d in documents)
    short = [e for e in examples if len(e.ids) <= min(TALK_TOKENS, context - 1) and e.targets]
    if not short:
        raise DataError(
            f"{os.pathsep.join(map(str, corpus))}: holds no short held-out conversations",
            "name another VIDYA_CORPUS, or none",
        )
    return random.Random(0).sample(short, min(TALK_ROWS, len(short)))


# ---------------------------------------------------------------- picks


def preferred(text: str) -> bool:
    """The hidden preference: True if the answer asks something back."""
    return "?" in text


PREFERENCE = "an answer that asks something back (contains a question mark)"


def pick_prompts() -> tuple[list[str], list[str]]:
    """(prompts for picks, prompts for the win rate)."""
    openings = [line for line in OPENINGS.read_text("utf-8").splitlines() if line.strip()]
    asked = [q.turns[0][1] for q in load() if len(q.turns) == 1]
    random.Random(0).shuffle(asked)
    return openings + asked[WIN_PROMPTS:], asked[:WIN_PROMPTS]
