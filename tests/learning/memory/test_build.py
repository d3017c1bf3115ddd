"""The memory that a restarted program builds is the one that the running program had."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import learning.memory.build
from engine.model import Model
from engine.tokenizers.tokenizer import Tokenizer
from learning.journal.journal import Journal
from learning.memory.book_rows import book_rows
from learning.memory.build import build_replay
from learning.memory.replay import Replay
from learning.memory.tasks import NOT_KNOWN, WORDED_BEFORE, as_worded_before, to_task
from learning.protocol.records import Lesson, Turn
from tests.learning.conftest import Place

BOOK = """<|user|> What is your name? <|assistant|> My name is Vidya.
<|user|> What are you called? <|assistant|> I am called Vidya.
<|user|> hello <|assistant|> Hi. <|user|> What is your name? <|assistant|> Vidya.
"""
NAMED = "What is your name?|What are you called?|How are you called?|Do you have a name?"
JOBS = """
What is my job?|What do I do for a living?|What do I work as?|What's my profession?|Which job do I have?
What is my profession?|What job have I got?|What job do I do?|What am I working as?|What am I by profession?
Which profession do I have?|What sort of job do I have?
""".strip().replace("\n", "|")
OTHERS = """
Where does my sister live?|In which town does my sister live?|where does my sister live
Where is my sister's home?|Where did my sister meet her partner?|In which town did my sister meet her partner?
What is my hobby?|Which hobby do I have?|my job?|What is it that I do for a living?|How old is that?
""".strip().replace("\n", "|")
ANSWERS = ("Vidya.", "In Rome.", "It is Rome, near the sea.", "Otto", "No.", "Yes.", NOT_KNOWN)
CONTEXT = 128
Build = Callable[[], Replay]


@pytest.fixture
def build(
    tiny_place: Place,
    tmp_path: Path,
    tiny_model: Model,
    tiny_tokenizer: Tokenizer,
    monkeypatch: pytest.MonkeyPatch,
) -> Build:
    """Builds the memory of the lessons so far, without talk and without other wordings to train."""
    monkeypatch.setattr(learning.memory.build, "own_talk", lambda *_: [])
    monkeypatch.setattr(learning.memory.build, "with_wordings", lambda _, task, *_more: task)
    book = tmp_path / "book.txt"
    book.write_text(BOOK)
    rows = book_rows(tiny_tokenizer, [book], CONTEXT)
    _, folder, journal = tiny_place
    return lambda: build_replay(tiny_model, tiny_tokenizer, folder, rows, journal, 0)


def learn(replay: Replay, tokenizer: Tokenizer, journal: Journal, lesson: Lesson) -> None:
    """What a lesson does to the memory of a running program."""
    (lesson,) = journal.add_lessons([lesson])
    task = as_worded_before(to_task(tokenizer, lesson, CONTEXT), replay.memory, CONTEXT)
    for example in (*task.remembered, *task.answers):
        replay.remember(example)
    if not task.answers:
        replay.avoid(task.rejected)
    journal.set_lesson_state(lesson.id, "learned")


def remembered(replay: Replay) -> list[dict[str, str]]:
    return [{e.prompt: e.said for e in found} for found in (replay.book, replay.taught)]


def drawn(rng: random.Random) -> Lesson:
    """A lesson, sometimes after other talk, sometimes an answer that is only rejected."""
    questions = rng.choice((NAMED, JOBS, JOBS, OTHERS))
    question, answer = rng.choice(questions.split("|")), rng.choice(ANSWERS)
    talk = (Turn("user", "Hi"), Turn("assistant", "Hello")) if rng.random() < 0.2 else ()
    lesson = Lesson("example", (*talk, Turn("user", question)), answer)
    if questions != NAMED and rng.random() < 0.1:
        return replace(lesson, kind="rating", answer="", rejected=(answer,))
    return lesson


@pytest.mark.parametrize("seed", range(4))
def test_a_restarted_program_remembers_the_same(
    tiny_place: Place, tiny_tokenizer: Tokenizer, build: Build, seed: int
) -> None:
    rng, journal, replay = random.Random(seed), tiny_place[2], build()
    for _ in range(4):
        if rng.random() < 0.1 and (last := journal.last_lesson()):
            journal.retract(last.id)
            journal.set_lesson_state(last.id, "undone")
            replay = build()
        else:
            learn(replay, tiny_tokenizer, journal, drawn(rng))
        assert remembered(replay) == remembered(build())


def test_however_many_wordings_there_are_all_have_the_last_answer(
    tiny_place: Place, tiny_tokenizer: Tokenizer, build: Build
) -> None:
    replay, journal, questions = build(), tiny_place[2], JOBS.split("|")
    assert len(questions) > WORDED_BEFORE + 1
    for question in questions:
        learn(
            replay, tiny_tokenizer, journal, Lesson("example", (Turn("user", question),), "Cook.")
        )
    last = Lesson("example", (Turn("user", questions[-1]),), "Pilot.")
    learn(replay, tiny_tokenizer, journal, last)
    assert {e.said for e in replay.taught} == {"Pilot."}
    assert len(replay.taught) == len(questions)
