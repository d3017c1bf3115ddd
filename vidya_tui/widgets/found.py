"""The places of searched words in the conversation: marks them and scrolls to one of them.

Left out: where the words are typed (find_bar.py), and what finds them (state/finding.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.containers import VerticalScroll
from textual.content import Content
from textual.geometry import Region

from vidya_tui.state.finding import Place, places
from vidya_tui.widgets.log_window import LogWindow
from vidya_tui.widgets.message import shown_text

MARGIN = 1
"""Lines kept in view above and below a place."""


class FoundPlaces:
    """`find` searches, `step` goes to the next place, `end` stops and leaves the view where it is."""

    def __init__(
        self, log: VerticalScroll, window: LogWindow, stop_following: Callable[[], None]
    ) -> None:
        """stop_following: keeps the log from moving to its end."""
        self._log, self._window, self._stop_following = log, window, stop_following
        self._places: Sequence[Place] = ()
        self._at = -1
        """Which of the places is shown; -1: none."""
        self._words = ""

    @property
    def active(self) -> bool:
        """Whether a search is open; the view does not follow new entries then."""
        return bool(self._words)

    @property
    def count(self) -> tuple[int, int]:
        """(which place is shown, from 1; 0: none, how many there are)."""
        return self._at + 1, len(self._places)

    def find(self, words: str) -> None:
        """Searches for words, and shows the last place before the current one, or the last of all."""
        before = self._places[self._at] if self._at >= 0 else None
        self._words = words.strip()
        self._look()
        here = (before.position, before.start) if before else (len(self._window.entries), 0)
        earlier = [n for n, at in enumerate(self._places) if (at.position, at.start) <= here]
        self._at = earlier[-1] if earlier else len(self._places) - 1
        self._show_place()

    def step(self, step: int) -> None:
        """Goes to a later (1) or an earlier (-1) place, and from the last to the first."""
        if self._places:
            self._at = (self._at + step) % len(self._places)
            self._show_place()

    def end(self) -> None:
        """Ends the search and removes the marks."""
        self._words, self._places, self._at = "", (), -1
        self._window.mark()

    def entries_changed(self) -> None:
        """Searches again; stays at the same place where that still exists."""
        now = self._places[self._at] if self._at >= 0 else None
        self._look()
        self._at = self._places.index(now) if now in self._places else len(self._places) - 1
        self._window.mark()

    def marks(self, position: int) -> tuple[list[tuple[int, int]], int]:
        """(spans of what was found in an entry, which of them is shown; -1: none)."""
        here = [n for n, at in enumerate(self._places) if at.position == position]
        spans = [(self._places[n].start, self._places[n].end) for n in here]
        return spans, here.index(self._at) if self._at in here else -1

    def _look(self) -> None:
        texts = [shown_text(entry.text) for entry in self._window.entries]
        self._places = places(texts, self._words)

    def _show_place(self) -> None:
        if self._at >= 0:
            self._stop_following()
            self._window.bring(self._places[self._at].position)
        self._window.mark()
        self._log.call_after_refresh(self._scroll_to_place)

    def _scroll_to_place(self, tries: int = 10) -> None:
        """Scrolls to the line; tries again until a text that was just expanded has its height."""
        log = self._log
        if not log.is_attached or self._at < 0 or self._at >= len(self._places):
            return
        place = self._places[self._at]
        view = self._window.view_at(place.position)
        if view is None:
            return
        if view.size.height and (width := view.content_size.width) > 0:
            text = shown_text(view.entry.text)
            word = text[place.start :].split(None, 1)[0] if text[place.start :].strip() else ""
            lines = Content(text[: place.start] + word).wrap(width)
            y = view.virtual_region.y + view.gutter.top + len(lines) - 1
            region = Region(0, max(0, y - MARGIN), 1, 1 + 2 * MARGIN)
            log.scroll_to_region(region, animate=False, immediate=True, force=True)
            if log.scroll_offset.y <= y < log.scroll_offset.y + log.size.height:
                tries = min(tries, 1)  # else a text that was just expanded has no height yet
        if tries:
            log.call_after_refresh(self._scroll_to_place, tries - 1)
