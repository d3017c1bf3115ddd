"""Hostile programs that try to pass without solving the task, or to do harm. The sandbox must survive them.

The test of all of them is `assert solve(21) == 42`, and none computes it honestly: `solve` returns 42 if the
attack has worked, so a pass means a hole. {words in braces} are replaced by things of the host that the
program must not reach (`Targets`); harm that shows only outside is checked there. The programs themselves
stand in sandbox_cheats.py and sandbox_harm.py.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from benchmarks.checking.sandbox_cheats import ENDINGS, LIES, SNOOPING
from benchmarks.checking.sandbox_harm import BREAKING, ENDLESS, GREED, SLOW

TESTS = "assert solve(21) == 42"


@dataclass(frozen=True)
class Targets:
    """Things of the host that the programs attack."""

    folder: str
    """A folder that the owner can write to; must stay empty."""
    secret: str
    """A file of the owner that contains the word `journal`."""
    pid: int
    """A process of the owner; must survive."""
    port: int
    """A port on 127.0.0.1 that listens on TCP and UDP."""
    socket: str
    """Path of a listening Unix socket; an abstract one has the same name after a zero byte."""
    variable: str
    """Name of an environment variable of the owner."""


def filled(program: str, targets: Targets) -> str:
    """The program with the targets filled in."""
    for name, value in asdict(targets).items():
        program = program.replace("{" + name + "}", str(value))
    return program


PROGRAMS = {**ENDINGS, **LIES, **SNOOPING, **BREAKING, **GREED, **SLOW, **ENDLESS}
"""Name -> program, all groups."""
