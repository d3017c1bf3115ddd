"""Formats percentages, durations and counts for people."""

from __future__ import annotations


def percent(share: float) -> str:
    """A share in [0, 1] as a whole percentage. Only a share of exactly 1 gives 100 %, and only 0 gives
    0 %; other values round to at least 1 % and at most 99 %."""
    whole = round(share * 100)
    if whole == 100 and share < 1:
        whole = 99
    if whole == 0 and share > 0:
        whole = 1
    return f"{whole} %"


def seconds(count: float) -> str:
    """A duration in seconds, in the largest fitting units: 2.1 s, 40 s, 3 min, 1 h 5 min."""
    if count < 10:
        return f"{count:.1f} s"
    if count < 90:
        return f"{count:.0f} s"
    minutes = round(count / 60)
    if minutes < 90:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"


def counted(count: int, one: str, several: str = "") -> str:
    """A number with its noun: "1 lesson", "2 lessons", "1,000 entries". several: the plural, if it is
    not `one` with an s."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"
