"""Near talk is asked for before a lesson, kept beside the weights, and let go of when it is taught."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from engine.model import Model
from engine.rollout import greedy_answers
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.examples import Example, from_answer
from learning.memory.near_talk import LESSONS, LONGEST, NEAR, QUESTIONS, NearTalk

CONTEXT = 128


def example(tokenizer: Tokenizer, question: str, answer: str = "It is so.") -> Example:
    return from_answer(tokenizer, [("user", question)], answer, CONTEXT)


@pytest.fixture
def dog(tiny_tokenizer: Tokenizer) -> Example:
    return example(tiny_tokenizer, "What is my dog called?", "Your dog is called Bo.")


@pytest.fixture
def tiny_model(tiny_model: Model) -> Model:
    """One that says something."""
    for block in tiny_model.blocks:
        for weight in block.parameters():
            weight.data.mul_(4.0)
    return tiny_model


@pytest.fixture
def near(tiny_model: Model, tiny_tokenizer: Tokenizer, dog: Example) -> NearTalk:
    found = NearTalk(tiny_tokenizer, CONTEXT)
    found.listen(tiny_model, dog)
    return found


def asked(near: NearTalk, lesson: Example, *memory: Example, seed: int = 0) -> dict[str, str]:
    """Question -> answer of the near talk that is drawn for a lesson."""
    return {e.question: e.said for e in near.draw(random.Random(seed), lesson, memory)}


def test_it_is_what_the_model_says_to_close_questions(
    near: NearTalk, dog: Example, tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    rows = asked(near, dog)
    assert 2 < len(rows) <= QUESTIONS and dog.question not in rows
    kinds = [any(text in q for q in rows) for text in ("'s dog called?", "What is my ", "my dog?")]
    assert all(kinds), rows
    said = greedy_answers(tiny_model, tiny_tokenizer, list(rows), max_tokens=LONGEST)
    assert said == list(rows.values())


def test_the_model_is_asked_once_and_before_the_lesson(
    near: NearTalk, dog: Example, tiny_model: Model
) -> None:
    before = asked(near, dog)
    for weight in tiny_model.parameters():
        weight.data.mul_(1.5)
    near.listen(tiny_model, dog)
    assert asked(near, dog) == before


def test_questions_that_make_no_sense_alone_have_none(
    tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    near = NearTalk(tiny_tokenizer, CONTEXT)
    talk = [("user", "My dog is ill."), ("assistant", "Oh."), ("user", "What is my dog called?")]
    later = from_answer(tiny_tokenizer, talk, "Bo.", CONTEXT)
    for lesson in (later, example(tiny_tokenizer, "Is my it?"), example(tiny_tokenizer, "hello")):
        near.listen(tiny_model, lesson)
        assert asked(near, lesson) == {}


def test_what_is_taught_later_is_held_no_longer(
    near: NearTalk, dog: Example, tiny_tokenizer: Tokenizer
) -> None:
    everything = asked(near, dog)
    question = next(q for q in everything if q.endswith("'s dog called?"))
    owner = question.removeprefix("What is ").removesuffix("'s dog called?")
    others = [f"What's the name of {owner}'s dog?", "who is my mother", "where do I live"]
    memory = [dog, *(example(tiny_tokenizer, text) for text in others)]
    left = asked(near, dog, *memory)
    assert question not in left and left.keys() < everything.keys()
    assert any(q.startswith("What is my ") for q in left), "these are asked of somebody else"


def test_a_later_lesson_holds_some_of_it_while_the_earlier_one_is_known(
    near: NearTalk, dog: Example, tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    house = example(tiny_tokenizer, "Where do I keep my keys?", "In the blue bowl.")
    near.listen(tiny_model, house)
    own, rows = asked(near, house), asked(near, house, dog)
    assert 0 < len(rows) - len(own) <= QUESTIONS // 2
    assert {q for q in rows if q not in own} <= asked(near, dog).keys()


def test_it_is_kept_for_what_the_memory_has(
    near: NearTalk, dog: Example, tiny_tokenizer: Tokenizer, tmp_path: Path
) -> None:
    near.save(tmp_path / NEAR)
    for prompts, found in (([dog.prompt], asked(near, dog)), (["where do i live"], {})):
        again = NearTalk(tiny_tokenizer, CONTEXT)
        again.load(tmp_path / NEAR, prompts)
        assert asked(again, dog) == found


@pytest.mark.parametrize("text", ["", "[]", '{"what is my dog called": [[1]]}', "\0"])
def test_a_damaged_file_costs_only_what_was_in_it(
    dog: Example, tiny_model: Model, tiny_tokenizer: Tokenizer, tmp_path: Path, text: str
) -> None:
    (tmp_path / NEAR).write_text(text)
    near = NearTalk(tiny_tokenizer, CONTEXT)
    near.load(tmp_path / NEAR, [dog.prompt])
    near.load(tmp_path / "none.json", [dog.prompt])
    near.listen(tiny_model, dog)
    assert asked(near, dog)


def test_only_the_newest_lessons_have_it(tiny_model: Model, tiny_tokenizer: Tokenizer) -> None:
    near = NearTalk(tiny_tokenizer, CONTEXT)
    lessons = [example(tiny_tokenizer, f"Is {n} my own number?") for n in range(LESSONS + 3)]
    for lesson in lessons:
        near.listen(tiny_model, lesson)
    assert [bool(asked(near, lesson)) for lesson in lessons] == [False] * 3 + [True] * LESSONS
