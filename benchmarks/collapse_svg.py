"""Draws line charts of shares as SVG, for light and dark pages. Needs no library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

WIDTH, PANEL, LEFT, RIGHT, TOP = 860, 250, 52, 200, 58
GAP = 64
"""Space between two panels, for the axis and the next title."""
PLOT = WIDTH - LEFT - RIGHT
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
"""Colours of the baselines, one per stem of a name; readable on white and on black."""
FIRST = "#e8590c"
"""Colour of the first line, which is also thicker."""
DASHES = ("", "6 3", "2 3")
STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #1f2328; }
  .title { font-size: 16px; font-weight: 600; } .head { font-weight: 600; } .small { font-size: 12px; }
  .grid { stroke: #8c959f; stroke-opacity: .3; } .axis { stroke: #8c959f; }
  @media (prefers-color-scheme: dark) { text { fill: #e6edf3; } }
"""


@dataclass(frozen=True)
class Line:
    """A named curve: x is a number of lessons, y a share from 0 to 1."""

    name: str
    points: Sequence[tuple[float, float]]


Panel = tuple[str, Sequence[Line]]


def picture(title: str, panels: Sequence[Panel]) -> str:
    """The panels below each other, with one legend."""
    names = list(dict.fromkeys(line.name for _, lines in panels for line in lines))
    looks = _looks(names)
    height = max(TOP + len(panels) * (PANEL + GAP), TOP + 24 * len(names) + 20)
    end = max((x for _, lines in panels for line in lines for x, _ in line.points), default=1.0)
    body = [f'<text class="title" x="{LEFT}" y="24">{escape(title)}</text>']
    for number, (head, lines) in enumerate(panels):
        body += _panel(head, lines, TOP + number * (PANEL + GAP), end or 1.0, looks)
    for number, name in enumerate(names):
        y = TOP + 14 + 22 * number
        x = WIDTH - RIGHT + 16
        body.append(f'<line x1="{x}" x2="{x + 26}" y1="{y}" y2="{y}" {looks[name]}/>')
        body.append(f'<text class="small" x="{x + 34}" y="{y + 4}">{escape(name)}</text>')
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            f'width="{WIDTH}" height="{height}" role="img" aria-label="{escape(title)}">',
            f"<style>{STYLE}</style>",
            *body,
            "</svg>\n",
        ]
    )


def _looks(names: Sequence[str]) -> dict[str, str]:
    """SVG attributes of each line; names with the same stem (before the first hyphen) share a colour."""
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


def _panel(
    head: str, lines: Sequence[Line], top: int, end: float, looks: dict[str, str]
) -> list[str]:
    body = [f'<text class="head" x="{LEFT}" y="{top - 10}">{escape(head)}</text>']
    for percent in (0, 25, 50, 75, 100):
        y = _y(percent / 100, top)
        kind = "axis" if percent == 0 else "grid"
        body.append(f'<line class="{kind}" x1="{LEFT}" x2="{LEFT + PLOT}" y1="{y}" y2="{y}"/>')
        body.append(
            f'<text class="small" x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{percent} %</text>'
        )
    for part in range(6):
        value = end * part / 5
        x, y = _x(value, end), top + PANEL + 18
        body.append(f'<text class="small" x="{x}" y="{y}" text-anchor="middle">{value:g}</text>')
    x = LEFT + PLOT / 2
    body.append(
        f'<text class="small" x="{x}" y="{top + PANEL + 34}" text-anchor="middle">lessons taught</text>'
    )
    for line in reversed(lines):  # draw the first line last, on top
        points = " ".join(f"{_x(x, end)},{_y(y, top)}" for x, y in line.points)
        body.append(f'<polyline points="{points}" {looks[line.name]}/>')
    return body


def _x(value: float, end: float) -> float:
    return round(LEFT + PLOT * value / end, 1)


def _y(share: float, top: int) -> float:
    return round(top + PANEL * (1.0 - share), 1)
