"""Programs: the rows of HumanEval and MBPP as problems, and the check that runs the answers' code.

What an answer must do is said by tests that its program never sees (sandbox/judge.py). Helpers that
the problem gives, like `poly` of HumanEval/32, are taken from the problem and not from the answer, and
in MBPP only what the reference solution defines is the answer's to define: a program that brings its
own `abs` or `math` changes nothing in the tests.
Left out: other languages, and packages that are not Python's own.
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
"""For one program and its tests."""
LENGTH = 4_000
"""Characters of an answer up to which nothing is taken off."""
_FENCE = re.compile(
    r"^[ \t]*+```[ \t]*+(?:python3?|py)?[ \t]*+\r?\n(.*?)^[ \t]*+```", re.S | re.M | re.I
)
_FAULTS = ("timeout", "memory", "crashed", "too much output")
"""Failures that are the program's own doing: a wrong answer, not a check that failed."""


def humaneval(row: Mapping[str, Any], source: str = "") -> Problem:
    """A row with prompt, test, canonical_solution and, mostly, entry_point. Raises DataError."""
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
    """A row with text (or prompt), code and test_list, of the full or the sanitised set.

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
    """The program in an answer: its last block of code, else its answer field, else all of it.

    begin: what the answer may continue, as HumanEval's prompts; kept off where the answer defines
    the function anew.
    """
    where = answer.field if answer.fields else answer.rest
    blocks = _FENCE.findall((where or "") + "\n")
    if blocks:
        program = blocks[-1]
    elif answer.fields:
        program = answer.field or ""
    else:
        program = answer.rest if answer.form.strip(".") else text  # text: with its first spaces
    if not begin:
        return program
    functions = re.findall(r"^def[ \t]+(\w+)", begin, re.M)
    if functions and re.search(rf"^def[ \t]+{functions[-1]}\b", program, re.M):
        return program
    body = _indented(program.strip("\r\n"), _indent_of(begin))
    return f"{begin.rstrip()}\n{body}\n"


def code_check(sandbox: Callable[[], Sandbox], seconds: float = SECONDS) -> Check:
    """A check for VerifiedTask. Components: "correct", and "ran", 0 where the program did not end."""

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
    """The body of a function whose statements stand at `indent`, from what was written.

    Where only the first line has lost its spaces (an answer's ends are stripped) it gets them back;
    where no statement has any, all get them.
    """
    if body.startswith((" ", "\t")):
        return body
    first, *rest = body.splitlines() or [""]
    second = next((_width(line) for line in rest if line.strip()), 0)
    goes_on = first.partition("#")[0].rstrip().endswith((":", "(", "[", "{", ",", "\\"))
    only_first = second > _width(indent) if goes_on else second >= _width(indent)
    return indent + body if only_first else textwrap.indent(body, indent)


def _indent_of(begin: str) -> str:
    """The spaces before the statements of the last function; four where it has none yet."""
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
    """The first call of the last function in the tests, which shows its name and arguments."""
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
