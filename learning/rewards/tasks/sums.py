"""chain_sum and basic_arithmetic: integer arithmetic with worked steps, of any difficulty.

The problems resemble those of reasoning-gym's generators of these names, in fewer words. Brackets and
precedence have their usual meaning; every division leaves no remainder. The worked answer shows one
operation at a time, and counts where it adds or takes away (counting.py). A model may ask the questions too
(`read_question`). Left out: decimals, powers.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Callable
from dataclasses import dataclass

from engine.errors import ConfigError
from learning.rewards.asked import AskedTask
from learning.rewards.task import Problem, TaskOptions
from learning.rewards.tasks.counting import counted, most_characters
from learning.rewards.verifiers.answer import in_format
from learning.rewards.verifiers.number import number_score
from learning.rewards.verifiers.verified import Draw, check_choice, configure, generated, one_by_one

MOST_TERMS, MOST_DIGITS = 4, 2
"""Of a question that a model asks; a number is between -99 and 99."""
_BINDS = {"+": 1, "-": 1, "*": 2, "/": 2}
_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
}
_EXPRESSION = re.compile(r"[0-9+\-*/() ]{1,500}")
_QUESTION = re.compile(r"What is (.+)\?")
WORKED = ("counted", "stated")
COUNTED = 500
"""Characters, about as many tokens. Sums of a size for which counting might take more are stated: the context
of the model has to have room for it."""
_SHAPE_TRIES = 50
"""Tries to draw an expression whose divisions leave no remainder and whose values stay in bounds."""


@dataclass(frozen=True)
class ChainSettings:
    """Difficulty of chain_sum."""

    min_terms: int = 2
    max_terms: int = 2
    min_digits: int = 1
    max_digits: int = 1
    """Digits of each number. A model of 10M weights learns sums of two one-digit numbers in 15 min."""
    allow_negation: bool = False
    worked: str = "counted"
    """What the worked answer shows of each sum or difference: "counted", 8+3=9+2=10+1=11, or "stated",
    8 + 3 = 11."""

    def __post_init__(self) -> None:
        _check_range("terms", self.min_terms, self.max_terms, 2, 20)
        _check_range("digits", self.min_digits, self.max_digits, 1, 12)
        check_choice("worked", self.worked, WORKED)


@dataclass(frozen=True)
class ArithmeticSettings:
    """Difficulty of basic_arithmetic."""

    min_terms: int = 2
    max_terms: int = 3
    min_digits: int = 1
    max_digits: int = 1
    operators: tuple[str, ...] = ("+", "-", "*", "/")
    allow_parentheses: bool = True
    allow_negation: bool = False
    max_value: int = 1_000
    """Largest absolute value of any intermediate result."""
    worked: str = "counted"
    """What the worked answer shows of each sum or difference: "counted", 8+3=9+2=10+1=11, or "stated",
    8 + 3 = 11."""

    def __post_init__(self) -> None:
        _check_range("terms", self.min_terms, self.max_terms, 2, 12)
        _check_range("digits", self.min_digits, self.max_digits, 1, 6)
        if not self.operators or not set(self.operators) <= set(_BINDS):
            raise ConfigError(f"operators is {','.join(self.operators)!r}", "choose among + - * /")
        check_choice("worked", self.worked, WORKED)
        if self.max_value < 10**self.max_digits:
            raise ConfigError(
                f"max_value {self.max_value} is below a number of {self.max_digits} digits",
                "raise max_value, or lower max_digits",
            )


@dataclass(frozen=True)
class SumNode:
    """An expression: a number, or two expressions joined by an operator."""

    value: int
    operator: str = ""
    left: SumNode | None = None
    right: SumNode | None = None

    def text(self, *, min_binds: int = 0) -> str:
        """The expression as text, in brackets if its operator binds less than `min_binds`."""
        if self.left is None or self.right is None:
            return str(self.value)
        binds = _BINDS[self.operator]
        left = self.left.text(min_binds=binds)
        right = self.right.text(min_binds=binds + 1)
        whole = f"{left} {self.operator} {right}"
        return f"({whole})" if binds < min_binds else whole

    @property
    def leaf(self) -> bool:
        return self.left is None

    def numbers(self) -> list[int]:
        """Its numbers from left to right."""
        if self.left is None or self.right is None:
            return [self.value]
        return self.left.numbers() + self.right.numbers()


def chain_sum(name: str, options: TaskOptions) -> AskedTask:
    """The task. Raises ConfigError."""
    settings = configure(ChainSettings, options, name)

    def chain(rng: random.Random, digits: int, terms: int) -> Problem:
        most = 10**digits - 1
        least = -most if settings.allow_negation else 10 ** (digits - 1) if digits > 1 else 0
        node = SumNode(rng.randint(least, most))
        for _ in range(terms - 1):
            node = join(rng.choice("+-"), node, SumNode(rng.randint(least, most)))
        return problem(node, name, settings.worked)

    def draw(rng: random.Random) -> Problem:
        digits = rng.randint(settings.min_digits, settings.max_digits)
        return chain(rng, digits, rng.randint(settings.min_terms, settings.max_terms))

    return _task(name, options, draw, chain, settings, "+-")


def basic_arithmetic(name: str, options: TaskOptions) -> AskedTask:
    """The task. Raises ConfigError."""
    settings = configure(ArithmeticSettings, options, name)

    def grow(rng: random.Random, terms: int, most: int) -> SumNode | None:
        if terms == 1:
            return SumNode(rng.randint(-most if settings.allow_negation else 0, most))
        on_left = rng.randint(1, terms - 1) if settings.allow_parentheses else terms - 1
        left, right = grow(rng, on_left, most), grow(rng, terms - on_left, most)
        if left is None or right is None:
            return None
        operator = rng.choice(settings.operators)
        if not settings.allow_parentheses and not left.leaf and _BINDS[operator] == 2:
            left = _last_first(left, operator, right)  # a + b, then * c: b * c comes first
            return left if left and abs(left.value) <= settings.max_value else None
        node = _joined(operator, left, right)
        return node if node and abs(node.value) <= settings.max_value else None

    def arithmetic(rng: random.Random, digits: int, terms: int) -> Problem | None:
        for _ in range(_SHAPE_TRIES):
            node = grow(rng, terms, 10**digits - 1)
            if node is not None:
                return problem(node, name, settings.worked)
        return None

    def draw(rng: random.Random) -> Problem | None:
        terms = rng.randint(settings.min_terms, settings.max_terms)
        return arithmetic(rng, rng.randint(settings.min_digits, settings.max_digits), terms)

    return _task(name, options, draw, arithmetic, settings, "".join(settings.operators))


def join(operator: str, left: SumNode, right: SumNode) -> SumNode:
    """The combined expression with its value. A division must leave no remainder."""
    a, b = left.value, right.value
    value = {"+": a + b, "-": a - b, "*": a * b}.get(operator)
    return SumNode(a // b if value is None else value, operator, left, right)


def _joined(operator: str, left: SumNode, right: SumNode) -> SumNode | None:
    """The combined expression; None for a division by 0 or one that leaves a remainder."""
    if operator == "/" and (right.value == 0 or left.value % right.value):
        return None
    return join(operator, left, right)


def read_sum(text: str) -> SumNode | None:
    """The inverse of SumNode.text, brackets that change nothing allowed; None for any other text, and for a
    division by 0 or with a remainder. Never raises."""
    if not _EXPRESSION.fullmatch(text):
        return None
    try:
        return _read(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _read(node: ast.expr) -> SumNode | None:
    match node:
        case ast.Constant(value=int(value)) if type(value) is int:
            return SumNode(value)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
            return SumNode(-value)
        case ast.BinOp(op=kind) if operator := _OPERATORS.get(type(kind)):
            left, right = _read(node.left), _read(node.right)
            return _joined(operator, left, right) if left and right else None
    return None


def read_question(
    text: str, operators: str, source: str, worked: str = "counted"
) -> Problem | None:
    """The problem that a text asks, `What is 12 + 7 - 3?` and nothing else: 2 to MOST_TERMS numbers of at
    most MOST_DIGITS digits, joined by these operators. None for any other text. Never raises."""
    asked = _QUESTION.fullmatch(" ".join(text.split()))
    node = read_sum(asked[1]) if asked else None
    if node is None:
        return None
    numbers, used = node.numbers(), {one.operator for one in operations(node)}
    small = all(abs(number) < 10**MOST_DIGITS for number in numbers)
    if not (2 <= len(numbers) <= MOST_TERMS and small and used <= set(operators)):
        return None
    return problem(node, source, worked)


def level(problem: Problem) -> str:
    """Terms x digits of the largest number: `3x2` for `12 + 7 - 3`."""
    numbers = re.findall("[0-9]+", problem.prompt)
    return f"{len(numbers)}x{max(map(len, numbers))}"


def operations(node: SumNode) -> list[SumNode]:
    """All operations of an expression in order of evaluation: what is in brackets or binds tighter first,
    otherwise from left to right."""
    if node.left is None or node.right is None:
        return []
    return [*operations(node.left), *operations(node.right), node]


def stated(node: SumNode) -> str:
    """An operation with its result: `2 * 4 = 8`. Raises ValueError for a number."""
    if node.left is None or node.right is None:
        raise ValueError(f"{node.value} is no operation")
    return f"{node.left.value} {node.operator} {node.right.value} = {node.value}"


def problem(node: SumNode, source: str, worked: str = "counted") -> Problem:
    """The question, its answer and the worked steps, one of WORKED."""
    answer, done = str(node.value), operations(node)
    shown = _counted if worked == "counted" and _countable(node) else stated
    form = " ".join(one.operator for one in done)
    return Problem(
        f"What is {node.text()}?",
        answer,
        in_format(", ".join(map(shown, done)), answer),
        source,
        _key(node),
        form=form,
    )


def _countable(node: SumNode) -> bool:
    """Whether a sum is counted, which depends on its size alone where there are no products."""
    added = [one.right.value for one in operations(node) if one.right and one.operator in "+-"]
    numbers = [*node.numbers(), *added]
    digits = max(len(str(abs(number))) for number in numbers)
    return most_characters(len(added), digits, signed=min(numbers) < 0) <= COUNTED


def _counted(node: SumNode) -> str:
    """An operation that is counted; a product or quotient without its blanks."""
    if node.left and node.right and node.operator in "+-":
        return counted(node.left.value, node.operator, node.right.value)
    return stated(node).replace(" ", "")


def _key(node: SumNode) -> str:
    """One text for all orders of a sum or product: `4 + 9`, `9 + 4`; `7 - 2 + 1`, `1 + 7 - 2`."""
    if node.left is None or node.right is None:
        return str(node.value)
    parts = sorted(_parts(node, "+-" if node.operator in "+-" else "*/", 1))
    return f"({' '.join(parts)})"


def _parts(node: SumNode, operators: str, sign: int) -> list[str]:
    """The operands of a chain of `+` and `-`, or of `*`, each with what is done with it. A quotient is not
    taken apart: division leaves no remainder, so its order matters."""
    if node.left is None or node.right is None or node.operator not in operators:
        return [f"{operators[0 if sign > 0 else 1]}{_key(node)}"]
    if node.operator == "/":
        return [f"*{_key(node.left)}/{_key(node.right)}"]
    turned = -sign if node.operator == "-" else sign
    return _parts(node.left, operators, sign) + _parts(node.right, operators, turned)


def _last_first(left: SumNode, operator: str, right: SumNode) -> SumNode | None:
    """The tree of `left operator right` without brackets, if operator binds tighter than left's last
    one; None if a division would leave a remainder."""
    if left.left is None or left.right is None or _BINDS[left.operator] == 2:
        return _joined(operator, left, right)
    inner = _last_first(left.right, operator, right)
    return inner and join(left.operator, left.left, inner)


def _task(
    name: str,
    options: TaskOptions,
    draw: Draw,
    sized: Callable[[random.Random, int, int], Problem | None],
    settings: ChainSettings | ArithmeticSettings,
    operators: str,
) -> AskedTask:
    """sized: draws a problem of so many digits and terms."""

    def example(rng: random.Random) -> Problem | None:
        return sized(rng, rng.randint(1, MOST_DIGITS), rng.randint(2, MOST_TERMS))

    return AskedTask(
        name,
        generated(draw),
        one_by_one(number_score),
        options.weights,
        options.length or COUNTED + 100,
        needs_field=True,
        invitation="Ask me a sum.",
        read=lambda text: read_question(text, operators, name, settings.worked),
        level=level,
        example=example,
    )


def _check_range(what: str, low: int, high: int, least: int, most: int) -> None:
    if not least <= low <= high <= most:
        raise ConfigError(f"{what} from {low} to {high}", f"give a range within {least} to {most}")
