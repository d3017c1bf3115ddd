"""Draws who imports whom: `python -m tests.storeys docs/architecture.svg`.

Rooms stand on the storeys of tests/test_architecture.py, the interface at the left, learning at the
right. A line is an import; one that also leads there through another room is not drawn.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from pathlib import Path

from engine.errors import DataError
from engine.storage.disk import unwritable
from learning.command_line import described_parser, run_and_tell
from tests.test_architecture import INTERFACE, LEARNING, ROOT, TOPS, files, imports, room_of

WIDTH, STOREY, BOX, EDGE = 1000, 62, 30, 16
"""Pixels: of the picture, from storey to storey, of a box's height, around the picture."""
STOREYS_OF_LEARNING: list[list[str]] = [
    ["protocol", "text", "maths", "home", "channels", "command_line"],
    ["journal", "data", "agents"],
    ["book", "models", "objectives", "rewards"],
    ["memory", "evaluate", "envs", "curriculum"],
    [
        "lessons",
        "book_training",
        "practice",
        "distillation",
        "pretraining",
        "encoder_training",
        "checkup",
    ],
    ["teacher", "meta_training"],
]
"""From below, as the design has them; the table of the test says the same in more detail."""
CHARACTER = 7.3
"""Pixels of a letter, to make boxes wide enough."""
COLOURS = {"vidya_tui": "#d5e4f3", "learning": "#dcebd8"}


@dataclass(frozen=True)
class Box:
    """A room's place: left edge, top edge and width in pixels."""

    x: float
    y: float
    width: float

    @property
    def middle(self) -> float:
        return self.x + self.width / 2


def arrows() -> set[tuple[str, str]]:
    """(room, room that it imports), rooms as "learning.memory", engine and personality whole; those
    left out that follow from others."""
    found: dict[str, set[str]] = {}
    for file in files():
        parts = file.relative_to(ROOT).with_suffix("").parts
        if parts[0] != "benchmarks":
            here = _name(".".join(parts))
            for _, module in imports(file.read_text("utf-8"), parts[0]):
                if module.split(".")[0] in TOPS and module.split(".")[0] != "benchmarks":
                    found.setdefault(here, set()).add(_name(module))

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        ahead = [start]
        while ahead:
            for there in found.get(ahead.pop(), set()) - seen - {start}:
                seen.add(there)
                ahead.append(there)
        return seen

    return {
        (here, there)
        for here, targets in found.items()
        for there in targets - {here}
        if not any(there in reached(other) for other in targets - {here, there})
    }


def _name(module: str) -> str:
    top = module.split(".")[0]
    return f"{top}.{room_of(module)}" if top in COLOURS else top


def boxes() -> tuple[dict[str, Box], float]:
    """Every room's box, and the picture's height."""
    interface = [sorted(f"vidya_tui.{name}" for name in row) for row in reversed(INTERFACE)]
    learning = [[f"learning.{name}" for name in row] for row in reversed(STOREYS_OF_LEARNING)]
    below = [*learning, ["engine", "personality"]]
    top = EDGE + (len(interface) + 1 - len(below)) * STOREY
    result: dict[str, Box] = {}
    for rows, left, y in ((interface, 0.0, float(EDGE)), (below, WIDTH / 2, float(top))):
        for row, names in enumerate(rows):
            room = WIDTH / 2 / len(names)
            for place, name in enumerate(names):
                width = max(76.0, CHARACTER * len(_label(name)) + 22)
                middle = left + room * (place + 0.5)
                result[name] = Box(middle - width / 2, y + row * STOREY, width)
    return result, top + len(below) * STOREY


def _label(name: str) -> str:
    return name.rpartition(".")[2]


def draw() -> str:
    """The picture as SVG, the same for the same imports."""
    placed, height = boxes()
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" '
        'font-family="ui-monospace, monospace" font-size="12">',
        f'<rect width="{WIDTH}" height="{height:.0f}" fill="#fbfaf7"/>',
    ]
    for here, there in sorted(arrows()):
        if here in placed and there in placed:
            one, other = placed[here], placed[there]
            lines.append(
                f'<line x1="{one.middle:.0f}" y1="{one.y + BOX:.0f}" x2="{other.middle:.0f}" '
                f'y2="{other.y:.0f}" stroke="#7a8794" stroke-opacity="0.6"/>'
            )
    for name, box in placed.items():
        colour = COLOURS.get(name.split(".")[0], "#f3e3c8")
        lines.append(
            f'<rect x="{box.x:.0f}" y="{box.y:.0f}" width="{box.width:.0f}" height="{BOX}" rx="5" '
            f'fill="{colour}" stroke="#56606b"/>'
            f'<text x="{box.middle:.0f}" y="{box.y + 19:.0f}" text-anchor="middle">'
            f"{escape(_label(name))}</text>"
        )
    for x, words in ((EDGE, "vidya_tui/"), (WIDTH - 90, "learning/")):
        lines.append(f'<text x="{x}" y="{EDGE + 14}" fill="#56606b">{words}</text>')
    return "\n".join([*lines, "</svg>", ""])


def write_picture(file: Path, say: Callable[[str], None]) -> None:
    """Writes the picture into a file and says its name. Raises DataError if it cannot."""
    try:
        file.write_text(draw(), "utf-8")
    except OSError as error:
        raise DataError(*unwritable(file, error, "name another file")) from error
    say(str(file))


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line. Returns the exit status."""
    parser = described_parser("tests.storeys", __doc__)
    parser.add_argument("file", type=Path, help="where the picture is written, as SVG")
    given = parser.parse_args(arguments)
    return run_and_tell(partial(write_picture, given.file))


assert {name for row in STOREYS_OF_LEARNING for name in row} == set(LEARNING)

if __name__ == "__main__":
    sys.exit(main())
