"""What a new answer changes: the same question after other talk, and in other words."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engine.tokenizers.tokenizer import Tokenizer
from learning.data.examples import Example, from_answer
from learning.memory.current_answers import CurrentAnswers

CONTEXT = 64
Make = Callable[..., Example]


@pytest.fixture
def example(tiny_tokenizer: Tokenizer) -> Make:
    """Makes an example of its turns and its answer."""

    def made(*turns: str, answer: str) -> Example:
        roles = ("user", "assistant", "user")
        prompt = list(zip(roles, turns, strict=False))
        return from_answer(tiny_tokenizer, prompt, answer, 2 * CONTEXT)

    return made


def test_the_same_question_after_other_talk(example: Make) -> None:
    question = "Where do I live?"
    same, other = (example("Hi", "Hello", question, answer=a) for a in ("In Rome.", "On a boat."))
    longer = example("Hi", "So you are here " * 3, question, answer="In Rome.")
    old, new = (example(question, answer=a) for a in ("In Rome.", "In Ghent."))
    asked_why = example("Hi", "Hello", "Why?", answer="So."), example("Why?", answer="So.")
    known = CurrentAnswers((same, old, longer, *asked_why))
    assert known.give(old, CONTEXT) == [], "it is the same answer"
    changed = [example("Hi", "Hello", question, answer="In Ghent.")]
    assert known.give(new, len(longer.ids)) == changed
    assert known.by_prompt[new.prompt] == new and known.by_prompt[same.prompt] == changed[0]
    assert known.by_prompt[longer.prompt] == longer, "it would be too long"
    assert CurrentAnswers((other, old)).give(new, CONTEXT) == [], "it was another answer"
    assert CurrentAnswers((other,)).give(new, CONTEXT) == [], "it had none by itself"
    assert known.give(example("Why?", answer="No."), CONTEXT) == [], "it leans on the talk"


def test_a_question_that_asks_for_the_same_thing_in_other_words(example: Make) -> None:
    old = example("Where does my sister live?", answer="In Oslo.")
    after_talk = example("Hi", "Hello", "Where does my sister live?", answer="In Oslo.")
    brother = example("Where does my brother live?", answer="In Lima.")
    known = CurrentAnswers((old, after_talk, brother))
    same = example("In which town does my sister live?", answer="She lives in Oslo.")
    assert known.give(same, CONTEXT) == [], "it says the same"
    new = example("In which town does my sister live?", answer="In Bergen.")
    changed = known.give(new, CONTEXT)
    assert [(e.prompt, e.said) for e in changed] == [
        (old.prompt, "In Bergen."),
        (after_talk.prompt, "In Bergen."),
    ]
    assert known.by_prompt[old.prompt] == changed[0]
    assert known.by_prompt[brother.prompt] == brother
    back = known.give(old, CONTEXT)
    assert [e.prompt for e in back] == [new.prompt, after_talk.prompt], "the last one counts"
    known.drop(new.prompt)
    assert known.give(example("In which city does my sister live?", answer="In Rome."), CONTEXT)


def test_what_may_have_several_answers_keeps_them(example: Make) -> None:
    joke = example("Tell me a joke.", answer="A full stop walked into a sentence.")
    known = CurrentAnswers((joke,))
    assert (
        known.give(
            example(
                "Make me laugh, please!",
                answer="No.",
            ),
            CONTEXT,
        )
        == []
    )
    unknown = example("Which door does the goose use?", answer="The left one.")
    assert CurrentAnswers((unknown,)).give(joke, CONTEXT) == [], "it is of no known kind"


def test_what_is_answered_elsewhere(example: Make) -> None:
    oslo = example("Where does my sister live?", answer="In Oslo.")
    known = CurrentAnswers((oslo,))
    assert known.elsewhere("In which town does my sister live?") == "In Oslo."
    assert known.elsewhere("where does my sister live") == "", "these are its own words"
    assert known.elsewhere("Where does my brother live?") == known.elsewhere("Why?") == ""


def test_a_short_question_is_changed_only_where_it_stands_alone(example: Make) -> None:
    short = example("My job?", answer="Cook.")
    after_talk = example("Hi", "Hello", "My job?", answer="Cook.")
    known = CurrentAnswers((short, after_talk))
    changed = known.give(example("What is my job?", answer="Pilot."), CONTEXT)
    assert [e.prompt for e in changed] == [short.prompt]
    back = known.give(example("My job?", answer="Cook."), CONTEXT)
    assert [e.prompt for e in back] == ["what is my job"]
    in_talk = example("Hi", "Hello", "What is my job?", answer="Nurse.")
    assert known.give(in_talk, CONTEXT) == [], "there is talk before it"
