"""Expressions: equal as text, as numbers, or by calculation in the sandbox."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import ConfigError
from learning.rewards.sandbox.pool import Sandbox
from learning.rewards.task import Problem
from learning.rewards.verifiers import expression
from learning.rewards.verifiers.answer import read_answer
from learning.rewards.verifiers.expression import compare, expression_check, plain, said_expression
from learning.rewards.verifiers.verified import Lent, ScoringFailed


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    pytest.importorskip("math_verify")
    with Sandbox(workers=1) as box:
        yield box


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expression, "SECONDS", 60.0)  # the machine may be busy


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("so \\boxed{\\frac{1}{2}}.", "\\frac{1}{2}"),
        ("first \\boxed{1}, no: \\boxed{2}", "2"),
        ("<think>\\boxed{1}</think><answer>$\\boxed{x^{2}}$</answer>", "x^{2}"),
        ("<think>\\boxed{1}</think><answer>2</answer>", "2"),
        ("\\boxed{1 + {2}", "1 + {2}"),  # not closed
        ("so $x = \\boxed 9$.", "9"),  # as in some solutions of MATH
        ("so \\boxed 9.", "9"),
        ("so \\fbox{x+1}.", "x+1"),
        ("\\boxed{\\fbox{3}}", "3"),
        ("\\boxed", None),
        ("<think>\\boxed{1}</think>", None),
        ("\\boxed{}", None),
        ("\\boxed{ }", None),
        ("<answer></answer>", None),
        ("", None),
        ("long\nx = 5", "x = 5"),
        ("word " * 50, None),
    ],
)
def test_what_an_answer_says(text: str, said: str | None) -> None:
    assert said_expression(read_answer(text)) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("The answer is $5$.", "$5$."),
        ("So the final answer is: x+1", "x+1"),
        ("the answer is not \\boxed{5}", None),
        ("It is more than \\boxed{5}", None),
        ("\\boxed{5} is wrong", None),
        ("not 4, so \\boxed{5}", "5"),
        ("\\boxed{4} or \\boxed{5}", None),
    ],
)
def test_what_the_words_around_say(text: str, said: str | None) -> None:
    assert said_expression(read_answer(text)) == said


@pytest.mark.parametrize(
    ("truth", "said"),
    [
        ("\\frac{1}{2}", "\\dfrac12"),
        ("\\frac{1}{2}", "$ \\frac {1} {2} $."),
        ("\\frac{1}{2}", "0.5"),
        ("1,000", "1000"),
        ("10\\%", "10"),
        ("90^\\circ", "90"),
        ("x=5", "5"),
        ("5", "x = 5"),
        ("\\left(1, 2\\right)", "(1,2)"),
        ("-\\frac{3}{4}", "-0.75"),
        ("\\frac{5}{2}", "2 1/2"),
        ("\\frac{5}{2}", "2\\frac{1}{2}"),
        ("\\frac{5}{2}", "2 \\frac 1 2"),
        ("1000000", "1 000 000"),
        ("10{,}000", "10\\,000"),
        ("x + 12", "x+ 12"),
        ("5", "\\(5\\)"),
        ("5", "\\$5"),
        ("\\$5", "5"),
        (
            "\\begin{pmatrix}1\\\\2\\end{pmatrix}",
            "\\begin{pmatrix} 1 \\\\ 2 \\end{pmatrix}",
        ),
        ("x+1", "\\( x + 1 \\)"),
        ("25\\%", "25%"),
        ("25\\%", "0.25"),
        ("3,000,000", "3\\text{ million}"),
        ("12", "12\\text{ square inches}"),
        ("12", "12 \\text{ cm}^{2}"),
        ("4210_5", "4210_{5}"),
    ],
)
def test_equal_at_sight(truth: str, said: str) -> None:
    assert compare(truth, said) == 1.0


@pytest.mark.parametrize(
    ("truth", "said"),
    [
        ("5", "6"),
        ("5", ""),
        ("5", " $ "),
        ("5", "x" * 2000),
        ("\\frac12", "0.51"),
        ("", ""),
        ("\\frac{21}{2}", "2 1/2"),
        ("12", "1 2"),
        ("x+12", "x+1 2"),
        ("25\\%", "2500%"),
        ("25\\%", "2500\\%"),
        ("12", "12\\text{ is wrong, it is 13}"),
        ("12", "12\\text{ or thirteen}"),
        ("12", "12\\text{ but I am not sure of it}"),
        ("3", "3\\text{ million}"),
        ("4210_5", "4210_7"),
        ("4210_{5}", "4210_{6}"),
        ("a+b", "A+B"),
        ("(1,2)", "\\{1,2\\}"),  # a set is no point
        ("2\\pi r", "2\\pi R"),
    ],
)
def test_different_at_sight(truth: str, said: str) -> None:
    assert compare(truth, said) == 0.0


@pytest.mark.parametrize("said", ["5x", "5i", "\\sqrt{25}", "2+3", "x^5", "\\frac{10}{2}", "5,6"])
def test_a_number_is_answered_by_a_number_and_not_by_a_calculation(said: str) -> None:
    assert compare("5", said) == 0.0


@pytest.mark.parametrize("said", ["5\\text{ cm}", "5 \\mathrm{cm}^2", "$5$", "5.0", "x=5"])
def test_units_and_names_are_no_calculation(said: str) -> None:
    assert compare("5", said) == 1.0


@pytest.mark.parametrize(
    ("truth", "said"),
    [("x^3", "\\int 3x^2 dx"), ("\\pi", "\\lim_{n} \\pi"), ("2x", "\\frac{d}{dx} x^2")],
)
def test_what_is_still_to_be_done_is_no_answer(truth: str, said: str) -> None:
    assert compare(truth, said) == 0.0
    assert compare("\\log 2", "\\log 2") == 1.0
    assert compare("\\log 4", "2\\log 2") is None


def test_the_question_repeated_is_no_answer() -> None:
    class Nothing:
        def get(self) -> None:
            raise AssertionError("nothing has to be calculated")

    text = "<answer>(x-1)(x+1)</answer>"
    check = expression_check(Nothing())  # type: ignore[arg-type]
    assert check(Problem("Expand $(x - 1)(x + 1)$.", "x^2-1"), [read_answer(text)], [text]) == [0.0]


def test_a_part_of_the_question_may_be_the_answer(sandbox: Sandbox) -> None:
    check = expression_check(Lent(sandbox))
    texts = ["\\boxed{x+1}", "\\boxed{(x+1)(x-1)/(x-1)}"]
    read = [read_answer(text) for text in texts]
    for question in ("Simplify $\\frac{(x+1)(x-1)}{x-1}$.", "Simplify \\((x+1)(x-1)/(x-1)\\)."):
        assert list(check(Problem(question, "1+x"), read, texts))[0] == 1.0
    assert list(check(Problem(question, "1+x"), read, texts))[1] == 0.0


def verdicts(sandbox: Sandbox, truth: str, answers: list[str]) -> list[Any]:
    texts = [f"\\boxed{{{answer}}}" for answer in answers]
    read = [read_answer(text) for text in texts]
    return list(expression_check(Lent(sandbox))(Problem("", truth), read, texts))


@pytest.mark.parametrize(
    ("truth", "right", "wrong"),
    [
        ("\\sqrt{5}", ["5^{1/2}", "\\frac{5}{\\sqrt{5}}"], ["5", "\\sqrt{5}, 6", "\\sqrt{6}"]),
        ("x^2-1", ["(x-1)(x+1)", "-1+x^{2}"], ["x^2", "y^2-1", "x^2+1"]),
        ("\\frac{\\sqrt{2}}{2}", ["\\frac{1}{\\sqrt{2}}", "\\sqrt{0.5}"], ["0.7", "\\sqrt{2}"]),
        ("(1,2)", ["(1, \\frac{4}{2})"], ["(2,1)", "1", "(1,2,3)"]),
        ("\\{1,2\\}", ["\\{2,1\\}"], ["\\{1\\}", "\\{1,2,3\\}"]),
        ("[0,1)", ["\\left[0, 1\\right)"], ["(0,1)", "[0,1]"]),
        ("\\sin x", ["\\sin{x}", "\\sin \\left(x\\right)"], ["\\cos x", "\\sin y"]),
        ("2\\pi x", ["x \\cdot 2 \\pi"], ["2 \\pi", "2 \\pi y"]),
        ("4210_5", ["4210_{5}", "4210"], ["4211_5", "4210_7"]),
        ("a+B", ["B+a"], ["A+B", "b+a"]),
        ("\\text{East}", ["\\text{east}", "east"], ["\\text{west}"]),
        ("2\\pi", ["\\pi \\cdot 2", "\\pi+\\pi"], ["\\pi", "6"]),
    ],
)
def test_equal_by_calculation(
    sandbox: Sandbox, truth: str, right: list[str], wrong: list[str]
) -> None:
    found = verdicts(sandbox, truth, right + wrong)
    assert found == [1.0] * len(right) + [0.0] * len(wrong)


def test_what_never_ends_is_wrong_and_the_others_are_judged(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expression, "SECONDS", 3.0)
    answers = ["9^{9^{9}}", "5^{1/2}", "10^{10^{10}}-10^{10^{10}}", "2+2"]
    began = time.monotonic()
    tower, right, other, wrong = verdicts(sandbox, "\\sqrt{5}", answers)
    assert time.monotonic() - began < 60
    assert [tower, right, other, wrong] == [0.0, 1.0, 0.0, 0.0]
    assert verdicts(sandbox, "\\sqrt{5}", ["5^{1/2}"]) == [1.0]


@pytest.mark.parametrize(
    "said",
    [
        "__import__('os').system('true')",
        "\\text{exec}('x')",
        "().__class__.__bases__[0]",
        "lambda: 5",
        "{" * 300,
        "\\frac" * 150,
        "(" * 400 + "5" + ")" * 400,
        "\\begin{matrix}" * 30,
        "\x00",
        "nan",
        "\\infty",
        "\\emptyset",
        "True",
        "5=5",
        "x=x",
        "5 \\ne 6",
        "\u202e5",
    ],
)
def test_hostile_expressions_are_not_the_root_of_five(
    sandbox: Sandbox, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expression, "SECONDS", 2.0)
    [found] = verdicts(sandbox, "\\sqrt{5}", [said])
    assert isinstance(found, ScoringFailed) or found == 0.0


def test_without_math_verify_it_says_how_to_get_it(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expression.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(ConfigError, match="math-verify"):
        verdicts(sandbox, "x^2", ["x+3"])


@pytest.mark.parametrize(
    "text", ["\\boxed{" * 100_000, "{" * 500_000, "\\frac" * 100_000, " " * 900_000, "$" * 900_000]
)
def test_megabytes_take_no_time(text: str) -> None:
    began = time.process_time()
    for around in (text, f"<answer>{text}</answer>"):
        said = said_expression(read_answer(around))
        assert said is None or compare("5", said) in (0.0, None)
    assert time.process_time() - began < 2.0


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200), st.text(max_size=200))
def test_no_text_raises(truth: str, said: str) -> None:
    assert compare(truth, said) in (0.0, 1.0, None)
    assert re.sub("(?<=[0-9]) (?=[0-9])", "", plain(plain(said))).count(" ") == 0
