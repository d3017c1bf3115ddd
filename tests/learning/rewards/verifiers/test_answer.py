"""Fields of an answer, its format and length."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learning.rewards.verifiers.answer import (
    LONGEST,
    format_score,
    in_format,
    length_score,
    read_answer,
)


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("<think>a</think><answer>5</answer>", "5"),
        ("< think >a< / think > <ANSWER>\n5 </Answer >", "5"),
        ("<think>a</think><answer>5", "5"),  # no end
        ("<think>a <answer>5</answer>", "5"),  # the thinking has no end
        ("a</think><answer>5</answer>", "5"),  # the thinking began in the prompt
        ("<answer>5</answer>", "5"),
        ("<answer><answer>5</answer></answer>", "5"),
        ("<answer>5</answer> so <answer> 5 </answer>", "5"),
        ("<think>is it <answer>4</answer>? no</think><answer>5</answer>", "5"),
        ("<answer>4</answer> no, wait </think><answer>5</answer>", "5"),
        ("<answer>4</answer><answer>5</answer>", None),  # naming many
        ("<answer>4</answer><think>a</think><answer>5</answer>", None),
        ("<think><answer>5</answer></think>", None),  # in the thinking only
        ("<answer></answer>", None),
        ("<answer> \n\t </answer>", None),
        ("<answer>5</answer><answer></answer>", None),
        ("<answers>5</answers>", None),
        ("", None),
        ("5", None),
    ],
)
def test_the_field(text: str, field: str | None) -> None:
    assert read_answer(text).field == field


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("5", "5"),
        ("<think>4</think> 5", "5"),
        ("<think>4", None),  # cut off while thinking
        ("4</think>5", "5"),
        ("<think>4</think>", None),
        ("it is 5 <answer></answer>", None),  # an empty field takes the rest back
        ("4 <answer>5</answer> 6", "5"),
        ("   ", None),
    ],
)
def test_without_a_field_what_stands_outside_of_the_thinking(text: str, said: str | None) -> None:
    assert read_answer(text).said == said


@pytest.mark.parametrize(
    ("text", "think"),
    [
        ("<think> a </think>5", "a"),
        ("<think>a</think>5<think>b</think>", "a\nb"),
        ("a</think>5", "a"),  # the thinking began before the text
        ("a</think>b</think><think>c</think>5", "a</think>b\nc"),
        ("</think>5", ""),
        ("<think>a", "a"),
        ("5", ""),
    ],
)
def test_the_thinking(text: str, think: str) -> None:
    assert read_answer(text).think == think


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("<think>a</think><answer>5</answer>", 1.0),
        (" < Think >a</think>\n\n<answer> 5 </ answer>\n", 1.0),
        ("<think>a</think><answer>5", 0.5),
        ("<answer>5</answer>", 0.5),
        ("<think> </think><answer>5</answer>", 0.5),
        ("<think>a</think>so<answer>5</answer>", 0.5),
        ("<think>a</think><answer>5</answer> there", 0.5),
        ("<think>a</think><answer>5</answer><answer>5</answer>", 0.0),
        ("<think>a</think><answer></answer>", 0.0),
        ("<answer>4</answer><answer>5</answer>", 0.0),
        ("<think>a</think>5", 0.0),
        ("5", 0.0),
        ("", 0.0),
    ],
)
def test_format(text: str, score: float) -> None:
    assert format_score(read_answer(text)) == score


def test_what_is_written_in_the_format_is_in_the_format() -> None:
    assert format_score(read_answer(in_format("a", "5"))) == 1.0
    assert in_format("", "5") == "<answer>5</answer>"


@pytest.mark.parametrize(("length", "score"), [(0, 1), (100, 1), (150, 0.5), (200, 0), (999, 0)])
def test_length(length: int, score: float) -> None:
    assert length_score("x" * length, 100) == score


HUGE = [
    "<" * 900_000,
    "< " * 450_000,
    "<think>" * 40_000,
    "<answer>" * 40_000,
    "<answer>5</answer>" * 20_000,
    "</think>" * 40_000,
    "<think></think>" * 20_000,
    "<     " * 150_000,
    "<answer>" + " " * 900_000,
    "1" * 900_000,
    "<answer>" + "x" * 5_000_000,
]


@pytest.mark.parametrize("text", HUGE, ids=range(len(HUGE)))
def test_megabytes_take_time_in_proportion(text: str) -> None:
    began = time.process_time()
    answer = read_answer(text)
    format_score(answer)
    assert time.process_time() - began < 3.0
    if len(text) > LONGEST:
        assert answer.said is None


@pytest.mark.parametrize(
    "piece", ["</think>" + " " * 8, "a</think>", "<think></think>", "<answer>5</answer>"]
)
def test_twice_the_text_takes_twice_the_time(piece: str) -> None:
    def seconds(pieces: int) -> float:
        text = piece * pieces
        began = time.process_time()
        read_answer(text)
        return time.process_time() - began

    once, twice = (min(seconds(size) for _ in range(3)) for size in (10_000, 20_000))
    assert twice < 3 * once + 0.05


TAGS = ["<think>", "</think>", "<answer>", "</answer>", "5", " ", "<", "/"]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(TAGS)))
def test_any_mixture_of_tags_is_read(pieces: list[str]) -> None:
    answer = read_answer("".join(pieces))
    assert format_score(answer) in (0.0, 0.5, 1.0)
    assert answer.field is None or answer.field == answer.said
    if format_score(answer) == 1.0:
        assert "".join(pieces).replace(" ", "").startswith("<think>")
        assert pieces.count("<answer>") >= 1
