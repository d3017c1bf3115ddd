"""An expression whose value would be too large is refused before it is evaluated."""

from __future__ import annotations

import pytest

from learning.rewards.verifiers.expression_size import too_large


@pytest.mark.parametrize(
    "said",
    [
        "9^{9^{9}}",
        "9^9^9",
        "9**9**9",
        "{9^9}^9",
        "(9^9)^{x}",
        "x^{9^{9}}",
        "2^{101}",
        "2^{n+101}",
        "2^101",
        "x^{5!}",
        "((x+1)^{40}+1)^{40}",
        "21!",
        "9!!",
        "(3!)!",
        "((((((((1))))))))",
        "\\frac{1}{1+" * 8 + "x" + "}" * 8,
        "x+" * 100 + "x",
        "1" * 61,
    ],
)
def test_too_large(said: str) -> None:
    assert too_large("\\sqrt{2}", said)
    assert not too_large(said, said)  # what the truth has is allowed


@pytest.mark.parametrize(
    "said",
    [
        "2^{100}",
        "x^{2y}",
        "e^{x^2}",
        "(x+1)^{10}",
        "x^2+2x+1",
        "5!",
        "\\frac{\\frac{1}{2}}{x+\\frac{1}{3}}",
        "\\sqrt{2+\\sqrt{3}}",
        "2^{-n}",
        "",
        "^",
        "x^",
        "x^{",
        "!",
    ],
)
def test_of_ordinary_size(said: str) -> None:
    assert not too_large("\\sqrt{2}", said)


@pytest.mark.parametrize("text", ["^" * 1_000, "{^" * 500, "(" * 1_000, "!" * 1_000, "9^" * 500])
def test_any_text_is_looked_at_in_no_time(text: str) -> None:
    assert too_large("x" * 1_000, text) in (True, False)
