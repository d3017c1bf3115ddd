"""The looks: a calm dark and a calm light theme, and the terminal's own colours."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from textual.theme import Theme

DARK = Theme(
    name="vidya-dark",
    primary="#8fb8a8",
    secondary="#8aa9cf",
    accent="#d8ae78",
    warning="#dba06a",
    error="#d98282",
    success="#9cc08a",
    foreground="#d9dbe0",
    background="#16181d",
    surface="#1e2127",
    panel="#252932",
    dark=True,
    variables={"footer-key-foreground": "#d8ae78", "footer-description-foreground": "#8b9099"},
)
LIGHT = Theme(
    name="vidya-light",
    primary="#2f6f5c",
    secondary="#345f92",
    accent="#8f5f1c",
    warning="#99501a",
    error="#a33a3a",
    success="#3f7a34",
    foreground="#24272d",
    background="#faf8f4",
    surface="#f0ede6",
    panel="#e6e2d9",
    dark=False,
    variables={"footer-key-foreground": "#8f5f1c", "footer-description-foreground": "#6b6f77"},
)
NAMES = {
    "dark": DARK.name,
    "light": LIGHT.name,
    "terminal": "ansi-dark",
    "terminal-light": "ansi-light",
}
"""What settings may call a theme -> Textual's name."""


def theme_name(wanted: str, available: Collection[str], env: Mapping[str, str]) -> str:
    """The theme for a name from the settings. An empty or unknown one follows the terminal."""
    name = NAMES.get(wanted, wanted)
    return name if name in available else LIGHT.name if is_light(env) else DARK.name


def is_light(env: Mapping[str, str]) -> bool:
    """Whether the terminal says that its background is light (`COLORFGBG`, as rxvt, konsole and
    iTerm set it). A terminal that says nothing is taken for a dark one."""
    return env.get("COLORFGBG", "").rpartition(";")[2] in ("7", "15")
