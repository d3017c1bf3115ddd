"""Numbers in all the ways they are written, and the ways in which checks of them were fooled."""

from __future__ import annotations

import time
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learning.rewards.verifiers.answer import read_answer
from learning.rewards.verifiers.number import last_number, number_score, read_number
from learning.text.number_words import read_words


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("18", "18"),
        (" 18 ", "18"),
        ("18.", "18"),
        ("18.00", "18"),
        ("+18", "18"),
        ("-18", "-18"),
        ("- 18", "-18"),
        ("−18", "-18"),  # a minus sign
        ("–18", "-18"),  # a dash
        ("\u20105", "-5"),  # hyphens and dashes of every length
        ("\u20115", "-5"),
        ("\u20125", "-5"),
        ("\u2015 5", "-5"),
        ("\u207b5", "-5"),  # superscript
        ("10\u20115", None),
        ("minus 5", "-5"),
        ("Minus $5", "-5"),
        ("it is negative 5.", "-5"),
        ("negative five", "-5"),
        ("minus one hundred and five", "-105"),
        ("-five", "-5"),
        ("\u2212 five", "-5"),
        ("10 minus 5", None),
        ("ten minus 5", None),
        ("ten minus five", None),
        ("--5", None),
        ("- -5", None),
        ("---5", None),
        ("+-5", None),
        ("-$-5", None),
        ("$18", "18"),
        ("-$18", "-18"),
        ("$-18", "-18"),
        ("€ 18.50", "37/2"),
        ("18 dollars", "18"),
        ("18 USD.", "18"),
        ("18km", "18"),
        ("18 m/s", "18"),
        ("18 m²", "18"),
        ("18 cm^2", "18"),
        ("18ft³", "18"),
        ("18\\text{ square m}", "18"),
        ("18 \\mathrm{m}^{2}", "18"),
        ("18 m^22", None),
        ("18 x^2", None),
        ("**18**", "18"),
        ("1,234", "1234"),
        ("1,234,567.5", "2469135/2"),
        ("1 234 567", "1234567"),
        ("1 234", "1234"),
        ("1'234", "1234"),
        ("1{,}234", "1234"),
        ("1\\,234", "1234"),
        ("12,34", None),
        ("1,2345", None),
        (".5", "1/2"),
        ("0.5", "1/2"),
        ("1/2", "1/2"),
        ("3 / 4", "3/4"),
        ("48/2", None),  # still to be calculated
        ("6/1", None),
        ("0/5", None),
        ("1 1/2", "3/2"),
        ("½", "1/2"),
        ("1½", "3/2"),
        ("1 ½", "3/2"),
        ("-1 1/2", "-3/2"),
        ("\\frac{3}{4}", "3/4"),
        ("-\\dfrac{3}{4}", "-3/4"),
        ("\\frac34", "3/4"),
        ("1/0", None),
        ("\\frac{1}{0}", None),
        ("1e3", "1000"),
        ("2.5e-1", "1/4"),
        ("2 x 10^3", "2000"),
        ("2 \\times 10^{-1}", "1/5"),
        ("2 × 10³", "2000"),
        ("2 · 10⁻¹", "1/5"),
        ("10³", "1000"),
        ("\\boxed{42}", "42"),
        ("$\\boxed{-42}$", "-42"),
        ("\\boxed{18\\text{ apples}}", "18"),
        ("x = 18", "18"),
        ("\\(18\\)", "18"),
        ("\\[ -18 \\]", "-18"),
        ("18\\ \\text{clips}", "18"),
        ("3 + 15 = 18", "18"),
        ("18 = 18", "18"),
        ("18 (18 apples)", "18"),
        ("eighteen", "18"),
        ("forty-two", "42"),
        ("one hundred and five", "105"),
        ("two thousand, three hundred", "2300"),
        ("three quarters", "3/4"),
        ("half", "1/2"),
        ("minus", None),
        ("", None),
        ("   ", None),
        ("-", None),
        ("$", None),
        (".", None),
        ("nan", None),
        ("inf", None),
        ("-Infinity", None),
        ("None", None),
        ("True", None),
        ("5²", None),
        ("2^10", None),
        ("2**10", None),
        ("9**9**9", None),
        ("9^9^9", None),
        ("10 - 5", None),
        ("5 x 5", None),
        ("5x5", None),
        ("5 X 5 cm", None),
        ("5 times 5", None),
        ("5·5", None),
        ("5 plus 5", None),
        ("5 divided by 5", None),
        ("five times 5", None),
        ("five times five", None),
        ("two point two", None),
        ("2 point 2", None),
        ("5 times", "5"),
        ("5 x", "5"),
        ("10-5", None),
        ("0 + 0", None),
        ("5 or 6", None),
        ("5, 6", None),
        ("4 5 6", None),
        ("12:30", None),
        ("1.2.3", None),
        ("√4", None),
        ("<5", None),
        ("≈5", None),
        ("1e301", None),
        ("1e999999999999999999999", None),
        ("1e-999999", None),
        ("10^999999999", None),
        ("1" * 61, None),
        ("__import__('os')", None),
        ("٣٤", "34"),  # decimal digits of another script are digits
        ("１８", "18"),
        ("①", None),
        ("Ⅷ", None),
        ("八", None),
    ],
)
def test_the_one_number_of_a_field(text: str, value: str | None) -> None:
    number = read_number(text)
    assert (number and number.values) == (value and (Fraction(value),))


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("25%", ("25", "1/4")),
        ("25 percent", ("25", "1/4")),
        ("2.5\\%", ("5/2", "1/40")),
        ("3 million", ("3000000", "3")),
        ("$1.5 million", ("1500000", "3/2")),
        ("2 dozen", ("24", "2")),
    ],
)
def test_what_may_be_meant_in_two_ways(text: str, values: tuple[str, ...]) -> None:
    number = read_number(text)
    assert number is not None and number.values == tuple(Fraction(v) for v in values)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("She has 16 - 3 - 4 = 9 eggs, so 9 * 2 = 18 dollars.", "18"),
        ("So it costs $1,234.", "1234"),
        ("so -5 degrees", "-5"),
        ("Ann's 8 + Ben's 5 = 13", "13"),
        ("The sum of 8 and 5 = 13", "13"),
        ("The total of 8, 3, and 5 = 16.", "16"),
        ("a total of 8 and 5 = 14", None),
        ("a total of 7777 and 9999 = 37", None),
        ("from 10-5", None),
        ("pages 3 - 5", None),
        ("48/2 = 24\n#### 72", "72"),
        ("#### 72 clips\nthat was it: 3", "72"),
        ("#### none", None),
        ("so \\boxed{7}, not 8", "7"),
        ("so \\fbox{7}, not 8", "7"),
        ("so $\\boxed 7$, not 8", "7"),
        ("The area is 20 m^2.", "20"),
        ("Eighteen in all", "18"),
        ("no number", None),
        ("at 1e999", None),
        ("x" * 10_000 + " 18", "18"),
        ("9" * 10_000, None),
    ],
)
def test_the_last_number_of_a_text(text: str, value: str | None) -> None:
    number = last_number(text)
    assert (number and number.values) == (value and (Fraction(value),))


@pytest.mark.parametrize(
    ("truth", "answer", "right"),
    [
        ("18", "<think>9 * 2</think><answer> 18 dollars. </answer>", True),
        ("18", "The answer is 18.", True),
        ("18", "<think>18</think>", False),
        ("18", "<think>18", False),
        ("18", "<answer>18</answer><answer>19</answer>", False),
        ("18", "<answer>17 18 19</answer>", False),
        ("18", "<answer></answer> 18", False),
        ("18", "<answer>180</answer>", False),
        ("18", "<answer>1 8</answer>", False),
        ("18", "", False),
        ("18", " \n ", False),
        ("18", "-18", False),
        ("18", "18%", True),
        ("0.18", "18%", True),
        ("18%", "0.18", True),
        ("18%", "18", True),
        ("18%", "18 percent", True),
        ("18%", "1800%", False),
        ("1800%", "18%", False),
        ("3 million", "3,000 thousand", True),
        ("3 million", "3 thousand", False),
        ("5", "<answer>\u20115</answer>", False),
        ("-5", "<answer>\u20115</answer>", True),
        ("-5", "It was minus 5", True),
        ("-5", "Negative five", True),
        ("5", "Negative five", False),
        ("2", "two point two", False),
        ("5", "<answer>5 and a half</answer>", False),
        ("5", "It is 5 and a half.", False),
        ("5", "<answer>5 and three quarters</answer>", False),
        ("10", "<answer>half of 10</answer>", False),
        ("5", "<answer>twice 5</answer>", False),
        ("2", "That makes 2 times three.", False),
        ("5", "It is 5. I added two plus three.", True),
        ("7", "<answer>7 (seven)</answer>", True),
        ("1/3", "0.33", True),  # rounded to two digits
        ("1/3", "0.3333", True),
        ("1/3", "0.3", False),
        ("1/3", "0.34", False),
        ("0.33", "1/3", True),
        ("0.125", "0.13", False),  # it has an end: no rounding
        ("51.0", "51", True),
        ("1000", "1,000", True),
        ("3", "3.0000001", False),
        ("no number", "no number", False),  # a truth that is none is never met
        ("", "", False),
    ],
)
def test_scores(truth: str, answer: str, right: bool) -> None:
    assert number_score(truth, read_answer(answer)) == float(right)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("nineteen", "19"),
        ("twenty-one", "21"),
        ("one thousand two hundred thirty four", "1234"),
        ("three million", "3000000"),
        ("a dozen", "12"),
        ("two thirds", "2/3"),
        ("two or three", None),
        ("two three", None),
        ("half a million", None),
        ("hello and goodbye", None),
        ("someone", None),
        ("minus twenty-one", "-21"),
        ("it is -two", "-2"),
        ("a negative, so two", "2"),
        ("two, not minus two", None),
    ],
)
def test_words(text: str, value: str | None) -> None:
    assert read_words(text) == (value and Fraction(value))


HUGE = [
    "1," * 300_000,
    "1,111" * 100_000,
    "1 111 " * 100_000,
    "-" * 500_000,
    "$" * 500_000,
    "1/" * 250_000,
    "1e" * 250_000,
    "\\frac{" * 100_000,
    "\\boxed{" * 100_000,
    "\\text{" * 100_000,
    "{" * 500_000,
    "one " * 150_000,
    "one hundred " * 50_000,
    "####" * 150_000,
    "٣" * 500_000,
    "½" * 300_000,
    "=" * 500_000,
    "0" * 500_000,
    ". " * 300_000,
    "9" * 1_999,
    "9," * 999,
    "999," * 499,
    "the sum of 1 and 2 = 3 " * 100,
    "sum of " + "1, " * 600 + "and 2 = 3",
]


@pytest.mark.parametrize("text", HUGE, ids=range(len(HUGE)))
@pytest.mark.parametrize("around", ["{}", "<answer>{}</answer>", "so {} 18"])
def test_catastrophes_end(text: str, around: str) -> None:
    began = time.process_time()
    number_score("18", read_answer(around.replace("{}", text)))
    assert time.process_time() - began < 1.0


@settings(max_examples=150, deadline=None)
@given(st.text())
def test_no_text_raises(text: str) -> None:
    for truth in ("18", text):
        assert number_score(truth, read_answer(text)) in (0.0, 1.0)
        assert number_score(truth, read_answer(f"<answer>{text}</answer>")) in (0.0, 1.0)


PIECES = [*"0123456789.,-+/ %$eE^*×½\\{}=", "\\frac{", "\\boxed{", "million", "one"]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PIECES)))
def test_no_mixture_of_digits_and_signs_raises(pieces: list[str]) -> None:
    text = "".join(pieces)
    number = read_number(text)
    assert number is None or number.values
    last_number(text)


@settings(max_examples=200, deadline=None)
@given(st.integers(-(10**12), 10**12))
def test_an_integer_is_read_however_it_is_written(value: int) -> None:
    for text in (f"{value}", f"{value:,}", f"${value:,}.00", f"{value} apples", f"it is {value}"):
        number = read_number(text)
        assert number is not None and number.values == (value,)
        assert last_number(text) == number
