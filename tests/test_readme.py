"""The README and docs/ are true: every command, option, link, file and import that they name exists."""

from __future__ import annotations

import ast
import importlib
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from vidya_tui.cli.main import cli, is_message
from vidya_tui.commands.table import COMMANDS

ROOT = Path(__file__).parents[1]
PAGES = {
    name: (ROOT / name).read_text("utf-8")
    for name in ("README.md", *(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")))
}
README = PAGES["README.md"]
GUIDE = PAGES["docs/guide.md"]
WRITTEN = [name for name in sorted(PAGES) if name != "docs/reference.md"]
"""Pages written by hand. The reference is generated from the commands: see test_reference.py."""
CONTEXT = click.Context(cli)
NOT_LISTED = {"vidya.egg-info", "build", "dist", "__pycache__"}
WHOLE = ("learning", "vidya_tui")
"""Folders whose own folders the tree lists completely."""


def commands(page: str) -> list[str]:
    """Every `vidya ...` in back quotes and in indented blocks of a page; `--x` alone belongs to the
    command before it in its row."""
    found = []
    for line in page.splitlines():
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
    """(names of the command, options) of a command line; fails if there is no such command."""
    words = shlex.split(text.split(" < ")[0])[1:]
    command: click.Command = cli
    path: tuple[str, ...] = ()
    before = {name: option for option in cli.params for name in option.opts}
    while words and (option := before.get(words[0])) is not None:
        flag = isinstance(option, click.Option) and option.is_flag
        words = words[1 if flag else 2 :]
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


@pytest.mark.parametrize("name", WRITTEN)
def test_every_command_and_option_exists(name: str) -> None:
    faults = []
    for text in commands(PAGES[name]):
        try:
            resolve(text)
        except AssertionError as fault:
            faults.append(str(fault))
    assert not faults


def test_the_readme_has_examples() -> None:
    shown = {resolve(text)[0] for text in commands(README)}
    assert {(), ("ask",), ("teach",)} <= shown


def test_the_gate_runs_the_tests_as_the_readme_says() -> None:
    [line] = [
        line.strip() for line in README.splitlines() if line.startswith("    pip install -c ")
    ]
    gate = (ROOT / ".ci" / "run").read_text("utf-8").replace("pip install -q", "pip install")
    assert [step for step in line.split(" && ") if step not in gate.splitlines()] == []
    assert "pytest" in line


def test_the_tests_run_with_exact_versions_of_everything_that_is_required() -> None:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pins = [line.split("==") for line in lines if not line.startswith("#")]
    assert all(len(pin) == 2 and pin[1] for pin in pins)
    exact = {name for name, _ in pins}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = {
        re.split(r"[^A-Za-z0-9_-]", one)[0].replace("_", "-")
        for one in [
            *project["dependencies"],
            *(one for name in ("test", "practice", "serve") for one in extras[name]),
        ]
    }
    assert wanted - exact == {"torch", "vidya"}, "torch is pinned in pyproject.toml"


def test_every_command_is_in_the_guide() -> None:
    assert {resolve(text)[0] for text in commands(GUIDE)} >= set(walk(cli))


@pytest.mark.parametrize("name", ["README.md", "docs/guide.md"])
def test_every_slash_command_exists(name: str) -> None:
    known = {word for command in COMMANDS for word in (command.name, *command.aliases)}
    named = set(re.findall(r"`/([a-z]+)\b", PAGES[name]))
    assert named
    assert named <= known


@pytest.mark.parametrize("text", ["vidya nothing", "vidya ask x --nothing", "vidya model nothing"])
def test_what_does_not_exist_is_seen(text: str) -> None:
    with pytest.raises(AssertionError):
        resolve(text)


@pytest.mark.parametrize("name", sorted(PAGES))
def test_links_point_to_files(name: str) -> None:
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", PAGES[name])
    folder = (ROOT / name).parent
    missing = [to for to in links if not to.startswith("http") and not (folder / to).exists()]
    assert not missing
    assert links or name not in ("README.md", "docs/guide.md")


def test_every_file_that_a_page_names_exists() -> None:
    """Paths in back quotes from the root, and result files by their name alone."""
    missing = []
    for name in WRITTEN:
        for path in re.findall(
            r"`((?:engine|learning|vidya_tui|benchmarks|tests|personality|docs)/[\w./*-]+)`",
            PAGES[name],
        ):
            if not list(ROOT.glob(path)):
                missing.append(f"{name}: {path}")
    for name in ("README.md", "docs/guide.md"):
        for result in re.findall(r"`(\w+\.md)`", PAGES[name]):
            if not (ROOT / "benchmarks" / "results" / result).is_file():
                missing.append(f"{name}: {result}")
    assert not missing


@pytest.mark.parametrize("name", WRITTEN)
def test_every_import_in_an_example_exists(name: str) -> None:
    missing = []
    for block in re.findall(r"```python\n(.*?)```", PAGES[name], re.DOTALL):
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.ImportFrom) and node.module:
                module = importlib.import_module(node.module)
                missing += [one.name for one in node.names if not hasattr(module, one.name)]
    assert not missing


def test_the_tree_lists_what_there_is() -> None:
    tree = README.split("## Where things are")[1].split("```")[1].strip().splitlines()
    folders: list[str] = []
    for line in tree:
        name = line.split()[0].rstrip("/")
        path = f"{folders[-1].split('/')[0]}/{name}" if line.startswith("  ") else name
        folders.append(path)
        assert (ROOT / path).is_dir(), path
        assert len(line.split()) > 2, f"{path}: what is it for?"
    assert below(ROOT) == {path for path in folders if "/" not in path}
    for whole in WHOLE:
        listed = {path.split("/")[1] for path in folders if path.startswith(f"{whole}/")}
        assert below(ROOT / whole) == listed


def below(folder: Path) -> set[str]:
    """Names of the folders in a folder, without hidden and generated ones."""
    return {
        path.name
        for path in folder.iterdir()
        if path.is_dir() and path.name[0] != "." and path.name not in NOT_LISTED
    }


def test_the_table_of_the_home_names_its_files(tmp_path: Path) -> None:
    from learning.home import Home

    home = Home(tmp_path)
    table = GUIDE.split("| file | holds |")[1].split("\n\n")[0]
    named = re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE)
    paths = [
        getattr(home, name)
        for name, value in vars(Home).items()
        if isinstance(value, property) and name.endswith("_path")
    ]
    assert home.journal_path in paths
    folders = {"models": "models/NAME/", "exports": "exports/", "downloads": "downloads/"}
    expected = {folders.get(path.name, path.name) for path in paths}
    assert expected == set(named)
