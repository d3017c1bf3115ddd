"""Line charts as SVG, readable on light and dark pages. Needs no library.

Used for the owner's progress and for benchmarks. Left out: choosing axis ranges and tick marks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

COLOURS = (
    "#3b82c4",
    "#8b6fc9",
    "#c2569b",
    "#b8860b",
    "#3a9a8f",
    "#7a8f2b",
    "#9a6b4f",
    "#7d8590",
    "#cf3b4b",
)
"""Colours of all lines but the first, one for each stem of a name; all readable on white and on black."""
FIRST = "#e8590c"
"""Colour of the first line, which is also thicker."""
DASHES = ("", "6 3", "2 3")
DOTS = 60
"""In a panel with one line of at most this many points, each point gets a dot."""
HEAD = 28
"""Height of the title above the first panel, in pixels."""
STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #1f2328; }
  .title { font-size: 16px; font-weight: 600; } .head { font-weight: 600; } .small { font-size: 12px; }
  .grid { stroke: #8c959f; stroke-opacity: .3; } .axis { stroke: #8c959f; }
  @media (prefers-color-scheme: dark) { text { fill: #e6edf3; } }
"""


@dataclass(frozen=True)
class Line:
    """A named line through (x, y) points."""

    name: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Axis:
    """The range and the tick marks of an axis."""

    low: float
    high: float
    marks: Sequence[tuple[float, str]]
    """(value, label) of each tick mark."""
    below: str = ""
    """Title of an x axis."""

    def share(self, value: float) -> float:
        """Position of a value on the axis: 0 at `low`, 1 at `high`; 0.5 if the axis has no length."""
        return (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5


@dataclass(frozen=True)
class Panel:
    """One plot."""

    title: str
    lines: Sequence[Line]
    x: Axis
    y: Axis
    means: str = ""
    """What the values are, in small print after the title."""
    hint: str = ""
    """Tooltip."""


@dataclass(frozen=True)
class Layout:
    """Sizes in pixels, and the number of columns."""

    width: int
    """Width of a panel's plot area, and below, its height."""
    height: int
    left: int = 52
    """Margins around the plot area: left, right, above, below."""
    right: int = 200
    above: int = 30
    below: int = 34
    columns: int = 1


def chart(title: str, panels: Sequence[Panel], layout: Layout) -> str:
    """An SVG document with the panels in rows, and a legend at the right if there are several line names."""
    names = list(dict.fromkeys(line.name for panel in panels for line in panel.lines))
    looks, rows = _looks(names), -(-len(panels) // layout.columns)
    wide = layout.left + layout.width + layout.right
    high = layout.above + layout.height + layout.below
    height = HEAD + layout.above + rows * high
    body = [_text(layout.left, 24, title, "title")]
    for place, panel in enumerate(panels):
        across, down = place % layout.columns * wide, HEAD + place // layout.columns * high
        body += _panel(panel, across + layout.left, down + layout.above, layout, looks)
    if len(names) > 1:
        body += _legend(names, layout.columns * wide - layout.right + 16, looks)
        height = max(height, HEAD + layout.above + 24 * len(names) + 20)
    size = f'viewBox="0 0 {layout.columns * wide} {height}" width="{layout.columns * wide}"'
    start = f'<svg xmlns="http://www.w3.org/2000/svg" {size} height="{height}" role="img"'
    lines = [f'{start} aria-label="{escape(title)}">', f"<style>{STYLE}</style>", *body, "</svg>\n"]
    return "\n".join(lines)


def _panel(panel: Panel, left: int, top: int, layout: Layout, looks: dict[str, str]) -> list[str]:
    right, floor = left + layout.width, top + layout.height

    def at(point: tuple[float, float]) -> tuple[float, float]:
        x, y = panel.x.share(point[0]), panel.y.share(point[1])
        return round(left + layout.width * x, 1), round(floor - layout.height * y, 1)

    body = ["<g>", f"<title>{escape(panel.hint)}</title>"] if panel.hint else ["<g>"]
    body.append(_text(left, top - 10, panel.title, "head"))
    body.append(_text(left + 124, top - 10, panel.means, "small"))
    for value, words in panel.y.marks:
        y = at((panel.x.low, value))[1]
        kind = "axis" if y == floor else "grid"
        body.append(f'<line class="{kind}" x1="{left}" x2="{right}" y1="{y}" y2="{y}"/>')
        body.append(_text(left - 6, y + 4, words, "small", "end"))
    for value, words in panel.x.marks:
        body.append(_text(at((value, panel.y.low))[0], floor + 18, words, "small", "middle"))
    body.append(_text(left + layout.width / 2, floor + 34, panel.x.below, "small", "middle"))
    if not any(line.points for line in panel.lines):
        body.append(_text(left, floor - layout.height // 2, "nothing measured yet", "small"))
    for line in reversed(panel.lines):  # the first on top
        points = [at(point) for point in line.points]
        drawn = " ".join(f"{x},{y}" for x, y in points)
        body.append(f'<polyline points="{drawn}" {looks[line.name]}/>')
        if len(panel.lines) == 1 and len(points) <= DOTS:
            body += [f'<circle cx="{x}" cy="{y}" r="2.5" fill="{FIRST}"/>' for x, y in points]
    return [*(part for part in body if part), "</g>"]


def _legend(names: Sequence[str], x: int, looks: dict[str, str]) -> list[str]:
    body = []
    for number, name in enumerate(names):
        y = HEAD + 44 + 22 * number
        body.append(f'<line x1="{x}" x2="{x + 26}" y1="{y}" y2="{y}" {looks[name]}/>')
        body.append(_text(x + 34, y + 4, name, "small"))
    return body


def _text(x: float, y: float, words: str, kind: str, anchor: str = "") -> str:
    """A text element; "" if `words` is empty. anchor: "end" or "middle"; "" is the start."""
    where = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text class="{kind}" x="{x}" y="{y}"{where}>{escape(words)}</text>' if words else ""


def _looks(names: Sequence[str]) -> dict[str, str]:
    """SVG attributes of each line by name. Names with the same stem (before the first hyphen) share a
    colour."""
    stems: dict[str, int] = {}
    looks: dict[str, str] = {}
    for number, name in enumerate(names):
        if number == 0:
            looks[name] = f'fill="none" stroke="{FIRST}" stroke-width="3.5"'
            continue
        stem = name.split("-")[0]
        if stem == names[0].split("-")[0]:
            looks[name] = f'fill="none" stroke="{FIRST}" stroke-width="2" stroke-dasharray="7 4"'
            continue
        before = sum(other.split("-")[0] == stem for other in names[1:number])
        colour = COLOURS[stems.setdefault(stem, len(stems)) % len(COLOURS)]
        dash = DASHES[before % len(DASHES)]
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        looks[name] = f'fill="none" stroke="{colour}" stroke-width="1.7"{dashes}'
    return looks
