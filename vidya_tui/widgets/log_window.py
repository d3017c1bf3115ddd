"""Which entries of the log are mounted: a window of about fifty.

Typing slows down with every widget on the screen, and mounting is slow; so views that leave the window are
used again for entries that enter it. Left out: when the window moves (conversation.py), and one entry
(message.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from textual.containers import VerticalScroll
from textual.widget import Widget

from vidya_tui.state.transcript import LogEntry
from vidya_tui.widgets.message import EntryView

WINDOW = 50
"""Entries that are mounted at the end of the log; at least as many as the screen has lines."""
STEP = 24
"""Entries by which the window moves, and by which it grows while the owner reads back."""

Marks = tuple[bool, tuple[list[tuple[int, int]], int]]
"""How an entry is marked: what EntryView.mark takes."""


class LogWindow:
    """The entries [start, end) of all entries, as views in a log."""

    def __init__(self, log: VerticalScroll, marks: Callable[[int], Marks]) -> None:
        """marks: how the entry at a position is marked."""
        self._log, self._marks = log, marks
        self.entries: Sequence[LogEntry] = ()
        """All entries, mounted or not."""
        self.views: list[EntryView] = []
        """Views of the mounted entries."""
        self.start = 0
        """Position of the first that is mounted."""
        self.moving = False
        """It was moved, and the layout has not followed yet."""
        self.back = True
        """Whether the last move was towards earlier entries."""

    @property
    def end(self) -> int:
        """Position after the last that is mounted."""
        return self.start + len(self.views)

    @property
    def size(self) -> int:
        """How many entries are mounted at the end of the log."""
        return max(WINDOW, self._log.size.height)  # an entry has at least one line

    @property
    def more(self) -> bool:
        """Whether there are entries below those that are mounted."""
        return self.end < len(self.entries)

    def view_at(self, position: int | None) -> EntryView | None:
        """The view of the entry at a position; None where it is not mounted."""
        if position is None or not self.start <= position < self.end:
            return None
        return self.views[position - self.start]

    def placed(self) -> Iterator[tuple[int, EntryView]]:
        """(position, view) of those that are mounted."""
        return enumerate(self.views, self.start)

    def mark(self) -> None:
        """Marks all views anew."""
        for position, view in self.placed():
            view.mark(*self._marks(position))

    def to_end(self) -> None:
        """Mounts the last entries."""
        self.place(max(0, len(self.entries) - self.size), len(self.entries))

    def stay(self) -> None:
        """Updates the mounted entries; mounts more where the window is not full."""
        count = len(self.entries)
        end = max(self.end, min(count, self.start + self.size))
        self.place(min(self.start, count), min(end, count))

    def bring(self, position: int) -> None:
        """Mounts the entry at a position, and those around it, where it is not."""
        if not self.start <= position < self.end:
            size, count = self.size, len(self.entries)
            start = max(0, min(position - size // 2, count - size))
            self.place(start, min(count, start + size))

    def move(self, step: int) -> None:
        """Mounts entries beyond an edge and unmounts those far from it; does nothing while a move is being
        laid out. step: number of entries, negative for earlier ones."""
        if self.moving:
            return
        self.moving, self.back = True, step < 0
        end = self.end
        most = STEP + max(WINDOW, 2 * self._log.size.height)
        if step < 0:
            start = max(0, self.start + step)
            self.place(start, min(end, start + most))
        else:
            stop = min(len(self.entries), end + step)
            self.place(max(self.start, stop - most), stop)

    def place(self, start: int, end: int) -> None:
        """Makes the mounted window [start, end). Views of entries that stay are left alone; the others show
        the new entries, because mounting a view takes far longer."""
        old_start, old_end = self.start, self.end
        keep_from, keep_to = max(start, old_start), min(end, old_end)
        if keep_from >= keep_to:
            keep_from, keep_to = start, start
        kept = self.views[keep_from - old_start : keep_to - old_start]
        for view, entry in zip(kept, self.entries[keep_from:keep_to], strict=True):
            view.show(entry)
        gone = [view for view in self.views if view not in kept]
        free = [view for view in gone if view not in self._log.screen.selections]
        new = [self._view(at, free) for at in (*range(start, keep_from), *range(keep_to, end))]
        fresh = [view for view in new if view.parent is None]
        left = [view for view in gone if view not in new]
        above = keep_from - start
        self.views, self.start = [*new[:above], *kept, *new[above:]], start
        if left:
            self._log.remove_children(left)
        if fresh:
            self._log.mount_all(fresh)
        if new:
            places: dict[Widget, int] = {view: place for place, view in enumerate(self.views)}
            self._log.sort_children(key=lambda child: places.get(child, -1))
            self.mark()

    def _view(self, position: int, free: list[EntryView]) -> EntryView:
        """A view of an entry: one of the free ones, removed from the list, or a new one."""
        entry = self.entries[position]
        view = next((view for view in free if view.entry.role == entry.role), None)
        if view is None:
            return EntryView(entry)
        free.remove(view)
        view.show(entry)
        return view
