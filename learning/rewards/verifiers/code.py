"""Turns rows of HumanEval and MBPP into problems, and checks an answer by running its code.

The program never sees the tests (sandbox/judge.py). Helpers that the problem provides, like `poly` of
HumanEval/32, come from the problem and not from the answer. In MBPP the tests take from the answer only
the names that the reference solution defines, so a program's own `abs` or `math` has no effect on them.
Left out: other languages, and packages outside the standard library.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from engine.errors import DataError
from learning.rewards.sandbox.pool import Sandbox, SandboxOutcome
from learning.rewards.task import Problem
from learning.rewards.verifiers.answer import ParsedAnswer
from learning.rewards.verifiers.verified import Check, ScoringFailed, Verdict

SECONDS = 5.0
"""Deadline for one program and its tests."""
LENGTH = 4_000
"""Longest answer, in characters, with a "length" component of 1."""
_FENCE = re.compile(
    r"^[ \t]*+```[ \t]*+(?:python3?|py)?[ \t]*+\r?\n(.*?)^[ \t]*+```", re.S | re.M | re.I
)
_FAULTS = ("timeout", "memory", "crashed", "too much output")
"""Failures caused by the program: the answer is wrong, the verifier did not fail."""


def humaneval(row: Mapping[str, Any], source: str = "") -> Problem:
    """A problem from a HumanEval row: prompt, test, canonical_solution, usually entry_point.

    Raises DataError.
    """
    try:
        prompt, tests = str(row["prompt"]), str(row["test"])
        solution = str(row.get("canonical_solution", ""))
        functions = [n.name for n in _parsed(prompt).body if isinstance(n, ast.FunctionDef)]
        entry = str(row.get("entry_point") or functions[-1])
        if entry not in functions:
            raise KeyError(f"the prompt begins no function {entry}")
        body = _parsed(tests).body
    except (KeyError, IndexError, SyntaxError) as error:
        raise _unusable(source, error) from None
    if not (body and isinstance(body[-1], ast.Expr) and isinstance(body[-1].value, ast.Call)):
        tests += f"\ncheck({entry})\n"
    truth = {"tests": tests, "given": prompt, "names": [entry], "begin": prompt}
    said = f"Complete this Python function:\n\n{prompt.strip()}"
    return Problem(said, truth, _fenced(prompt + solution) if solution else None, source)


def mbpp(row: Mapping[str, Any], source: str = "") -> Problem:
    """A problem from an MBPP row, full or sanitised set: text (or prompt), code, test_list.

    Raises DataError.
    """
    try:
        asked = str(row.get("text") or row["prompt"]).strip()
        code, tests = (
            str(row["code"]).replace("\r\n", "\n"),
            [str(test) for test in row["test_list"]],
        )
        tests += [str(test) for test in row.get("challenge_test_list") or ()]
        setup = str(row.get("test_setup_code") or "").replace("\r\n", "\n")
        given = "\n".join(map(str, row.get("test_imports") or ()))
        whole = "\n".join([setup, *tests])
        reference, used = _parsed(code).body, _names(_parsed(whole))
        own = [n.name for n in reference if isinstance(n, ast.FunctionDef | ast.ClassDef)]
        imports = [n for n in reference if isinstance(n, ast.Import | ast.ImportFrom)]
        given = "\n".join([given, *(ast.unparse(n) for n in imports if _bound(n) & used)])
        names = [name for name in own if name in used]
        example = _call(_parsed("\n".join(tests)), names)
    except (KeyError, TypeError, SyntaxError) as error:
        raise _unusable(source, error) from None
    truth = {"tests": whole, "given": given, "names": names, "begin": ""}
    said = f"{asked}\nWrite it in Python, to be called like this: {example}"
    return Problem(said, truth, _fenced(code), source)


def program_of(answer: ParsedAnswer, text: str, begin: str = "") -> str:
    """The program in an answer: its last code block, else its answer field, else the whole text.

    begin: code that the answer may continue (HumanEval's prompt). It is put in front, unless the
    answer defines the function itself.
    """
    where = answer.field if answer.fields else answer.rest
    blocks = _FENCE.findall((where or "") + "\n")
    if blocks:
        program = blocks[-1]
    elif answer.fields:
        program = answer.field or ""
    else:
        program = answer.rest if answer.form.strip(".") else text  # text keeps leading spaces
    if not begin:
        return program
    functions = re.findall(r"^def[ \t]+(\w+)", begin, re.M)
    if functions and re.search(rf"^def[ \t]+{functions[-1]}\b", program, re.M):
        return program
    body = _indented(program.strip("\r\n"), _indent_of(begin))
    return f"{begin.rstrip()}\n{body}\n"


def code_check(sandbox: Callable[[], Sandbox], seconds: float = SECONDS) -> Check:
    """A check for VerifiedTask. Components: "correct"; "ran", 0 if the program failed to complete."""

    def check(
        problem: Problem, read: Sequence[ParsedAnswer], texts: Sequence[str]
    ) -> list[Verdict]:
        truth = problem.truth

        def job(answer: ParsedAnswer, text: str) -> Callable[[Sandbox], SandboxOutcome]:
            program = program_of(answer, text, truth["begin"])
            return lambda pool: pool.run(
                program, truth["tests"], seconds, given=truth["given"], names=truth["names"]
            )

        outcomes = sandbox().map([job(a, t) for a, t in zip(read, texts, strict=True)])
        return [_verdict(outcome) for outcome in outcomes]

    return check


def _indented(body: str, indent: str) -> str:
    """Indents a function body so that its statements start at `indent`.

    If only the first line lost its indentation (answers are stripped), only that line is indented;
    if no statement is indented, all lines are.
    """
    if body.startswith((" ", "\t")):
        return body
    first, *rest = body.splitlines() or [""]
    second = next((_width(line) for line in rest if line.strip()), 0)
    goes_on = first.partition("#")[0].rstrip().endswith((":", "(", "[", "{", ",", "\\"))
    only_first = second > _width(indent) if goes_on else second >= _width(indent)
    return indent + body if only_first else textwrap.indent(body, indent)


def _indent_of(begin: str) -> str:
    """Indentation of the last function's statements; four spaces if it has none."""
    try:
        function = [n for n in _parsed(begin).body if isinstance(n, ast.FunctionDef)][-1]
    except (SyntaxError, IndexError):
        return "    "
    line = begin.splitlines()[function.body[0].lineno - 1]
    return line[: len(line) - len(line.lstrip())] or "    "


def _width(line: str) -> int:
    wide = line.expandtabs(4)
    return len(wide) - len(wide.lstrip())


def _verdict(outcome: SandboxOutcome) -> Verdict:
    if outcome.failure and outcome.failure not in _FAULTS:
        return ScoringFailed(f"{outcome.failure}: {outcome.detail}"[:300])
    return {"correct": float(outcome.passed), "ran": float(not outcome.failure)}


def _parsed(source: str) -> ast.Module:
    try:
        return ast.parse(source)
    except (ValueError, RecursionError, MemoryError) as error:
        raise SyntaxError(str(error)) from None


def _names(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _bound(node: ast.Import | ast.ImportFrom) -> set[str]:
    return {(alias.asname or alias.name).partition(".")[0] for alias in node.names}


def _call(tests: ast.Module, names: Sequence[str]) -> str:
    """The first call in the tests of one of these functions, as an example of name and arguments."""
    for node in ast.walk(tests):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
            return ast.unparse(node)
    raise KeyError("no test calls what the reference solution defines")


def _fenced(program: str) -> str:
    return f"```python\n{program.strip()}\n```"


def _unusable(source: str, error: Exception) -> DataError:
    reason = f"{type(error).__name__} {error}"
    return DataError(
        f"{source or 'row'}: no problem with tests ({reason})", "mend or remove the row"
    )
