"""The console script and `python -m vidya_tui`: exit statuses, signals, and one line for each error.

`vidya` alone, by far the commonest command, opens the app without loading the parser of commands.
"""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
import traceback
from pathlib import Path

from engine.errors import VidyaError
from engine.storage.disk import full_disk, is_full
from vidya_tui.worker.environment import MEMORY, prepare

_LEARNING = {"teach", "train", "practice", "pretrain", "bench"}
"""Commands that are worth starting again with memory of another kind, which a process cannot give itself."""

_COMPLETE = "_VIDYA_COMPLETE"
"""Is set where a shell asks what could come next: the app must not open then."""


def main() -> None:
    """Exits with 0 done, 1 could not be done, 2 wrong usage, 130 interrupted."""
    with contextlib.suppress(ValueError):  # not the main thread
        signal.signal(signal.SIGTERM, _interrupt)  # `kill` is ctrl+c: what is open is closed
    if MEMORY[0] not in os.environ and _LEARNING & set(sys.argv[1:]):
        prepare(os.environ)
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
    prepare(os.environ)
    if isinstance(sys.stdout, io.TextIOWrapper):  # a locale without a letter: ?, and not the end
        sys.stdout.reconfigure(errors="replace")
    try:
        status = _run(sys.argv[1:])
        if sys.stdout is not None:  # whoever called may have closed it
            sys.stdout.flush()
    except KeyboardInterrupt:
        _say("interrupted")
        status = 130
    except BrokenPipeError:
        # what is still in the buffer must not fail once more at the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        status = 0
    except VidyaError as error:
        _say(f"vidya: {error}")
        status = 1
    except Exception as error:
        if "--debug" in sys.argv:
            _say(traceback.format_exc())
        else:
            _say(f"{Path(sys.argv[0]).name}: {_unforeseen(error)}")
        status = 1
    sys.exit(status)


def _run(arguments: list[str]) -> int:
    if arguments or _COMPLETE in os.environ:
        from vidya_tui.cli.main import run

        return run(arguments)
    from vidya_tui.options import Options
    from vidya_tui.start import open_app

    return open_app(Options())


def _unforeseen(error: Exception) -> str:
    """What to say of an error that is no VidyaError."""
    if is_full(error):
        name = getattr(error, "filename", None)
        if isinstance(name, str | bytes):
            what, next_step = full_disk(Path(os.fsdecode(name)))
            return f"{what}; {next_step}"
        what = getattr(error, "strerror", None) or str(error)
        return f"{what}; make room where it writes, and run it again"
    what = " ".join(f"{type(error).__name__}: {error}".split())
    return f"{what}; run again with --debug for more"


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt


def _say(text: str) -> None:
    """Names of files, and what is in them, may be anybody's: nothing in it is a command to the terminal."""
    from vidya_tui.text.sanitise import plain

    sys.stderr.write(f"{plain(text).rstrip()}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    main()
