"""The console script and `python -m vidya_tui`: exit statuses, signals, one line per error.

`vidya` without arguments, by far the most common command, opens the app without importing click.
"""

from __future__ import annotations

import io
import os
import sys

_LEARNING = {"serve", "teach", "train", "practice", "pretrain", "bench"}
"""Commands for which to re-execute the process with other malloc settings, which are read at start only."""

_COMPLETE = "_VIDYA_COMPLETE"
"""Set when a shell requests completions; the app must not open then."""


def main() -> None:
    """Runs vidya and exits: 0 success, 1 error, 2 wrong usage, 130 interrupted."""
    try:  # imports wait until here, so that ctrl+c during them prints no traceback
        status = _status()
    except KeyboardInterrupt:
        _say("interrupted")
        status = 130
    _drop_unwritable()
    sys.exit(status)


def _status() -> int:
    """Prepares the process, runs the command line and prints its error. Raises KeyboardInterrupt."""
    import signal

    from engine.errors import VidyaError
    from vidya_tui.worker.environment import MEMORY, prepare

    _heed_signals()
    if MEMORY[0] not in os.environ and _LEARNING & set(sys.argv[1:]):
        prepare(os.environ)
        # blocked until the new process has its handlers; until then Python would print a traceback
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
    prepare(os.environ)
    if isinstance(sys.stdout, io.TextIOWrapper):  # print ? for what the locale cannot encode
        sys.stdout.reconfigure(errors="replace")
    try:
        status = _run(sys.argv[1:])
        if sys.stdout is not None:  # the caller may have closed it
            sys.stdout.flush()
        return status
    except BrokenPipeError:
        return 0
    except VidyaError as error:
        _say(f"vidya: {error}")
    except Exception as error:
        if "--debug" in sys.argv:
            import traceback

            _say(traceback.format_exc())
        else:
            _say(f"{os.path.basename(sys.argv[0])}: {_unforeseen(error)}")
    return 1


def _run(arguments: list[str]) -> int:
    if arguments or _COMPLETE in os.environ:
        from vidya_tui.cli.main import run

        return run(arguments)
    from vidya_tui.options import Options
    from vidya_tui.start import open_app

    return open_app(Options())


def _drop_unwritable() -> None:
    """Drops output that cannot be written; else Python tries again at exit, and changes the status to 120."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except (OSError, ValueError):  # its reader is gone, its disk is full, or it is closed
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _unforeseen(error: Exception) -> str:
    """The message for an error that is not a VidyaError."""
    from pathlib import Path

    from engine.storage.disk import full_disk, is_full

    if is_full(error):
        name = getattr(error, "filename", None)
        if isinstance(name, str | bytes):
            what, next_step = full_disk(Path(os.fsdecode(name)))
            return f"{what}; {next_step}"
        what = getattr(error, "strerror", None) or str(error)
        return f"{what}; make room where it writes, and run it again"
    what = " ".join(f"{type(error).__name__}: {error}".split())
    return f"{what}; run again with --debug for more"


def _heed_signals() -> None:
    """Treats `kill` and a closed terminal like ctrl+c, to close in order. A shell's background job goes on
    ignoring ctrl+c, and what `nohup` starts goes on without its terminal."""
    import signal
    import threading

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _interrupt)
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _interrupt)
        if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
            signal.signal(signal.SIGHUP, _interrupt)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})


def _interrupt(number: int, frame: object) -> None:
    """Raises KeyboardInterrupt. While torch is imported, ends at once: its import swallows an exception, or
    aborts the process with a dump; nothing is being written then."""
    if _torch_is_being_imported():
        _say("interrupted")
        os._exit(130)
    raise KeyboardInterrupt


def _torch_is_being_imported() -> bool:
    spec = getattr(sys.modules.get("torch"), "__spec__", None)
    return bool(getattr(spec, "_initializing", False))  # as Python's own import statement asks


def _say(text: str) -> None:
    """Prints on stderr without control characters, because file names and contents are untrusted."""
    from vidya_tui.text.sanitise import plain

    sys.stderr.write(f"{plain(text).rstrip()}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    main()
