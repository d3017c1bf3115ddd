"""The console script and `python -m vidya_tui`: exit statuses, signals, and one line for each error.

`vidya` alone, by far the commonest command, opens the app without loading the parser of commands.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import signal
import sys
from pathlib import Path

from engine.errors import VidyaError
from vidya_tui.machine import MEMORY, prepare

_LEARNING = {"teach", "train", "practice", "pretrain", "bench"}
"""Commands that are worth starting again with memory of another kind, which a process cannot give itself."""

_COMPLETE = "_VIDYA_COMPLETE"
"""Is set where a shell asks what could come next: the app must not open then."""

_FULL = {errno.ENOSPC, errno.EDQUOT}
"""Of the disk, and of what an owner may use of it."""


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
            raise
        place = Path(sys.argv[0]).name
        what = " ".join(f"{type(error).__name__}: {error}".split())
        next_step = "run again with --debug for more"
        if isinstance(error, OSError) and error.strerror:
            what = ": ".join(str(part) for part in (error.filename, error.strerror) if part)
        if isinstance(error, OSError) and error.errno in _FULL:
            next_step = "make room where it writes, and run it again"
        _say(f"{place}: {what}; {next_step}")
        status = 1
    sys.exit(status)


def _run(arguments: list[str]) -> int:
    if arguments or _COMPLETE in os.environ:
        from vidya_tui.cli import run

        return run(arguments)
    from vidya_tui.opening import open_app
    from vidya_tui.options import Options

    return open_app(Options())


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    main()
