"""Files of lessons: a line is a line, whatever stands within its strings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.errors import DataError
from learning.lesson_file import check_paraphrases, read_lessons, read_rows


@pytest.mark.parametrize("inside", ["\u2028", "\u2029", "\u0085"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_string_may_hold_what_some_call_the_end_of_a_line(
    tmp_path: Path, inside: str, end: str
) -> None:
    file, answer = tmp_path / "lessons.jsonl", f"one{inside}two"
    row = json.dumps({"prompt": "a b", "answer": answer}, ensure_ascii=False)
    file.write_bytes(f"{row}{end}{row}{end}".encode())
    assert [lesson.answer for lesson in read_lessons(file)] == [answer, answer]


@pytest.mark.parametrize("value", ["null", '["one", "two"]', "5"])
def test_what_teaching_ignores_may_be_anything(tmp_path: Path, value: str) -> None:
    file = tmp_path / "lessons.jsonl"
    file.write_text(f'{{"prompt": "a", "answer": "b", "paraphrase": {value}}}\n')
    (lesson,) = read_lessons(file)
    assert lesson.answer == "b"
    with pytest.raises(DataError, match=":1: paraphrase must be a text"):
        check_paraphrases(read_rows(file), str(file))


@pytest.mark.parametrize("turns", ["5", "null", '["a", "b"]', '{"a": 1}'])
def test_turns_that_are_none_are_told_in_words(tmp_path: Path, turns: str) -> None:
    file = tmp_path / "lessons.jsonl"
    file.write_text(f'{{"turns": {turns}}}\n')
    with pytest.raises(DataError, match=":1: turns must be a list of"):
        read_lessons(file)
