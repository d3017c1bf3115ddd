"""Sums that are worked out by counting."""

from __future__ import annotations

import random

import pytest

from learning.rewards.tasks.counting import counted, most_characters


@pytest.mark.parametrize(
    ("left", "operator", "right", "text"),
    [
        (8, "+", 5, "8+5=9+4=10+3=11+2=12+1=13"),
        (3, "-", 5, "3-5=2-4=1-3=0-2=-1-1=-2"),
        (47, "+", 12, "47+12=48+11=49+10=59"),
        (4, "-", 30, "4-30=-6-20=-16-10=-26"),
        (305, "-", 120, "305-120=295-110=285-100=185"),
        (5, "+", -2, "5+-2=4+-1=3"),
        (5, "-", -2, "5--2=6--1=7"),
        (8, "+", 0, "8+0=8"),
        (-1, "-", 0, "-1-0=-1"),
    ],
)
def test_what_is_counted(left: int, operator: str, right: int, text: str) -> None:
    assert counted(left, operator, right) == text


def test_every_text_between_equals_signs_has_the_same_value() -> None:
    rng = random.Random(0)
    for _ in range(500):
        left, right = rng.randint(-999, 999), rng.randint(-999, 999)
        operator = rng.choice("+-")
        texts = counted(left, operator, right).split("=")
        values = {eval(text) for text in texts}
        assert values == {left + right if operator == "+" else left - right}
        assert texts[-1] == str(values.pop())
        digits = sum(map(int, str(abs(right))))
        assert len(texts) == 1 + max(1, digits), "one step for each one, ten and hundred"


def test_products_are_not_counted() -> None:
    with pytest.raises(ValueError, match=r"\* is not counted"):
        counted(3, "*", 4)


@pytest.mark.parametrize(("terms", "digits"), [(2, 1), (9, 1), (2, 2), (4, 2), (3, 3), (2, 5)])
@pytest.mark.parametrize("signed", [False, True])
def test_no_chain_is_longer_than_the_bound(terms: int, digits: int, signed: bool) -> None:
    rng, most = random.Random(0), 10**digits - 1
    longest = most_characters(terms - 1, digits, signed=signed)
    for way in (*"+-", "?") * 30:
        value = rng.choice((most, -most)) if signed else most
        texts = []
        for _ in range(terms - 1):
            operator = rng.choice("+-") if way == "?" else way
            right = rng.choice((most, -most)) if signed else most
            texts.append(counted(value, operator, right))
            value += right if operator == "+" else -right
        assert len(", ".join(texts)) <= longest
