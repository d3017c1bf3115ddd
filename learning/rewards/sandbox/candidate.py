"""The process that runs an untrusted program. It executes the program once, then either serves calls into it
or reports its output.

The tests and the secret never enter this process. The link carries the program and the arguments of
each call one way, plain data the other way. Whatever the program does to this process can change only
its own results.
"""

from __future__ import annotations

import ast
import contextlib
import io
import socket
import sys
import types
from typing import Any

from learning.rewards.sandbox import wire as wire

NAME = "program"
"""The program's __name__, so that `if __name__ == "__main__"` blocks do not run."""


def serve(link: socket.socket) -> None:
    """Serves requests until the other side closes the link."""
    module = types.ModuleType(NAME)
    sys.modules[NAME] = module
    kept: list[Any] = []

    def keep(thing: Any) -> int:
        kept.append(thing)
        return len(kept) - 1

    def found(number: int) -> Any:
        return kept[number]

    def load(program: str) -> None:
        exec(compile(program, NAME, "exec"), module.__dict__)

    def answer(request: Any) -> Any:
        if request["do"] == "load":
            return load(request["program"])
        on = request["on"]
        if isinstance(on, str) and on not in module.__dict__:
            raise NameError(f"the program defines no {on}")
        thing = module.__dict__[on] if isinstance(on, str) else kept[on]
        if request["do"] == "get":
            return getattr(thing, request["name"])
        if request["do"] == "set":
            return setattr(thing, request["name"], wire.value(request["value"], found))
        arguments = wire.value(request["arguments"], found)
        return thing(*arguments, **wire.value(request["named"], found))

    while True:
        try:
            request = wire.receive(link)
        except (wire.Closed, OSError):
            return
        try:
            reply = {"value": wire.plain(answer(request), keep)}
        except wire.TooMuch:
            reply = {"error": ["TooMuch", "too much output"]}
        except BaseException as error:
            reply = {"error": _described(error)}
        try:
            wire.send(link, reply)
        except wire.TooMuch:
            wire.send(link, {"error": ["TooMuch", "too much output"]})


def execute(link: socket.socket) -> None:
    """Runs one program: {"program", "most"} -> {"out", "error"}. out: what it printed and, as in Python's own
    console, its last expression where that is not None; of both at most `most` characters. error: the
    exception that ended it, in a line; else empty."""
    order = wire.receive(link)
    out, error = _Kept(order["most"]), ""
    module = types.ModuleType(NAME)
    sys.modules[NAME] = module
    try:
        with contextlib.redirect_stdout(out):
            last = _executed(order["program"], module.__dict__)
            if last is not None:
                print(repr(last))
    except BaseException as raised:
        error = ": ".join(filter(None, _described(raised)))
    wire.send(link, {"out": out.getvalue(), "error": error})


class _Kept(io.StringIO):
    """Keeps the first characters that are written, so that a flood fills no memory."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._left = most

    def write(self, text: str) -> int:
        kept = text[: self._left]
        self._left -= len(kept)
        super().write(kept)
        return len(text)


def _executed(program: str, space: dict[str, Any]) -> Any:
    """Runs a program. Returns the value of its last statement if that is an expression, else None."""
    body = ast.parse(program, NAME)
    last = body.body[-1] if body.body else None
    if not isinstance(last, ast.Expr):
        return exec(compile(body, NAME, "exec"), space)
    body.body.pop()
    exec(compile(body, NAME, "exec"), space)
    return eval(compile(ast.Expression(last.value), NAME, "eval"), space)


def _described(error: BaseException) -> list[str]:
    try:
        return [type(error).__name__, str(error)[:300]]
    except BaseException:
        return [type(error).__name__, ""]
