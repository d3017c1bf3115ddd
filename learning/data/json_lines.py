"""Parses untrusted JSON lines, with line numbers for errors: files of lessons, exports of a journal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from engine.errors import DataError, reason


def parse(data: bytes, name: str, advice: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yields (line number from 1, object) of each line that is not blank.

    advice: the next step that errors name. Raises DataError with name and line if the data is not UTF-8, or
    if a line is not JSON or not an object.
    """
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise DataError(f"{name}: cannot be read ({reason(error)})", advice) from error
    # not splitlines(), which also breaks at rare characters that may occur inside a string
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{name}:{number}: is no JSON ({error})", advice) from error
        if not isinstance(row, dict):
            raise DataError(f"{name}:{number}: is no object", advice)
        yield number, row
