"""settings.toml: what the owner may set, checked as it is read, and written whole.

Knows the values and their bounds; which themes and models exist, those who use them know.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from engine.config import Sampling
from engine.errors import VidyaError
from learning.home import write_atomically

_DRAWN = Sampling()


class SettingsError(VidyaError):
    """A setting that is unknown, of the wrong kind, or out of its bounds."""


@dataclass(frozen=True)
class Settings:
    """All settings with their defaults."""

    candidates: int = 5
    """Answers to choose among, 1 to 9; 1 is plain chat."""
    temperature: float = _DRAWN.temperature
    """How freely answers are drawn, 0 to 10; 0 is always the likeliest word."""
    top_p: float = _DRAWN.top_p
    """Only the likeliest words that together have this probability, above 0 and at most 1."""
    max_tokens: int = _DRAWN.max_tokens
    """Longest answer in tokens, 1 to 4096."""
    learning: bool = True
    """Whether Vidya learns while you talk; lessons wait while it is off."""
    theme: str = ""
    """Name of a theme; empty follows the terminal."""
    model: str = "10m"
    """Name of a model in the home, or the path of one."""

    def __post_init__(self) -> None:
        """Raises SettingsError."""
        _whole_number("candidates", self.candidates, 1, 9)
        _number("temperature", self.temperature, "0 to 10", lambda value: 0 <= value <= 10)
        _number("top_p", self.top_p, "above 0 and at most 1", lambda value: 0 < value <= 1)
        _whole_number("max_tokens", self.max_tokens, 1, 4096)
        if not isinstance(self.learning, bool):
            raise _wrong("learning", f"is {_shown(self.learning)}", "write true or false")
        for key in ("theme", "model"):
            value = getattr(self, key)
            if not isinstance(value, str):
                raise _wrong(key, f"is {_shown(value)}", "write a name in quotes")
            if not value.isprintable():
                raise _wrong(key, "has characters that cannot be shown", "write a plain name")
        if not self.model:
            raise _wrong(
                "model", "is empty", 'name a model, "10m" is the one that comes with vidya'
            )

    @property
    def sampling(self) -> Sampling:
        """How answers are drawn."""
        return _DRAWN.with_(
            temperature=float(self.temperature), top_p=float(self.top_p), max_tokens=self.max_tokens
        )


def load(path: Path) -> Settings:
    """The settings in a file; defaults where it or a key is missing. Raises SettingsError."""
    try:
        raw = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        return Settings()
    except OSError as error:
        raise SettingsError(
            f"{path}: cannot be read ({error.strerror})", "mend its permissions"
        ) from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path}: not UTF-8 text", "save it as UTF-8, or remove it") from error
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(
            f"{path}: not TOML: {error}", 'write `key = value`, texts in "quotes"'
        ) from error
    known = [field.name for field in fields(Settings)]
    for key in raw:
        if key not in known:
            raise _wrong(_name(key), "no such setting", f"the settings are {', '.join(known)}")
    return Settings(**raw)


def save(path: Path, settings: Settings) -> None:
    """Writes all settings; a crash leaves the old file or the new one. Raises SettingsError."""
    lines = ["# Settings of vidya; /settings in the app changes them too."]
    lines += [f"{key} = {_toml(value)}" for key, value in asdict(settings).items()]
    try:
        write_atomically(path, "\n".join(lines) + "\n")
    except OSError as error:
        raise SettingsError(
            f"{path}: cannot be written ({error.strerror})", "make room or mend its permissions"
        ) from error


def _whole_number(key: str, value: Any, low: int, high: int) -> None:
    # to Python, True is a number
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise _wrong(key, f"is {_shown(value)}", f"write a whole number, {low} to {high}")


def _number(key: str, value: Any, bounds: str, fits: Any) -> None:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not fits(value):
        raise _wrong(key, f"is {_shown(value)}", f"write a number, {bounds}")


def _wrong(key: str, what: str, next_step: str) -> SettingsError:
    return SettingsError(f"settings.toml: {key}: {what}", next_step)


def _shown(value: Any) -> str:
    """A value as it stands in the file, shortened to a line."""
    try:
        text = _toml(value)
    except TypeError:
        text = str(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _name(key: str) -> str:
    return key if key.isprintable() else _toml(key)


def _toml(value: Any) -> str:
    """A value in TOML. JSON's numbers, true, false and texts are TOML's, but for one character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
