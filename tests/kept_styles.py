"""Parses each style sheet of the app once in a process of tests, not once for every app that starts."""

from __future__ import annotations

from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.css.types import CSSLocation

_parse = Stylesheet._parse_rules
_parsed: dict[tuple[object, ...], list[RuleSet]] = {}


def _parse_once(
    sheet: Stylesheet,
    css: str,
    read_from: CSSLocation,
    is_default_rules: bool = False,
    tie_breaker: int = 0,
    scope: str = "",
) -> list[RuleSet]:
    what = (css, read_from, is_default_rules, tie_breaker, scope)
    key = (*what, *sheet._variables.items())
    if key not in _parsed:
        _parsed[key] = _parse(sheet, *what)
    return _parsed[key]


def keep_styles() -> None:
    """From now on, in this process."""
    Stylesheet._parse_rules = _parse_once  # type: ignore[method-assign]
