"""Files of lessons: a line is a line, whatever stands within its strings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from learning.lesson_file import read_lessons


@pytest.mark.parametrize("inside", ["\u2028", "\u2029", "\u0085"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_string_may_hold_what_some_call_the_end_of_a_line(
    tmp_path: Path, inside: str, end: str
) -> None:
    file, answer = tmp_path / "lessons.jsonl", f"one{inside}two"
    row = json.dumps({"prompt": "a b", "answer": answer}, ensure_ascii=False)
    file.write_bytes(f"{row}{end}{row}{end}".encode())
    assert [lesson.answer for lesson in read_lessons(file)] == [answer, answer]
