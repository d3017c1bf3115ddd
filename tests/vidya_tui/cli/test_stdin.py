"""vidya_tui.cli.stdin: `-` as a file is standard input, or is refused. (Messages: test_answers.py.)"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.vidya_tui.shell import Shell

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
