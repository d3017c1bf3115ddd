"""Not knowing is rehearsed with questions that nobody has answered, and with no others."""

from __future__ import annotations

import random

from learning.memory.unknown import Unknown

from engine.tokenizers.tokenizer import Tokenizer
from learning.data.examples import Example, from_answer
from learning.memory.tasks import NOT_KNOWN
from learning.text.untaught import QUESTIONS

CONTEXT = 128


def example(tokenizer: Tokenizer, question: str, answer: str) -> Example:
    return from_answer(tokenizer, [("user", question)], answer, CONTEXT)


def test_half_are_the_lesson_about_somebody_else(tiny_tokenizer: Tokenizer) -> None:
    dog = example(tiny_tokenizer, "What is my dog called?", "Your dog is called Bo.")
    for seed in range(5):
        rows = Unknown(tiny_tokenizer, CONTEXT).draw(random.Random(seed), [dog], [], 6)
        assert len({row.prompt for row in rows}) == 6
        assert {row.said for row in rows} == {NOT_KNOWN}
        near = [row.question for row in rows if row.question.endswith("'s dog called?")]
        assert 1 <= len(near) <= 3 and "What is my dog called?" not in near
        assert all(row.question in QUESTIONS for row in rows if row.question not in near)


def test_what_was_answered_is_not_unknown(tiny_tokenizer: Tokenizer) -> None:
    unknown = Unknown(tiny_tokenizer, CONTEXT)
    known = [example(tiny_tokenizer, text, "It is so.") for text in QUESTIONS]
    assert not {row.question for row in unknown.draw(random.Random(0), [], known, 40)} & {
        *QUESTIONS
    }
    bank = example(tiny_tokenizer, "which bank do i use", "You use the savings bank.")
    drawn = {row.question for row in unknown.draw(random.Random(0), [bank], [], len(QUESTIONS))}
    assert "Which bank do I use?" not in drawn and "What is my address?" in drawn


def test_none_are_drawn_where_none_are_wanted(tiny_tokenizer: Tokenizer) -> None:
    assert Unknown(tiny_tokenizer, CONTEXT).draw(random.Random(0), [], [], 0) == []
