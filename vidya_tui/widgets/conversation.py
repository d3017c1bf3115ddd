"""The scrolling log of the conversation. It follows the end unless the owner reads back.

Only some entries are mounted; that window moves before its edge is reached. Left out: which are mounted
(log_window.py), one entry (message.py), and where entries come from (state/transcript.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.geometry import Region, Size
from textual.layout import DockArrangeResult
from textual.message import Message
from textual.reactive import reactive
from textual.scrollbar import ScrollBar
from textual.widget import Widget
from textual.widgets import Static

from vidya_tui.state.transcript import LogEntry
from vidya_tui.widgets.found import FoundPlaces
from vidya_tui.widgets.log_window import STEP, LogWindow, Marks
from vidya_tui.widgets.prompt import BackToPrompt, TextForPrompt

AHEAD = 30
"""Distance from an edge, in lines, at which the window moves; at least a screenful."""
BESIDE = 3
"""Lines by which a chosen message can leave the view through a change of layout alone."""
LATER = 0.05
"""Seconds until a window that could not be moved is tried again."""
WIDEST = 108
"""Most columns of text; longer lines are tiring to read."""


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
        """The owner began or ended reading back, or choosing a message."""

        def __init__(self, following: bool) -> None:
            super().__init__()
            self.following = following

    class Used(Message):
        """The owner wants to reword the message at `position`."""

        def __init__(self, position: int) -> None:
            super().__init__()
            self.position = position

    class Turned(Message):
        """The owner wants another wording of the message at `position` shown."""

        def __init__(self, position: int, step: int) -> None:
            super().__init__()
            self.position, self.step = position, step

    def __init__(self, welcome: str, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._window = LogWindow(self, self._marks)
        self.found = FoundPlaces(self, self._window, self._stop_following)
        """The places of the words that are searched for."""
        self._chosen: int | None = None
        self._followed = True
        """Whether it followed before a message was chosen."""
        self._waiting = False
        """A timer will try again to move the window."""
        self._arranged: DockArrangeResult | None = None
        self._welcome = Static(welcome, markup=False, id="welcome")

    def compose(self) -> ComposeResult:
        yield self._welcome

    @property
    def mounted_entries(self) -> int:
        return len(self._window.views)

    @property
    def count(self) -> int:
        """How many entries there are, mounted or not."""
        return len(self._window.entries)

    def last_region(self) -> Region | None:
        """Region of the screen of the last entry's text; None where it is not in view."""
        if not self._window.views or not self.following:
            return None
        region = self._window.views[-1].body_region
        return region if self.region.contains(region.x, region.y) else None

    def show(self, entries: Sequence[LogEntry]) -> None:
        """Shows these entries and, where it follows, their end."""
        before = len(self._window.entries)
        self._window.entries = entries
        self._welcome.display = not entries
        if len(entries) < before or self.following:
            # A shorter log is another conversation, or a message was taken back: show its end.
            self.following = self.following or len(entries) < before
            self._window.to_end()
            self.call_after_refresh(self._stick)
        else:
            self._window.stay()
        if self.found.active and len(entries) != before:
            self.found.entries_changed()
        if self._chosen is not None:
            if self._chosen >= len(entries):
                self._chosen = len(entries) - 1 if entries else None
            self._window.mark()
            if not entries:
                self.post_message(BackToPrompt())

    # ------------------------------------------------------------ choosing a message

    @property
    def chosen(self) -> int | None:
        """Index of the message that the keys act on; None: no message is chosen."""
        return self._chosen

    def choose(self, position: int) -> None:
        """Chooses the message at an index and takes the focus; does nothing where there is none."""
        if not 0 <= position < len(self._window.entries):
            return
        if self._chosen is None:
            self._followed = self.following
        self._chosen, self.following = position, False
        self.post_message(self.FollowingChanged(False))
        self._window.bring(position)
        self._window.mark()
        self.can_focus = True
        self.focus(scroll_visible=False)
        self.refresh_bindings()
        self.call_after_refresh(self._show_chosen)

    def action_step(self, step: int) -> None:
        if self._chosen is not None:
            self.choose(max(0, min(len(self._window.entries) - 1, self._chosen + step)))

    def action_turn(self, step: int) -> None:
        if self._chosen is not None:
            self.post_message(self.Turned(self._chosen, step))

    def action_use(self) -> None:
        if self._chosen is not None:
            self.post_message(self.Used(self._chosen))

    def action_leave(self) -> None:
        self.post_message(BackToPrompt())

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        entry = None if self._chosen is None else self._window.entries[self._chosen]
        if action in ("use", "turn"):
            mine = entry is not None and entry.role == "user"
            return mine and (action == "use" or bool(entry and entry.note))
        return True

    def on_blur(self) -> None:
        if not self.app.app_focus:
            return  # another window of the desktop has the focus
        self._chosen = None
        self.can_focus = False
        self.post_message(self.FollowingChanged(self.following))
        self._window.mark()
        if self._followed:
            self.jump_to_end()

    def on_key(self, event: events.Key) -> None:
        if event.character and event.is_printable:
            self.post_message(TextForPrompt(event.character))
            event.stop()
            event.prevent_default()

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        self.post_message(TextForPrompt(event.text))

    def on_click(self, event: events.Click) -> None:
        if self.screen.get_selected_text():
            return  # the mouse was marking a text
        for position, view in self._window.placed():
            if event.widget is view:
                self.choose(position)

    def _marks(self, position: int) -> Marks:
        return position == self._chosen, self.found.marks(position)

    def _show_chosen(self, tries: int = 10) -> None:
        """Scrolls to it, and once more when newly mounted entries have their height."""
        view = self._window.view_at(self._chosen)
        if not self.is_attached or view is None:
            return
        if view.size.height:
            top = view.size.height > self.size.height
            self.scroll_to_widget(view, animate=False, immediate=True, top=top)
            tries = min(tries, 1)
        if tries:
            self.call_after_refresh(self._show_chosen, tries - 1)

    def _keep_chosen(self) -> None:
        """Scrolls back to the chosen message after a change of layout, unless the owner has scrolled away."""
        view = self._window.view_at(self._chosen)
        if self.is_attached and view is not None:
            near = self.region.grow((BESIDE, 0, BESIDE, 0)).overlaps(view.region)
            if near and view.size.height <= self.size.height:
                self._show_chosen(0)

    # ------------------------------------------------------------ scrolling

    def jump_to_end(self) -> None:
        """Shows the end and follows it again."""
        if self._chosen is not None:
            self._followed = True
            self.post_message(BackToPrompt())
            return
        self.following = True
        self.show(self._window.entries)

    def page(self, pages: int) -> None:
        """Scrolls by screenfuls, back where negative; one line of each stays in view."""
        self._beyond(pages)
        height = max(1, self.scrollable_content_region.height - 1)
        self.scroll_to(y=self.scroll_target_y + pages * height, animate=False)

    def on_mouse_scroll_up(self) -> None:
        self._beyond(-1)

    def on_mouse_scroll_down(self) -> None:
        self._beyond(1)

    def _beyond(self, step: int) -> None:
        """Moves the window where the view is at its edge: nothing scrolls then, and no scroll event comes."""
        if step < 0 and self.scroll_y <= 0 and self._window.start > 0:
            self._window.move(-STEP)
        if step > 0 and self.scroll_y >= self.max_scroll_y:
            if self._window.more:
                self._window.move(STEP)
            elif self._chosen is None:
                self.following = True

    def _stop_following(self) -> None:
        self.following = False

    def watch_following(self, following: bool) -> None:
        self.post_message(self.FollowingChanged(following))

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        at_end = new_value >= self.max_scroll_y
        if new_value < old_value and not at_end and not self._window.moving:
            self.following = False
        if at_end and new_value > old_value and not self._window.more and not self._window.moving:
            held = self._chosen is not None or self.found.active
            self.following = self.following or not held
        if not self.following:
            self.call_after_refresh(self._ahead, new_value < old_value)

    def _ahead(self, back: bool) -> None:
        """Moves the window before its edge comes into view. Not during an animated scroll or a drag of the
        scrollbar: their target is a line number, and moving the window renumbers lines."""
        if self.following or self._window.moving or self._waiting or not self.is_attached:
            return
        left = self.scroll_y if back else self.max_scroll_y - self.scroll_y
        more = self._window.start > 0 if back else self._window.more
        if not more or left >= max(AHEAD, self.size.height):
            return
        animated = self.app.animator.is_being_animated(self, "scroll_y")
        if animated or self.vertical_scrollbar.grabbed is not None:
            self._waiting = True
            self.set_timer(LATER, lambda: self._again(back))
        else:
            self._window.move(-STEP if back else STEP)

    def _again(self, back: bool) -> None:
        self._waiting = False
        self._ahead(back)

    def arrange(self, size: Size, optimal: bool = False) -> DockArrangeResult:
        """Keeps the line that is being read in place when entries above it come, go or grow."""
        old, new = self._arranged, super().arrange(size, optimal)
        self._arranged = new
        if new is not old and self._window.moving:
            self._window.moving = False
            self.call_after_refresh(self._ahead, self._window.back)
        if old is None or new is old or self.following:
            return new
        regions = {placed.widget: placed.region for placed in new.placements}
        for placed in old.placements:
            was = placed.region
            if was.bottom > self.scroll_y and (now := regions.get(placed.widget)):
                inside = kept = max(0, round(self.scroll_y) - was.y)
                if now.width != was.width:
                    kept = round(inside * now.height / was.height)
                self._shift(now.y + min(kept, now.height - 1) - was.y - inside)
                break
        return new

    def _shift(self, lines: int) -> None:
        """Scrolls during layout: without asking for another layout, and without events."""
        if lines:
            y = max(0.0, self.scroll_y + lines)
            self.set_reactive(Widget.scroll_y, y)
            self.set_reactive(Widget.scroll_target_y, y)
            self.vertical_scrollbar.set_reactive(ScrollBar.position, y)
            self.vertical_scrollbar.refresh()

    def on_resize(self, event: events.Resize) -> None:
        # `layout: stream` ignores a width limit on the entries themselves.
        self.styles.padding = (0, max(1, event.size.width - WIDEST), 0, 1)
        if self.following:
            self.call_after_refresh(self._stick)
        elif self._chosen is not None:
            self.call_after_refresh(self._keep_chosen)

    def watch_virtual_size(self) -> None:
        """Mounted entries may get their height after `show` has scrolled to the end."""
        if self.following:
            self.call_after_refresh(self._stick)

    def _stick(self) -> None:
        if self.following and self.is_attached:
            self.scroll_end(animate=False, immediate=True)
