"""The list of commands that a typed slash could become, shown just above the prompt."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from vidya_tui.typed import Completion, complete

ROWS = 6


class CompletionList(Static):
    """Shows what a line could become, with one highlighted."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__("", markup=False, id=id)
        self._completions: list[Completion] = []
        self._at = 0
        self._closed_for = ""
        """The line for which the list was closed."""
        self.display = False

    @property
    def open(self) -> bool:
        return bool(self._completions)

    def offer(self, line: str) -> None:
        """Shows what the line could become; nothing hides the list."""
        if line != self._closed_for:
            self._closed_for = ""
        completions = [] if self._closed_for else complete(line)
        if completions != self._completions:
            self._completions, self._at = completions, 0
            self._draw()

    def close(self, line: str) -> None:
        """Hides the list until another line is typed."""
        self._closed_for = line
        self.offer(line)

    def move(self, step: int) -> None:
        self._at = (self._at + step) % max(1, len(self._completions))
        self._draw()

    def take(self, line: str) -> str | None:
        """The line with the highlighted completion; None where nothing is offered, and where the line
        is complete and the owner went to no other."""
        if not self._completions:
            return None
        done = any(item.text.strip() == line.strip() for item in self._completions)
        return None if done and self._at == 0 else self._completions[self._at].text

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
