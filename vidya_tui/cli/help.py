"""Formats the help of the shell commands: whole sentences in lists of commands, one line for wrong usage.

Left out: the help texts, which are beside each command and option.
"""

from __future__ import annotations

from typing import Any

import click

_KINDS = {
    "integer range": "whole number",
    "integer": "whole number",
    "float range": "number",
    "float": "number",
}
"""Click's name of a kind of value -> the word for it."""


class Group(click.Group):
    """A group whose list of commands wraps long help texts, which click would truncate."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [
            (name, command.get_short_help_str(limit=1_000))
            for name, command in found
            if command is not None and not command.hidden
        ]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)


class WholeNumber(click.IntRange):
    """A whole number within bounds that the help does not show."""

    def _describe_range(self) -> str:
        return ""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"{value!r} is not a whole number from {self.min} to {self.max}", param, ctx)


def wrong_usage(error: click.UsageError) -> str:
    """One line: the command, what is wrong, and how to get help."""
    command = error.ctx.command_path if error.ctx else "vidya"
    what = (
        " ".join(error.format_message().split())
        .rstrip(".")
        .replace(". Did", "; did")
        .replace(". (Did", " (did")
    )
    for clicks, plain in _KINDS.items():
        what = what.replace(f"not a valid {clicks}", f"not a {plain}")
    if what[:1].isupper() and not what[1:2].isupper():
        what = what[:1].lower() + what[1:]
    more = "" if "--help" in what else f"; `{command} --help` shows how"
    return f"{command}: {what}{more}"
