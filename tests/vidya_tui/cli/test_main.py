from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


def run(*arguments: str, home: Path | None = None) -> subprocess.CompletedProcess[str]:
    options = ["--home", str(home)] if home else []
    command = [sys.executable, "-m", "vidya_tui", *arguments, *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_help_needs_neither_torch_nor_textual() -> None:
    code = (
        "import sys, vidya_tui.cli.main; "
        "sys.exit(any(name in sys.modules for name in ('torch', 'textual')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<|user|> hello\n", ":1:"),
        (b"# nothing\n", "book.txt"),
        (b"\x00\x01\xff\xfe", "book.txt"),
    ],
)
def test_bad_books_are_named(tmp_path: Path, content: bytes, message: str) -> None:
    book = tmp_path / "book.txt"
    book.write_bytes(content)
    result = run("train", str(book), home=tmp_path / "home")
    assert result.returncode == 1
    assert message in result.stderr
    assert "Traceback" not in result.stderr and result.stdout == ""


def test_a_home_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = run("journal", "show", home=tmp_path / "file" / "home")
    assert result.returncode == 1
    assert "Traceback" not in result.stderr and str(tmp_path / "file") in result.stderr


def test_wrong_usage_is_2(tmp_path: Path) -> None:
    assert run("teach", home=tmp_path / "home").returncode == 2
    assert run("nothing").returncode == 2


@pytest.mark.slow
def test_an_unknown_model_lists_those_there_are(tmp_path: Path) -> None:
    result = run("model", "show", "99m", home=tmp_path / "home")
    assert result.returncode == 1
    assert "10m" in result.stderr


def test_a_bad_lesson_is_named_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "lessons.jsonl"
    file.write_text('{"prompt": "a", "answer": "b"}\n{"prompt": "a"}\n')
    result = run("teach", "--file", str(file), home=tmp_path / "home")
    assert result.returncode == 1
    assert f"{file}:2:" in result.stderr
