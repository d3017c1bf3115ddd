"""learning.memory.tasks: the answer that replaces one that was taken back; parts of answers to avoid."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.tokenizers.tokenizer import Tokenizer
from learning.data.examples import Example, from_answer, gives
from learning.memory.current_answers import CurrentAnswers
from learning.memory.tasks import NOT_KNOWN, replacement_lesson, to_task
from learning.protocol.records import Lesson, LessonKind, Turn
from learning.text.blame import last_sentence, these_words
from personality.book import read_book, shipped_book_path

TAUGHT = Lesson("example", (Turn("user", "Where do I live?"),), "In Ghent.", id=3)
NOTHING = CurrentAnswers()


def test_vidya_does_not_know_what_the_owner_had_told() -> None:
    other = replacement_lesson(TAUGHT, NOTHING)
    assert other == replace(TAUGHT, answer=NOT_KNOWN, rejected=("In Ghent.",))
    said = {turns[-1][1] for turns in (entry.turns for entry in read_book(shipped_book_path()))}
    assert NOT_KNOWN in said, "the book's own words"


def test_what_stood_before_a_correction_stands_again() -> None:
    corrected = replace(TAUGHT, kind="correction", rejected=("In Paris.",), replaces="In Paris.")
    other = replacement_lesson(corrected, NOTHING)
    assert other and (other.answer, other.rejected) == ("In Paris.", ("In Ghent.",))
    assert other.replaces is None


@pytest.mark.parametrize(
    "lesson",
    [
        replace(TAUGHT, kind="pick", rejected=("In a ho",)),
        replace(TAUGHT, kind="rating"),
        replace(TAUGHT, kind="practice"),
        replace(TAUGHT, answer="", rejected=("In Ghent.",)),
        replace(TAUGHT, prompt=(Turn("user", "I had a long day."),)),
        replace(TAUGHT, answer=NOT_KNOWN),
        replace(TAUGHT, prompt=()),
    ],
)
def test_elsewhere_there_is_nothing_to_say_instead(lesson: Lesson) -> None:
    assert replacement_lesson(lesson, NOTHING) is None


@pytest.mark.parametrize("kind", ["example", "correction", "pick"])
def test_what_is_known_in_other_words_is_said_again(
    tiny_tokenizer: Tokenizer, kind: LessonKind
) -> None:
    other = from_answer(tiny_tokenizer, (Turn("user", "In which town do I live?"),), "In Rome.", 64)
    undone = replace(TAUGHT, kind=kind, replaces="In Paris.")
    found = replacement_lesson(undone, CurrentAnswers((other,)))
    assert found and (found.answer, found.rejected) == ("In Rome.", ("In Ghent.",))
    assert replacement_lesson(replace(undone, answer="In Rome."), CurrentAnswers((other,))) is None


BAD = "Cats purr. They are fish. So they swim."
PROMPT = (Turn("user", "Tell me about cats."),)


def words_of(tokenizer: Tokenizer, example: Example | None) -> str:
    assert example is not None
    return tokenizer.decode(example.answer)


@pytest.mark.parametrize(
    ("blame", "kept", "avoided"),
    [
        (last_sentence(BAD), "Cats purr. They are fish.|", " So they swim."),
        (these_words(BAD, "They are fish."), "Cats purr.", " They are fish."),
        (these_words(BAD, "Cats purr."), "", "Cats purr."),
        (these_words(BAD, "fish"), "Cats purr. They are", " fish"),
    ],
)
def test_the_tokens_of_a_blamed_part_are_avoided_and_those_before_kept(
    tiny_tokenizer: Tokenizer, blame: tuple[int, int], kept: str, avoided: str
) -> None:
    task = to_task(tiny_tokenizer, Lesson("rating", PROMPT, "", (BAD,), blame=blame), 128)
    (bad,) = task.rejected
    assert words_of(tiny_tokenizer, bad) == avoided
    ends, end = kept.endswith("|"), tiny_tokenizer.chat.end
    starts = [words_of(tiny_tokenizer, one) for one in task.beginnings]
    assert starts == ([kept.removesuffix("|")] if kept else [])
    tails = [b.answer[len(a.answer) :] for a, b in zip(task.beginnings, task.held, strict=True)]
    assert tails == ([(end,) if ends else ()] if kept else [])
    whole = from_answer(tiny_tokenizer, PROMPT, BAD, 128)
    assert whole.ids[: len(bad.ids)] == bad.ids and len(bad.ids) < len(whole.ids)
    assert gives(whole, bad), "who says it all says that too"
    assert not gives(from_answer(tiny_tokenizer, PROMPT, "Cats climb. They swim.", 128), bad)
    other = from_answer(tiny_tokenizer, (Turn("user", "And dogs?"),), BAD, 128)
    assert not gives(other, bad)


def test_a_whole_answer_is_avoided_whole(tiny_tokenizer: Tokenizer) -> None:
    task = to_task(tiny_tokenizer, Lesson("rating", PROMPT, "", (BAD,)), 128)
    whole = from_answer(tiny_tokenizer, PROMPT, BAD, 128)
    assert task.rejected == (whole,) and task.beginnings == [] and gives(whole, whole)
    assert not gives(from_answer(tiny_tokenizer, PROMPT, f"{BAD} Yes.", 128), whole)


def test_a_part_beyond_what_a_model_reads_is_not_avoided(tiny_tokenizer: Tokenizer) -> None:
    lesson = Lesson("rating", PROMPT, "", (BAD,), blame=last_sentence(BAD))
    assert to_task(tiny_tokenizer, lesson, 8).rejected == ()
