"""Which of the answers that practice kept are shown: all, or by a component of their reward."""

from __future__ import annotations

from collections.abc import Sequence

from engine.errors import ConfigError, NotFound
from learning.protocol.events import PracticeSample


def components(samples: Sequence[PracticeSample]) -> tuple[str, ...]:
    """The names of all components that the answers have, in alphabetical order."""
    return tuple(sorted({name for sample in samples for name in sample.components}))


def by_component(samples: Sequence[PracticeSample], by: str) -> list[PracticeSample]:
    """The answers that `by` selects. A component's name (`python_count`) selects those with a value above 0,
    the highest first. A name with a value (`correct=0`) selects those with that value, in their order. Empty
    selects all. Raises NotFound for a component that no answer has, ConfigError for a value that is no
    number."""
    if not by:
        return list(samples)
    name, equals, value = (part.strip() for part in by.partition("="))
    if name not in (known := components(samples)):
        raise NotFound(
            f"no answer has a component {name!r}", f"choose among: {', '.join(known) or 'none'}"
        )
    having = [sample for sample in samples if name in sample.components]
    if not equals:
        paid = [sample for sample in having if sample.components[name] > 0.0]
        return sorted(paid, key=lambda sample: -sample.components[name])
    try:
        wanted = float(value)
    except ValueError:
        raise ConfigError(f"{by!r}: {value!r} is no number", f"write {name}=0, or {name}") from None
    return [sample for sample in having if sample.components[name] == wanted]


def none_has(by: str) -> str:
    """Says that `by` selects no answer: "no answer has any python_count", "no answer has correct=0"."""
    return f"no answer has {by}" if "=" in by else f"no answer has any {by}"


def following(samples: Sequence[PracticeSample], by: str) -> str:
    """The component behind `by` in turn; empty, which shows all, behind the last one."""
    names = ("", *components(samples))
    return names[(names.index(by) + 1) % len(names)] if by in names else ""
