"""The help of the shell commands at 80 columns, and their errors for wrong arguments."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from vidya_tui.cli.main import COMMANDS, cli, is_message

ROOT = Path(__file__).parents[3]


def walk(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    yield " ".join(path), command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from walk(found, (*path, name))


ALL = dict(walk(cli))


def shown(words: str) -> str:
    result = CliRunner().invoke(cli, [*words.split(), "--help"], terminal_width=80)
    assert result.exit_code == 0
    return result.stdout


def test_every_command_option_and_argument_says_what_it_is() -> None:
    without = [f"vidya {path}" for path, command in ALL.items() if not (command.help or "").strip()]
    for path, command in ALL.items():
        for parameter in command.params:
            text = getattr(parameter, "help", None)
            if not text or not text.strip():
                without.append(f"vidya {path}: {parameter.opts[0]}")
    assert without == []


@pytest.mark.parametrize("path", ALL)
def test_no_help_is_cut_or_wider_than_80_columns(path: str) -> None:
    lines = shown(path).splitlines()
    assert [line for line in lines if len(line) > 80] == []
    # dots belong to a usage line alone: DATA...
    assert [line for line in lines if "..." in line and not line.startswith("Usage:")] == [
        line for line in lines if re.search(r"^  [A-Z]+\.\.\.  ", line)
    ]


@pytest.mark.parametrize("path", ALL)
def test_what_begins_a_help_is_a_sentence(path: str) -> None:
    for parameter in ALL[path].params:
        text = str(getattr(parameter, "help", ""))
        assert text[:1].isupper() or text[:1].isdigit() or text.split()[0].islower(), text
        assert text.endswith((".", "?")), text


def run(*arguments: str, home: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "vidya_tui", *arguments],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "VIDYA_HOME": str(home), **variables},
        timeout=120,
        check=False,
        cwd=ROOT,
    )


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (["trian"], "did you mean train"),
        (["trian", "book.txt"], "`vidya ask trian book.txt` asks it"),
        (["Doctor"], "did you mean doctor?"),
        (["hello"], "`vidya ask hello` asks it"),
        (["model", "shw"], "did you mean 'show'?"),
        (["ask"], "missing the message"),
        (["ask", "x", "--nothing"], "no such option '--nothing'; `vidya ask --help`"),
        (["ask", "x", "-n", "0"], "0 is not in the range"),
        (["teach"], "give one of --pick"),
        (["teach", "--say", "Hi.", "--rate", "good"], "give only one of --pick"),
        (["teach", "--reason", "shorter"], "--reason goes with --rate"),
        (["ask", "x", "-n", "two"], "'two' is not a whole number; `"),
        (["practice", "--again", "last"], "'last' is not a whole number; `"),
        (["pretrain", "x.txt", "--minutes", "two"], "'two' is not a number; `"),
        (["ask", "x", "--home", ""], "name a folder"),
    ],
)
def test_wrong_usage_is_one_line_that_says_what_to_type(
    tmp_path: Path, typed: list[str], words: str
) -> None:
    result = run(*typed, home=tmp_path / "home")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("vidya") and words in result.stderr
    assert result.stderr.count("\n") == 1, result.stderr
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize(
    ("word", "asked"),
    [
        ("Who are you?", True),
        ("tell me of the sea", True),
        ("why?", True),
        ("你是谁？", True),
        ("trian", False),
        ("book.txt", False),
        ("hello", False),
        ("--nothing", False),
        (" ", False),
        ("", False),
    ],
)
def test_what_is_a_message(word: str, asked: bool) -> None:
    assert is_message(word) is asked
    assert not any(is_message(name) for name in COMMANDS)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_that_asks_for_completion_opens_nothing(tmp_path: Path, shell: str) -> None:
    home = tmp_path / "home"
    result = run(home=home, _VIDYA_COMPLETE=f"{shell}_source")
    assert result.returncode == 0 and "_VIDYA_COMPLETE" in result.stdout
    assert not home.exists()


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("vidya tr", {"train"}),
        ("vidya model sh", {"show"}),
        ("vidya model show 10m", {"10m", "10m-base"}),
        ("vidya model show mi", {"mine"}),
        ("vidya ask x --model mi", {"mine"}),
        ("vidya practice chain", {"chain_sum"}),
        ("vidya bench crash", {"crash"}),
        ("vidya --pl", {"--plain"}),
    ],
)
def test_completion_offers_what_there_is(tmp_path: Path, line: str, offered: set[str]) -> None:
    model = tmp_path / "home" / "models" / "mine"
    model.mkdir(parents=True)
    (model / "config.json").write_text("{}")
    before = sorted(tmp_path.rglob("*"))
    variables = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1)}
    result = run(home=tmp_path / "home", _VIDYA_COMPLETE="bash_complete", **variables)
    assert result.returncode == 0, result.stderr
    assert {row.partition(",")[2] for row in result.stdout.split()} == offered
    assert sorted(tmp_path.rglob("*")) == before


def test_an_instruction_that_no_shell_gives_is_told(tmp_path: Path) -> None:
    result = run(home=tmp_path / "home", _VIDYA_COMPLETE="nonsense")
    assert result.returncode == 2 and "bash_source" in result.stderr
    assert not (tmp_path / "home").exists()
