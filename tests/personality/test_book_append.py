"""personality.book.append_entry: a line reaches the file whole or not at all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from personality import book as book_module
from personality.book import (
    append_entry,
    read_book,
)
from tests.personality.test_book import GOOD, HI, write


def test_append_makes_the_file_with_a_heading(tmp_path: Path) -> None:
    path = tmp_path / "book.txt"
    append_entry(path, HI)
    append_entry(str(path), [("user", "two\nlines"), ("assistant", "é")])
    heading, *lines = path.read_text("utf-8").split("\n")
    assert heading.startswith("# ")
    assert lines == [GOOD, "<|user|> two lines <|assistant|> é", ""]
    assert [entry.line for entry in read_book(path)] == [2, 3]


def test_append_mends_a_missing_last_newline_and_changes_nothing_else(tmp_path: Path) -> None:
    path = write(tmp_path, "# mine\r\n" + GOOD)
    append_entry(path, HI)
    assert path.read_bytes() == f"# mine\r\n{GOOD}\n{GOOD}\n".encode()


def test_append_reaches_the_disk_in_one_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path, "# mine\n")
    sizes: list[int] = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        sizes.append(os.fstat(descriptor).st_size)
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    append_entry(path, HI)
    assert sizes == [path.stat().st_size]


def test_a_failed_append_leaves_the_book_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path, GOOD)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        append_entry(path, HI)
    assert path.read_text() == GOOD


def test_appending_where_nothing_can_be(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        append_entry(tmp_path / "no" / "folder" / "book.txt", HI)


def test_two_writers_lose_nothing(tmp_path: Path) -> None:
    path = write(tmp_path, "# mine\n")
    script = (
        "import sys\nfrom personality.book import append_entry\n"
        "for i in range(20):\n"
        "    append_entry(sys.argv[1], [('user', f'{sys.argv[2]} {i}'), ('assistant', 'x' * 99)])\n"
    )
    root = Path(book_module.__file__).parents[1]
    writers = [
        subprocess.Popen([sys.executable, "-c", script, str(path), name], cwd=root)
        for name in ("a", "b")
    ]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    questions = {entry.question for entry in read_book(path)}
    assert questions == {f"{name} {i}" for name in "ab" for i in range(20)}
