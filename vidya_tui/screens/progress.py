"""The progress screen: a list of measures, and a plot of the one under the cursor.

Imports the plotting library, so this module is loaded only when the screen first opens. A text below the
plot says the same, for screen readers and terminals without colours.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.widgets import Static
from textual_plotext import PlotextPlot

from learning.journal.progress import (
    MEASURES,
    Series,
    as_csv,
    as_svg,
    bounds,
    number_words,
    read_progress,
    summary,
    when_words,
)
from learning.protocol.events import Event, LessonDone, TrainDone, UndoDone
from vidya_tui.controller.context import ScreenContext
from vidya_tui.controller.export import exported
from vidya_tui.screens.base import SubScreen
from vidya_tui.widgets.row_list import RowList

BLOCKS = "\u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588"
SPARK = 16
"""Width of the small plot in the list, in characters."""
LABELS = 3
"""Most time labels under a plot. If more labels come close to each other, plotext moves them in an order
that differs between processes."""


class ProgressScreen(SubScreen[None]):
    """`/progress`."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", show=False),
        Binding("down", "move(1)", "choose", key_display="\u2191\u2193"),
        Binding("t", "table", "table"),
        Binding("s", "export('svg')", "SVG"),
        Binding("c", "export('csv')", "CSV"),
    ]

    def __init__(self, place: ScreenContext) -> None:
        super().__init__(place)
        self._series: list[Series] = []
        self.rows: RowList[Series] = RowList(self._fetch, self._line, id="measures")
        self.plot = PlotextPlot(id="plot")
        self.words = Static("", markup=False, id="plot-words")
        self.table_text = Static("", markup=False, id="plot-table")
        self.as_table = False

    def body(self) -> ComposeResult:
        with Container(id="progress-room"):
            yield self.rows
            with Vertical(id="plot-room"):
                yield self.plot
                yield self.table_text
                yield self.words

    def on_mount(self) -> None:
        self.rows.show(range(len(MEASURES)))
        self.reload()
        first = next((at for at, one in enumerate(self._series) if one.points), 0)
        self.rows.cursor = first
        self.set_focus(self.rows)

    def reload(self) -> None:
        """Reads the measures from the journal again."""
        model = self.place.controller.known.now.learning.model
        self.head("progress", model)
        self._series = read_progress(self.place.journal, model or None)
        self.rows.forget()
        self._draw()

    def hear(self, events: Sequence[Event]) -> None:
        if any(isinstance(event, LessonDone | TrainDone | UndoDone) for event in events):
            self.reload()

    # ------------------------------------------------------------ drawing

    def _fetch(self, keys: Sequence[int]) -> dict[int, Series]:
        return {key: self._series[key] for key in keys if key < len(self._series)}

    def _line(self, one: Series, width: int) -> Content:
        newest = one.newest
        unit = "share" if one.measure.unit == "share" else ""
        value = "\u2013" if newest is None else number_words(newest, unit)
        spark = sparkline([point.shown for point in one.points[-SPARK:]])
        return Content.assemble(
            f"{one.measure.title:<14} {value:<8} ",
            (f"{spark:<{SPARK}} ", "$primary"),
            (one.measure.means, "$foreground 60%"),
        )

    @on(RowList.Moved)
    def _moved(self) -> None:
        self._draw()

    def _draw(self) -> None:
        one = self.rows.row
        if one is None or not self.is_attached:
            return
        self.words.update(Content(summary(one)))
        drawn = bool(one.points) and not self.as_table
        self.plot.display, self.table_text.display = drawn, not drawn
        if drawn:
            self._plot(one)
        else:
            self.table_text.update(Content(table(one)))

    def _plot(self, one: Series) -> None:
        plt = self.plot.plt
        plt.clear_figure()
        first, step = one.points[0].start, one.step
        xs = [round((point.start - first) / step) for point in one.points]
        ys = [point.shown for point in one.points]
        colour = None if "NO_COLOR" in os.environ else self._primary()
        marker = "dot" if os.environ.get("TERM") == "linux" else "braille"
        if len(xs) > 1:
            plt.plot(xs, ys, marker=marker, color=colour)
        plt.scatter(xs, ys, marker="\u2022", color=colour)
        low, high = bounds(one)
        plt.ylim(low, high)
        if len(xs) == 1:
            plt.xlim(-1, 1)
        chosen = sorted({round(at * (len(xs) - 1) / (LABELS - 1)) for at in range(LABELS)})
        plt.xticks([xs[at] for at in chosen], [_short(one, at) for at in chosen])
        ticks = [low, (low + high) / 2, high]
        names = [
            number_words(tick, one.measure.unit).replace(" nats a token", "") for tick in ticks
        ]
        plt.yticks(ticks, names)
        self.plot.refresh()

    def _primary(self) -> tuple[int, int, int]:
        from textual.color import Color

        return Color.parse(self.app.theme_variables.get("primary", "#8fb8a8")).rgb

    # ------------------------------------------------------------ keys

    def action_move(self, step: int) -> None:
        self.rows.action_move(step)

    def action_table(self) -> None:
        self.as_table = not self.as_table
        self._draw()

    def action_export(self, form: str) -> None:
        def work() -> str:
            text = as_svg(self._series) if form == "svg" else as_csv(self._series)
            return f"written to {exported(self.place.home, f'progress.{form}', text)}"

        self.attempt(work)


def sparkline(values: Sequence[float]) -> str:
    """A plot in one line of text."""
    if not values:
        return ""
    low, high = min(values), max(values)
    if high <= low:
        return BLOCKS[3] * len(values)
    return "".join(BLOCKS[round((v - low) / (high - low) * (len(BLOCKS) - 1))] for v in values)


def table(one: Series) -> str:
    """The points as lines of text, newest first, under the measure's name."""
    if not one.points:
        return f"{one.measure.title}: nothing measured yet\n{one.measure.means}"
    several = any(point.count > 1 for point in one.points)
    lines = [f"{one.measure.title}{', lowest to highest' if several else ''}"]
    for point in reversed(one.points):
        least, most = (number_words(v, one.measure.unit) for v in (point.least, point.most))
        between = f"  {least} to {most}" if point.count > 1 else ""
        shown = number_words(point.shown, one.measure.unit)
        lines.append(f"{when_words(point.start, one.step)}  {shown}{between}")
    return "\n".join(lines)


def _short(one: Series, place: int) -> str:
    """A time label; a date without its year."""
    words = when_words(one.points[place].start, one.step)
    return words[5:] if len(words) == 10 else words
