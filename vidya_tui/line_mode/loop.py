"""`vidya --plain`: runs the conversation line by line, for screen readers, pipes and poor terminals.

A thread reads lines, the teacher sends events, and one loop gives both to the line mode, in order. Left out:
what lines and events do (line_mode/mode.py).
"""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO, TextIO

from learning.home import Home
from learning.journal.journal import Journal
from learning.protocol.events import Event
from vidya_tui.controller.controller import Controller
from vidya_tui.controller.models import ModelControl
from vidya_tui.line_mode.mode import LineMode
from vidya_tui.session.session import Session
from vidya_tui.settings.file import Settings
from vidya_tui.worker.fetcher import Command, Fetcher, fetch_command
from vidya_tui.worker.switching import MakeTeacher, SwitchingTeacher


@dataclass(frozen=True)
class LineSession:
    """A typed line; None: end of input."""

    text: str | None


def run_lines(
    home: Home,
    journal: Journal,
    make_teacher: MakeTeacher,
    settings: Settings,
    *,
    seed: int | None = None,
    source: BinaryIO | None = None,
    out: TextIO | None = None,
    fetch: Command = fetch_command,
) -> int:
    """Runs until /quit or the end of input. Returns the exit status. fetch: replaces the process that
    fetches models in tests."""
    # not sys.stdin: a thread that still reads it when Python ends would abort the process
    source, out = source or os.fdopen(sys.stdin.fileno(), "rb", closefd=False), out or sys.stdout
    inbox: queue.Queue[Event | LineSession] = queue.Queue()
    teacher, fetcher = SwitchingTeacher(make_teacher, inbox.put), Fetcher(home, inbox.put, fetch)
    try:
        session = Session(journal, teacher, seed=seed, book_path=home.book_path)
        controller = Controller(journal, session, teacher, fetcher=fetcher)
        control = ModelControl(home, settings, controller, teacher)
        mode = LineMode(home, control, out, asking=source.isatty())
        mode.begin()
        threading.Thread(target=_read, args=(source, inbox.put), daemon=True).start()
        return _loop(mode, inbox)
    finally:
        fetcher.close()
        teacher.close()


def _read(source: BinaryIO, put: Callable[[LineSession], None]) -> None:
    # not input(), which uses readline, which writes escape sequences
    coding = "utf-8-sig"  # some editors begin a file with a byte order mark
    for raw in source:
        put(LineSession(raw.decode(coding, "replace").rstrip("\r\n")))
        coding = "utf-8"
    put(LineSession(None))


def _loop(mode: LineMode, inbox: queue.Queue[Event | LineSession]) -> int:
    while mode.status is None:
        try:
            item = inbox.get()
            if isinstance(item, LineSession):
                mode.typed(item.text)
            else:
                mode.heard(item)
        except KeyboardInterrupt:
            mode.interrupted()
    while not inbox.empty():
        if not isinstance(item := inbox.get(), LineSession):
            mode.heard(item)
    return mode.status
