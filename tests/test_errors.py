"""What the system says of a failure reaches people in words, without its numbers."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.errors import DataError, reason

ROOT = Path(__file__).parents[1]
SYSTEM = {"OSError", "FileNotFoundError", "PermissionError", "IsADirectoryError"}


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (FileNotFoundError(2, "No such file or directory", "/x"), "No such file or directory"),
        (OSError("pipe\nbroke"), "pipe broke"),
        (OSError(), "OSError"),
        (ValueError("no number"), "no number"),
        (DataError("x: is empty", "write a line"), "x: is empty; write a line"),
    ],
)
def test_a_reason_is_one_line_of_words(error: Exception, words: str) -> None:
    assert reason(error) == words


def _raw(source: str) -> Iterator[int]:
    """Lines on which an error that may be the system's is shown as Python shows it."""
    for handler in ast.walk(ast.parse(source)):
        if not isinstance(handler, ast.ExceptHandler) or handler.type is None:
            continue
        if not SYSTEM & {getattr(name, "id", "") for name in ast.walk(handler.type)}:
            continue
        for node in ast.walk(handler):
            if (
                isinstance(node, ast.FormattedValue)
                and getattr(node.value, "id", "") == handler.name
            ):
                yield node.lineno


def test_no_message_shows_numbers_of_the_system() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for folder in ("vidya_tui", "learning", "personality", "engine")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for line in _raw(path.read_text("utf-8"))
    ]
    assert found == [], "\n".join(found)


def test_the_search_finds_what_it_is_for() -> None:
    bad = "try: x()\nexcept (OSError, ValueError) as e:\n    raise A(f'cannot ({e})')"
    assert list(_raw(bad)) == [3]
    assert list(_raw(bad.replace("{e}", "{reason(e)}"))) == []
    assert list(_raw(bad.replace("OSError", "KeyError"))) == []
