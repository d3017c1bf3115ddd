"""The training screen: progress bar, time left, curve of the loss, recall before and now.

Closing the screen does not stop the training; the result stays until the next one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.color import Color, ColorParseError
from textual.containers import Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static
from textual_plotext import PlotextPlot

from learning.protocol.events import Event
from vidya_tui.screens.textual_fixes import Steady
from vidya_tui.state.training import TrainingLog
from vidya_tui.text.numbers import percent
from vidya_tui.text.sanitise import plain
from vidya_tui.widgets.key_line import KeyLine
from vidya_tui.widgets.progress_bar import Bar, bar

AVERAGED = 13
"""Number of steps averaged for one point of the smooth curve."""


class TrainScreen(Steady, Screen[None]):
    """begin, stop: start and stop the training, as the chat's commands do."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide")]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "back to the talk"),
        Binding("c", "cancel", "stop the training"),
        Binding("t", "train", "train the book"),
    ]

    def __init__(
        self, log: Callable[[], TrainingLog], begin: Callable[[], None], stop: Callable[[], None]
    ) -> None:
        super().__init__()
        self._log, self._begin, self._stop = log, begin, stop
        self._drawn: tuple[object, ...] = ()
        self.heading = Static("", markup=False, classes="heading")
        self.bar = Bar(id="train-bar")
        self.state = Static("", markup=False, id="train-state")
        self.facts = Static("", markup=False, id="train-facts")
        self.plot = PlotextPlot(id="train-plot")

    def compose(self) -> ComposeResult:
        yield self.heading
        with Vertical(id="train"):
            yield self.bar
            yield self.state
            yield self.facts
            yield Static("loss, step by step", markup=False, classes="quiet")
            yield self.plot
        yield KeyLine(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        self.heading.update(Content.styled("Learning the book", "bold $primary"))
        self.call_after_refresh(self.draw)

    def on_resize(self) -> None:
        self._drawn = ()
        self.call_after_refresh(self.draw)

    def hear(self, _: Sequence[Event]) -> None:
        """Redraws after an event; the log has handled it already."""
        self.draw()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "cancel":
            return self._log().running and not self._log().stopping
        if action == "train":
            return not self._log().running
        return True

    def action_leave(self) -> None:
        self.dismiss()

    def action_cancel(self) -> None:
        self._stop()
        self.draw()

    def action_train(self) -> None:
        self._begin()
        self.draw()

    # ------------------------------------------------------------ drawing

    def draw(self) -> None:
        """Redraws the log."""
        if not self.is_attached:
            return
        log = self._log()
        full = log.running or log.result is not None
        self.bar.show(partial(_progress, log.share, full))
        trouble = bool(log.failure) or (log.result is not None and log.result.rolled_back)
        self.state.update(Content(plain(log.state())))
        self.state.set_class(trouble, "-trouble")
        lines = [log.facts(), [("book recall", log.recall())] if log.recall() else []]
        self.facts.update(Content("\n").join(_line(facts) for facts in lines if facts))
        drawn = (len(log.losses), log.losses[-1:], self.plot.size, self.app.theme)
        if drawn != self._drawn:
            self._drawn = drawn
            self._curve()
        self.refresh_bindings()

    def _curve(self) -> None:
        plt, losses = self.plot.plt, self._log().losses
        plt.clear_figure()
        plt.frame(False)
        marker = "dot" if os.environ.get("TERM") == "linux" else "braille"
        thin, thick = self._colours()
        if losses:
            steps = [step for step, _ in losses]
            values = [loss for _, loss in losses]
            plt.plot(steps, values, marker=marker, color=thin)
            plt.plot(steps, smooth(values, AVERAGED), marker=marker, color=thick)
            highest = max(values)
            plt.ylim(0, highest)
            plt.yticks([0, highest / 2, highest], [f"{y:.3g}" for y in (0, highest / 2, highest)])
            ticks = sorted({float(s) for s in (steps[0], steps[len(steps) // 2], steps[-1])})
            plt.xticks(ticks, [f"{step:.0f}" for step in ticks])
        self.plot.refresh()

    def _colours(self) -> tuple[tuple[int, int, int] | str | None, ...]:
        """Colours of the loss and of its mean."""
        if self.app.no_color:
            return None, None
        variables = self.app.theme_variables
        try:
            return Color.parse(variables["secondary"]).rgb, Color.parse(variables["accent"]).rgb
        except (KeyError, ColorParseError):  # a theme of the terminal's own colours
            return "gray", "orange"


def _progress(share: float, full: bool, width: int) -> Content:
    """full: there is or was a training; else the bar is empty."""
    room = max(10, width - 7)
    if not full:
        return Content.styled(bar(0.0, room), "dim")
    tail = Content.styled(f" {percent(share):>6}", "bold")
    return Content.styled(bar(share, room), "$accent").append(tail)


def _line(facts: Sequence[tuple[str, str]]) -> Content:
    line = Content("")
    for name, value in facts:
        line = line.append(Content.styled(f"{name} ", "dim")).append(f"{value}    ")
    return line


def smooth(values: Sequence[float], width: int) -> list[float]:
    """Centred moving average: each value with up to `width` // 2 neighbours on both sides, equally many."""
    made: list[float] = []
    for at in range(len(values)):
        reach = min(width // 2, at, len(values) - 1 - at)
        part = values[at - reach : at + reach + 1]
        made.append(sum(part) / len(part))
    return made
