"""Shares and spans of time as people write them."""

from __future__ import annotations


def percent(share: float) -> str:
    """A share of 1 as a whole percentage; only all is 100 %, and only nothing is 0 %."""
    whole = round(share * 100)
    if whole == 100 and share < 1:
        whole = 99
    if whole == 0 and share > 0:
        whole = 1
    return f"{whole} %"


def seconds(count: float) -> str:
    """A span of time as people say it: 2.1 s, 40 s, 3 min, 1 h 5 min."""
    if count < 10:
        return f"{count:.1f} s"
    if count < 90:
        return f"{count:.0f} s"
    minutes = round(count / 60)
    if minutes < 90:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"


def counted(count: int, one: str, several: str = "") -> str:
    """A number with its word: "1 lesson", "2 lessons", "1,000 entries". several: where an s is not enough."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"
