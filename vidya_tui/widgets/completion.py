"""The list of commands that a typed slash could become, shown just above the prompt."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.widgets import Static

from vidya_tui.typed import Completion

ROWS = 6


class CompletionList(Static):
    """Shows completions with one highlighted."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__("", markup=False, id=id)
        self._completions: list[Completion] = []
        self._at = 0
        self.display = False

    @property
    def open(self) -> bool:
        return bool(self._completions)

    @property
    def moved(self) -> bool:
        """Whether the owner went to another than the first."""
        return self._at > 0

    def offer(self, completions: Sequence[Completion]) -> None:
        """Replaces what is offered; nothing hides the list."""
        if list(completions) == self._completions:
            return
        self._completions = list(completions)
        self._at = 0
        self._draw()

    def move(self, step: int) -> None:
        self._at = (self._at + step) % max(1, len(self._completions))
        self._draw()

    def take(self) -> Completion | None:
        """The highlighted one."""
        return self._completions[self._at] if self._completions else None

    def _draw(self) -> None:
        self.display = bool(self._completions)
        first = max(0, min(self._at - ROWS // 2, len(self._completions) - ROWS))
        shown = self._completions[first : first + ROWS]
        width = max((len(c.label) for c in shown), default=0)
        lines = []
        for number, item in enumerate(shown, first):
            mark = "\u25b8 " if number == self._at else "  "
            label = Content.styled(f"{mark}{item.label:<{width}}", "bold")
            lines.append(label.append(Content.styled(f"  {item.help}", "dim")))
        self.update(Content("\n").join(lines))
