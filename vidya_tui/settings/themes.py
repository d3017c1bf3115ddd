"""Names of themes in the settings, and their Textual names. The themes are in vidya_tui.app.themes."""

from __future__ import annotations

from collections.abc import Collection, Mapping

NAMES = {
    "dark": "vidya-dark",
    "light": "vidya-light",
    "terminal": "ansi-dark",
    "terminal-light": "ansi-light",
}
"""Name in the settings -> Textual's name."""


def theme_name(wanted: str, available: Collection[str], env: Mapping[str, str]) -> str:
    """Textual's theme for a name in the settings. An empty or unknown name gives light or dark, like the
    terminal."""
    name = NAMES.get(wanted, wanted)
    return name if name in available else NAMES["light" if is_light(env) else "dark"]


def is_light(env: Mapping[str, str]) -> bool:
    """True if `COLORFGBG` (set by rxvt, Konsole and iTerm) says that the background is light. Without it
    the terminal counts as dark."""
    return env.get("COLORFGBG", "").rpartition(";")[2] in ("7", "15")
