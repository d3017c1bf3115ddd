"""The answers to choose from: numbered cards, side by side where there is room, else stacked.

Cards are plain text, updated by whoever drains the stream (about twelve times a second). Each card
is cut to a number of lines that lets all of them be seen at once; the highlighted one is shown
whole. A click chooses a card and shows it whole; it picks only where that card was chosen by a click
before. Left out: what a pick means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from vidya_tui.session.candidate import Card
from vidya_tui.text.sanitise import plain
from vidya_tui.widgets.prompt import BackToPrompt, TextForPrompt

INDENT = 3
"""Columns before the text of a stacked card: a mark, the number, a space."""
ROOM_FOR_FACTS = 56
"""Columns from which a stacked card says on its right how long and how sure it is."""
FACTS = 27
"""Columns for that."""
MARK = "\u25b8"
"""Before the number of the card that is chosen."""


class CardView(Widget):
    """One candidate. Draws itself, so that its height is known before it is drawn."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"card--number"}

    highlighted: reactive[bool] = reactive(False, layout=True)

    def __init__(self, number: int) -> None:
        super().__init__(classes="card")
        self.number = number
        self.card = Card(index=number)
        self.lines = 3
        """Most lines of text that it shows, unless it is highlighted."""
        self.boxed = False
        self.held = False
        """A digit was pressed and will pick it."""
        self.rows = 0
        """Least height in lines: cards side by side are as high as the highest of them."""
        self._wrapped: tuple[tuple[int, bool], list[Content]] | None = None
        """Cache of `wrapped`, which is called several times a frame."""

    def watch_highlighted(self, highlighted: bool) -> None:
        self.set_class(highlighted, "-highlighted")
        self.clear_cached_dimensions()

    def hold(self, held: bool) -> None:
        """Shows that a digit was pressed and will pick it."""
        self.held = held
        self.set_class(held, "-held")
        self.border_title = self._title()
        self.refresh()

    def _title(self) -> str | None:
        """What stands in the border of a box."""
        return f"{MARK if self.held else ''}{self.number}" if self.boxed else None

    def show(self, card: Card, lines: int, boxed: bool) -> None:
        """Shows a copy of the card."""
        fresh = replace(card)
        if (fresh, lines, boxed) == (self.card, self.lines, self.boxed):
            return
        was = (self.boxed, self._height())
        self.card, self.lines, self.boxed = fresh, lines, boxed
        self._wrapped = None
        self.border_title = self._title()
        self._tell()
        self.set_class(card.state == "done", "-done")
        # most streamed text needs no new layout; a hidden card has had no width yet
        moves = not self.content_size.width or was != (boxed, self._height())
        if moves:
            self.clear_cached_dimensions()
        self.refresh(layout=moves)

    def _height(self) -> int:
        """Lines that it takes at its width."""
        return self.get_content_height(self.size, self.size, self.content_size.width)

    def on_resize(self) -> None:
        self._tell()

    def _tell(self) -> None:
        """The facts in the border of a box, as many as there is room for."""
        room = self.size.width - 2  # a corner's space on each side
        self.border_subtitle = self.card.facts(room if room > 0 else 80) if self.boxed else None

    def wrapped(self, width: int) -> list[Content]:
        """The lines shown at a width; the last ends with an ellipsis where more follow."""
        asked = (width, self.highlighted)
        if self._wrapped is None or self._wrapped[0] != asked:
            self._wrapped = (asked, self._wrap(width))
        return self._wrapped[1]

    def _wrap(self, width: int) -> list[Content]:
        room = max(1, width if self.boxed else width - INDENT - self._facts_room(width))
        text = plain(self.card.text).strip("\n")
        if not text:
            word = {"waiting": "\u2026", "streaming": "\u2026", "done": "(said nothing)"}
            return [Content.styled(word[self.card.state], "dim italic")]
        lines = Content(text).wrap(room)
        if not self.highlighted and len(lines) > self.lines:
            last = lines[self.lines - 1].rstrip()
            if last.cell_length >= room:
                last = last.truncate(room - 1)
            lines = [*lines[: self.lines - 1], last.append("\u2026")]
        return lines

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return max(len(self.wrapped(width)), self.rows if self.boxed else 0)

    def render(self) -> Content:
        width = self.content_size.width
        lines = self.wrapped(width)
        if self.boxed:
            return Content("\n").join(lines)
        mark = MARK if self.highlighted or self.held else " "
        head = Content.styled(f"{mark}{self.number} ", self.get_visual_style("card--number"))
        first = head.append(lines[0])
        if self._facts_room(width):
            facts = self.card.facts(FACTS)
            gap = width - first.cell_length - Content(facts).cell_length
            if gap > 0:
                first = first.append(" " * gap).append(Content.styled(facts, "dim"))
        rest = [Content(" " * INDENT).append(line) for line in lines[1:]]
        return Content("\n").join([first, *rest])

    def _facts_room(self, width: int) -> int:
        """Columns that a stacked card keeps free on its right. They do not depend on the facts, so that the
        text is not wrapped anew while it streams."""
        return FACTS if width >= ROOM_FOR_FACTS else 0


class CandidatePanel(VerticalScroll, can_focus=True):
    """The cards. Arrows or a click choose one, Enter or a second click picks it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,left", "highlight(-1)", "previous", show=False),
        Binding("down,right", "highlight(1)", "next", show=False),
        Binding("enter", "pick", "pick this one"),
        Binding("shift+tab", "back", "back", show=False),
    ]

    class Picked(Message):
        """The owner chose candidate `index`."""

        def __init__(self, index: int, typed: str = "") -> None:
            super().__init__()
            self.index = index
            self.typed = typed
            """The digit, where a key was pressed: then it picks only if nothing else is typed."""

    class Chosen(Message):
        """A click chose candidate `index`; a second one picks it. None: no candidate is chosen any more."""

        def __init__(self, index: int | None) -> None:
            super().__init__()
            self.index = index

    def __init__(self, count: int = 5, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._views = [CardView(number) for number in range(1, count + 1)]
        self._cards: list[Card] = []
        """Cards by their numbers."""
        self._order: list[int] = []
        """Numbers of the cards from the top, or from the left."""
        self._lines = 3
        self._boxed = False
        self._highlight: int | None = None
        self._clicked: int | None = None
        """Number of the card that was clicked once; a second click picks it."""
        self.display = False

    def compose(self) -> ComposeResult:
        yield from self._views

    @property
    def highlight(self) -> int | None:
        """Number of the highlighted card."""
        return self._highlight

    def show(self, cards: Sequence[Card], lines: int, boxed: bool) -> None:
        """Shows these cards in this order, each on at most `lines` lines; hides the panel for none."""
        self._cards = sorted(cards, key=lambda card: card.index)
        self._lines, self._boxed = lines, boxed
        self.display = bool(cards)
        self.set_class(boxed, "-boxed")
        if not cards:
            self._set_highlight(None)
            return
        while len(self._views) < len(cards):
            view = CardView(len(self._views) + 1)
            self._views.append(view)
            self.mount(view)
        for number, view in enumerate(self._views):
            view.display = number < len(cards)
            if number < len(cards):
                view.show(self._cards[number], lines, boxed)
        self._arrange([card.index for card in cards])
        if boxed:
            self._level()

    def _arrange(self, order: list[int]) -> None:
        """Puts the cards in another order; each keeps its number."""
        if order == self._order:
            return
        self._order = order
        places = {number: place for place, number in enumerate(order)}
        if self.is_attached:
            self.sort_children(
                key=lambda view: (
                    places.get(view.number, len(places)) if isinstance(view, CardView) else 0
                )
            )

    def place(self, number: int) -> tuple[str, Region] | None:
        """(text, region of the screen) of a card that is shown."""
        view = next((v for v in self._views if v.number == number and v.display), None)
        if view is None or not self.display:
            return None
        return (view.card.text, view.region.intersection(self.region))

    def highlighted_text(self) -> str | None:
        """The text of the highlighted card."""
        return None if self._highlight is None else self._cards[self._highlight - 1].text

    def action_highlight(self, step: int) -> None:
        if not self._cards:
            return
        self._forget_click()
        if self._highlight is None:
            self._set_highlight(self._order[0 if step > 0 else -1])
        else:
            at = self._order.index(self._highlight) + step
            self._set_highlight(self._order[at % len(self._order)])

    def action_pick(self) -> None:
        if self._highlight is not None:
            self.post_message(self.Picked(self._highlight))

    def action_back(self) -> None:
        self.post_message(BackToPrompt())

    def on_focus(self) -> None:
        if self._highlight is None:
            self.action_highlight(1)

    def on_blur(self) -> None:
        self._forget_click()
        self._set_highlight(None)

    def _forget_click(self) -> None:
        if self._clicked is not None:
            self._clicked = None
            self.post_message(self.Chosen(None))

    def hold(self, number: int | None) -> None:
        """Shows which card a pressed digit will pick."""
        for view in self._views:
            if view.held != (view.number == number):
                view.hold(view.number == number)

    def click(self, number: int) -> None:
        """Chooses a card, or picks it where it is chosen already."""
        if not 1 <= number <= len(self._cards) or not self._cards[number - 1].text:
            return
        if self._clicked == number:
            self.post_message(self.Picked(number))
            return
        self.screen.set_focus(self)
        self._clicked = number
        self._set_highlight(number)
        self.post_message(self.Chosen(number))

    def on_key(self, event: events.Key) -> None:
        number = int(event.key) if event.key in "123456789" and event.key.isascii() else 0
        if 1 <= number <= len(self._cards) and self._cards[number - 1].text:
            self.post_message(self.Picked(number, event.key))
        elif event.character and event.is_printable:
            self.post_message(TextForPrompt(event.character))
        else:
            return
        event.stop()
        event.prevent_default()

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        self.post_message(TextForPrompt(event.text))

    def on_click(self, event: events.Click) -> None:
        if self.screen.get_selected_text():
            return  # the mouse was marking a text
        for view in self._views:
            if event.widget is view and view.display:
                self.click(view.number)

    def on_resize(self, _: events.Resize) -> None:
        if self._boxed:
            self._level()

    def _set_highlight(self, number: int | None) -> None:
        self._highlight = number
        for view in self._views:
            view.highlighted = view.number == number
        if self._boxed and self._cards:
            self._level()
        if number is not None:
            self.call_after_refresh(self._views[number - 1].scroll_visible, animate=False)

    def _level(self) -> None:
        """Gives all boxes the height of the highest."""
        shown = [view for view in self._views if view.display and view.content_size.width]
        rows = max((len(view.wrapped(view.content_size.width)) for view in shown), default=0)
        for view in shown:
            if view.rows != rows:
                view.rows = rows
                view.clear_cached_dimensions()
                view.refresh(layout=True)


BOX = 22
"""Least width of a card in a box, in columns; four of them are its border."""


def side_by_side(width: int, count: int) -> bool:
    """Whether so many cards have room for boxes side by side."""
    return width // max(1, count) >= BOX


def card_lines(height: int, prompt: int, count: int, boxed: bool) -> int:
    """Lines for each candidate's text, so that all of them are seen at once, with the prompt.

    height: of the screen; prompt: of the prompt; boxed: side by side, else stacked.
    """
    if boxed:
        return max(2, min(height - prompt - 9, max(8, height // 2 - 4)))
    # a line of state, the keys, a rule, and three lines of the conversation
    return max(1, (height - prompt - 6) // max(1, count))
