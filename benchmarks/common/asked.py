"""What a variable of the environment asks of a benchmark. Imports no torch."""

from __future__ import annotations

import os
from collections.abc import Iterable

from engine.errors import NotFound


def names_asked(
    variable: str, known: Iterable[str], usual: Iterable[str] | None = None
) -> list[str]:
    """The names in the variable, separated by commas, in their order there; where it holds none, `usual`, by
    default all that are known. Raises NotFound for a name that is not known."""
    known = list(known)
    named = [name.strip() for name in os.environ.get(variable, "").split(",") if name.strip()]
    for name in named:
        if name not in known:
            raise NotFound(
                f"{name!r} does not exist ({variable})", f"choose among: {', '.join(known)}"
            )
    return named or list(known if usual is None else usual)
