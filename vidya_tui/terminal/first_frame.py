"""Shows the first frame of the previous start while the app loads.

Loading Textual takes most of the time to the first frame, and that frame is the same at every start: the
app draws it before it opens the journal, so it contains nothing that the owner said. The frame is saved in
the home and shown at once if terminal, size, settings and version are unchanged. Keys typed meanwhile wait
(tty.py) and reach the prompt in order.
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
"""Switches to the alternate screen and hides the cursor, as Textual does."""
LEAVE = "\x18\x1b[?1049l\x1b[?25h"
"""Restores them. CAN first: a signal may have cut the frame within an escape sequence, which would swallow
what follows."""
_COLOURS = ("TERM", "COLORTERM", "TERM_PROGRAM", "NO_COLOR", "COLORFGBG", "TEXTUAL_COLOR_SYSTEM")
"""Environment variables that tell which colours a terminal supports."""
_shown = False


@contextlib.contextmanager
def shown(home: Home) -> Iterator[None]:
    """Shows the saved frame, if there is one for this terminal. Restores the terminal at the end unless
    the app has taken it over."""
    global _shown
    kept = _kept(home)
    try:
        if kept:  # within: a signal may come before the last byte is out
            _shown = True
            _write(ENTER + kept)
        yield
    finally:
        leave()


def leave() -> None:
    """Restores the terminal if the frame is still shown. For callers of `shown` whose block a signal may
    keep from beginning, between the frame's last byte and the block's first line."""
    if _shown:
        taken_over()
        _write(LEAVE)


def taken_over() -> None:
    """Call when the app has taken the screen over; it then restores the terminal itself."""
    global _shown
    _shown = False


def keep(home: Home, frame: str) -> None:
    """Saves the frame for the next start. Ignores OSError, for example a full disk."""
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
    """Hash of everything that determines the frame: version, size, colours, settings."""
    try:
        settings = home.settings_path.read_bytes()
    except OSError:
        settings = b""
    told = [os.environ.get(name) for name in _COLOURS]
    return hashlib.blake2b(
        repr((__version__, shutil.get_terminal_size(), told, settings)).encode(), digest_size=16
    ).hexdigest()


def _write(text: str) -> None:
    with contextlib.suppress(OSError):  # the terminal is gone; the app will notice
        sys.stdout.write(text)
        sys.stdout.flush()
