"""A progress bar made of text, as wide as its place."""

from __future__ import annotations

from collections.abc import Callable

from textual.content import Content
from textual.widgets import Static


def bar(share: float, width: int) -> str:
    """A bar of text, readable without colours."""
    full = round(share * width)
    return "\u2501" * full + "\u2500" * (width - full)


class Bar(Static):
    """Drawn anew when it is told something and when its place changes: what is hidden, or was not laid
    out yet, has no width that its first drawing could go by."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__("", markup=False, id=id)
        self._line: Callable[[int], Content] = lambda width: Content("")

    def show(self, line: Callable[[int], Content]) -> None:
        """line: what stands there, from the columns that it has."""
        self._line = line
        self._draw()

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        self.update(self._line(self.content_size.width))
