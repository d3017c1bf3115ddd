"""Facts with several names: equal, never contained, never empty."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learning.rewards.verifiers.answer import read_answer
from learning.rewards.verifiers.string import names, normalise, string_score

LENNON = ["John Lennon", "John Winston Lennon", "Lennon"]


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("<answer>John Lennon</answer>", True),
        ("<answer> the  JOHN   lennon! </answer>", True),
        ("<answer>Lennon.</answer>", True),
        ("John Lennon", True),
        ("Let me think.\nThe answer is John Lennon.", True),
        ("<think>who?</think>\nlennon", True),
        ("", False),
        (" ", False),
        ("<answer></answer>", False),
        ("<answer>the</answer>", False),
        ("<answer>.</answer>", False),
        ("<answer>\u200b</answer>", False),
        ("<answer>John</answer>", False),
        ("<answer>n</answer>", False),
        ("<answer>John Lennon or Paul McCartney</answer>", False),
        ("<answer>Paul McCartney</answer><answer>John Lennon</answer>", False),
        ("<answer>Lennon, McCartney, Harrison, Starr</answer>", False),
        ("<think>John Lennon</think>", False),
        ("John Lennon\nPaul McCartney", False),
    ],
)
def test_names(text: str, right: bool) -> None:
    assert string_score(LENNON, read_answer(text)) == float(right)


@pytest.mark.parametrize("truth", ["", [], [""], ["!!!"], None, 5, {}, [None], ["\u0301"]])
def test_nothing_is_right_where_the_truth_has_no_words(truth: object) -> None:
    assert names(truth) == []
    for text in ("", " ", "!!!", "None", "5", "<answer></answer>"):
        assert string_score(truth, read_answer(text)) == 0.0


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("The Beatles", "beatles"),
        ("The The", "the the"),
        ("A", "a"),
        ("Café  Müller", "cafe muller"),
        ("snake_case", "snake case"),
        ("rock'n'roll", "rocknroll"),
        ("ＡＢＣ", "abc"),
        ("Straße", "strasse"),
        ("1,000", "1 000"),
        ("!?", ""),
    ],
)
def test_normal_forms(text: str, normal: str) -> None:
    assert normalise(text) == normal


@pytest.mark.parametrize(
    ("said", "right"),
    [
        ("**Paris**", True),
        ("<b>Paris</b>", True),
        ("\\boxed{\\text{Paris}}", True),
        ("`Paris`", True),
        ("The answer is **Paris**.", True),
        ("Answer: Paris", True),
        ("So the final answer is: Paris", True),
        ("not \\boxed{Paris}", False),
        ("~~Paris~~", False),
        ("<s>Paris</s>", False),
        ("not Paris", False),
        ("The answer is not Paris", False),
        ("anything but Paris", False),
        ("Paris or London", False),
        ("Paris is wrong", False),
    ],
)
def test_dress_is_no_part_of_a_name(said: str, right: bool) -> None:
    for text in (said, f"<answer>{said}</answer>"):
        if "answer" not in said.lower() or text == said:
            assert string_score("Paris", read_answer(text)) == float(right)


@pytest.mark.parametrize("text", ["a " * 400_000, "." * 900_000, "\n" * 900_000, "é" * 900_000])
def test_megabytes_take_no_time(text: str) -> None:
    began = time.process_time()
    for around in (text, f"<answer>{text}</answer>"):
        assert string_score(LENNON, read_answer(around)) == 0.0
    assert time.process_time() - began < 2.0


@settings(max_examples=300, deadline=None)
@given(st.text(), st.text())
def test_no_text_raises_and_every_name_with_words_meets_itself(truth: str, text: str) -> None:
    assert string_score(truth, read_answer(text)) in (0.0, 1.0)
    if normalise(truth) and len(truth) < 500 and "<" not in truth:
        assert string_score(truth, read_answer(f"<answer>{truth}</answer>")) == 1.0
