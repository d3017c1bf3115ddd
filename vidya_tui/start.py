"""`vidya` without a command: opens the app in a terminal, else the line mode.

Imports only what the first frame needs; journal and worker are opened after it.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from vidya_tui.options import Options
from vidya_tui.settings.file import SettingsError, load
from vidya_tui.terminal import first_frame
from vidya_tui.terminal.tty import waiting_for_the_app

if TYPE_CHECKING:
    from learning.journal.journal import Journal
    from learning.protocol.events import Event
    from learning.protocol.messages import TeacherPort

POOR = ("dumb", "unknown")
"""Values of TERM for terminals that cannot move the cursor, for example the shell of an editor."""


def open_app(options: Options, *, plain: bool = False) -> int:
    """Opens the app, or the line mode if `plain` or without a terminal; returns the exit status."""
    gc.disable()  # until the first frame: garbage collection would take a tenth of the time to it
    try:
        return _open(options, plain)
    finally:
        gc.enable()


def _open(options: Options, plain: bool) -> int:
    home = options.home

    def teacher(on_event: Callable[[Event], None], model: str | None = None, /) -> TeacherPort:
        from vidya_tui.worker.supervisor import WorkerTeacher

        return WorkerTeacher(
            home,
            on_event=on_event,
            model=model or settings.model,
            device=options.device,
            seed=options.seed,
        )

    def open_journal() -> Journal:
        from learning.journal.journal import Journal

        return Journal(home.journal_path)

    plain = plain or not _paintable()
    with contextlib.nullcontext() if plain else waiting_for_the_app(), home.lock():
        strange: list[SettingsError] = []
        settings = load(home.settings_path, strange.append)
        if options.model:
            settings = replace(settings, model=options.model)
        if plain:
            from vidya_tui.line_mode.loop import run_lines

            gc.enable()
            journal = open_journal()
            for error in strange:
                sys.stderr.write(f"vidya: {error}\n")
            try:
                return run_lines(home, journal, teacher, settings, seed=options.seed)
            finally:
                journal.close()
        if callable(signal.getsignal(signal.SIGINT)):
            # asyncio replaces no other handler, and then ctrl+c would leave the terminal in the app's mode
            signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            with first_frame.shown(home):
                from vidya_tui.app.app import run_app

                return run_app(
                    home, open_journal, teacher, settings, seed=options.seed, strange=strange
                )
        finally:
            first_frame.leave()


def _paintable() -> bool:
    """True if stdin and stdout are a terminal whose cursor can be moved. Reports a poor terminal."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    if os.environ.get("TERM") not in POOR:
        return True
    sys.stderr.write("vidya: this terminal cannot move its cursor, so vidya works line by line\n")
    return False
