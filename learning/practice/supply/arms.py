"""Arms by name: a task and its settings, as one types them, such as `chain_sum max_terms=3 max_digits=2`.

Loads no torch. What is chosen among them is decided in learning.curriculum.methods.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from engine.errors import ConfigError, NotFound
from learning.practice.options import split_words
from learning.practice.supply.typed import split_typed, typed_word
from learning.protocol.requests import Practise
from learning.rewards.registry import ALONE, find_task, tasks


@dataclass(frozen=True)
class ParsedArms:
    """What was typed."""

    arms: tuple[str, ...]
    options: tuple[str, ...]
    """Those of practice, NAME=VALUE."""


def parse_arms(words: Sequence[str]) -> ParsedArms:
    """Tasks, each followed by its settings, with options of practice anywhere among them.

    A comma after a word is allowed. Raises NotFound for an unknown task, ConfigError for a setting before
    any task or an arm named twice.
    """
    found: list[tuple[str, list[str]]] = []
    options: list[str] = []
    for word in (word.strip().rstrip(",") for word in words):
        if not word:
            continue
        if "=" not in word:
            require_task(word)
            found.append((word, []))
        elif split_words([word])[0]:
            options.append(word)
        elif found:
            found[-1][1].append(word)
        else:
            raise ConfigError(
                f"{word} stands before any task", "write the task first: TASK NAME=VALUE"
            )
    arms = [arm_name(task, settings) for task, settings in found]
    if twice := [arm for arm, count in Counter(arms).items() if count > 1]:
        raise ConfigError(
            f"{twice[0]} is named twice", "name each task once, or with other settings"
        )
    if len(arms) > 1:
        refuse_alone(arms)
    return ParsedArms(tuple(arms), tuple(options))


def parse_others(words: Sequence[str]) -> tuple[str, ...]:
    """The arms that are practised besides a task. Raises as `parse_arms`, and ConfigError for a task that is
    practised alone."""
    arms = parse_arms(words).arms
    refuse_alone(arms)
    return arms


def refuse_alone(arms: Sequence[str]) -> None:
    """Raises ConfigError if one of these arms is a task that is practised alone."""
    for task, _ in map(split_arm, arms):
        if task in ALONE:
            raise ConfigError(
                f"{task} cannot be practised in turns with other tasks",
                f"practise it alone: vidya practice {task}",
            )


def requested(words: Sequence[str], everywhere: Sequence[str] = ()) -> Practise:
    """The request for these words (`parse_arms`). everywhere: settings of every task. With one task they are
    its own, with several it has arms. Raises as `parse_arms`, and ConfigError without a task."""
    parsed = parse_arms(words)
    split = (split_arm(arm) for arm in parsed.arms)
    arms = tuple(arm_name(task, (*everywhere, *settings)) for task, settings in split)
    if not arms:
        raise ConfigError("no task is named", "vidya practice --list names them")
    if len(arms) > 1:
        return Practise(label(arms), options=parsed.options, arms=arms)
    task, settings = split_arm(arms[0])
    return Practise(task, settings=settings, options=parsed.options)


def require_task(name: str) -> None:
    """Raises NotFound, with similar names, if there is no such task."""
    if name not in tasks():
        find_task(name)
        raise NotFound(f"task {name!r} does not exist", "vidya practice --list names them")


def split_arm(arm: str) -> tuple[str, tuple[str, ...]]:
    """(task, its settings) of an arm."""
    task, *settings = split_typed(arm)
    return task, tuple(settings)


def arm_name(task: str, settings: Sequence[str]) -> str:
    """The inverse of `split_arm`; settings in alphabetical order, in quotes where they need some."""
    return " ".join([task, *map(typed_word, sorted(settings))])


def label(arms: Sequence[str]) -> str:
    """All arms in a few words: `chain_sum × 8, syllogism`."""
    counts = Counter(arm.split()[0] for arm in arms)
    return ", ".join(name if count == 1 else f"{name} × {count}" for name, count in counts.items())


def difficulty(settings: Sequence[str]) -> dict[str, Any]:
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
