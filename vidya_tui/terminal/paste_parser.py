"""What the terminal sends, with each paste in one piece.

Textual's parser (8.2.8) reads escape sequences inside a bracketed paste too: of those that it does not
know it makes key presses. A pasted line of a coloured log so answered, sent and rearranged what stood in
the prompt. Here a paste is taken out before the parser sees it. Nor does it know the way in which xterm
and tmux send Alt+Enter, escape and a carriage return: it sent the message that was half written. Left
out: what is done with a paste.
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
"""As terminals send it that have a sequence of its own for it."""
_ENDS = len(BRACKETED_PASTE_END) - 1


class PasteParser(XTermParser):
    """Textual's parser, which never sees what was pasted."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._pasted: list[str] | None = None
        """The paste that has begun; None: none has."""
        self._held, self._held_since = "", 0.0
        """What may be the beginning of a paste's first mark."""

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
                self._timeout_time = get_time()  # it has waited long enough here
        yield from super().tick()

    def _paste(self, pasted: list[str], data: str) -> Generator[Message, None, str]:
        """Takes more of the paste; what follows it, where it ends here, is returned."""
        before = "".join(pasted[-_ENDS:])[-_ENDS:]  # the mark may come in two pieces
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
    """(keys, what at their end may begin a paste)."""
    for length in range(len(BRACKETED_PASTE_START) - 1, 0, -1):
        if keys.endswith(BRACKETED_PASTE_START[:length]):
            return keys[:-length], keys[-length:]
    return keys, ""


def whole_pastes(driver: type[Driver]) -> type[Driver]:
    """The driver, reading with `PasteParser`: drivers make the parser that their module names."""
    for name in (driver.__module__, "textual.drivers.win32"):
        module = sys.modules.get(name)
        if hasattr(module, "XTermParser"):
            setattr(module, "XTermParser", PasteParser)  # noqa: B010
    return driver
