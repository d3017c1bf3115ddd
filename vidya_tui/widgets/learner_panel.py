"""The learning panel: one line at the top where the screen is narrow, a column where it is wide."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.reactive import reactive
from textual.widgets import Static

from vidya_tui.state import learner as words
from vidya_tui.state.learner import Learning
from vidya_tui.text.numbers import percent
from vidya_tui.widgets.progress_bar import bar

BAR = 24


def fitting(words: str, room: int) -> str:
    """The first parts of a line that fit into so many columns; where not even the first one fits, it is
    cut."""
    for mark in (" \u00b7 ", ", "):
        while Content(words).cell_length > room and mark in words:
            words = words.rpartition(mark)[0]
    return Content(words).truncate(room, ellipsis=True).plain


class LearningLine(Static):
    """Everything on one line, with the program's name."""

    learning: reactive[Learning] = reactive(Learning())
    wide: reactive[bool] = reactive(False)

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__("", markup=False, id=id)

    def watch_learning(self) -> None:
        self._draw()

    def watch_wide(self) -> None:
        self._draw()

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        width = self.content_size.width
        now = self.learning
        name = "vidya"
        fetching = now.fetching
        coming = f"{bar(fetching.share, 8)} {fetching.short()}" if fetching else ""
        if self.wide:
            right = words.model(now)
        elif now.training is not None and width >= 60:
            share = words.fraction(now.training)
            right = f"{bar(share, 8)} {percent(share)} {words.doing(now)}"
            right = f"{right} \u00b7 {coming}" if coming else right
        else:
            right = words.short(now, coming)
        room = width - len(name) - 2
        if room < 4:
            return
        shown = Content(fitting(right, room))
        gap = max(2, width - len(name) - shown.cell_length)
        self.update(Content.styled(name, "bold").append(" " * gap).append(shown.stylize("dim")))


class LearningPanel(Vertical):
    """A column of its own beside the conversation."""

    learning: reactive[Learning] = reactive(Learning(), init=False)

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._doing = Static("", markup=False)
        self._bar = Static("", markup=False, classes="bar")
        self._quiet = [Static("", markup=False, classes="quiet") for _ in range(5)]

    def compose(self) -> ComposeResult:
        yield Static("learning", markup=False, classes="title")
        yield self._doing
        yield self._bar
        yield from self._quiet

    def on_mount(self) -> None:
        self.watch_learning()

    def watch_learning(self) -> None:
        now = self.learning
        doing = words.doing(now)
        progress = ""
        if now.training is not None:
            share = words.fraction(now.training)
            progress = f"{bar(share, BAR)} {percent(share)}"
        last = f"last: {now.outcome}" if now.outcome not in ("", doing) else ""
        fetching = now.fetching
        coming = [bar(fetching.share, BAR), fetching.short()] if fetching else ["", ""]
        lines = [doing, progress, words.waiting(now), words.recall(now), last, *coming]
        for part, text in zip([self._doing, self._bar, *self._quiet], lines, strict=True):
            part.update(Content(text))
            part.display = bool(text)
