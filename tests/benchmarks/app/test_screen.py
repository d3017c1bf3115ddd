"""The small terminal, against what real ones show."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.app.screen import TerminalScreen


def shown(*data: bytes, columns: int = 10, lines: int = 3) -> list[str]:
    screen = TerminalScreen(columns, lines)
    for part in data:
        screen.feed(part)
    return screen.text().split("\n")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"ab\r\ncd", ["ab", "cd", ""]),
        (b"\x1b[2;3Hx", ["", "  x", ""]),
        (b"abc\x1b[1Gx", ["xbc", "", ""]),
        (b"abc\x1b[2Dx", ["axc", "", ""]),
        (b"a\x1b[2Cb", ["a  b", "", ""]),
        (b"\x1b[1;31mred\x1b[0m!", ["red!", "", ""]),
        (b"abc\x1b[1;2H\x1b[K", ["a", "", ""]),
        (b"abc\x1b[1;2H\x1b[1K", ["  c", "", ""]),
        (b"abc\r\ndef\x1b[2J", ["", "", ""]),
        (b"abc\r\ndef\x1b[1;2H\x1b[J", ["a", "", ""]),
        (b"a\x1b[?25l\x1b[?2026hb\x1b[>1uc", ["abc", "", ""]),
        (b"old\x1b[?1049h\x1b[Hnew", ["new", "", ""]),
        (b"\x1b]0;title\x07a\x1bPq..\x1b\\b\x1b(Bc\x1b=d", ["abcd", "", ""]),
        (b"0123456789ab", ["0123456789", "ab", ""]),
        (b"0123456789\x1b[m\r\nx", ["0123456789", "x", ""]),
        (b"1\r\n2\r\n3\r\n4", ["2", "3", "4"]),
        (b"\x1b[99;99Hx", ["", "", "         x"]),
        ("漢a\u0301é".encode(), ["漢aé", "", ""]),
        (b"ab\bc", ["ac", "", ""]),
        (b"a\xff\x00b", ["a\ufffdb", "", ""]),
        (b"a\x1b[38;2;1\x18b\x1b]0;title\x18c\x1b\x18d", ["abcd", "", ""]),  # CAN cuts them short
        (b"a\x1b[38;2;1\x1b[2;1Hb\x1b\x1b[3;1Hc", ["a", "b", "c"]),
    ],
)
def test_what_a_terminal_does(data: bytes, expected: list[str]) -> None:
    assert shown(data) == expected
    # cut anywhere, it is the same
    assert shown(*(data[n : n + 1] for n in range(len(data)))) == expected


@given(st.binary(max_size=60), st.integers(0, 60))
def test_no_bytes_break_it(data: bytes, cut: int) -> None:
    lines = shown(data[:cut], data[cut:])
    assert len(lines) == 3 and all(len(line) <= 10 for line in lines)


@given(st.text(alphabet="a\x1b[;?12mHJKABCD\u6f22 \n\r", max_size=40))
def test_no_sequence_leaves_the_screen(text: str) -> None:
    lines = shown(text.encode())
    assert len(lines) == 3 and all(len(line) <= 10 for line in lines)
