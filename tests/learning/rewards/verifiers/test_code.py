"""Programs as answers: rows become problems, code is found in answers, and lies about it do not pay."""

from __future__ import annotations

import ast
import textwrap
import time
from collections.abc import Iterator
from typing import Any

import pytest

from engine.errors import DataError
from learning.rewards.sandbox.pool import NoSandbox, Sandbox, SandboxOutcome
from learning.rewards.verifiers.answer import read_answer
from learning.rewards.verifiers.code import code_check, humaneval, mbpp, program_of
from learning.rewards.verifiers.verified import ScoringFailed

POLY = '''import math


def poly(xs: list, x: float):
    """
    Evaluates a polynomial at x.
    """
    return sum([coeff * math.pow(x, i) for i, coeff in enumerate(xs)])


def root(xs: list):
    """ A zero of the line xs[0] + xs[1] * x.
    >>> root([1, 2])
    -0.5
    """
'''
HUMAN = {
    "prompt": POLY,
    "test": "def check(candidate):\n    for xs in ([1, 2], [6, 3], [-1, 4]):\n"
    "        assert math.fabs(poly(xs, candidate(xs))) < 1e-4\n",
    "canonical_solution": "    return -xs[0] / xs[1]\n",
    "entry_point": "root",
}
MBPP = {
    "text": "Write a function to find the length of the hypotenuse.",
    "code": "import math\r\ndef hypotenuse(a, b):\r\n  return math.sqrt(a * a + b * b)",
    "test_list": ["assert math.isclose(hypotenuse(3, 4), 5)", "assert hypotenuse(0, 0) == 0"],
    "test_setup_code": "",
    "challenge_test_list": ["assert hypotenuse(5, 12) == 13"],
}


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(workers=2) as one:
        yield one


def scores(sandbox: Sandbox, problem: Any, *texts: str) -> list[Any]:
    check = code_check(lambda: sandbox, 20)
    return list(check(problem, [read_answer(text) for text in texts], texts))


def correct(sandbox: Sandbox, problem: Any, *texts: str) -> list[float]:
    return [score["correct"] for score in scores(sandbox, problem, *texts)]


@pytest.mark.slow
def test_the_worked_answer_is_right(sandbox: Sandbox) -> None:
    for problem in (humaneval(HUMAN), mbpp(MBPP)):
        assert problem.worked is not None
        assert correct(sandbox, problem, problem.worked) == [1.0]


@pytest.mark.slow
def test_the_way_of_writing_it_does_not_matter(sandbox: Sandbox) -> None:
    body = "return -xs[0] / xs[1]"
    whole = f"def root(xs):\n    {body}\n"
    answers = [
        body,
        f"    {body}",
        f"\n    {body}\n",
        whole,
        f"```python\n{whole}```",
        f"```\n{whole}\n```",
        f"First I thought:\n```py\nx = 1\n```\nThen:\n```Python\n{whole}```\nDone.",
        f"<think>Divide.</think><answer>{body}</answer>",
        f"<think>Divide.</think>\n<answer>\n```python\n{whole}```\n</answer>",
        f"<think>Divide.</think>\n```python\n    {body}\n```",
    ]
    assert correct(sandbox, humaneval(HUMAN), *answers) == [1.0] * len(answers)


@pytest.mark.slow
def test_wrong_answers(sandbox: Sandbox) -> None:
    answers = ["", "return 0", "I do not know", "```python\n```", "<answer></answer>", "pass"]
    answers += ["<think>return -xs[0] / xs[1]</think>", "def other(xs):\n    return -xs[0] / xs[1]"]
    assert correct(sandbox, humaneval(HUMAN), *answers) == [0.0] * len(answers)


@pytest.mark.slow
def test_helpers_and_modules_of_the_tests_are_not_the_answers(sandbox: Sandbox) -> None:
    lies = [
        "def poly(xs, x): return 0\ndef root(xs): return 0",
        "class math:\n    fabs = staticmethod(lambda x: 0)\ndef root(xs): return 0",
        "import math\nmath.fabs = lambda x: 0\ndef root(xs): return 0",
        "def check(candidate): pass\ndef root(xs): return 0",
        "def root(xs): return float('nan')",
        "import sys\nsys.exit(0)",
    ]
    assert correct(sandbox, humaneval(HUMAN), *lies) == [0.0] * len(lies)
    lies = [
        "class math:\n    isclose = staticmethod(lambda *a: True)\ndef hypotenuse(a, b): return 0",
        "import math\nmath.isclose = lambda *a: True\ndef hypotenuse(a, b): return a and 13",
        "class A:\n    def __eq__(self, x): return True\n    def __float__(self): return 5.0\n"
        "def hypotenuse(a, b): return A()",
    ]
    assert correct(sandbox, mbpp(MBPP), *lies) == [0.0] * len(lies)


@pytest.mark.slow
def test_a_program_that_does_not_end_is_wrong_and_is_counted(sandbox: Sandbox) -> None:
    check = code_check(lambda: sandbox, 0.5)
    loop = "def hypotenuse(a, b):\n    while True: pass"
    assert check(mbpp(MBPP), [read_answer(loop)], [loop]) == [{"correct": 0.0, "ran": 0.0}]


def test_without_a_sandbox_nothing_is_wrong_or_right() -> None:
    class Lost:
        def map(self, jobs: Any) -> list[SandboxOutcome]:
            return [SandboxOutcome(failure="no sandbox", detail="gone") for _ in jobs]

    (verdict,) = code_check(Lost)(mbpp(MBPP), [read_answer("x")], ["x"])  # type: ignore[arg-type]
    assert verdict == ScoringFailed("no sandbox: gone")

    def none() -> Sandbox:
        raise NoSandbox("none")

    with pytest.raises(NoSandbox):
        code_check(none)(mbpp(MBPP), [read_answer("x")], ["x"])


def test_rows_of_several_shapes() -> None:
    with_call = {**HUMAN, "test": HUMAN["test"] + "\ncheck(root)\n"}
    del with_call["entry_point"]
    assert humaneval(with_call).truth["names"] == ["root"]
    assert humaneval(with_call).truth["tests"].count("check(root)") == 1
    assert humaneval(HUMAN).truth["tests"].count("check(root)") == 1
    sanitised = {
        "prompt": "Add.",
        "code": "def add(a, b):\n    return a + b",
        "test_imports": ["import math"],
        "test_list": ["assert add(1, 2) == 3"],
    }
    problem = mbpp(sanitised)
    assert problem.prompt.endswith("add(1, 2)")
    assert "3" not in problem.prompt
    assert problem.truth["given"] == "import math\n".strip()
    assert mbpp(MBPP).truth["names"] == ["hypotenuse"]
    assert mbpp(MBPP).truth["given"].strip() == "import math"


@pytest.mark.parametrize(
    "row",
    [
        {},
        {**MBPP, "code": "def f("},
        {**MBPP, "test_list": ["assert other(1) == 2"], "challenge_test_list": []},
        {**MBPP, "test_list": None},
        {**MBPP, "code": "(" * 500},
    ],
)
def test_rows_without_usable_tests_are_refused(row: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="line 3"):
        mbpp(row, "line 3")


@pytest.mark.parametrize("change", [{"prompt": ""}, {"prompt": "def f("}, {"test": "assert ("}])
def test_prompts_without_a_function_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="line 3"):
        humaneval({**HUMAN, **change}, "line 3")


BODIES = [
    "    a = 1\n    b = 2\n    return a + b\n",
    "    for x in xs:\n        if x:\n            return x\n    return 0\n",
    "    for x in xs:\n        if x:\n            return x\n",  # nothing after the first block
    "    if len(xs) == 0: return 0\n    return xs[0]\n",
    "    # first of all:\n    a = {\n        1: 2,\n    }\n    return a[1]\n",
    "    if not xs:  # none: nothing\n        return 0\n\n    else:\n        return 1\n",
    "    def inner(x):\n        return x\n\n    return inner(xs)\n",
    "    return [\n        x\n        for x in xs\n    ]\n",
    "    return sum(xs,\n               0)\n",
    "    a = xs\n    return a\n\n\ndef other():\n    return 1\n",
    '    """More words."""\n    return xs\n',
    "    return xs\n",
]


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("tabs", [False, True])
def test_a_body_is_continued_whatever_spaces_it_has_lost(body: str, tabs: bool) -> None:
    begin = 'def f(xs):\n    """What f does."""\n'
    if tabs:
        begin, body = (text.replace("    ", "\t") for text in (begin, body))
    whole = ast.dump(ast.parse(begin + body))
    written = [body, body.strip(), f"\n{body}\n", f"<think>so</think><answer>{body}</answer>"]
    if "def other" not in body:
        written += [textwrap.dedent(body), f"<answer>\n{textwrap.dedent(body)}</answer>"]
    for text in written:
        assert ast.dump(ast.parse(program_of(read_answer(text), text, begin))) == whole


def test_a_fence_is_found_in_time_that_grows_as_the_text() -> None:
    def seconds(spaces: int) -> float:
        text = "```" + " " * spaces + "x"
        answer = read_answer(text)
        began = time.process_time()
        program_of(answer, text)
        return time.process_time() - began

    once, twice = (min(seconds(size) for _ in range(3)) for size in (5_000, 10_000))
    assert twice < 3 * once + 0.05


def test_text_and_begin() -> None:
    assert program_of(read_answer("  x = 1"), "  x = 1") == "  x = 1"
    assert program_of(read_answer("x"), "x", "def f():\n") == "def f():\n    x\n"
