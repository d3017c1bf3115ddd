"""Numbers with their words: one lesson, two lessons. Looked for in every text that the program makes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from vidya_tui.text.numbers import counted

ROOT = Path(__file__).parents[3]
NOUNS = (
    "answers?|asks?|candidates?|changes?|characters?|conversations?|days?|documents?|entr(?:y|ies)|"
    "epochs?|exchanges?|facts?|files?|hours?|lessons?|lines?|messages?|minutes?|models?|others?|pairs?|"
    "preferences?|problems?|process(?:es)?|questions?|records?|rows?|seconds?|snapshots?|steps?|tasks?|"
    "titles?|turns?|variants?|versions?|weeks?|words?"
)
BEGINS = re.compile(rf"^ (later |earlier |new |more )?({NOUNS})\b")
NEVER_ONE = (
    "learning/data/corpus.py",  # names of files
    "learning/maths",
    "learning/pretrain",  # what was asked for, as it was typed
    "learning/practice",
    "learning/rewards",
)


@pytest.mark.parametrize(
    ("count", "words", "text"),
    [
        (0, ("lesson",), "0 lessons"),
        (1, ("lesson",), "1 lesson"),
        (2, ("lesson",), "2 lessons"),
        (1234, ("entry", "entries"), "1,234 entries"),
        (1, ("lesson waits", "lessons wait"), "1 lesson waits"),
        (3, ("lesson waits", "lessons wait"), "3 lessons wait"),
    ],
)
def test_a_number_with_its_word(count: int, words: tuple[str, ...], text: str) -> None:
    assert counted(count, *words) == text


def _counted_by_hand(source: str) -> Iterator[tuple[int, str]]:
    """Line and word of each f-string that puts a number before a noun by itself."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.JoinedStr):
            continue
        for number, word in zip(node.values, node.values[1:], strict=False):
            if (
                isinstance(number, ast.FormattedValue)
                and isinstance(word, ast.Constant)
                and (found := BEGINS.match(str(word.value)))
                and not _is_fraction(number)
            ):
                yield node.lineno, found[2]


def _is_fraction(number: ast.FormattedValue) -> bool:
    """Digits after the point are told, so that it is never just one."""
    shape = number.format_spec
    parts = shape.values if isinstance(shape, ast.JoinedStr) else []
    return "".join(str(part.value) for part in parts if isinstance(part, ast.Constant)).endswith(
        "f"
    )


def test_no_text_counts_by_hand() -> None:
    found = [
        f"{name}:{line}: {word}"
        for folder in ("vidya_tui", "learning", "personality", "engine")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if not (name := str(path.relative_to(ROOT))).startswith(NEVER_ONE)
        for line, word in _counted_by_hand(path.read_text("utf-8"))
    ]
    assert found == [], "\n".join(found)


def test_the_search_finds_what_it_is_for() -> None:
    source = 'f"{len(x)} lessons wait" + f"{n:,} lines" + f"{counted(n, 2)} x" + f"{s:.1f} seconds"'
    assert [word for _, word in _counted_by_hand(source)] == ["lessons", "lines"]
