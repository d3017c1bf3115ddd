"""The measures over time as one SVG picture, a small plot for each; no library is needed for that."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape

from learning.journal.progress import Series, number_words, summary, when_words

WIDTH, HEIGHT = 460, 190
"""Of one plot, in pixels."""
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 40, 34
"""Room around its lines."""
COLUMNS = 2
STYLE = """text{font:12px sans-serif;fill:#333}.title{font-weight:bold}.quiet{fill:#777}
.line{fill:none;stroke:#2f6f5c;stroke-width:2}.dot{fill:#2f6f5c}.grid{stroke:#ddd;stroke-width:1}"""


def as_svg(all_series: Sequence[Series]) -> str:
    """A picture with a plot for each series, two beside each other."""
    rows = -(-len(all_series) // COLUMNS)
    width, height = COLUMNS * WIDTH, max(1, rows) * HEIGHT
    plots = [
        f'<g transform="translate({place % COLUMNS * WIDTH} {place // COLUMNS * HEIGHT})">'
        f"{_plot(one)}</g>"
        for place, one in enumerate(all_series)
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
        f' viewBox="0 0 {width} {height}" role="img" aria-label="how the model does over time">\n'
        f"<style>{STYLE}</style>\n"
        f'<rect width="{width}" height="{height}" fill="#fff"/>\n' + "\n".join(plots) + "\n</svg>\n"
    )


def bounds(one: Series) -> tuple[float, float]:
    """The lowest and the highest value of the axis; a share has all of 0 to 1 where it varies much."""
    values = [point.shown for point in one.points]
    low, high = min(values), max(values)
    if one.measure.unit == "share" and high - low > 0.3:
        return 0.0, 1.0
    if one.measure.unit == "share":
        room = max((high - low) * 0.1, 0.05)
        return max(0.0, low - room), min(1.0, high + room)
    room = (high - low) * 0.1 or max(abs(high) * 0.1, 0.01)
    return low - room, high + room


def _plot(one: Series) -> str:
    title = f"<title>{escape(summary(one))}</title>"
    heading = f'<text class="title" x="{LEFT}" y="22">{escape(one.measure.title)}</text>'
    means = f'<text class="quiet" x="{LEFT + 110}" y="22">{escape(one.measure.means)}</text>'
    if not one.points:
        empty = f'<text class="quiet" x="{LEFT}" y="{HEIGHT // 2}">nothing measured yet</text>'
        return title + heading + means + empty
    low, high = bounds(one)
    first, last = one.points[0].start, one.points[-1].start

    def x(when: float) -> float:
        share = 0.5 if last == first else (when - first) / (last - first)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def y(value: float) -> float:
        share = (value - low) / (high - low) if high > low else 0.5
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)

    parts = [title, heading, means]
    for value in (low, (low + high) / 2, high):
        at = y(value)
        words = escape(number_words(value, one.measure.unit).removesuffix(" nats a token"))
        parts.append(
            f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>'
            f'<text class="quiet" x="{LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{words}</text>'
        )
    drawn = " ".join(f"{x(p.start):.1f},{y(p.shown):.1f}" for p in one.points)
    parts.append(f'<polyline class="line" points="{drawn}"/>')
    if len(one.points) <= 60:
        parts += [
            f'<circle class="dot" cx="{x(p.start):.1f}" cy="{y(p.shown):.1f}" r="2.5"/>'
            for p in one.points
        ]
    ends = [(first, "start"), (last, "end")] if last != first else [(first, "middle")]
    for when, anchor in ends:
        parts.append(
            f'<text class="quiet" x="{x(when):.1f}" y="{HEIGHT - BOTTOM + 18}"'
            f' text-anchor="{anchor}">{when_words(when, one.step)}</text>'
        )
    return "".join(parts)
