"""The settings of practice with what a request asks for."""

from __future__ import annotations

from dataclasses import replace

from engine.errors import ConfigError
from learning.practice.options import with_options
from learning.practice.settings import PracticeSettings
from learning.protocol.requests import Practise
from learning.rewards.registry import OPTIONS

IDLE_TOKENS = 128
"""Tokens per forward pass in idle practice; few, so that the owner need not wait long."""


def practice_settings(settings: PracticeSettings, request: Practise) -> PracticeSettings:
    """The settings with the task's own options, and what a request asks for. Raises ConfigError."""
    settings = with_options(settings, (*OPTIONS.get(request.task, ()), *request.options))
    if request.arms and settings.few.examples:
        raise ConfigError("examples are of one task", "practise that task alone, or no examples")
    if settings.self_play.questions:
        _check_self_play(settings, request)
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


def _check_self_play(settings: PracticeSettings, request: Practise) -> None:
    """Raises ConfigError for what self-play has no room for."""
    for given, what, instead in (
        (request.arms, "several tasks", "practise one of them"),
        (settings.few.examples, "a list of examples", "leave out one of the two"),
        (settings.critic.answers, "a critic", "leave it out: critic.answers=0"),
    ):
        if given:
            raise ConfigError(f"self-play does not go with {what}", instead)
