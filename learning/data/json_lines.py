"""Rows of JSON lines from outside, each with its line: files of lessons, exports of a journal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from engine.errors import DataError


def parse(data: bytes, name: str, advice: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line number and row of each line that is not blank. advice: what is asked for, in errors.

    Raises DataError with name and line for what is no UTF-8, no JSON or no object.
    """
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise DataError(f"{name}: cannot be read ({error})", advice) from error
    # not splitlines(): rarer characters, at which it breaks too, may stand within a string
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
