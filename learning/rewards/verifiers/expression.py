"""Compares mathematical expressions as in MATH: the content of `\\boxed{}` as text, as a number, or by
symbolic calculation.

If the truth is a number, only a number is right: `2+3` or `\\sqrt{25}`, which may repeat the question,
are unfinished calculations. A different base or letter case makes a different answer.
Comparison as text or as a number happens in this process. Symbolic calculation evaluates model text, so
it runs in the sandbox (expression_inside.py, with math-verify) and under our deadline.
Left out: proofs, answers in words.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from engine.errors import ConfigError
from learning.rewards.data_files import INSTALL
from learning.rewards.sandbox.pool import Sandbox
from learning.rewards.task import Problem
from learning.rewards.verifiers.answer import ParsedAnswer, without_lead
from learning.rewards.verifiers.asserted import DIGITS, denied
from learning.rewards.verifiers.dress import unmarked
from learning.rewards.verifiers.expression_size import too_large
from learning.rewards.verifiers.number import box_is_denied, boxed_or_none, read_number
from learning.rewards.verifiers.quantity import Number
from learning.rewards.verifiers.verified import Check, Lent, ScoringFailed, Verdict, verdict_of
from learning.text.number_words import SCALES, read_words

SECONDS = 2.0
"""Deadline for one comparison, which usually takes 0.05 s; an answer that takes longer is wrong."""
LONGEST = 1_000
"""Characters. A longer expression is not an answer."""
_SPACING = re.compile(
    r"(?<!\\)\\[,;:! ()$]|\\q?quad\b|\\displaystyle\b|\\left\b|\\right\b|[\s$~]++"
)
_SMALL_FRACTION = re.compile(r"\\frac ?([0-9]) ?([0-9])")
_SPACE = re.compile("(?<![0-9]) | (?![0-9])")
"""Any space but one between two digits: `1 2` is not 12, and `2 1/2` is not 21/2."""
_NAME = re.compile(
    r"(?:\\?[A-Za-z]+|\\angle ?[A-Z]{1,3})(?: ?_ ?\{?[A-Za-z0-9]+\}?)?(?: ?\( ?[A-Za-z0-9]+ ?\))?"
)
_NAMED = re.compile(rf"^{_NAME.pattern} ?= ?(?=[^=]+$)")
_EQUALS = re.compile(r"(?<![<>!:=\\])=(?![=<>])")
_BOLD = re.compile(r"\\(?:mathbf|boldsymbol|bm) ?(?=\{)")
_RELATION = re.compile(
    r"\\n(?:eq?|ot)(?![A-Za-z])|\\[gl](?:eq?|t)(?:slant)?(?![A-Za-z])|[<>≤≥≠≈~±?¬]|!=|\\approx|\\sim(?:eq)?"
    r"|\\pm|\\mp|\\[bx]?cancel|\\sout|\\neg(?![A-Za-z])|\\lnot|\+\s*$"
)
"""Signs that a right answer has only if the truth has them."""
_TEXT = re.compile(r"\\(?:text(?:bf|it|rm)?|mathrm|mbox) ?\{([^{}]*+)\}")
_UNIT = re.compile(
    r"(?<=[0-9}]) ?\\(?:text|mathrm|mbox|textbf) ?\{([A-Za-z./ ]*+)\}(?: ?\^ ?(?:[0-9]|\{[0-9]\}))?$"
)
Pairs = tuple[tuple[str, str], ...]
"""Pairs (truth, given expression), each of which must be equal."""
_UNIT_WORDS = 4
"""Most words in a unit; more make a sentence."""
_BASE = re.compile(r"(?<=[0-9])_(?:([0-9])|\{([0-9]+)\})")
_WORDS = re.compile(r"\\(?:text|mathrm|mbox|textbf)\{[^{}]*+\}|\\[A-Za-z]+|[A-Za-z]{3,}")
_FORMULA = re.compile(r"\$([^$]++)\$|\\\((.*?)\\\)|\\\[(.*?)\\\]", re.DOTALL)
_TO_DO = re.compile(
    r"\\(?:int|iint|oint|sum|prod|lim|binom|partial|det|gcd|max|min|bmod|pmod|log|ln|frac ?\{d\})(?![A-Za-z])"
)
"""Operations that leave an answer unfinished, unless the truth has them too."""
_DEGREES = re.compile(r"\^\{?\\circ\}?")


def boxed(text: str) -> str | None:
    """Content of the last `\\boxed{}`; None if there is none or it is empty."""
    return (boxed_or_none(text) or "").strip() or None


def said_expression(answer: ParsedAnswer) -> str | None:
    """The expression that an answer gives: the last box of the answer, else its field, else its last
    line if that is at most 100 characters. None: no expression, or the text denies the box."""
    said = answer.said
    if said is None:
        return None
    inside = boxed_or_none(said)
    if inside is not None:
        found = boxed(said)
        return None if found is None or box_is_denied(said, inside) else unmarked(found)
    if answer.fields:
        return unmarked(said)
    line = unmarked(said.splitlines()[-1]).strip()
    return without_lead(line) if len(line) <= 100 else None


def tidy(expression: str) -> str:
    """Collapses spaces; removes dollar signs, `\\(`, bracket sizes, degree signs, a final full stop,
    bold, and braces around the whole."""
    text = _SPACING.sub(" ", expression).replace("\\dfrac", "\\frac").replace("\\tfrac", "\\frac")
    text = _BOLD.sub("", _DEGREES.sub("", text)).strip().rstrip(".").strip()
    while text.startswith("{") and _closes(text) == len(text) - 1:
        text = text[1:-1].strip()
    return text


def _closes(text: str) -> int:
    """Index of the brace that closes the first one; -1 if it stays open."""
    depth = 0
    for i, letter in enumerate(text):
        depth += (letter == "{") - (letter == "}")
        if depth == 0:
            return i
    return -1


def plain(expression: str) -> str:
    """Normal form for comparison as text: tidy, without unit, percent sign and spaces (but those
    between two digits). Not meant to be parsed."""
    return _compact(expression).removesuffix("\\%")


def compare(truth: str, said: str) -> float | None:
    """1 or 0 if text and numbers decide; None if symbolic calculation is needed."""
    found = judged(truth, said)
    return found if isinstance(found, float) else None


def judged(truth: str, said: str) -> float | Pairs:
    """1 or 0 if text and numbers decide; else the pairs that must all be equal.

    In a chain like `x = 2 + 3 = 5` every part but a leading name must equal the truth.
    """
    if not plain(said) or len(said) > LONGEST:
        return 0.0
    if set(_RELATION.findall(said)) - set(_RELATION.findall(truth)):
        return 0.0  # it denies or bounds the answer
    if any(_is_denial(words) for words in set(_TEXT.findall(said)) - set(_TEXT.findall(truth))):
        return 0.0
    sides, its = _sides(said), _sides(truth)
    named = len(its) == 2 and _is_name(its[0])
    other_name = named and len(sides) == 2 and sides[0] != its[0] and _is_name(sides[0])
    if plain(said) == plain(truth) and not other_name:
        return 1.0
    if len(its) > 1 and (len(sides) == 1 or not named or sides[0] != its[0]):
        if len(sides) == 1 and named:
            return _judged_part(its[1], said)
        if len(sides) == 1 or too_large(truth, said):
            return 0.0
        return ((tidy(truth), tidy(said)),)
    if len(sides) > 1 and _is_name(sides[0]):
        sides = sides[1:]
    last = _judged_part(its[-1], sides[-1])
    pairs = [] if isinstance(last, float) else list(last)
    for side in sides[:-1]:
        if last == 0.0 or too_large(its[-1], side):
            return 0.0
        number, number_of_truth = _number(side), _number(its[-1])
        if number is None or number_of_truth is None:
            pairs.append((tidy(its[-1]), tidy(side)))
        elif not number.same(number_of_truth, exactly=True):
            return 0.0
    return tuple(pairs) or last


def _judged_part(truth: str, said: str) -> float | Pairs:
    mine, right = plain(said), plain(truth)
    if not mine:
        return 0.0
    if mine == right:
        return 1.0
    number = _number(truth)
    if number is not None:  # the truth is a number: an unfinished calculation is wrong
        given = _number(said)
        return float(given is not None and number.same(given, exactly=True))
    if too_large(truth, said):
        return 0.0
    if set(_TO_DO.findall(tidy(said))) - set(_TO_DO.findall(tidy(truth))):
        return 0.0
    if mine.startswith("\\{") and right.startswith("("):
        return 0.0  # a set is not a point, but math-verify treats them as equal
    base, other = _BASE.findall(mine), _BASE.findall(right)
    if base and other and set(base) != set(other):
        return 0.0
    if " " in mine and " " not in right:
        return 0.0  # `1 2` is not a number
    letters, others = _letters(said), _letters(truth)
    if {letter.swapcase() for letter in letters - others} & others:
        return 0.0  # A is not a, but math-verify ignores case
    return ((tidy(truth), tidy(said)),)


def asked(question: str) -> set[str]:
    """The question and each formula in it, in `plain` form."""
    formulas = ("".join(groups) for groups in _FORMULA.findall(question))
    return {plain(text) for text in (question, *formulas)}


def _sides(expression: str) -> list[str]:
    """The sides of an equation or chain; a list or table of equations counts as one side."""
    text = tidy(expression)
    if "=" not in text or "," in text or ";" in text or "\\begin" in text:
        return [text]
    return [side.strip() for side in _EQUALS.split(text)]


def _is_unit(words: str) -> bool:
    """True if the words may be a unit: no number, no sentence, no bound such as `or more`."""
    few = len(words.split()) <= _UNIT_WORDS
    return few and read_words(words) is None and not denied(f"{DIGITS} {words}", 0)


def _is_denial(words: str) -> bool:
    """True if these words, before or after an expression, deny it or make it approximate."""
    after, before = f"{DIGITS} {words}", f"{words} {DIGITS}"
    return denied(after, 0) or denied(before, len(before) - 1)


def _is_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None and text != "\\pi"


def _compact(expression: str) -> str:
    text = _NAMED.sub("", tidy(expression))
    unit = _UNIT.search(text)
    if unit and _is_unit(unit[1]):
        text = text[: unit.start()]
    text = _BASE.sub(r"_{\1\2}", _SMALL_FRACTION.sub(r"\\frac{\1}{\2}", text))
    return _SPACE.sub("", text)


def _number(expression: str) -> Number | None:
    """The expression as a number with nothing beside it; `3 million` only as 3,000,000."""
    number = read_number(_compact(expression), bare=True)
    if number is not None and any(word in expression.lower() for word in SCALES):
        return replace(number, values=number.values[:1])
    return number


def _letters(expression: str) -> set[str]:
    """Letters used as symbols: those outside words and LaTeX commands."""
    text = _WORDS.sub(" ", tidy(expression))
    return {letter for letter in text if letter.isascii() and letter.isalpha()}


def expression_check(lent: Lent) -> Check:
    """A check for VerifiedTask that compares expressions."""

    def check(problem: Problem, read: Sequence[ParsedAnswer], _: Sequence[str]) -> list[Verdict]:
        truth = str(problem.truth)
        question = asked(problem.prompt)
        verdicts: list[float | Pairs] = []
        for answer in read:
            said = said_expression(answer)
            verdict = 0.0 if said is None else judged(truth, said)
            if not isinstance(verdict, float) and plain(str(said)) in question:
                verdict = 0.0  # the question, repeated
            verdicts.append(verdict)
        left = {pair for pairs in verdicts if not isinstance(pairs, float) for pair in pairs}
        equal = calculate(lent.get(), sorted(left)) if left else {}
        return [_all(verdict, equal) for verdict in verdicts]

    return check


def _all(verdict: float | Pairs, equal: Mapping[tuple[str, str], Verdict]) -> Verdict:
    """0 if any pair differs, else ScoringFailed if any comparison failed, else 1."""
    if isinstance(verdict, float):
        return verdict
    found = [equal[pair] for pair in verdict]
    failed = [one for one in found if isinstance(one, ScoringFailed)]
    return 0.0 if 0.0 in found else failed[0] if failed else 1.0


def calculate(
    sandbox: Sandbox, pairs: Pairs | list[tuple[str, str]]
) -> dict[tuple[str, str], Verdict]:
    """Compares each pair by symbolic calculation in the sandbox. A pair that takes longer than SECONDS
    or too much memory counts as different. Raises ConfigError if math-verify is missing."""
    if importlib.util.find_spec("math_verify") is None:
        raise ConfigError("comparing expressions needs the package math-verify", INSTALL)
    target = "learning.rewards.verifiers.expression_inside:same"
    outcomes = sandbox.map(
        [
            lambda box, pair=pair: box.call(target, list(pair), SECONDS)  # type: ignore[misc]
            for pair in pairs
        ]
    )
    return {
        pair: verdict_of(outcome, SECONDS) for pair, outcome in zip(pairs, outcomes, strict=True)
    }
