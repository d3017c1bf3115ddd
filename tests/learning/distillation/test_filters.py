from __future__ import annotations

import pytest

from learning.distillation.filters import agreement, fault


@pytest.mark.parametrize(
    ("answer", "ended", "expected"),
    [
        ("A lake is a body of water with land all around it.", True, None),
        ("It sleeps, I think (like you!)", True, None),
        ("A lake is a body of", False, "cut off"),
        ("  ", True, "empty"),
        ("A lake\ufffd.", True, "broken"),
        ("A lake is a body of water and", True, "unfinished"),
        ("You can do it if you can do it if you can do it.", True, "repeats itself"),
        ("What is a very large lake?", True, "echoes"),
    ],
)
def test_faults_of_one_answer(answer: str, ended: bool, expected: str | None) -> None:
    assert fault(answer, "What is a very large lake?", ended=ended) == expected


def test_a_short_answer_may_use_the_words_of_the_question() -> None:
    assert fault("Yes, I like tea.", "Do you like tea?", ended=True) is None
    assert (
        fault("Coffee or tea, both are good in the morning.", "coffee or tea", ended=True) is None
    )


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("what is the capital of norway", "Oslo is the capital of Norway."),
        ("What is the capital of Norway?", "The capital of Norway is Oslo."),
        (
            "what is the opposite of a very large lake",
            "A pond is the opposite of a very large lake.",
        ),
        ("how much is 8 minus 4", "8 minus 4 is 4."),
        ("can dogs see colours?", "Yes, dogs can see colours."),
        ("can dogs see colours?", "Dogs can see colours."),
        ("Do you like tea in the morning?", "I do not like tea in the morning."),
        ("I like tea.", "You do not like tea."),
        ("Which is bigger, the sea or a lake?", "The sea is bigger."),
        ("Cats or dogs?", "Dogs."),
        ("I like hiking.", "I like hiking too."),
        ("How are you?", "I am well."),
        ("Good morning!", "Good morning!"),
        ("Have a nice day!", "Have a nice day!"),
        ("say hello to my mother", "Hello!"),
        ("Where are you?", "I am here."),
    ],
)
def test_a_right_answer_may_repeat_the_question(question: str, answer: str) -> None:
    assert fault(answer, question, ended=True) is None


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("what is the capital of norway", "The capital of Norway."),
        ("what is the capital of norway", "What is the capital of Norway?"),
        ("What is a lake?", "What is a lake?"),
        ("How are you?", "How are you?"),
        ("Where does plastic come from?", "Plastic comes from plastic."),
        ("Where is Denmark?", "Denmark is in Denmark."),
        ("I like chocolate.", "You like chocolate."),
        ("My daughter cooks very well.", "Your daughter cooks well."),
        ("How do I make pancakes?", "How do you make pancakes?"),
        ("Do you like tea in the morning?", "Do you like tea?"),
        ("how many strings has a guitar?", "A guitar has strings."),
        ("Cats or dogs?", "Cats or dogs."),
    ],
)
def test_an_answer_that_adds_nothing_is_an_echo(question: str, answer: str) -> None:
    assert fault(answer, question, ended=True) == "echoes"


def test_the_answer_that_says_what_most_say_agrees_most() -> None:
    found = agreement(["The capital is Oslo.", "The capital is Oslo!", "I like fish."])
    assert found[0] == found[1] == pytest.approx(0.5)
    assert found[2] == 0.0


def test_agreement_by_hand() -> None:
    # "a b c" and "a b d": two of three words each way, F1 = 2/3
    assert agreement(["a b c", "a b d"]) == pytest.approx([2 / 3, 2 / 3])
    assert agreement(["alone"]) == [1.0]
    assert agreement([]) == []
