"""vidya_tui.cli.stdin: `-` as a file is standard input, or is refused. (Messages: test_answers.py.)"""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

import vidya_tui.cli.stdin
from engine.errors import DataError
from engine.storage import reading
from tests.vidya_tui.shell import Shell
from vidya_tui.cli.stdin import read_file

LESSON = '{"prompt": "from a pipe", "answer": "yes"}\n'


def test_evaluate_reads_from_standard_input(shell: Shell) -> None:
    for option in ("--lessons", "--text"):
        rows = LESSON if option == "--lessons" else '{"text": "some words"}\n'
        (result,) = shell.rows("evaluate", option, "-", stdin=rows)
        assert list(result) == [option.strip("-")]
        bad = shell.run("evaluate", option, "-", stdin="\nno row\n", status=1)
        assert "standard input:2: is no JSON" in str(bad.exception)
    said = shell.run("evaluate", "--lessons", "-", "--text", "-", stdin=LESSON, status=2).stderr
    assert "cannot both be standard input" in said


@pytest.mark.parametrize(
    "command", [("reward", "rate", "--prompts", "-"), ("distil", "--from", "x", "--prompts", "-")]
)
def test_messages_are_read_from_standard_input(shell: Shell, command: tuple[str, ...]) -> None:
    empty = shell.run(*command, stdin="\n", status=1)
    assert "standard input: " in str(empty.exception)
    full = shell.run(*command, stdin="hello\n", status=1)  # no taste yet, and no such model
    assert "standard input" not in str(full.exception) and "-:" not in str(full.exception)


def test_a_file_called_dash_is_no_standard_input(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "-"
    for text, said, commands in (
        ("no row\n", "./-:1: is no JSON", ("evaluate --lessons", "evaluate --text")),
        ("no row\n", "./-:1: is no JSON", ("teach --no-wait --file", "journal import")),
        ("\n", "./-: ", ("reward rate --prompts", "distil --from x --prompts")),
    ):
        file.write_text(text)
        for command in commands:
            read = shell.run(*command.split(), "./-", stdin=LESSON, status=1)
            assert said in str(read.exception), command
    shell.run("teach", "--file", "-", "--no-wait", stdin=LESSON)
    shell.run("journal", "export", "--out", "./-", "--force")
    assert "from a pipe" in file.read_text()


def test_an_empty_name_is_told(shell: Shell) -> None:
    read = shell.run("teach", "--file", "", status=1)
    assert "the name of the file is empty" in str(read.exception)


@pytest.mark.parametrize(
    "command",
    [
        ("evaluate", "--book", "-"),
        ("train", "-"),
        ("train", "--own-talk", "-"),
        ("practice", "gsm8k", "--data", "-"),
        ("pretrain", "-"),
        ("pretrain", "text.txt", "--mixture", "-"),
    ],
)
def test_what_is_read_more_than_once_has_to_be_a_file(
    shell: Shell, command: tuple[str, ...]
) -> None:
    said = shell.run(*command, stdin=LESSON, status=2).stderr
    assert "it cannot be standard input; write a file and name it" in said


@pytest.mark.parametrize(
    "command",
    [
        *("evaluate --book", "evaluate --lessons", "evaluate --text", "teach --no-wait --file"),
        *("train", "train --own-talk", "pretrain", "pretrain text.txt --mixture", "journal import"),
        *("practice gsm8k --data", "reward rate --prompts", "distil --from x --prompts"),
    ],
)
def test_a_file_that_never_ends_is_refused_in_one_line(
    shell: Shell, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Path.read_bytes

    def read(path: Path) -> bytes:
        assert path != Path("/dev/zero"), "or all memory is filled"
        return real(path)

    monkeypatch.setattr(Path, "read_bytes", read)
    said = shell.fails(*command.split(), "/dev/zero")
    assert said.startswith("/dev/zero: ") and "is no regular file" in said


def test_a_pipe_is_read_once_and_refused_where_it_is_read_again(
    shell: Shell, tmp_path: Path
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert "is no regular file" in shell.fails("train", str(pipe))
    assert reading.is_special(pipe) and not reading.is_special(tmp_path)
    writer = threading.Thread(target=pipe.write_text, args=(LESSON,))
    writer.start()
    assert read_file(str(pipe), "advice") == (LESSON.encode(), str(pipe))
    writer.join()
    with pytest.raises(DataError, match="null byte"):
        read_file("a\0b", "advice")


@pytest.mark.parametrize("opened", [False, True])
def test_a_pipe_that_nobody_writes_to_is_waited_for_and_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    opened: bool,
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    told = threading.Event()

    def heard(words: str) -> None:
        say(words)
        told.set()

    say = vidya_tui.cli.stdin.say
    monkeypatch.setattr(vidya_tui.cli.stdin, "say", heard)
    monkeypatch.setattr(vidya_tui.cli.stdin, "PATIENCE", 0.01)

    def write() -> None:
        if opened:  # it has a writer, which is silent
            with pipe.open("w") as file:
                told.wait(20)
                file.write(LESSON)
        else:
            told.wait(20)
            pipe.write_text(LESSON)

    writer = threading.Thread(target=write)
    writer.start()
    assert read_file(str(pipe), "advice") == (LESSON.encode(), str(pipe))
    writer.join()
    said = f"vidya: waits until a program has written {pipe} and closed it; Ctrl+C stops\n"
    assert capsys.readouterr() == ("", said), "once, and not in the result"
