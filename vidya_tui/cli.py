"""`vidya` in the shell: the group of commands and what they have in common.

Imports neither torch nor textual; each command loads what it needs.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from pathlib import Path
from typing import Any

import click

from engine.errors import VidyaError
from vidya_tui import __version__
from vidya_tui.cli_bench import bench
from vidya_tui.cli_common import Options, common
from vidya_tui.cli_journal import journal_group
from vidya_tui.cli_learn import evaluate, train
from vidya_tui.cli_models import doctor, model_group
from vidya_tui.cli_pretrain import pretrain
from vidya_tui.cli_talk import ask, open_app
from vidya_tui.cli_teach import teach
from vidya_tui.machine import HUGE_PAGES, prepare


class _ReaderGone(Exception):  # noqa: N818 - no error: whoever read stdout has enough
    pass


class _Commands(click.Group):
    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:  # click would make exit status 1 of it
            raise _ReaderGone from error


@click.group(
    cls=_Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="vidya")
@click.option("--plain", is_flag=True, help="Line by line, for pipes and screen readers.")
@common
@click.pass_context
def cli(context: click.Context, plain: bool, options: Options) -> None:
    """A language model that lives in your terminal and learns from you while you talk.

    Without a command it opens the app.
    """
    if context.invoked_subcommand is None:
        context.exit(open_app(options, plain=plain))
    elif plain:
        raise click.UsageError("--plain goes without a command")


for _command in (ask, teach, train, evaluate, pretrain, model_group, journal_group, bench, doctor):
    cli.add_command(_command)


_LEARNING = {"teach", "train", "pretrain", "bench"}
"""Commands that are worth starting again with huge pages, which a process cannot give itself."""


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt


def main() -> None:
    """The console script: exit status 0 done, 1 could not be done, 2 wrong usage, 130 interrupted."""
    with contextlib.suppress(ValueError):  # not the main thread
        signal.signal(signal.SIGTERM, _interrupt)  # `kill` is ctrl+c: what is open is closed
    if HUGE_PAGES[0] not in os.environ and _LEARNING & set(sys.argv[1:]):
        prepare(os.environ)
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
    prepare(os.environ)
    try:
        status = cli.main(standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.UsageError as error:
        error.show()
        sys.exit(2)
    except click.ClickException as error:
        click.echo(f"vidya: {error.format_message()}", err=True)
        sys.exit(1)
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        sys.exit(130)
    except (_ReaderGone, BrokenPipeError):
        # what is still in the buffer must not fail once more at the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(0)
    except VidyaError as error:
        click.echo(f"vidya: {error}", err=True)
        sys.exit(1)
    except Exception as error:
        if "--debug" in sys.argv:
            raise
        place = Path(sys.argv[0]).name
        what = " ".join(f"{type(error).__name__}: {error}".split())
        click.echo(f"{place}: {what}; run again with --debug for more", err=True)
        sys.exit(1)
    sys.exit(status if isinstance(status, int) else 0)


if __name__ == "__main__":
    main()
