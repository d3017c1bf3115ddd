"""The scrolling log of what was said. Shows entries, keeps to the end unless the owner reads back.

Only a window of about fifty entries is mounted, because typing slows down with every widget that a
screen holds; the window moves when an edge is reached. Left out: where the entries come from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.geometry import Region
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
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
LONG_LINES, LONG = 40, 4000
"""Lines and characters from which only the beginning of a text is shown."""
NAMES: dict[Role, str] = {"user": "You", "assistant": "Vidya"}


@dataclass(frozen=True)
class Entry:
    """One message as it is shown."""

    role: Role
    text: str
    note: str = ""
    """A quiet line under it: what was understood of a judgement, or which variant it is."""
    streaming: bool = False


class EntryView(Static):
    """An entry: who, and what; the note under it. One widget and not four: opening a conversation
    mounts fifty of them."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"entry--who"}

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self.whole = False
        """Whether a long text is shown to its end."""
        super().__init__(self._words(), markup=False, classes=f"entry -{entry.role}")

    @property
    def body_region(self) -> Region:
        """Where the text stands on the screen."""
        return self.content_region

    def show(self, entry: Entry) -> None:
        """Changes what is shown; does nothing where nothing changed."""
        old, self.entry = self.entry, entry
        if entry.role != old.role:
            self.remove_class(f"-{old.role}")
            self.add_class(f"-{entry.role}")
        if entry != old:
            self.update(self._words())

    def mark(self, chosen: bool) -> None:
        """Shows that the keys are about this one; then it is shown to its end."""
        self.set_class(chosen, "-chosen")
        if chosen != self.whole:
            self.whole = chosen
            if shortened(self.entry.text):
                self.update(self._words())

    def render_lines(self, crop: Region) -> list[Strip]:
        """The name stands in the padding of the first line: what is marked with the mouse is the
        text alone."""
        strips = super().render_lines(crop)
        first = self.gutter.top - crop.y
        if 0 <= first < len(strips):
            style = self.get_component_rich_style("entry--who")
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
        text = short or plain(entry.text).strip("\n")
        body = Content(text + "\u258c" if entry.streaming else text or " ")
        if entry.note:
            body = body.append("\n").append(Content.styled(plain(entry.note), "dim"))
        return body


def shortened(text: str) -> str:
    """The beginning of a long text and how much follows; empty where it is not long.

    A log of ten thousand lines that somebody pasted is not wrapped anew with every letter typed.
    """
    lines = text.count("\n") + 1
    if lines <= LONG_LINES and len(text) <= LONG:
        return ""
    head = "\n".join(plain(text[: LONG // 2]).strip("\n").split("\n")[: LONG_LINES // 2])
    size = f"{lines:,} lines, " if lines > 1 else ""
    return (
        f"{head}\u2026\n({size}{len(text):,} characters in all; shift+tab and the arrows open it)"
    )


class ConversationView(VerticalScroll, can_focus=False):
    """The log. `show` replaces what is shown with as few changes as possible.

    It takes the keys only while a message is chosen (`choose`), to be copied, edited or turned to
    another variant; whatever is typed then goes to the prompt.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "step(-1)", "earlier", show=False),
        Binding("down", "step(1)", "later", show=False),
        Binding("left", "turn(-1)", "variant before", key_display="\u2190"),
        Binding("right", "turn(1)", "variant after", key_display="\u2192"),
        Binding("enter", "use", "edit"),
        Binding("escape,tab,shift+tab", "leave", "back"),
    ]

    following: reactive[bool] = reactive(True)
    """New entries scroll into view. False while the owner reads back."""

    class FollowingChanged(Message):
        """The owner began or ended reading back."""

        def __init__(self, following: bool) -> None:
            super().__init__()
            self.following = following

    class Used(Message):
        """The owner wants to say the message at `position` in other words."""

        def __init__(self, position: int) -> None:
            super().__init__()
            self.position = position

    class Turned(Message):
        """The owner wants another variant of the message at `position`."""

        def __init__(self, position: int, step: int) -> None:
            super().__init__()
            self.position, self.step = position, step

    class Typed(Message):
        """The owner began to type: the words belong into the prompt."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Left(Message):
        """The owner goes back to the prompt."""

    def __init__(self, welcome: str, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._entries: Sequence[Entry] = ()
        self._chosen: int | None = None
        self._followed = True
        """Whether it followed before a message was chosen."""
        self._views: list[EntryView] = []
        self._start = 0
        self._moving = False
        self._welcome = Static(welcome, markup=False, id="welcome")

    def compose(self) -> ComposeResult:
        yield self._welcome

    @property
    def mounted_entries(self) -> int:
        return len(self._views)

    @property
    def count(self) -> int:
        """How many entries there are, seen or not."""
        return len(self._entries)

    def last_region(self) -> Region | None:
        """Where on the screen the last entry's text begins; None where it is not to be seen."""
        if not self._views or not self.following:
            return None
        region = self._views[-1].body_region
        return region if self.region.contains(region.x, region.y) else None

    def show(self, entries: Sequence[Entry]) -> None:
        """Shows these entries and, where it follows, their end."""
        before = len(self._entries)
        self._entries = entries
        self._welcome.display = not entries
        if len(entries) < before or self.following:
            # A shorter log is another conversation or one that was taken back: go to its end.
            self.following = self.following or len(entries) < before
            self._place(max(0, len(entries) - WINDOW), len(entries))
            self.call_after_refresh(self._stick)
        else:
            end = max(self._start + len(self._views), min(len(entries), self._start + WINDOW))
            self._place(min(self._start, len(entries)), min(end, len(entries)))
        if self._chosen is not None:
            if self._chosen >= len(entries):
                self._chosen = len(entries) - 1 if entries else None
            self._mark()

    # ------------------------------------------------------------ choosing a message

    @property
    def chosen(self) -> int | None:
        """Position of the message that the keys are about."""
        return self._chosen

    def choose(self, position: int) -> None:
        """Takes the keys for the message at a position; nothing where there is none."""
        if not 0 <= position < len(self._entries):
            return
        if self._chosen is None:
            self._followed = self.following
        self._chosen, self.following = position, False
        if not self._start <= position < self._start + len(self._views):
            start = max(0, min(position - WINDOW // 2, len(self._entries) - WINDOW))
            self._place(start, min(len(self._entries), start + WINDOW))
        self._mark()
        self.can_focus = True
        self.focus(scroll_visible=False)
        self.refresh_bindings()
        self.call_after_refresh(self._show_chosen)

    def action_step(self, step: int) -> None:
        if self._chosen is not None:
            self.choose(max(0, min(len(self._entries) - 1, self._chosen + step)))

    def action_turn(self, step: int) -> None:
        if self._chosen is not None:
            self.post_message(self.Turned(self._chosen, step))

    def action_use(self) -> None:
        if self._chosen is not None:
            self.post_message(self.Used(self._chosen))

    def action_leave(self) -> None:
        self.post_message(self.Left())

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        entry = None if self._chosen is None else self._entries[self._chosen]
        if action in ("use", "turn"):
            mine = entry is not None and entry.role == "user"
            return mine and (action == "use" or bool(entry and entry.note))
        return True

    def on_blur(self) -> None:
        self._chosen = None
        self.can_focus = False
        self._mark()
        if self._followed:
            self.jump_to_end()

    def on_key(self, event: events.Key) -> None:
        if event.character and event.is_printable:
            self.post_message(self.Typed(event.character))
            event.stop()
            event.prevent_default()

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        self.post_message(self.Typed(event.text))

    def on_click(self, event: events.Click) -> None:
        if self.screen.get_selected_text():
            return  # it was the end of marking a text with the mouse
        for position, view in enumerate(self._views, self._start):
            if event.widget is view:
                self.choose(position)

    def _mark(self) -> None:
        for position, view in enumerate(self._views, self._start):
            view.mark(position == self._chosen)

    def _show_chosen(self, tries: int = 10) -> None:
        """Brings it into view, and once more when what was mounted or opened has its room."""
        at = -1 if self._chosen is None else self._chosen - self._start
        if not self.is_attached or not 0 <= at < len(self._views):
            return
        view = self._views[at]
        if view.size.height:
            top = view.size.height > self.size.height
            self.scroll_to_widget(view, animate=False, immediate=True, top=top)
            tries = min(tries, 1)
        if tries:
            self.call_after_refresh(self._show_chosen, tries - 1)

    # ------------------------------------------------------------ scrolling

    def jump_to_end(self) -> None:
        """Follows again, from wherever the owner was reading."""
        self.following = True
        self.show(self._entries)

    def page(self, pages: int) -> None:
        """Reads back (negative) or on by a screenful, less a line that helps to find the place."""
        self._beyond(pages)
        height = max(1, self.scrollable_content_region.height - 1)
        self.scroll_to(y=self.scroll_target_y + pages * height, animate=False)

    def on_mouse_scroll_up(self) -> None:
        self._beyond(-1)

    def on_mouse_scroll_down(self) -> None:
        self._beyond(1)

    def _beyond(self, step: int) -> None:
        """At an edge already, nothing scrolls, so that nobody would notice that there is more."""
        if step < 0 and self.scroll_y <= 0 and self._start > 0:
            self._move(-STEP)
        more = self._start + len(self._views) < len(self._entries)
        if step > 0 and self.scroll_y >= self.max_scroll_y:
            if more:
                self._move(STEP)
            elif self._chosen is None:
                self.following = True

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
            elif not self._moving and self._chosen is None:
                self.following = True

    def on_resize(self, event: events.Resize) -> None:
        # A limit on the entries themselves would be passed over by `layout: stream`.
        self.styles.padding = (0, max(1, event.size.width - WIDEST), 0, 1)
        if self.following:
            self.call_after_refresh(self._stick)

    def watch_virtual_size(self) -> None:
        """What was mounted may be arranged later than `show` looked for its end."""
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
