"""A lesson as it will be needed: alone, after other talk, in other words; and the batches of it."""

from __future__ import annotations

import random

import pytest

from engine.model import Model
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.examples import Example, after, from_answer, too_long
from learning.lessons.batch import COPIES, BatchAccumulator, Mixture
from learning.lessons.recipe import Wording
from learning.memory.book_rows import book_rows, careless_examples
from learning.memory.replay import Replay
from learning.memory.rewording import owner_turns, reworded, talk_frames
from learning.memory.tasks import to_task
from learning.protocol.records import Lesson, Turn
from learning.text.frames import Questions
from learning.text.kinds.recognise import asked_as
from learning.text.normalise import fold
from learning.text.paraphrases import (
    NO_FRAMES,
    OF_ITS_KIND,
    UNSEEN,
    WORDINGS,
    Frames,
    asked_otherwise,
    unseen_wordings,
)
from learning.text.questions.asking import stands_alone
from learning.text.variations import variations


def _example(tokenizer: Tokenizer, question: str, answer: str) -> Example:
    return from_answer(tokenizer, [("user", question)], answer, 128)


@pytest.fixture
def replay(tiny_model: Model, tiny_tokenizer: Tokenizer) -> Replay:
    book = [_example(tiny_tokenizer, f"Question {i}?", f"Answer {i}.") for i in range(40)]
    taught = [_example(tiny_tokenizer, f"Taught {i}?", f"Told {i}.") for i in range(10)]
    talk = [Example((1, 2, 3, i), (False, True, True, True)) for i in range(10)]
    return Replay(tiny_model, book, taught, talk)


def test_after_puts_the_talk_before_and_learns_only_the_answer(tiny_tokenizer: Tokenizer) -> None:
    talk = _example(tiny_tokenizer, "Hello", "Hi.")
    asked = _example(tiny_tokenizer, "Who?", "Me.")
    both = after(talk, asked, 128)
    assert both.ids == talk.ids + asked.ids
    assert both.answer == asked.answer
    assert both.prompt == "hello / who"
    assert after(talk, asked, len(both.ids) - 1) == asked, "too long together"
    broken_off = Example(talk.ids[:-1], (False,) * (len(talk.ids) - 1))
    assert after(broken_off, asked, 128) == asked, "talk that ends with no answer"


@pytest.mark.parametrize(
    ("question", "alone"),
    [
        ("What is my dog called?", True),
        ("where do i live", True),
        ("Why?", False),
        ("And then what happened", False),
        ("What does it mean?", False),
        ("Hello", False),
    ],
)
def test_what_can_be_understood_alone(question: str, alone: bool) -> None:
    assert stands_alone(question) is alone


def test_a_lesson_in_talk_is_also_learned_alone(tiny_tokenizer: Tokenizer) -> None:
    talk = (Turn("user", "Hello"), Turn("assistant", "Hi."))
    lesson = Lesson("correction", (*talk, Turn("user", "What is my dog called?")), "Rufus.")
    task = to_task(tiny_tokenizer, lesson, 128, random.Random(0))
    assert [e.prompt for e in task.answers] == [
        "hello / hi / what is my dog called",
        "what is my dog called",
    ]
    assert task.prompts == {e.prompt for e in task.answers}
    assert len(task.variations) >= 10
    assert {e.answer for e in task.variations} == {task.answers[0].answer}
    leaning = Lesson("correction", (*talk, Turn("user", "Why?")), "Because.")
    task = to_task(tiny_tokenizer, leaning, 128, random.Random(0))
    assert len(task.answers) == 1 and task.variations == ()
    first = Lesson("correction", (Turn("user", "What is my dog called?"),), "Rufus.")
    assert len(to_task(tiny_tokenizer, first, 128).answers) == 1


def test_an_answer_is_encoded_once_for_all_its_questions(
    tiny_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    kind = type(tiny_tokenizer)
    encode = kind.encode

    def counted(self: Tokenizer, text: str) -> list[int]:
        seen.append(text)
        return encode(self, text)

    monkeypatch.setattr(kind, "encode", counted)
    talk = (Turn("user", "Hello"), Turn("assistant", "Hi."))
    prompt = (*talk, Turn("user", "What is my dog called?"))
    task = to_task(tiny_tokenizer, Lesson("correction", prompt, "Rufus."), 128, random.Random(0))
    assert len(task.variations) >= 10 and task.answer and not too_long(task.answer)
    assert seen.count("Rufus.") == 1
    assert {e.said for e in (*task.answers, *task.variations)} == {"Rufus."}
    assert {e.question for e in task.answers} == {"What is my dog called?"}


def test_what_is_left_out_of_a_long_answer_is_counted(tiny_tokenizer: Tokenizer) -> None:
    example = from_answer(tiny_tokenizer, [("user", "Who?")], "Rufus and Rex. " * 30, 64)
    whole = len(tiny_tokenizer.encode(example.said))
    assert example.cut == whole - 32 and len(example.answer) == 33
    assert f"about {32 / whole:.0%} of it would fit" in too_long(example)
    assert too_long(_example(tiny_tokenizer, "Who?", "Rex.")) == ""


def test_a_lesson_is_also_asked_in_the_frames_of_other_questions(tiny_tokenizer: Tokenizer) -> None:
    lesson = Lesson("example", (Turn("user", "What is my dog called?"),), "Rufus.")
    memory = Questions(["how old are you", "where is rome", "what is my dog called"])
    frames = Frames(memory, Questions(["Is it far?"]))
    task = to_task(tiny_tokenizer, lesson, 128, random.Random(0), frames)
    asked = {e.prompt for e in task.variations}
    assert "where is my dog called" in asked, "in a frame of the memory"
    assert "is it my dog called" in asked, "in one of own talk"
    alone = to_task(tiny_tokenizer, lesson, 128, random.Random(0))
    assert alone.answers == task.answers
    assert len(asked) > len(alone.variations) >= 10
    assert {e.answer for e in task.variations} == {task.answers[0].answer}


def test_the_answer_to_wordings_drawn_anew(tiny_tokenizer: Tokenizer) -> None:
    talk = [("user", "Hello"), ("assistant", "Hi."), ("user", "What is my dog called?")]
    example = from_answer(tiny_tokenizer, talk, "Rufus. \U0001f436", 128)
    assert owner_turns(tiny_tokenizer, example) == ["Hello", "What is my dog called?"]
    assert (example.question, example.said) == ("What is my dog called?", "Rufus. \U0001f436")
    memory, talk = (
        Questions(["how old are you", "where is rome"]),
        Questions(["Do you see the sea?"]),
    )
    frames, rng = Frames(memory, talk), random.Random(0)
    one, other = (reworded(tiny_tokenizer, example, frames, 128, rng) for _ in range(2))
    assert len(one) > 10 and len({e.prompt for e in one}) > 10
    assert {e.answer for e in (*one, *other)} == {example.answer}
    assert all(e.ids[0] == tiny_tokenizer.user and " / " not in e.prompt for e in one)
    assert {e.prompt for e in other} - {e.prompt for e in one}, "others than before"


def test_a_text_without_an_owner_has_no_question(tiny_tokenizer: Tokenizer) -> None:
    end, word = tiny_tokenizer.end, tiny_tokenizer.encode("word")
    plain = Example((end, *word, end), (False, *([True] * (len(word) + 1))))
    assert plain.question == ""
    assert (
        reworded(
            tiny_tokenizer, plain, Frames(Questions(["how old are you"])), 128, random.Random(0)
        )
        == ()
    )


def test_frames_of_own_talk_are_turns_of_the_owner(tiny_tokenizer: Tokenizer) -> None:
    asked = [
        _example(tiny_tokenizer, q, "Do I know that?") for q in ("Is it far?", "Hi", "Is it far?")
    ]
    assert talk_frames(tiny_tokenizer, asked).texts == ("Is it far?",)
    cut = Example(asked[0].ids[:4], asked[0].target[:4])
    assert talk_frames(tiny_tokenizer, [cut]).texts == (), "it breaks off"


def test_other_wordings_never_ask_what_is_remembered_otherwise(
    tiny_tokenizer: Tokenizer, replay: Replay
) -> None:
    lesson = Lesson("example", (Turn("user", "What is my dog called?"),), "Rufus.")
    task = to_task(tiny_tokenizer, lesson, 128, random.Random(0))
    replay.remember(_example(tiny_tokenizer, "Tell me what my dog is called.", "Nothing."))
    rng = random.Random(0)
    rows = [row for _ in range(30) for row in Wording(task, replay, rng).rows(4)]
    assert len(rows) == 120
    assert all(row.answer == task.answers[0].answer for row in rows)
    assert "tell me what my dog is called" not in {row.prompt for row in rows}
    assert any(" / " in row.prompt and row.prompt.endswith("what is my dog called") for row in rows)
    assert any(" / " not in row.prompt for row in rows)
    assert Wording(task, replay, rng).rows(0) == []


def test_wordings_go_with_what_they_ask_for(replay: Replay, tiny_tokenizer: Tokenizer) -> None:
    old, new = (_example(tiny_tokenizer, "My pin?", f"It is {n}.") for n in (1234, 5678))
    replay.remember(old, [_example(tiny_tokenizer, "The pin?", "It is 1234.")])
    replay.remember(new)
    assert old.ids not in replay.wordings
    assert "my pin" in replay.frames.memory.texts and replay.frames is replay.frames
    replay.avoid([new])
    assert new.ids not in replay.wordings and "my pin" not in replay.frames.memory.texts


def test_a_batch_is_full_and_never_holds_the_lesson_alone(
    tiny_tokenizer: Tokenizer, replay: Replay
) -> None:
    lesson = _example(tiny_tokenizer, "Question 3?", "Something else.")
    accumulator = BatchAccumulator(replay, Mixture(), random.Random(0))
    batch = accumulator.mix([lesson])
    assert batch.rows == 32
    assert all(e.prompt != lesson.prompt for e in batch.replay)
    assert len(batch.talk) == Mixture().talk
    batch = accumulator.mix([lesson], wordings=[lesson] * 4)
    assert batch.rows == 32 and len(batch.wordings) == 4


def test_what_a_lesson_contradicts_is_replayed_no_longer(
    tiny_tokenizer: Tokenizer, replay: Replay
) -> None:
    old = next(e for e in replay.book if e.prompt == "question 3")
    book, taught = [e for e in replay.book if e is not old], list(replay.taught)
    first = _example(tiny_tokenizer, "Question 3?", "Something else.")
    second = _example(tiny_tokenizer, "QUESTION 3", "A third answer.")
    for lesson in (first, second):
        replay.remember(lesson)
        assert replay.book == book
        assert replay.taught == [*taught, lesson]


def test_what_broke_comes_several_times(tiny_tokenizer: Tokenizer, replay: Replay) -> None:
    lesson, broken = _example(tiny_tokenizer, "New?", "Yes."), replay.book[7]
    batch = BatchAccumulator(replay, Mixture(), random.Random(0)).mix([lesson], [broken])
    assert batch.replay.count(broken) >= COPIES
    assert batch.rows == 32


def test_careless_questions_of_a_book(
    tiny_tokenizer: Tokenizer, tmp_path: pytest.TempPathFactory
) -> None:
    from pathlib import Path

    path = Path(str(tmp_path)) / "book.txt"
    path.write_text(
        "<|user|> How are you? <|assistant|> Well.\n<|user|> hi <|assistant|> Hello.\n"
        "<|user|> A? <|assistant|> B. <|user|> C? <|assistant|> D.\n"
    )
    rows = book_rows(tiny_tokenizer, [path, path.with_name("none.txt")], 128)
    made = careless_examples(tiny_tokenizer, rows, 128)
    texts = {tiny_tokenizer.decode(e.ids) for e in made}
    assert texts == {"how are you?Well.", "How are youWell.", "how are youWell."}
    assert {e.prompt for e in made} == {"how are you"}


def test_earlier_lessons_are_replayed_in_other_words_that_ask_for_nothing_else(
    replay: Replay, tiny_tokenizer: Tokenizer
) -> None:
    dice = random.Random(0)
    lesson = _example(tiny_tokenizer, "What is my dog called?", "Rufus.")
    free = _example(tiny_tokenizer, "My dog's name?", "Rufus.")
    claimed = _example(tiny_tokenizer, "Question 3?", "Rufus.")
    replay.remember(lesson, [free, claimed])
    drawn = [replay.otherwise(lesson, dice, frozenset()) for _ in range(200)]
    assert set(drawn) == {lesson, free}
    assert 20 < drawn.count(free) < 80
    assert {replay.otherwise(lesson, dice, {free.prompt}) for _ in range(50)} == {lesson}
    accumulator = BatchAccumulator(replay, Mixture(earlier=11), dice)
    new = _example(tiny_tokenizer, "New?", "Yes.")
    assert any(free in accumulator.mix([new]).replay for _ in range(20))


def test_some_wordings_are_never_trained() -> None:
    memory = Questions(
        [f"What is my {thing} called?" for thing in ("cat", "boat", "town", "street")]
    )
    for question in ("What is my dog called?", "where do i live", "How many brothers do I have?"):
        unseen = unseen_wordings(question)
        assert unseen == unseen_wordings(question), "the same at each call"
        folded = {fold(text) for text in unseen}
        assert len(folded) == UNSEEN
        assert fold(question) not in folded
        for seed in range(40):
            trained = asked_otherwise(question, Frames(memory), random.Random(seed))
            assert len(trained) > 30
            assert not folded & {fold(text) for text in trained}


def test_a_lesson_is_taught_in_the_words_of_its_kind_too() -> None:
    texts = asked_otherwise("What do I do for a living?", NO_FRAMES, random.Random(0))
    assert len(texts) > 16 and {"job", "profession", "trade"} & {
        word for text in texts for word in fold(text).split()
    }
    rules = asked_otherwise("Blorp the wumpus, will you?", NO_FRAMES, random.Random(0))
    assert len(rules) > 16, "a question of no known kind is reworded by rules"


@pytest.mark.parametrize("question", ["What do I do for a living?", "Blorp the wumpus, will you?"])
def test_all_wordings_are_different_and_others_take_the_places_of_repeated_ones(
    question: str,
) -> None:
    memory = Questions(
        [f"what is my {thing} called" for thing in ("cat", "boat", "town", "street")]
    )
    unseen = {fold(text) for text in unseen_wordings(question)}
    for seed in range(40):
        alone, framed = (
            asked_otherwise(question, frames, random.Random(seed))
            for frames in (NO_FRAMES, Frames(memory))
        )
        for texts in (alone, framed):
            assert len({fold(text) for text in texts}) == len(texts) <= WORDINGS
        rng = random.Random(seed)
        made = asked_as(question, rng, OF_ITS_KIND)
        made += variations(question, (WORDINGS - len(made)) // 2, rng)
        assert len(alone) == sum(fold(text) not in unseen for text in made) < len(framed)


def test_no_wording_is_a_question_with_another_answer() -> None:
    memory = Questions(["what is my profession", "which job do i have", "hi / what is my job"])
    for seed in range(8):
        texts = asked_otherwise("What do I do for a living?", Frames(memory), random.Random(seed))
        assert not {*memory.texts} & {fold(text) for text in texts}


@pytest.mark.parametrize(
    "question",
    [
        "What is C++?",
        "What does AC / DC mean?",
        "Where is my father's hat?",
        "What is my {K} called?",
        "What is \u1ee7\u2019\u0324?",  # its fold folds to something else again
    ],
)
def test_a_taught_question_with_signs_is_reworded(question: str) -> None:
    """The memory has it folded, and another question of its kind behind it."""
    for prompt in (fold(question), "hi / " + fold(question)):
        memory = Questions([prompt, "what is a teapot"])
        assert len(asked_otherwise(question, Frames(memory), random.Random(0), prompt)) > 8


def test_words_of_a_kind_are_those_of_the_lesson_taught_last() -> None:
    """Two lessons that ask for the same thing may have different answers."""
    first, second = "What is my profession?", "What do I do for a living?"
    memory = Frames(Questions([fold(first), "hi / " + fold(second)]))

    def says_trade(question: str, prompt: str) -> bool:
        drawn = [asked_otherwise(question, memory, random.Random(n), prompt) for n in range(8)]
        return any("trade" in text.casefold() for texts in drawn for text in texts)

    assert says_trade(second, "hi / " + fold(second))
    assert not says_trade(first, fold(first))
    assert says_trade("What's my brother's job?", "what s my brother s job"), "of another person"
