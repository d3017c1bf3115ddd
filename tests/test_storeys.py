"""docs/architecture.md and its picture match the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.storeys import draw, main
from tests.test_architecture import ROOT

PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")


def test_the_picture_is_of_these_imports() -> None:
    drawn = (ROOT / "docs" / "architecture.svg").read_text("utf-8")
    assert drawn == draw(), "run: python -m tests.storeys docs/architecture.svg"


def test_the_command_line_writes_the_picture(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "picture.svg"
    assert main([str(file)]) == 0
    assert file.read_text("utf-8") == draw() and capsys.readouterr().out == f"{file}\n"


def test_the_command_line_explains_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as left:
        main(["--help"])
    said = capsys.readouterr().out
    assert left.value.code == 0 and "usage: python -m tests.storeys" in said and "file" in said
    with pytest.raises(SystemExit):
        main([])
    assert "are required: file\n" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_picture_that_cannot_be_written_is_told_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path)]) == 1
    said = capsys.readouterr()
    told = f"{tmp_path}: cannot be written (Is a directory); name another file"
    assert said.out == "" and said.err.startswith(told) and said.err.count("\n") == 1


def test_every_place_that_the_page_names_exists() -> None:
    named = re.findall(r"`((?:engine|learning|vidya_tui|personality)/[\w/]+\.py)(?::(\w+))?`", PAGE)
    assert len(named) > 40
    missing = []
    for file, name in named:
        path = ROOT / file
        source = path.read_text("utf-8") if path.is_file() else ""
        if not source or (
            name and not re.search(rf"^\s*(async )?(def|class) {name}\b", source, re.M)
        ):
            missing.append(f"{file}:{name}")
    assert not missing, missing
