"""The command lines of trainings say what they do, and what went wrong in one line."""

from __future__ import annotations

import pytest

from engine.errors import DataError
from learning.command_line import described_parser, run_and_tell


def test_the_help_shows_the_description_as_it_is_written() -> None:
    parser = described_parser("learning.some_training", "Trains.\n\n    an example\n")
    assert "usage: python -m learning.some_training" in parser.format_help()
    assert "Trains.\n\n    an example\n" in parser.format_help()


def test_an_error_is_one_line_and_an_exit_status(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_and_tell(lambda say: say("step 1")) == 0
    assert capsys.readouterr() == ("step 1\n", "")

    def fails(_: object) -> None:
        raise DataError("there is no text", "give a folder")

    assert run_and_tell(fails) == 1
    said = capsys.readouterr()
    assert said.out == "" and "there is no text" in said.err and said.err.count("\n") == 1
