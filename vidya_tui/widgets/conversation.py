"""The scrolling log of what was said. Shows entries, keeps to the end unless the owner reads back.

Only a window of about fifty entries is mounted, because typing slows down with every widget that a
screen holds; the window moves when an edge is reached. Left out: where the entries come from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import events
from textual.app import ComposeResult
from textual.containers import HorizontalGroup, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Static

from vidya_tui.plain import plain

if TYPE_CHECKING:  # the first frame waits for no more than it needs
    from learning.records import Role

WINDOW = 50
"""Entries that are mounted while the owner is at the end."""
STEP = 25
"""How far the window moves when an edge is reached."""
WIDEST = 108
"""Columns of text; longer lines are tiring to read."""
NAMES: dict[Role, str] = {"user": "You", "assistant": "Vidya"}


@dataclass(frozen=True)
class Entry:
    """One message as it is shown."""

    role: Role
    text: str
    note: str = ""
    """A quiet line under it: what was understood of a judgement."""
    streaming: bool = False


class EntryView(HorizontalGroup):
    """An entry: who, and what; the note under it."""

    def __init__(self, entry: Entry) -> None:
        super().__init__(classes=f"entry -{entry.role}")
        self.entry = entry
        self._who = Static(NAMES[entry.role], markup=False, classes="who")
        self._body = Static(self._words(entry), markup=False, classes="body")
        self._note = Static(Content(plain(entry.note)), markup=False, classes="note")
        self._note.display = bool(entry.note)

    def compose(self) -> ComposeResult:
        yield self._who
        yield self._body
        yield self._note

    def show(self, entry: Entry) -> None:
        """Changes what is shown; does nothing where nothing changed."""
        old, self.entry = self.entry, entry
        if entry.role != old.role:
            self._who.update(NAMES[entry.role])
            self.set_classes(f"entry -{entry.role}")
        if (entry.text, entry.streaming) != (old.text, old.streaming):
            self._body.update(self._words(entry))
        if entry.note != old.note:
            self._note.update(Content(plain(entry.note)))
            self._note.display = bool(entry.note)

    @staticmethod
    def _words(entry: Entry) -> Content:
        text = plain(entry.text).strip("\n")
        return Content(text + "\u258c" if entry.streaming else text or " ")


class ConversationView(VerticalScroll, can_focus=False):
    """The log. `show` replaces what is shown with as few changes as possible."""

    following: reactive[bool] = reactive(True)
    """New entries scroll into view. False while the owner reads back."""

    class FollowingChanged(Message):
        """The owner began or ended reading back."""

        def __init__(self, following: bool) -> None:
            super().__init__()
            self.following = following

    def __init__(self, welcome: str, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._entries: list[Entry] = []
        self._views: list[EntryView] = []
        self._start = 0
        self._moving = False
        self._welcome = Static(welcome, markup=False, id="welcome")

    def compose(self) -> ComposeResult:
        yield self._welcome

    @property
    def mounted_entries(self) -> int:
        return len(self._views)

    def show(self, entries: Sequence[Entry]) -> None:
        """Shows these entries and, where it follows, their end."""
        before = len(self._entries)
        self._entries = list(entries)
        self._welcome.display = not entries
        if len(entries) < before or self.following:
            # A shorter log is another conversation or one that was taken back: go to its end.
            self.following = self.following or len(entries) < before
            self._place(max(0, len(entries) - WINDOW), len(entries))
            self.call_after_refresh(self._stick)
        else:
            end = max(self._start + len(self._views), min(len(entries), self._start + WINDOW))
            self._place(min(self._start, len(entries)), min(end, len(entries)))

    def jump_to_end(self) -> None:
        """Follows again, from wherever the owner was reading."""
        self.following = True
        self.show(self._entries)

    def page(self, pages: int) -> None:
        """Reads back (negative) or on by a screenful, less a line that helps to find the place."""
        height = max(1, self.scrollable_content_region.height - 1)
        self.scroll_to(y=self.scroll_target_y + pages * height, animate=False)

    def watch_following(self, following: bool) -> None:
        self.post_message(self.FollowingChanged(following))

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        at_end = new_value >= self.max_scroll_y
        if new_value < old_value and not at_end and not self._moving:
            self.following = False
        if new_value <= 0 and old_value > 0 and self._start > 0:
            self._move(-STEP)
        elif at_end and new_value > old_value:
            if self._start + len(self._views) < len(self._entries):
                self._move(STEP)
            elif not self._moving:
                self.following = True

    def on_resize(self, event: events.Resize) -> None:
        # A limit on the entries themselves would be passed over by `layout: stream`.
        self.styles.padding = (0, max(1, event.size.width - WIDEST), 0, 1)
        if self.following:
            self.call_after_refresh(self._stick)

    def _stick(self) -> None:
        if self.following and self.is_attached:
            self.scroll_end(animate=False, immediate=True)

    def _move(self, step: int) -> None:
        """Mounts entries beyond the edge that was reached, and lets go of those far behind it."""
        if self._moving:
            return
        self._moving = True
        total, end = len(self._entries), self._start + len(self._views)
        if step < 0:
            start = max(0, self._start + step)
            anchor = self._views[0] if self._views else None
            self._place(start, min(end, start + WINDOW + STEP))
        else:
            stop = min(total, end + step)
            anchor = self._views[-1] if self._views else None
            self._place(max(self._start, stop - WINDOW - STEP), stop)
        self.call_after_refresh(self._settle, anchor, step < 0)

    def _settle(self, anchor: EntryView | None, top: bool) -> None:
        """Keeps the entry that was at the edge where it was, so that reading is not interrupted."""
        if anchor is not None and anchor.is_attached:
            self.scroll_to_widget(anchor, animate=False, top=top, immediate=True)
        self._moving = False

    def _place(self, start: int, end: int) -> None:
        """Makes the mounted window [start, end), reusing the views that stay."""
        old_start, old_end = self._start, self._start + len(self._views)
        if end <= old_start or start >= old_end:
            keep_from, keep_to = start, start
        else:
            keep_from, keep_to = max(start, old_start), min(end, old_end)
        kept = self._views[keep_from - old_start : keep_to - old_start]
        gone = [view for view in self._views if view not in kept]
        above = [EntryView(entry) for entry in self._entries[start:keep_from]]
        below = [EntryView(entry) for entry in self._entries[keep_to:end]]
        for view, entry in zip(kept, self._entries[keep_from:keep_to], strict=True):
            view.show(entry)
        if gone:
            self.remove_children(gone)
        if above:
            self.mount_all(above, before=kept[0] if kept else None)
        if below:
            self.mount_all(below)
        self._views = [*above, *kept, *below]
        self._start = start
