"""Parses terminal input and delivers each paste in one piece.

Textual's parser (8.2.8) also reads escape sequences inside a bracketed paste and turns unknown ones into
key presses, so a pasted line of a coloured log could pick an answer, send the prompt or rearrange it. This
parser removes pastes before Textual's parser sees them. It also translates Alt+Enter as xterm and tmux send
it (escape, carriage return), which Textual takes for Enter, sending a half-written message. Left out: what
the app does with a paste.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterable

from textual import constants, events
from textual._time import get_time
from textual._xterm_parser import BRACKETED_PASTE_END, BRACKETED_PASTE_START, XTermParser
from textual.driver import Driver
from textual.message import Message

ALT_ENTER = "\x1b[13;3u"
"""Alt+Enter in the encoding of terminals that have a sequence for it."""
_ENDS = len(BRACKETED_PASTE_END) - 1


class PasteParser(XTermParser):
    """Textual's parser without the text of pastes."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._pasted: list[str] | None = None
        """Pieces of the current paste; None outside a paste."""
        self._held, self._held_since = "", 0.0
        """Input that may be the start of a paste's opening mark, and since when it waits."""

    def feed(self, data: str) -> Iterable[Message]:
        if not data:
            yield from super().feed(data)
            return
        data, self._held = self._held + data, ""
        while data:
            if self._pasted is None:
                keys, mark, data = data.partition(BRACKETED_PASTE_START)
                if mark:
                    self._pasted = []
                else:
                    keys, self._held = _split(keys)
                    self._held_since = get_time()
                if keys:
                    yield from super().feed(keys.replace("\x1b\r", ALT_ENTER))
            else:
                data = yield from self._paste(self._pasted, data)

    def tick(self) -> Iterable[Message]:
        if self._held and get_time() - self._held_since >= constants.ESCAPE_DELAY:
            held, self._held = self._held, ""
            yield from super().feed(held)
            if self._timeout_time is not None:
                self._timeout_time = get_time()  # the escape has waited here already
        yield from super().tick()

    def _paste(self, pasted: list[str], data: str) -> Generator[Message, None, str]:
        """Adds data to the paste and yields it when complete; returns the input after it."""
        before = "".join(pasted[-_ENDS:])[-_ENDS:]  # the closing mark may arrive in two pieces
        text, mark, rest = (before + data).partition(BRACKETED_PASTE_END)
        if not mark:
            pasted.append(data)
            return ""
        whole = "".join(pasted)
        whole = whole[: len(whole) - len(before)] + text
        self._pasted = None
        yield events.Paste(whole.replace("\0", ""))
        return rest


def _split(keys: str) -> tuple[str, str]:
    """Splits off the end of the input that may be the start of a paste's opening mark."""
    for length in range(len(BRACKETED_PASTE_START) - 1, 0, -1):
        if keys.endswith(BRACKETED_PASTE_START[:length]):
            return keys[:-length], keys[-length:]
    return keys, ""


def whole_pastes(driver: type[Driver]) -> type[Driver]:
    """Makes a driver use PasteParser, by replacing the parser class in the driver's module."""
    for name in (driver.__module__, "textual.drivers.win32"):
        module = sys.modules.get(name)
        if hasattr(module, "XTermParser"):
            setattr(module, "XTermParser", PasteParser)  # noqa: B010
    return driver
