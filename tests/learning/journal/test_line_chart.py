"""learning.journal.line_chart: points and sizes by hand."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from learning.journal.line_chart import DOTS, Axis, Layout, Line, Panel, chart

SMALL = Layout(width=100, height=50, left=20, right=10, above=30, below=34, columns=2)


def panel(points: list[tuple[float, float]], low: float = 0.0, high: float = 10.0) -> Panel:
    axis = Axis(low, high, [(low, f"{low:g}"), (high, f"{high:g}")])
    return Panel("loss", [Line("measured", points)], axis, Axis(0.0, 1.0, []), "in nats", "a < b")


def test_panels_stand_two_in_a_row() -> None:
    text = chart("t", [panel([(0, 0.0), (10, 1.0)])] * 3, SMALL)
    root = ElementTree.fromstring(text)
    assert root.attrib["viewBox"] == "0 0 260 286", "2 of 130 pixels; 28 + 30 + 2 of 114"
    points = re.findall(r'points="([^"]*)"', text)
    assert points == [
        "20.0,108.0 120.0,58.0",
        "150.0,108.0 250.0,58.0",
        "20.0,222.0 120.0,172.0",
    ]


def test_one_line_has_dots_and_no_legend_and_several_have_a_legend() -> None:
    one = chart("t", [panel([(5, 0.5)])], SMALL)
    assert one.count("<circle") == 1 and "measured" not in one and "a &lt; b" in one
    many = chart("t", [panel([(at, 0.5) for at in range(DOTS + 1)])], SMALL)
    assert "<circle" not in many
    lines = [Line("a", [(0, 0.0)]), Line("b", [(0, 1.0)])]
    two = chart("t", [Panel("p", lines, Axis(0, 1, []), Axis(0, 1, []))], SMALL)
    assert "<circle" not in two and ">a<" in two and ">b<" in two


def test_an_axis_of_no_length_and_a_line_of_no_points() -> None:
    text = chart("t", [panel([(3, 0.5)], low=3, high=3)], SMALL)
    assert 'points="70.0,83.0"' in text
    assert "nothing measured yet" in chart("t", [panel([])], SMALL)
