"""Names of the looks, and which one is meant. The themes themselves are in vidya_tui.app.themes."""

from __future__ import annotations

from collections.abc import Collection, Mapping

NAMES = {
    "dark": "vidya-dark",
    "light": "vidya-light",
    "terminal": "ansi-dark",
    "terminal-light": "ansi-light",
}
"""What settings may call a theme -> Textual's name."""


def theme_name(wanted: str, available: Collection[str], env: Mapping[str, str]) -> str:
    """The theme for a name from the settings. An empty or unknown one follows the terminal."""
    name = NAMES.get(wanted, wanted)
    return name if name in available else NAMES["light" if is_light(env) else "dark"]


def is_light(env: Mapping[str, str]) -> bool:
    """Whether the terminal says that its background is light (`COLORFGBG`, as rxvt, konsole and
    iTerm set it). A terminal that says nothing is taken for a dark one."""
    return env.get("COLORFGBG", "").rpartition(";")[2] in ("7", "15")
