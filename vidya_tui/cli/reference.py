"""Writes docs/reference.md: every shell command, slash command, key and setting, from the program's
tables.

python -m vidya_tui.cli.reference docs/reference.md
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from learning.objectives.settings import MOST
from learning.practice.options import practice_options
from vidya_tui.cli.main import cli
from vidya_tui.commands.table import COMMANDS, KEYS
from vidya_tui.settings.file import Settings
from vidya_tui.settings.rows import groups

_HEAD = """# Reference

This page lists every shell command, slash command, key and setting. [guide.md](guide.md) explains how to
use them. Do not edit this page: `python -m vidya_tui.cli.reference docs/reference.md` writes it from the
program's own tables, and a test fails if it is out of date.
"""


def reference() -> str:
    """The whole page as Markdown."""
    shared = {parameter.opts[0] for parameter in _command("doctor").params}
    parts = [
        _HEAD,
        "## In the shell\n",
        "All commands take these options, before or after the command's name:\n",
        _table(("option", "what it does"), _parameters(_command("doctor"), set())),
        *_section("vidya", cli, shared),
        *(text for path, command in _walk(cli) for text in _section(path, command, shared)),
        "## In the app\n",
        "Type a command, or choose it in the palette (`ctrl+p`).\n",
        _table(("command", "keys", "what it does"), ((c.usage, c.keys, c.help) for c in COMMANDS)),
        "Other keys. In `[keys]` you can change the keys of all commands and of the keys with a name.\n",
        _table(("keys", "name", "what they do"), ((key.keys, key.name, key.help) for key in KEYS)),
        "## Settings\n",
        "The settings are in `settings.toml` in the home. `/settings` changes them too.\n",
        _table(("setting", "default", "what it is"), _settings()),
        "## Options of practice\n",
        "`vidya practice TASK --option NAME=VALUE`, `/practice TASK NAME=VALUE`, or `practice_options` in "
        "the settings. A name with `warm_up.` is of the warm-up, one with `keep.` of what every step "
        f"rehearses. No count may be above {MOST:,}, nor a product of counts that fill memory together, such "
        "as `groups` times `group_size`.\n",
        _table(("option", "default", "values", "what it is"), _practice_options()),
    ]
    return "\n".join(parts)


def _command(name: str) -> click.Command:
    found = cli.get_command(click.Context(cli), name)
    assert found is not None
    return found


def _walk(group: click.Group, path: str = "vidya") -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from _walk(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


def _section(path: str, command: click.Command, shared: set[str]) -> Iterator[str]:
    usage = " ".join(command.collect_usage_pieces(click.Context(command)))
    yield f"### `{path} {usage}`\n"
    for paragraph in (command.help or "").split("\n\n"):
        yield " ".join(paragraph.split()) + "\n"
    if rows := list(_parameters(command, shared)):
        yield _table(("option", "what it does"), rows)


def _parameters(command: click.Command, left_out: set[str]) -> Iterator[tuple[str, str]]:
    context = click.Context(command)
    for parameter in command.params:
        record = parameter.get_help_record(context)
        if record and parameter.opts[0] not in left_out:
            yield record


def _settings() -> Iterator[tuple[str, str, str]]:
    usual = Settings()
    for group in groups(()):
        for row in group.rows:
            chosen = getattr(usual, row.key)
            value = json.dumps(chosen, ensure_ascii=False) if chosen is not None else "of the model"
            yield row.key, value, f"{row.label}. {row.help}"
    yield (
        "keys",
        "",
        "A table, `[keys]`: each row has the name of a command or key, then its keys in quotes.",
    )


def _practice_options() -> Iterator[tuple[str, str, str, str]]:
    for option in practice_options():
        yield option.name, option.usual, ", ".join(option.variants), option.help


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A Markdown table: the last column is a sentence, the others are set as code."""
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for *typed, sentence in rows:
        cells = [f"`{cell}`" if cell else "" for cell in typed]
        cells.append(" ".join(sentence.split()))
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(reference(), "utf-8")
