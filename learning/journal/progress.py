"""Measures over time from the journal, aggregated by minute, hour or day, and their export as text, CSV and
SVG.

Imports no torch. Left out: the plots in the app (vidya_tui/screens/progress.py).
"""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from learning.journal.line_chart import Axis, Layout, Line, Panel, chart

HOUR, DAY = 3600.0, 86400.0
PICTURE = Layout(width=350, height=116, left=64, right=46, columns=2)
SEVERAL_DAYS = 3 * DAY
"""Measurements that span at least this long are aggregated by day; from three hours by hour; else by
minute."""


class Source(Protocol):
    """The methods of a journal that are used here."""

    def measures(self, name: str, model: str | None = None) -> list[tuple[float, float]]: ...

    def rewards(self, model: str | None = None) -> list[tuple[float, float]]: ...

    def first_picked(self) -> list[tuple[float, bool]]: ...

    def ratings(self) -> list[tuple[float, bool]]: ...


@dataclass(frozen=True)
class Measure:
    """A quantity that is plotted over time."""

    name: str
    title: str
    unit: str
    """"share": a fraction that is shown as a percentage; otherwise the text after the number."""
    better: str
    """"up" or "down": the direction that is better; "" if neither is."""
    means: str
    """What it measures, for the owner."""
    read: Callable[[Source, str | None], list[tuple[float, float]]]
    """Reads (seconds since the epoch, value) from a journal: of one model, or of all."""
    state: bool = False
    """True: a point shows the last value of its interval, because a measurement holds until the next.
    False: it shows the mean."""


def _measured(name: str) -> Callable[[Source, str | None], list[tuple[float, float]]]:
    return lambda journal, model: journal.measures(name, model)


MEASURES: tuple[Measure, ...] = (
    Measure(
        "book_recall",
        "book recall",
        "share",
        "up",
        "of the book, said word for word",
        _measured("book_recall"),
        state=True,
    ),
    Measure(
        "lessons_known",
        "lessons known",
        "share",
        "up",
        "of the lessons learned, known still",
        _measured("lessons_known"),
        state=True,
    ),
    Measure("loss", "loss", "", "down", "of the learning steps", _measured("loss")),
    Measure(
        "reward",
        "reward",
        "",
        "up",
        "of what it tried in practice alone",
        lambda journal, model: journal.rewards(model),
    ),
    Measure(
        "rated_good",
        "rated good",
        "share",
        "up",
        "of your ratings, good ones",
        lambda journal, _: [(when, float(good)) for when, good in journal.ratings()],
    ),
    Measure(
        "first_picked",
        "first picked",
        "share",
        "",
        "of your picks, the surest",
        lambda journal, _: [(when, float(first)) for when, first in journal.first_picked()],
    ),
    Measure(
        "owner_nll",
        "your words",
        "nats a token",
        "down",
        "how badly it foretells what you say",
        _measured("owner_nll"),
    ),
)


@dataclass(frozen=True)
class Point:
    """The measurements of one minute, hour or day."""

    start: float
    """Begin of the interval in local time, as seconds since the epoch."""
    mean: float
    least: float
    most: float
    last: float
    count: int
    shown: float
    """The value that is displayed: `last` or `mean`, see Measure.state."""


@dataclass(frozen=True)
class Series:
    """One measure over time."""

    measure: Measure
    points: tuple[Point, ...]
    """Oldest first. Intervals without a measurement are left out."""
    step: float
    """Length of an interval in seconds: a minute, an hour or a day."""

    @property
    def newest(self) -> float | None:
        return self.points[-1].shown if self.points else None


def read_progress(journal: Source, model: str | None) -> list[Series]:
    """All measures, including those without a measurement. model: only its values, and those from before the
    journal kept the model; None: the values of all models."""
    return [series(measure, measure.read(journal, model)) for measure in MEASURES]


def series(measure: Measure, points: Sequence[tuple[float, float]]) -> Series:
    """Aggregates measurements by minute, hour or day, depending on their time span.

    points: (seconds since the epoch, value) in any order.
    """
    if not points:
        return Series(measure, (), DAY)
    times = [when for when, _ in points]
    span = max(times) - min(times)
    step = DAY if span >= SEVERAL_DAYS else HOUR if span >= 3 * HOUR else 60.0
    groups: dict[float, list[float]] = {}
    for when, value in sorted(points):
        groups.setdefault(_start(when, step), []).append(value)
    made = tuple(_point(measure, start, values) for start, values in sorted(groups.items()))
    return Series(measure, made, step)


def _point(measure: Measure, start: float, values: Sequence[float]) -> Point:
    mean, last = sum(values) / len(values), values[-1]
    shown = last if measure.state else mean
    return Point(start, mean, min(values), max(values), last, len(values), shown)


def _start(when: float, step: float) -> float:
    """Begin of the minute, hour or day in local time that contains `when`; both in seconds since the
    epoch."""
    parts = list(time.localtime(when))
    kept = {DAY: 3, HOUR: 4}.get(step, 5)
    parts[kept:6] = [0] * (6 - kept)
    parts[8] = -1  # let mktime find out whether it is summer time
    return time.mktime(tuple(parts))  # type: ignore[arg-type]


# ---------------------------------------------------------------- in words and files


def when_words(start: float, step: float) -> str:
    """The time of a point as text, as exact as its interval."""
    form = {DAY: "%Y-%m-%d", HOUR: "%m-%d %H:00"}.get(step, "%m-%d %H:%M")
    return time.strftime(form, time.localtime(start))


def number_words(value: float, unit: str) -> str:
    """A value as text: "98.4 %" for a share, otherwise three significant digits and the unit."""
    if unit == "share":
        return f"{100 * value:.1f} %"
    return f"{value:.3g} {unit}".rstrip()


def summary(one: Series) -> str:
    """One line of text about a series, for screen readers and for terminals that cannot plot."""
    measure = one.measure
    if not one.points:
        return f"{measure.title}: nothing measured yet"
    first, last = one.points[0], one.points[-1]
    now = number_words(last.shown, measure.unit)
    if len(one.points) == 1:
        return f"{measure.title}: {now}, on {when_words(last.start, one.step)}"
    values = [point.shown for point in one.points]
    direction = _direction(values[0], values[-1], measure.better)
    low, high = number_words(min(values), measure.unit), number_words(max(values), measure.unit)
    since = when_words(first.start, one.step)
    began = number_words(first.shown, measure.unit)
    return f"{measure.title}: {now}; {began} on {since}{direction}; lowest {low}, highest {high}"


def _direction(first: float, last: float, better: str) -> str:
    if abs(last - first) <= 0.01 * max(abs(first), abs(last), 1e-9):
        return ", about the same"
    up = last > first
    if not better:
        return ", up since" if up else ", down since"
    return ", better since" if up == (better == "up") else ", worse since"


def as_csv(all_series: Sequence[Series]) -> str:
    """CSV with one row a point: measure, time (ISO 8601), mean, least, most, last, number of measurements."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["measure", "time", "mean", "least", "most", "last", "count"])
    for one in all_series:
        for point in one.points:
            at = time.strftime("%Y-%m-%dT%H:%M:%S%z", time.localtime(point.start))
            numbers = (point.mean, point.least, point.most, point.last)
            writer.writerow([one.measure.name, at, *(f"{n:.6g}" for n in numbers), point.count])
    return out.getvalue()


def as_svg(all_series: Sequence[Series]) -> str:
    """An SVG document with a plot for each series, in two columns."""
    return chart("How the model does over time", [_panel(one) for one in all_series], PICTURE)


def bounds(one: Series) -> tuple[float, float]:
    """(lowest, highest) value of the y axis. A share that varies by more than 0.3 gets the whole range 0 to
    1.

    one: a series with at least one point.
    """
    values = [point.shown for point in one.points]
    low, high = min(values), max(values)
    if one.measure.unit == "share" and high - low > 0.3:
        return 0.0, 1.0
    if one.measure.unit == "share":
        room = max((high - low) * 0.1, 0.05)
        return max(0.0, low - room), min(1.0, high + room)
    room = (high - low) * 0.1 or max(abs(high) * 0.1, 0.01)
    return low - room, high + room


def _panel(one: Series) -> Panel:
    x, y = Axis(0.0, 0.0, ()), Axis(0.0, 0.0, ())
    if one.points:
        low, high = bounds(one)
        first, last = one.points[0].start, one.points[-1].start
        x = Axis(
            first, last, [(when, when_words(when, one.step)) for when in sorted({first, last})]
        )
        y = Axis(low, high, [(value, _mark(value, one)) for value in (low, (low + high) / 2, high)])
    # the same name in all plots, so that all lines have the same colour and there is no legend
    line = Line("measured", [(point.start, point.shown) for point in one.points])
    return Panel(one.measure.title, [line], x, y, one.measure.means, summary(one))


def _mark(value: float, one: Series) -> str:
    return number_words(value, one.measure.unit).removesuffix(" nats a token")
