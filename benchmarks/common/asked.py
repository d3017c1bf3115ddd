"""What a variable of the environment asks of a benchmark. Imports no torch."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from engine.errors import DataError, NotFound


def names_asked(
    variable: str, known: Iterable[str], usual: Iterable[str] | None = None
) -> list[str]:
    """The names in the variable, separated by commas, in that order. An empty or missing variable means
    `usual`, by default all of `known`. Raises NotFound for an unknown name."""
    known = list(known)
    named = [name.strip() for name in os.environ.get(variable, "").split(",") if name.strip()]
    for name in named:
        if name not in known:
            raise NotFound(
                f"{name!r} does not exist ({variable})", f"choose among: {', '.join(known)}"
            )
    return named or list(known if usual is None else usual)


def one_asked(variable: str, known: Sequence[str]) -> str:
    """The name in the variable. An empty or missing variable means the first of `known`. Raises NotFound for
    an unknown name and for more than one name."""
    named = names_asked(variable, known, known[:1])
    if len(named) > 1:
        raise NotFound(f"{', '.join(named)}: too many ({variable})", "name one")
    return named[0]


def number_asked(variable: str) -> float | None:
    """The number in the variable, from 0 to below 1,000,000; None if it is empty or missing. Raises DataError
    for anything else."""
    text = os.environ.get(variable, "").strip()
    try:
        value = float(text) if text else None
    except ValueError:
        value = -1.0
    if value is not None and not 0.0 <= value < 1e6:
        what = f"{variable}={text}: not a number from 0 to below 1,000,000"
        raise DataError(what, "write one, or leave it out")
    return value


def count_asked(variable: str, usual: int, *, least: int = 0) -> int:
    """The whole number in the variable, from `least` to below 1,000,000,000. An empty or missing variable
    means `usual`. Raises DataError for anything else."""
    text = os.environ.get(variable, "").strip()
    return _count(text, variable, least) if text else usual


def counts_asked(variable: str, usual: Iterable[int]) -> list[int]:
    """The whole numbers in the variable, separated by commas, from 0 to below 1,000,000,000. An empty or
    missing variable means `usual`. Raises DataError for anything else."""
    text = os.environ.get(variable, "")
    found = [_count(one.strip(), variable, 0) for one in text.split(",") if one.strip()]
    return found or list(usual)


def _count(text: str, variable: str, least: int) -> int:
    whole = text.isascii() and text.isdigit() and len(text) < 10
    if not whole or int(text) < least:
        what = f"{variable}: {text!r} is not a whole number from {least} to below 1,000,000,000"
        raise DataError(what, "write one, or leave it out")
    return int(text)
