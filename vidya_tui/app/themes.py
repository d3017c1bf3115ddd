"""The two themes that come with vidya: one dark, one light."""

from __future__ import annotations

from textual.theme import Theme

from vidya_tui.settings.themes import NAMES

DARK = Theme(
    name=NAMES["dark"],
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
    name=NAMES["light"],
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
