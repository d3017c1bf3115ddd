"""A list of any length: only the visible rows are read and drawn, one line each.

`show` takes the keys of all rows; `fetch` is asked for what stands behind some of them, a page at a
time, and what it gave is kept until `forget`. Left out: what a row means, and how the keys are found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, Generic, TypeVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.style import Style
from textual.visual import Visual

from vidya_tui.widgets.ordered_keys import at_once

PAGE = 64
"""Rows that are read in one go."""

Row = TypeVar("Row")


class RowList(ScrollView, Generic[Row], can_focus=True):
    """Rows to choose from with the keys or the mouse."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"row-list--cursor", "row-list--hover"}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", "up", show=False),
        Binding("down", "move(1)", "down", show=False),
        Binding("pageup", "page(-1)", "a page up", show=False),
        Binding("pagedown", "page(1)", "a page down", show=False),
        Binding("home", "first", "the first", show=False),
        Binding("end", "last", "the last", show=False),
    ]

    cursor: reactive[int] = reactive(0)
    hover: reactive[int] = reactive(-1)

    class Moved(Message):
        """The cursor moved, or other rows became visible."""

    class Chosen(Message):
        """A row was clicked twice."""

    def __init__(
        self,
        fetch: Callable[[Sequence[int]], dict[int, Row]],
        line: Callable[[Row, int], Content],
        *,
        empty: str = "",
        id: str | None = None,
    ) -> None:
        """fetch: keys -> rows, those that are gone left out. line: (row, width in cells) -> one line.
        empty: what is said where there are no rows."""
        super().__init__(id=id)
        self._fetch, self._line = fetch, line
        self.empty = empty
        self._keys: tuple[int, ...] = ()
        self._rows: dict[int, Row] = {}

    # ------------------------------------------------------------ what is shown

    @property
    def keys(self) -> tuple[int, ...]:
        """All, in order."""
        return self._keys

    def show(self, keys: Iterable[int], at: int | None = None) -> None:
        """Other rows. The cursor stays on its key, or goes to `at`, where that is among them; else it
        stays where it was in the list."""
        wanted = at if at is not None else self.key
        self._keys = tuple(keys)
        self.virtual_size = Size(0, len(self._keys))
        place = self._keys.index(wanted) if wanted in self._keys else self.cursor
        self.cursor = max(0, min(place, len(self._keys) - 1))
        self.forget()

    def forget(self) -> None:
        """Reads the rows in sight anew."""
        self._rows.clear()
        self.refresh()
        self.post_message(self.Moved())

    @property
    def key(self) -> int | None:
        """Of the row under the cursor."""
        return self._keys[self.cursor] if self.cursor < len(self._keys) else None

    @property
    def row(self) -> Row | None:
        """The row under the cursor."""
        key = self.key
        return None if key is None else self._read(self.cursor)

    def in_sight(self) -> list[int]:
        """Keys of the rows that can be seen."""
        top = self.scroll_offset.y
        return list(self._keys[top : top + max(1, self.scrollable_content_region.height)])

    def _read(self, place: int) -> Row | None:
        key = self._keys[place]
        if key not in self._rows:
            first = place - place % PAGE
            self._rows.update(self._fetch(self._keys[first : first + PAGE]))
        return self._rows.get(key)

    # ------------------------------------------------------------ drawing

    def render_line(self, y: int) -> Strip:
        place, width = self.scroll_offset.y + y, self.scrollable_content_region.width
        if not self._keys and y == 0 and self.empty:
            return self._strip(Content.styled(self.empty, "dim"), width)
        if place >= len(self._keys):
            return Strip.blank(width, self.rich_style)
        row = self._read(place)
        content = Content("") if row is None else self._line(row, width)
        if place == self.cursor:
            return self._strip(content, width, "row-list--cursor")
        return self._strip(content, width, *(["row-list--hover"] if place == self.hover else []))

    def _strip(self, content: Content, width: int, *classes: str) -> Strip:
        style = self.get_visual_style(*classes) if classes else self.visual_style
        if classes and self.get_component_styles(*classes).text_style.reverse:
            style += Style(reverse=True)  # what Textual 8.2 leaves out of a visual style
        (strip, *_) = Visual.to_strips(
            self, content.truncate(width, ellipsis=True), width, 1, style
        ) or [Strip([])]
        return strip.extend_cell_length(width, style.rich_style)

    def on_resize(self) -> None:
        self._keep_in_sight()
        self.post_message(self.Moved())

    # ------------------------------------------------------------ moving

    def validate_cursor(self, cursor: int) -> int:
        return max(0, min(cursor, len(self._keys) - 1))

    def watch_cursor(self) -> None:
        self._keep_in_sight()
        self.refresh()
        self.post_message(self.Moved())

    def watch_hover(self) -> None:
        self.refresh()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) != round(new_value):
            self.post_message(self.Moved())

    def _keep_in_sight(self) -> None:
        if self._keys:
            self.scroll_to_region(Region(0, self.cursor, 1, 1), animate=False, force=True)

    def action_move(self, step: int) -> None:
        self.cursor += step

    def action_page(self, pages: int) -> None:
        self.cursor += pages * max(1, self.scrollable_content_region.height - 1)

    def action_first(self) -> None:
        self.cursor = 0

    def action_last(self) -> None:
        self.cursor = len(self._keys) - 1

    async def _on_key(self, event: events.Key) -> None:
        if self.app.focused is self:
            await at_once(self, event, self, self.screen)
            return
        # it came in one burst with a key that moved the focus or opened a screen
        target = self.app.focused or self.app.screen
        target._forward_event(events.Key(event.key, event.character))
        event.stop()
        event.prevent_default()

    # ------------------------------------------------------------ the mouse

    def on_mouse_move(self, event: events.MouseMove) -> None:
        self.hover = self.scroll_offset.y + event.y

    def on_leave(self) -> None:
        self.hover = -1

    def on_click(self, event: events.Click) -> None:
        place = self.scroll_offset.y + event.y
        if place < len(self._keys):
            self.cursor = place
            if event.chain > 1:
                self.post_message(self.Chosen())
