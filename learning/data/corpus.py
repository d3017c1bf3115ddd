"""Reads conversations and plain text for pre-training, one document at a time.

Formats: `.jsonl` (a row has `turns` of role and text, or `text`; `source` names its origin; a turn with
`weight` 0 is context without loss) and plain text; both may be compressed (`.zst`, `.gz`). In plain text a
blank line ends a paragraph. Two blank lines, a form feed or a line `<|endoftext|>` end a document, and so
does the first end of a paragraph after 2,000 characters, so that parts of a novel can be held out.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import DataError, reason
from learning.data.text_files import OnBad, open_data, plain_suffix, report_bad, text_lines
from learning.text.normalise import writable

HELD_OUT = 200
"""About one document in this many is held out."""
PART = 2_000
"""A plain text is cut at the first end of a paragraph after this many characters."""
SUFFIXES = (".txt", ".jsonl")
"""The files of a folder that are read; each may be compressed."""


@dataclass(frozen=True)
class Document:
    """A conversation (turns of role and text) or a plain text."""

    source: str
    turns: tuple[tuple[str, str], ...] = ()
    text: str = ""
    unlearned: frozenset[int] = frozenset()
    """Indices of the turns that are context without loss."""

    @property
    def lot(self) -> int:
        """A hash of the text, 0 to 2^32 - 1, which decides whether the document is held out."""
        return zlib.crc32(repr((self.turns, self.text)).encode("utf-8", "replace"))

    @property
    def held_out(self) -> bool:
        """Whether the document is held out. Equal texts get the same answer in every file."""
        return self.lot % HELD_OUT == 0

    @property
    def bytes(self) -> int:
        """Length of all texts in UTF-8."""
        texts = [self.text, *(text for _, text in self.turns)]
        return sum(len(text.encode("utf-8", "replace")) for text in texts)


def data_files(paths: Sequence[Path]) -> list[Path]:
    """The given files, and for each folder its files with one of SUFFIXES, sorted by name.

    Raises DataError for a path that does not exist, and for a folder without such files.
    """
    files: list[Path] = []
    for path in paths:
        if not path.is_dir():
            if not path.exists():
                raise DataError(f"{path}: does not exist", "name a text file, .jsonl or a folder")
            files.append(path)
            continue
        inside = sorted(p for p in path.iterdir() if p.is_file() and plain_suffix(p) in SUFFIXES)
        if not inside:
            raise DataError(f"{path}: holds no data", f"put in files of: {', '.join(SUFFIXES)}")
        files.extend(inside)
    return files


def read_documents(path: Path, on_bad: OnBad | None = None) -> Iterator[Document]:
    """Yields all documents of a file. Raises DataError with file and line for a bad row; if `on_bad` is
    given, calls it with that error and skips the row."""
    try:
        with open_data(path) as stream:
            lines = text_lines(stream, path, on_bad)
            if plain_suffix(path) in (".jsonl", ".json"):
                yield from _rows(lines, path, on_bad)
            else:
                yield from _plain_text(lines, path)
    except OSError as error:
        raise DataError(
            f"{path}: cannot be read ({reason(error)})", "give a file of text"
        ) from error


def _rows(lines: Iterable[tuple[int, str]], path: Path, on_bad: OnBad | None) -> Iterator[Document]:
    for number, line in lines:
        if not line.strip():
            continue
        try:
            yield _parse_row(json.loads(line), path)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            wrong = f"has no {error}" if isinstance(error, KeyError) else str(error)
            report_bad(
                DataError(
                    f"{path}:{number}: not a conversation or text ({wrong})",
                    'a row is {"turns": [{"role", "text"}, ...]} or {"text": ...}; mend it, '
                    "or pass over such rows with --skip-bad",
                ),
                on_bad,
            )


def _parse_row(row: Any, path: Path) -> Document:
    if not isinstance(row, dict):
        raise ValueError("a row must be an object")
    source = writable(str(row.get("source", path.name.split(".")[0])))
    if "turns" in row:
        if not isinstance(row["turns"], list) or not all(isinstance(t, dict) for t in row["turns"]):
            raise ValueError("turns must be a list of objects")
        turns = tuple((t["role"], t["text"]) for t in row["turns"])
        if not turns or any(role not in ("user", "assistant") for role, _ in turns):
            raise ValueError("turns must have roles user and assistant")
        if not all(isinstance(text, str) for _, text in turns):
            raise ValueError("the text of a turn must be a string")
        weights = [t.get("weight", 1) for t in row["turns"]]
        if any(weight not in (0, 1) for weight in weights):
            raise ValueError("the weight of a turn must be 0 or 1")
        unlearned = frozenset(place for place, weight in enumerate(weights) if weight == 0)
        return Document(source, turns, unlearned=unlearned)
    if not isinstance(row["text"], str):
        raise ValueError("text must be a string")
    return Document(source, text=row["text"])


def _plain_text(lines: Iterable[tuple[int, str]], path: Path) -> Iterator[Document]:
    source = writable(path.name.split(".")[0])
    kept: list[str] = []
    size = 0
    for _, line in lines:
        blank = not line.strip("\ufeff \t\f")
        end = "\f" in line or line.strip() == "<|endoftext|>"
        # two blank lines end the document; a long one also ends with a paragraph, or, without blank
        # lines, at the end of a line
        if kept and (end or (blank and (kept[-1] == "" or size > PART)) or size > 2 * PART):
            yield Document(source, text="\n".join(kept).rstrip())
            kept, size = [], 0
        if not end and (kept or not blank):
            kept.append("" if blank else line)
            size += len(line) + 1
        elif "\f" in line and not blank:
            kept, size = [line.replace("\f", "")], len(line)
    if any(kept):
        yield Document(source, text="\n".join(kept).rstrip())
