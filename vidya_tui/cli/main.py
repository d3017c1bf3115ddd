"""The `vidya` command group.

A command's module is imported when the command runs; neither torch nor Textual before that.
"""

from __future__ import annotations

import difflib
import importlib
import shlex
from typing import Any

import click

from vidya_tui import __version__
from vidya_tui.cli.common import common, say
from vidya_tui.cli.complete import check_instruction
from vidya_tui.cli.help import Group, wrong_usage
from vidya_tui.options import Options

COMMANDS = {
    "ask": "cli.ask:ask",
    "bench": "cli.bench:bench",
    "distil": "cli.distil:distil",
    "doctor": "cli.doctor:doctor",
    "evaluate": "cli.evaluate:evaluate",
    "journal": "cli.journal:journal_group",
    "model": "cli.model:model_group",
    "practice": "cli.practice:practice",
    "pretrain": "cli.pretrain:pretrain",
    "reward": "cli.taste.reward:reward_group",
    "serve": "server.command:serve",
    "teach": "cli.teach:teach",
    "train": "cli.train:train",
}
"""Command name -> "module:command" in vidya_tui."""


def is_message(word: str) -> bool:
    """True if the first word of a command line is a message in quotes: it contains a space or ends with a
    question mark."""
    return len(word.split()) > 1 or word.endswith(("?", "\uff1f"))


class ReaderGone(Exception):  # noqa: N818 - not an error: the reader of stdout is done
    """The pipe behind stdout was closed."""


class _Commands(Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, name = COMMANDS[cmd_name].split(":")
        found = getattr(importlib.import_module(f"vidya_tui.{module}"), name)
        assert isinstance(found, click.Command)
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Runs `ask` for what is not a command but a message; suggests commands for a single word."""
        first = args[0]
        if first in COMMANDS or ctx.resilient_parsing or first.startswith("-"):
            return super().resolve_command(ctx, args)
        if is_message(first):
            return "ask", self.get_command(ctx, "ask"), args
        near = difflib.get_close_matches(first.lower(), COMMANDS, n=2)
        maybe = f"did you mean {' or '.join(near)}? " if near else ""
        ask = shlex.join(["vidya", "ask", first, *args[1:]])
        raise click.UsageError(
            f"there is no command {first!r}; {maybe}"
            f"`{ask}` asks it, `vidya --help` lists the commands",
            ctx,
        )

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:  # click would exit with status 1
            raise ReaderGone from error


@click.group(
    cls=_Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="vidya")
@click.option("--plain", is_flag=True, help="Work line by line, for pipes and screen readers.")
@common
@click.pass_context
def cli(context: click.Context, plain: bool, options: Options) -> None:
    """A language model that lives in your terminal and learns from you while you talk.

    Without a command it opens the app. A question in quotes is answered: vidya "Who are you?" is short for
    vidya ask "Who are you?".
    """
    if context.invoked_subcommand is None:
        from vidya_tui.start import open_app

        context.exit(open_app(options, plain=plain))
    elif plain:
        raise click.UsageError("--plain goes without a command")


def run(arguments: list[str]) -> int:
    """Runs a command line and returns its exit status. Raises VidyaError, KeyboardInterrupt,
    BrokenPipeError."""
    try:
        check_instruction()
        status = cli.main(arguments, prog_name="vidya", standalone_mode=False)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return 2
    except click.UsageError as error:
        say(wrong_usage(error))
        return 2
    except click.ClickException as error:
        say(f"vidya: {error.format_message()}")
        return 1
    except click.Abort as error:
        raise KeyboardInterrupt from error
    except ReaderGone as error:
        raise BrokenPipeError from error
    return status if isinstance(status, int) else 0
