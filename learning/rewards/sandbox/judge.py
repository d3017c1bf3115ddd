"""The process that runs the tests. Every use of the program's names is a call over the link.

A call returns plain data of exact built-in types, or a `Thing`: a proxy for an object in the program's
process that can be passed on, called and read, has no truth value and equals only itself.
The secret that reports success is sent after the last test, from this process, in which no code of the
program ever ran.
"""

from __future__ import annotations

import builtins
import symtable
from collections.abc import Iterator
from typing import Any

from learning.rewards.sandbox import wire as wire


class TestFailed(BaseException):
    """The program ended or broke the protocol. A BaseException, so that no test catches it."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


def serve(verdict: Any, link: Any) -> None:
    """Receives the order, runs the tests and sends the verdict."""
    order = wire.receive(verdict)
    try:
        _judge(order, Program(link))
        answer = {"passed": order["secret"]}
    except TestFailed as failed:
        answer = {"failed": failed.reason, "detail": failed.detail[:300]}
    except MemoryError:
        answer = {"failed": "memory", "detail": "in the tests"}
    except BaseException as error:
        answer = {"failed": "wrong", "detail": f"{type(error).__name__}: {error}"[:300]}
    wire.send(verdict, answer)


def _judge(order: dict[str, Any], program: Program) -> None:
    tests = compile(order["tests"], "tests", "exec")
    space: dict[str, Any] = {"__name__": "tests"}
    exec(compile(order["given"], "given", "exec"), space)
    program.ask(do="load", program=order["program"])
    for name in order["names"] or free_names(order["tests"], set(space)):
        space[name] = Thing(program, name)
    exec(tests, space)


def free_names(source: str, known: set[str]) -> set[str]:
    """Names that the tests use but neither define nor find in `known` or builtins: the program's."""
    top = symtable.symtable(source, "tests", "exec")
    used: set[str] = set()
    for table in _tables(top):
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (table is top or symbol.is_global()):
                used.add(symbol.get_name())
    own = {s.get_name() for s in top.get_symbols() if s.is_assigned() or s.is_imported()}
    return used - own - known - set(dir(builtins))


def _tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield table
    for child in table.get_children():
        yield from _tables(child)


class Program:
    """The program, at the other end of the link."""

    def __init__(self, link: Any) -> None:
        self.link = link
        self.things: dict[int, Thing] = {}

    def ask(self, **request: Any) -> Any:
        """Sends one request and returns the result. Raises TestFailed if the program is gone or sends
        garbage; a built-in exception that the program raised is raised again here, any other as
        RuntimeError."""
        try:
            wire.send(self.link, request)
            reply = wire.receive(self.link)
            if "error" not in reply:
                return wire.value(reply["value"], self.thing)
            kind, text = map(str, reply["error"])
        except (wire.Closed, OSError):
            raise TestFailed("crashed", "the program ended before the tests did") from None
        except wire.TooMuch as error:
            raise TestFailed("too much output", str(error)) from None
        except (ValueError, TypeError, KeyError, AttributeError, ArithmeticError) as error:
            raise TestFailed("crashed", f"the program's answer cannot be read: {error}") from None
        if kind == "TooMuch":
            raise TestFailed("too much output", text)
        if kind == "MemoryError":
            raise TestFailed("memory", text)
        known = getattr(builtins, kind, None)
        ends_a_loop = kind in ("StopIteration", "StopAsyncIteration")
        if isinstance(known, type) and issubclass(known, Exception) and not ends_a_loop:
            try:
                raised = known(text)
            except TypeError:  # UnicodeDecodeError needs more arguments than a text
                raised = RuntimeError(f"{kind}: {text}")
            raise raised
        raise RuntimeError(f"{kind}: {text}")

    def thing(self, number: int) -> Thing:
        """The Thing for one object in the program's process; the same one each time."""
        if not isinstance(number, int):
            raise ValueError("not a number of an object")
        return self.things.setdefault(number, Thing(self, number))


class Thing:
    """Proxy for what is not plain data in the program's process: a function, a class, an object."""

    __slots__ = ("_on", "_program")

    def __init__(self, program: Program, on: str | int) -> None:
        object.__setattr__(self, "_program", program)
        object.__setattr__(self, "_on", on)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self._program.ask(
            do="call",
            on=self._on,
            arguments=wire.plain(list(arguments), _number),
            named=wire.plain(named, _number),
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._program.ask(do="get", on=self._on, name=name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._program.ask(do="set", on=self._on, name=name, value=wire.plain(value, _number))

    def __bool__(self) -> bool:
        raise TypeError("the program's answer is no plain data")

    def __repr__(self) -> str:
        return f"<{self._on} of the program>"


def _number(value: Any) -> int:
    if isinstance(value, Thing) and isinstance(value._on, int):
        return value._on
    raise TypeError(f"{type(value).__name__} cannot be passed to the program")
