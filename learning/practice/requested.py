"""Reads what a request to practise asks for: the task's difficulty and the settings."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from engine.errors import ConfigError
from learning.practice.options import with_options
from learning.practice.settings import PracticeSettings
from learning.protocol.requests import Practise

IDLE_TOKENS = 128
"""Tokens per forward pass in idle practice; few, so that the owner need not wait long."""


def difficulty(settings: tuple[str, ...]) -> dict[str, Any]:
    """Parses settings such as `("max_terms=3", "operators=[\\"+\\"]")`; values are JSON, else text.

    Raises ConfigError if one is not NAME=VALUE.
    """
    found: dict[str, Any] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not (name.strip() and equals):
            raise ConfigError(f"setting {setting!r}", "write it as name=value")
        try:
            found[name.strip()] = json.loads(value)
        except ValueError:
            found[name.strip()] = value
        if isinstance(found[name.strip()], list):
            found[name.strip()] = tuple(found[name.strip()])
    return found


def practice_settings(settings: PracticeSettings, request: Practise) -> PracticeSettings:
    """The settings with what a request asks for. Raises ConfigError."""
    settings = with_options(settings, request.options)
    if request.steps is not None:
        settings = replace(settings, steps=request.steps)
    if request.group_size is not None:
        settings = replace(settings, group_size=request.group_size)
    if request.idle:
        objective = replace(settings.objective, micro_tokens=IDLE_TOKENS)
        settings = replace(
            settings, objective=objective, measure_every=min(5, settings.measure_every)
        )
    return settings
