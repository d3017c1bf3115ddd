"""The verifier of numbers attacked as a policy would: what denies, bounds, hedges or lists, in every dress
and every field, is not paid; and what says the number plainly is paid in all of them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learning.rewards.sandbox.pool import Sandbox
from learning.rewards.task import Problem
from learning.rewards.verifiers import expression
from learning.rewards.verifiers.answer import read_answer
from learning.rewards.verifiers.expression import expression_check
from learning.rewards.verifiers.number import number_score
from learning.rewards.verifiers.verified import Lent

DENIED = [
    "not {}", "never {}", "isn't {}", "it is not {}", "it's not {}", "it cannot be {}", "anything but {}",
    "neither 1 nor {}", "it was never {}", "I doubt it is {}", "I don't think it is {}", "other than {}",
    "more than {}", "less than {}", "at least {}", "at most {}", "no more than {}", "up to {}", "over {}",
    "about {}", "nearly {}", "roughly {}", "between {} and 9999", "> {}", "< {}", "≥ {}", "≤{}", "≠ {}",
    "~{}", "≈{}", "{} or more", "{} or less", "{}+", "{}-ish", "{} and up", "{} at least", "{} is wrong",
    "{} is not the answer", "{} is incorrect", "{} (wrong)", "{}? No.", "{}, but that is wrong", "{} or 9999",
    "9999 or {}", "9999, {}", "{}, 9999", "{} and 9999", "{}-9999", "9999 to {}", "9999-{}", "{} * 9999",
    "{} / 9999", "9999 + {}", "maybe {}", "perhaps {}", "it might be {}", "is it {}?", "9999 = {}",
    "{}k", "{}M", "{} squared", "{}^2", "2^{}", "{}:30", "{}.{}.{}", "half of {}", "twice {}",
    "{} and a half", "-{}", "minus {}", "0.{}", "{}9", "9{}", "{}/9999", "~~{}~~", "<s>{}</s>", "{} 9999",
    "9999 {}",
    "instead of {}", "rather than {}", "far from {}", "all but {}", "{} give or take", "not even {}",
    "it is by no means {}", "it is no longer {}", "nobody says it is {}", "under {}", "{} feet 9 inches",
]  # fmt: skip
PLAIN = [
    "{}", "{}.", "it is {}", "it's {}", "that makes {}", "exactly {}", "= {}", "x = {}", "so {}",
    "it is {}.", "{} apples", "{} dollars", "${}", "not 9999 but {}", "not 9999, but {}",
    "it is not 9999, it is {}", "{}, not 9999", "there are {} left", "a total of {}",
    "9999 - 9999 + {0} = {0}",
    "she needs {} more", "+{}", "{}.0", "{} %", "{} = {}", "{} is correct", "{} is the answer",
]  # fmt: skip
DRESS = ["{}", "**{}**", "__{}__", "`{}`", '"{}"', "<b>{}</b>", "*{}*", "“{}”", "({})", " {} "]
FIELD = [
    "{}", "<answer>{}</answer>", "<think>Let me see: 9999.</think><answer>{}</answer>", "#### {}",
    "9999 is what she had.\n#### {}", "The answer is {}", "Answer: {}", "**Answer:** {}",
    "So the final answer is: {}", "She had 9999 at first.\n{}", "< Answer > {}",
]  # fmt: skip
GLUED = re.compile(r"[0-9.^-]\{\}|\{\}[0-9kM.:^-]")


def score(truth: int, form: str, dress: str, field: str) -> float:
    form = form.replace("{0}", "{}")
    if GLUED.search(form):  # a dress around it would say something else
        dress = "{}"
    said = form.replace("{}", dress.replace("{}", str(truth)))
    return number_score(str(truth), read_answer(field.replace("{}", said)))


@settings(max_examples=600, deadline=None)
@given(st.integers(3, 998), st.sampled_from(DENIED), st.sampled_from(DRESS), st.sampled_from(FIELD))
def test_what_is_denied_bounded_or_one_of_several_is_not_paid(
    truth: int, form: str, dress: str, field: str
) -> None:
    assert score(truth, form, dress, field) == 0.0


@settings(max_examples=400, deadline=None)
@given(st.integers(3, 998), st.sampled_from(PLAIN), st.sampled_from(DRESS), st.sampled_from(FIELD))
def test_what_is_said_plainly_is_paid(truth: int, form: str, dress: str, field: str) -> None:
    assert score(truth, form, dress, field) == 1.0


BEFORE = [
    "She had 9999 eggs", "It is not 9999", "She does not eat 9999", "There were more than 9999",
    "that is 12 * 3 = 36", "maybe 9999 are broken", "9999 or 9998 are gone", "he did not pay",
    "that is wrong for 9999", "she sold at least 9999", "9999 - 9962 are left", "He doubts that 9999 fit",
]  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(BEFORE),
    st.sampled_from([". ", "\n", ", so ", ". So ", "; so "]),
    st.integers(37, 998),
    st.sampled_from(PLAIN),
)
def test_what_was_denied_before_does_not_deny_what_is_said_at_the_end(
    before: str, between: str, truth: int, form: str
) -> None:
    assert score(truth, form, "{}", before + between + "{}") == 1.0


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(PLAIN),
    st.sampled_from([". ", "\n", "; ", ", ", " and ", ", so ", ", but ", ". But "]),
    st.integers(37, 998),
    st.sampled_from(DENIED),
)
def test_saying_another_number_plainly_does_not_assert_the_denied_one(
    plain: str, between: str, truth: int, form: str
) -> None:
    said = plain.replace("9999", "8888").replace("{0}", "{}").replace("{}", "7777")
    assert score(truth, form, "{}", said + between + "{}") == 0.0
    assert score(truth, form, "{}", "{}" + between + said) == 0.0


WORDS = [
    "the", "answer", "is", "not", "no", "so", "but", "or", "and", "more", "than", "it", ":", "=", ",", ".",
    "?", "**", "<answer>", "</answer>", "####", "\\boxed{", "}", "$", "k", "%", "+", "-", "*", "/", "^",
    "(", ")", "apples", "million", "half", "a", "of", "\n", "therefore", "at", "least", "never", "1.",
    "#", "`",
]  # fmt: skip


@settings(max_examples=600, deadline=None)
@given(st.lists(st.sampled_from([*WORDS, "7", "11", "13"]), max_size=14))
def test_what_does_not_name_the_number_is_never_paid(pieces: list[str]) -> None:
    # a prime that no reading of these pieces makes
    assert number_score("1009", read_answer(" ".join(pieces))) == 0.0


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.integers(2, 60), min_size=2, max_size=6, unique=True),
    st.sampled_from([", ", " or ", " and ", "; ", " / ", " ", " | ", " vs ", ". ", "\n", "="]),
    st.sampled_from(["<answer>{}</answer>", "\\boxed{{{}}}", "<answer>{} apples</answer>"]),
)
def test_naming_many_in_a_field_wins_nothing(many: list[int], between: str, field: str) -> None:
    text = field.format(between.join(map(str, many)))
    assert not any(number_score(str(one), read_answer(text)) for one in many)


TRUTHS = ["5", "\\frac{3}{4}", "\\sqrt{2}", "x^2-1", "(1,2)", "x+y=1", "x>5", "\\pm 3"]
DENIED_EXPRESSIONS = [
    "\\neq {}", "\\text{not }{}", "{}\\text{ is wrong}", "{}\\text{ or more}", "\\text{at least }{}", "{},7",
    "{}\\text{ or }7", "{}+1", "-({})", "\\approx {}", "7={}", "{}=7", "{}+0.0000001", "\\cancel{{}}", "{}?",
    "\\text{anything but }{}", "{}k", "1.0001({})",
]  # fmt: skip
PLAIN_EXPRESSIONS = ["{}", "${}$", "\\({}\\).", "\\displaystyle {}", "**{}**", "<b>{}</b>", "`{}`"]


@pytest.mark.slow
@pytest.mark.parametrize("truth", TRUTHS)
def test_expressions_in_every_dress(truth: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("math_verify")
    monkeypatch.setattr(expression, "SECONDS", 30.0)  # the machine may be busy
    forms = DENIED_EXPRESSIONS + PLAIN_EXPRESSIONS
    texts = [f"\\boxed{{{form.replace('{}', truth)}}}" for form in forms]
    with Sandbox(workers=2) as sandbox:
        found = expression_check(Lent(sandbox))(
            Problem("", truth), [read_answer(text) for text in texts], texts
        )
    right = [0.0] * len(DENIED_EXPRESSIONS) + [1.0] * len(PLAIN_EXPRESSIONS)
    other = [one for one in zip(texts, found, right, strict=True) if one[1] != one[2]]
    assert not other
