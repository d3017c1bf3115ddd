"""Formats points in time for people."""

from __future__ import annotations

import time


def when(seconds: float, now: float) -> str:
    """Twelve characters: the time where it is today, else the date. Arguments: seconds since the epoch."""
    then = time.localtime(seconds)
    today = time.strftime("%Y%j", then) == time.strftime("%Y%j", time.localtime(now))
    return time.strftime("today %H:%M" if today else "%Y-%m-%d", then).ljust(12)


def when_short(seconds: float, now: float) -> str:
    """Five characters: the time where it is today, else month and day."""
    said = when(seconds, now).strip()
    return said.rpartition(" ")[2] if " " in said else said[-5:]
