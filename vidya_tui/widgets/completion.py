"""The list of commands that a typed slash could become, shown just above the prompt."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from textual.content import Content
from textual.widgets import Static

from vidya_tui.commands.parse import Completion, complete

LINES = 8
"""Most lines of the list."""
EDGES = 8
"""Columns that margin, border and padding take."""
GAP = 2
"""Columns between a name and what it does."""


class CompletionList(Static):
    """Shows the completions of a line, one of them highlighted."""

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
        """Shows the completions of the line; hides the list where there are none."""
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
        """The line with the highlighted completion; None where there is none, or where the line is complete
        already and the owner moved to no other."""
        if not self._completions:
            return None
        done = any(item.text.strip() == line.strip() for item in self._completions)
        return None if done and self._at == 0 else self._completions[self._at].text

    def _draw(self) -> None:
        self.display = bool(self._completions)
        listed = self._completions
        if not listed:
            return
        width = max(20, self.app.size.width - EDGES)
        column = min(max(len(item.label) for item in listed), width // 3) + 2 + GAP
        helps = [textwrap.wrap(item.help, width - column) or [""] for item in listed]
        heights = [
            len(lines) + (len(item.label) > column - 2 - GAP)
            for item, lines in zip(listed, helps, strict=True)
        ]
        most = max(2, min(LINES, self.app.size.height - 8))
        lines: list[Content] = []
        for number in around(heights, self._at, most):
            mark = "\u25b8 " if number == self._at else "  "
            label, said = f"{mark}{listed[number].label}", list(helps[number])
            if len(label) > column - GAP:  # a long name has a line of its own
                lines.append(Content.styled(label, "bold"))
                label = ""
            first = Content.styled(label.ljust(column), "bold")
            lines.append(first.append(Content.styled(said[0], "dim")))
            lines += [Content.styled(" " * column + more, "dim") for more in said[1:]]
        self.update(Content("\n").join(lines))


def around(heights: Sequence[int], at: int, most: int) -> range:
    """The rows around `at` that fit into `most` lines, some of them before it where possible."""
    first, last, used = at, at, heights[at]
    while True:
        before, after = first > 0, last + 1 < len(heights)
        if before and (at - first <= last - at or not after) and used + heights[first - 1] <= most:
            first -= 1
            used += heights[first]
        elif after and used + heights[last + 1] <= most:
            last += 1
            used += heights[last]
        elif before and used + heights[first - 1] <= most:
            first -= 1
            used += heights[first]
        else:
            return range(first, last + 1)
