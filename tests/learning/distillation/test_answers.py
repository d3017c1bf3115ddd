from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from engine.errors import DataError
from engine.model import Model
from engine.tokenizers.tokenizer import Tokenizer
from learning.distillation.answers import (
    AnswerFile,
    DrawSettings,
    TeacherAnswer,
    _best,
    draw,
)

OPENINGS = ["Hello!", "What is a river?", "Do you like bread?", "Why?", "Hello!"]
SETTINGS = DrawSettings(draws=3, max_tokens=8, rows=2)


def _draw(
    teacher: Model, tokenizer: Tokenizer, file: AnswerFile, **more: object
) -> list[TeacherAnswer]:
    generator = torch.Generator().manual_seed(0)
    return draw(teacher, tokenizer, OPENINGS, SETTINGS, file, generator=generator, **more)  # type: ignore[arg-type]


def test_each_opening_is_asked_once_and_kept_in_a_file(
    tmp_path: Path, teacher: Model, teacher_tokenizer: Tokenizer
) -> None:
    path, told = tmp_path / "answers.jsonl", list[tuple[int, int]]()
    first = _draw(
        teacher,
        teacher_tokenizer,
        AnswerFile(path, "a"),
        report=lambda done, tokens: told.append((done, tokens)),
    )
    assert [row.opening for row in first] == OPENINGS[:4]
    assert [done for done, _ in told] == [2, 4]
    assert told[-1][1] == sum(row.tokens for row in first) > 0

    def never(*_: object) -> None:
        raise AssertionError("drawn again")

    again = _draw(teacher, teacher_tokenizer, AnswerFile(path, "a"), report=never)
    assert again == first
    assert AnswerFile(path, "another teacher").rows == {}


def test_a_run_that_was_stopped_or_cut_off_goes_on(
    tmp_path: Path, teacher: Model, teacher_tokenizer: Tokenizer
) -> None:
    path, asked = tmp_path / "answers.jsonl", list[int]()

    def stop() -> bool:
        asked.append(1)
        return len(asked) > 1

    assert len(_draw(teacher, teacher_tokenizer, AnswerFile(path, "a"), stop=stop)) == 2
    path.write_bytes(path.read_bytes()[:-20])  # the machine died within the second row
    file = AnswerFile(path, "a")
    assert list(file.rows) == OPENINGS[:1]
    assert len(_draw(teacher, teacher_tokenizer, file)) == 4
    assert list(AnswerFile(path, "a").rows) == [*OPENINGS[:1], *OPENINGS[1:4]]


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "answers.jsonl").mkdir()
    with pytest.raises(DataError, match="answers.jsonl: cannot be read"):
        AnswerFile(tmp_path / "answers.jsonl", "a")


def test_the_kept_answer_has_no_fault_and_agrees_most() -> None:
    drawn = [("It is Oslo.", True), ("It is Oslo", True), ("Oslo!", True), ("I like fish.", True)]
    row = _best("What is the capital of Norway?", drawn, 20, 0.1)
    assert (row.answer, row.why, row.tokens) == ("It is Oslo.", "", 20)
    row = _best("Why?", [("Because of", True), ("Because it", False)], 8, 0.1)
    assert (row.answer, row.why) == ("", "unfinished")
    row = _best("Why?", [("Fish.", True), ("Never.", True)], 8, 0.1)
    assert (row.answer, row.why) == ("", "no two answers agree")


def test_other_settings_are_another_mark() -> None:
    assert SETTINGS.mark("x") == SETTINGS.mark("x") != SETTINGS.mark("y")
    assert SETTINGS.mark("x") != replace(SETTINGS, temperature=0.9).mark("x")


def test_rows_are_json(tmp_path: Path) -> None:
    file = AnswerFile(tmp_path / "a.jsonl", "m")
    file.add([TeacherAnswer("Schön?", "Ja.", "", 1.0, 3)])
    rows = [
        json.loads(line) for line in (tmp_path / "a.jsonl").read_text("utf-8").split("\n") if line
    ]
    assert rows == [
        {
            "mark": "m",
            "opening": "Schön?",
            "answer": "Ja.",
            "why": "",
            "agreement": 1.0,
            "tokens": 3,
        }
    ]
