"""One message in the log: who, what, and the quiet line under it.

A long text shows its beginning until it is chosen. Left out: where entries come from, and scrolling
(conversation.py).
"""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.content import Content
from textual.geometry import Region
from textual.strip import Strip
from textual.widgets import Static

from vidya_tui.state.transcript import NAMES, LogEntry
from vidya_tui.text.numbers import counted
from vidya_tui.text.sanitise import plain

LONG_LINES, LONG = 40, 4000
"""Lines and characters from which only the beginning of a text is shown."""


class EntryView(Static):
    """An entry: who, and what; the note under it. One widget and not four: opening a conversation
    mounts fifty of them."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"entry--who"}

    def __init__(self, entry: LogEntry) -> None:
        self.entry = entry
        self.whole = False
        """Whether a long text is shown to its end."""
        self._found: tuple[list[tuple[int, int]], int] = ([], -1)
        """Spans of what was found in the text, and which of them is shown."""
        super().__init__(self._words(), markup=False, classes=f"entry -{entry.role}")

    @property
    def body_region(self) -> Region:
        """Where the text stands on the screen."""
        return self.content_region

    def show(self, entry: LogEntry) -> None:
        """Changes what is shown; does nothing where nothing changed."""
        old, self.entry = self.entry, entry
        if entry.role != old.role:
            self.remove_class(f"-{old.role}")
            self.add_class(f"-{entry.role}")
        if entry != old:
            self.update(self._words())

    def mark(self, chosen: bool, found: tuple[list[tuple[int, int]], int] = ([], -1)) -> None:
        """Shows that the keys are about this one; then it is shown to its end. found: spans of what
        was found in its text, and which of them is shown; -1: none."""
        self.set_class(chosen, "-chosen")
        whole = chosen or found[1] >= 0
        changed = whole != self.whole and bool(shortened(self.entry.text))
        if changed or found != self._found:
            self.whole, self._found = whole, found
            self.update(self._words())
        self.whole = whole

    def render_lines(self, crop: Region) -> list[Strip]:
        """The name stands in the padding of the first line: what is marked with the mouse is the
        text alone."""
        strips = super().render_lines(crop)
        first = self.gutter.top - crop.y
        if 0 <= first < len(strips):
            # a view that was removed is drawn once more, without its styles
            style = self.get_component_rich_style("entry--who", default=Style.null())
            name = Strip([Segment(NAMES[self.entry.role].ljust(self.gutter.left), style)])
            width = max(0, min(self.gutter.left - crop.x, strips[first].cell_length))
            strip = strips[first]
            strips[first] = Strip.join(
                [name.crop(crop.x, crop.x + width), strip.crop(width, strip.cell_length)]
            )
        return strips

    def _words(self) -> Content:
        entry = self.entry
        short = "" if self.whole or entry.streaming else shortened(entry.text)
        text = short or shown_text(entry.text)
        body = Content(text + "\u258c" if entry.streaming else text or " ")
        spans, now = self._found
        for number, (start, end) in enumerate(spans if not short else ()):
            body = body.stylize("bold reverse" if number == now else "underline", start, end)
        if entry.note:
            body = body.append("\n").append(Content.styled(plain(entry.note), "dim"))
        return body


def shown_text(text: str) -> str:
    """A text as an entry shows it."""
    return plain(text).strip("\n")


def shortened(text: str) -> str:
    """The beginning of a long text and how much follows; empty where it is not long.

    A log of ten thousand lines that somebody pasted is not wrapped anew with every letter typed.
    """
    lines = text.count("\n") + 1
    if lines <= LONG_LINES and len(text) <= LONG:
        return ""
    head = "\n".join(plain(text[: LONG // 2]).strip("\n").split("\n")[: LONG_LINES // 2])
    size = f"{counted(lines, 'line')}, " if lines > 1 else ""
    return f"{head}\u2026\n({size}{counted(len(text), 'character')} in all; shift+tab and the arrows open it)"
