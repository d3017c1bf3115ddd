"""The last start's first frame, painted again while the app is still being loaded.

Loading Textual takes most of the time to the first frame, and that frame is the same at every start: it
is painted before the journal is opened, so nothing that the owner said is in it. It is kept in the home
and shown at once where terminal, size, settings and version are what they were. What is typed meanwhile
waits (terminal_mode) and comes to the prompt in its order.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sys
from collections.abc import Iterator

from engine.storage.files import write_atomically
from learning.home import Home
from vidya_tui import __version__

ENTER = "\x1b[?1049h\x1b[?25l"
"""The alternate screen, no cursor: as Textual begins."""
LEAVE = "\x1b[?1049l\x1b[?25h"
_COLOURS = ("TERM", "COLORTERM", "TERM_PROGRAM", "NO_COLOR", "COLORFGBG", "TEXTUAL_COLOR_SYSTEM")
"""Variables by which terminals say what they can show."""
_shown = False


@contextlib.contextmanager
def shown(home: Home) -> Iterator[None]:
    """Paints the kept frame, if there is one for this terminal. Where the app does not come to take
    the screen over, the terminal is at the end as it was."""
    global _shown
    kept = _kept(home)
    if kept:
        _shown = True
        _write(ENTER + kept)
    try:
        yield
    finally:
        if _shown:
            taken_over()
            _write(LEAVE)


def taken_over() -> None:
    """The app has the screen and will give it back itself."""
    global _shown
    _shown = False


def keep(home: Home, frame: str) -> None:
    """Keeps the frame for the next start; a full disk costs only that."""
    text = _mark(home) + "\n" + frame
    path = home.first_frame_path
    with contextlib.suppress(OSError):
        if not path.exists() or path.read_bytes() != text.encode():
            write_atomically(path, text)


def _kept(home: Home) -> str:
    try:
        mark, _, frame = home.first_frame_path.read_text("utf-8").partition("\n")
        return frame if mark == _mark(home) else ""
    except (OSError, UnicodeError):
        return ""


def _mark(home: Home) -> str:
    """Hash of all that decides what the frame looks like."""
    try:
        settings = home.settings_path.read_bytes()
    except OSError:
        settings = b""
    told = [os.environ.get(name) for name in _COLOURS]
    return hashlib.blake2b(
        repr((__version__, shutil.get_terminal_size(), told, settings)).encode(), digest_size=16
    ).hexdigest()


def _write(text: str) -> None:
    with contextlib.suppress(OSError):  # the terminal is gone: the app will find that out
        sys.stdout.write(text)
        sys.stdout.flush()
