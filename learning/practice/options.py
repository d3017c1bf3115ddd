"""Every field of PracticeSettings by name: `kl_weight=0.05`, `normalise=by_answer`, `warm_up.lr=3e-4`.

One table for the shell, the app, settings.toml, the journal and docs/reference.md, made of the dataclasses.
Names and texts load no torch; `with_options` imports what the settings name.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass, replace
from functools import cache
from types import SimpleNamespace
from typing import Any

from engine.errors import ConfigError
from learning.curriculum.settings import CurriculumSettings
from learning.objectives.settings import (
    VARIANTS,
    GrpoSettings,
    OutOfRange,
    RetentionSettings,
    field_texts,
    load_variant,
    variant_name,
)
from learning.practice.settings import (
    AdapterSettings,
    CriticSettings,
    FewSettings,
    PracticeSettings,
    SelfPlaySettings,
    WarmUpSettings,
)

_PARTS: dict[str, type] = {
    "objective": GrpoSettings,
    "keep": RetentionSettings,
    "warm_up": WarmUpSettings,
    "critic": CriticSettings,
    "adapter": AdapterSettings,
    "curriculum": CurriculumSettings,
    "few": FewSettings,
    "self_play": SelfPlaySettings,
}
"""Fields that are settings themselves."""
_PLAIN = ("objective",)
"""Of these the fields are named without the part's name."""


@dataclass(frozen=True)
class PracticeOption:
    """One setting of practice."""

    name: str
    """What one types: `lr`, `kl_weight`, `keep.lines`, `warm_up.keep.talk_weight`."""
    path: tuple[str, ...]
    """The fields that lead to it."""
    usual: str
    """The default value, written as in `name=value`."""
    help: str
    variants: Mapping[str, str]
    """Name -> "module:function"; empty: the value is a number."""


@cache
def practice_options() -> tuple[PracticeOption, ...]:
    """All options, in the order of the settings."""
    return tuple(_options(PracticeSettings, PracticeSettings, ()))


def parse_options(given: Sequence[str]) -> dict[str, str]:
    """`name=value` words as a dict; the last of a name counts. Raises ConfigError for a word without "=", for
    an unknown name, and for a value that is no number or none of the names that the option may have. Ranges
    are checked by `with_options` and `check_options`."""
    known = {option.name: option for option in practice_options()}
    found = {}
    for word in given:
        name, equals, value = (part.strip() for part in word.partition("="))
        if not (name and equals and value):
            raise ConfigError(f"option {word!r}", "write it as name=value")
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]}? " if near else ""
            raise ConfigError(
                f"practice has no option {name!r}",
                f"{hint}choose among: {', '.join(option.name for option in practice_options())}",
            )
        _number_or_name(known[name], value)
        found[name] = value
    return found


def check_options(given: Sequence[str]) -> None:
    """Raises ConfigError as `with_options` does with the defaults, but loads nothing that an option names."""
    _with_options(_unloaded(PracticeSettings), given, _stand_in)


def with_options(settings: PracticeSettings, given: Sequence[str]) -> PracticeSettings:
    """The settings with these `name=value` words. Raises ConfigError for an unknown name, a value of the
    wrong kind or out of range."""
    return _with_options(settings, given, load_variant)


def _with_options(
    settings: PracticeSettings, given: Sequence[str], load: Callable[[str], Any]
) -> PracticeSettings:
    by_name = {option.name: option for option in practice_options()}
    values: dict[str, Any] = {}
    for name, text in parse_options(given).items():
        *way, last = by_name[name].path
        branch = values
        for part in way:
            branch = branch.setdefault(part, {})
        branch[last] = _read(by_name[name], text, load)
    result: PracticeSettings = _replaced(settings, values)
    return result


def _unloaded(kind: type) -> Any:
    """The defaults of a class of settings, with stand-ins for functions."""
    found = {}
    for part in fields(kind):
        if variants := part.metadata.get(VARIANTS):
            found[part.name] = _stand_in(variants[part.metadata["usual"]])
        elif inner := _PARTS.get(part.name):
            found[part.name] = _unloaded(inner)
    return kind(**found)


def _stand_in(where: str) -> Any:
    """Has the name of the function at "module:function", and is not callable: settings that are only checked
    compare names, and loading the functions would import torch."""
    module, _, name = where.partition(":")
    return SimpleNamespace(__module__=module, __name__=name)


def named_values(settings: PracticeSettings) -> dict[str, str]:
    """Name of each option -> its value in these settings, written as in `name=value`."""
    found = {}
    for option in practice_options():
        value: Any = settings
        for part in option.path:
            value = getattr(value, part)
        if callable(value):
            found[option.name] = variant_name(option.variants, value)
        else:
            found[option.name] = _typed(value)
    return found


def changed_values(settings: PracticeSettings) -> dict[str, str]:
    """The options whose values are not the defaults."""
    usual = {option.name: option.usual for option in practice_options()}
    return {name: text for name, text in named_values(settings).items() if text != usual[name]}


def split_words(words: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(options of practice, settings of the task) of `name=value` words that may be either. Only names of
    options have a dot, so such a name is an option even if it is wrong."""
    known = {option.name for option in practice_options()}
    names = [word.partition("=")[0].strip() for word in words]
    mine = tuple(w for w, name in zip(words, names, strict=True) if name in known or "." in name)
    return mine, tuple(word for word in words if word not in mine)


def _options(
    kind: type, owner: type, way: tuple[str, ...], usual: Any = None
) -> Iterator[PracticeOption]:
    texts = field_texts(kind)
    for part in fields(kind):
        path = (*way, part.name)
        if inner := _PARTS.get(part.name):
            yield from _options(inner, owner, path, _default(part, usual))
            continue
        name = ".".join(step for step in path if step not in _PLAIN)
        variants = part.metadata.get(VARIANTS, {})
        default = part.metadata.get("usual") or _typed(_default(part, usual))
        yield PracticeOption(name, path, default, texts.get(part.name, ""), variants)


def _default(part: Field[Any], usual: Any) -> Any:
    """The default of a field in settings whose own default is `usual`; parts of it may differ."""
    if part.metadata.get(VARIANTS):
        return None
    if is_dataclass(usual):
        return getattr(usual, part.name)
    inner = _PARTS.get(part.name)
    if inner and any(one.metadata.get(VARIANTS) for one in fields(inner)):
        return None  # it has its own defaults, and making one would import torch
    return part.default_factory() if part.default_factory is not MISSING else part.default


def _typed(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:g}" if value == math.inf else repr(value)


def _read(option: PracticeOption, text: str, load: Callable[[str], Any]) -> Any:
    value = _number_or_name(option, text)
    return load(option.variants[text]) if option.variants else value


def _number_or_name(option: PracticeOption, text: str) -> float | str:
    """The value of a number, or the name of a variant. Raises ConfigError."""
    if option.variants:
        if text not in option.variants:
            names = ", ".join(option.variants)
            raise ConfigError(f"practice: {option.name} is {text!r}", f"choose among: {names}")
        return text
    whole = option.usual.lstrip("-").isdigit()
    try:
        value: float = int(text) if whole else float(text)
        is_number = not math.isnan(value)
    except (ValueError, OverflowError):  # no number, or one of hundreds of digits
        is_number = False
    if not is_number:
        what = "whole number" if whole else "number"
        raise ConfigError(
            f"practice: {option.name} is {text!r}",
            f"give a {what}, like {option.usual}: {option.help}",
        )
    return value


def _replaced(settings: Any, values: Mapping[str, Any]) -> Any:
    found = {
        name: _part(settings, name, value) if isinstance(value, dict) else value
        for name, value in values.items()
    }
    return replace(settings, **found)


def _part(settings: Any, name: str, values: Mapping[str, Any]) -> Any:
    """The nested settings in the field `name`, with these values. An error has the full name of the option,
    such as `warm_up.lr`."""
    try:
        return _replaced(getattr(settings, name), values)
    except OutOfRange as error:
        raise error if name in _PLAIN else error.inside(f"{name}.") from None
