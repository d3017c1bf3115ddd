"""The README says what is: its commands exist with their options, its tree and its links too."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from vidya_tui.cli.main import cli, is_message

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
CONTEXT = click.Context(cli)
NOT_LISTED = {"vidya.egg-info", "build", "dist", "__pycache__"}


def commands() -> list[str]:
    """Every `vidya ...` in back quotes and in indented blocks; `--x` alone belongs to the command
    before it in its row."""
    found = []
    for line in README.splitlines():
        if line.startswith("    "):
            found += [part.strip() for part in line.split("&&") if part.strip().startswith("vidya")]
        last = ""
        for quoted in re.findall(r"`([^`]+)`", line):
            if quoted.split()[0] == "vidya":
                last = quoted
                found.append(quoted)
            elif quoted.startswith("--") and last and line.startswith("|"):
                words = last.split(" --")[0]
                found.append(f"{words} {quoted}")
    return found


def walk(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name in group.list_commands(CONTEXT):
        command = group.get_command(CONTEXT, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from walk(command, (*path, name))
        else:
            yield (*path, name)


def resolve(text: str) -> tuple[tuple[str, ...], list[str]]:
    """(names of the command, options) of a command line; fails where there is no such command."""
    words = shlex.split(text.split(" < ")[0])[1:]
    command: click.Command = cli
    path: tuple[str, ...] = ()
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        if command is cli and is_message(words[0]):
            words.insert(0, "ask")
        found = command.get_command(CONTEXT, words[0])
        assert found is not None, f"{text}: there is no {words[0]}"
        path += (words[0],)
        command = found
        words = words[1:]
    known = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
    options = [word for word in words if re.fullmatch(r"--?[a-z][a-z-]*", word)]
    assert set(options) <= known, f"{text}: unknown {set(options) - known}"
    return path, options


@pytest.mark.parametrize("text", commands())
def test_every_command_and_option_exists(text: str) -> None:
    resolve(text)


def test_every_command_is_in_the_readme() -> None:
    assert {resolve(text)[0] for text in commands()} >= set(walk(cli))


@pytest.mark.parametrize("text", ["vidya nothing", "vidya ask x --nothing", "vidya model nothing"])
def test_what_does_not_exist_is_seen(text: str) -> None:
    with pytest.raises(AssertionError):
        resolve(text)


def test_links_point_to_files() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert links
    for link in links:
        assert link.startswith("http") or (ROOT / link).exists(), link


def test_the_tree_lists_what_there_is() -> None:
    tree = README.split("## Where things are")[1].split("```")[1].strip().splitlines()
    folders: list[str] = []
    for line in tree:
        name = line.split()[0].rstrip("/")
        path = f"{folders[-1].split('/')[0]}/{name}" if line.startswith("  ") else name
        folders.append(path)
        assert (ROOT / path).is_dir(), path
        assert len(line.split()) > 2, f"{path}: what is it for?"
    top = {
        path.name
        for path in ROOT.iterdir()
        if path.is_dir() and path.name[0] != "." and path.name not in NOT_LISTED
    }
    assert top == {path for path in folders if "/" not in path}


def test_the_examples_of_the_book_and_the_home_hold(tmp_path: Path) -> None:
    from learning.home import Home

    home = Home(tmp_path)
    named = re.findall(r"^\| `([^`]+)` \|", README.split("| file | holds |")[1], re.MULTILINE)
    paths = (
        home.journal_path,
        home.book_path,
        home.settings_path,
        home.first_frame_path,
        home.unsent_path,
        home.log_path,
    )
    assert {path.name for path in paths} | {"models/NAME/"} == set(named)
