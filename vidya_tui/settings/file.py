"""settings.toml: what the owner may set, checked as it is read; what is saved leaves the rest of the
file as the owner wrote it.

Knows the values and their bounds; which themes and models exist, those who use them know.
"""

from __future__ import annotations

import difflib
import json
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from engine.config import Sampling
from engine.errors import VidyaError
from engine.storage.disk import unwritable
from engine.storage.files import write_atomically

_DRAWN = Sampling()


EAGER = ("at once", "in pauses")
"""When lessons are learned."""


class SettingsError(VidyaError):
    """A setting that is unknown, of the wrong kind, or out of its bounds."""

    def __init__(self, what: str, next_step: str = "", *, key: str = "") -> None:
        super().__init__(what, next_step)
        self.key = key
        """Which setting; empty if it is the file."""


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
    eager: str = EAGER[0]
    """When: "at once", or "in pauses" of the owner."""
    left_standing: bool = False
    """Whether answers that the owner goes on with unjudged are learned too, as weak lessons."""
    owner_words: bool = False
    """Whether the owner's own messages are learned too, as very weak lessons."""
    keep_unchosen: bool = True
    """Whether candidates that were not chosen stay in the journal once the talk has gone on."""
    idle_practice: int = 0
    """Minutes without a key after which `practice_task` is practised, to 240; 0: never."""
    practice_task: str = "chain_sum"
    """What is practised in idle hours; `vidya practice --list` names the tasks."""
    theme: str = ""
    """Name of a theme; empty follows the terminal."""
    motion: bool = True
    """Whether anything on the screen glides."""
    model: str = "10m"
    """Name of a model in the home, or the path of one."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """Command -> its keys, where they are not the usual ones."""

    def __post_init__(self) -> None:
        """Raises SettingsError."""
        _whole_number("candidates", self.candidates, 1, 9)
        _number("temperature", self.temperature, "0 to 10", lambda value: 0 <= value <= 10)
        _number("top_p", self.top_p, "above 0 and at most 1", lambda value: 0 < value <= 1)
        _whole_number("max_tokens", self.max_tokens, 1, 4096)
        for key in ("learning", "left_standing", "owner_words", "keep_unchosen", "motion"):
            if not isinstance(value := getattr(self, key), bool):
                raise _wrong(key, f"is {_shown(value)}", "write true or false")
        _whole_number("idle_practice", self.idle_practice, 0, 240)
        _one_of("eager", self.eager, EAGER)
        if not isinstance(self.keys, Mapping):
            raise _wrong("keys", "is not a table", 'write [keys], then train = "ctrl+t"')
        for name, keys in self.keys.items():
            if not isinstance(keys, str):
                what = f"{_name(name)}: is {_shown(keys)}"
                raise _wrong("keys", what, 'write keys in quotes, "ctrl+t"', f"keys.{name}")
        for key in ("theme", "model", "practice_task"):
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


_HEAD = "# Settings of vidya; /settings in the app changes them too."


Warn = Callable[[SettingsError], None]
"""Hears of what in the file counts for nothing."""


def load(path: Path, warn: Warn | None = None) -> Settings:
    """The settings in a file; defaults where it or a key is missing. What is no setting, of another
    version perhaps, is passed over and told to `warn`. Raises SettingsError."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
        raw = tomllib.loads(text)
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
    known = [part.name for part in fields(Settings)]
    try:
        for key in raw:
            if key not in known and warn:
                near = difflib.get_close_matches(key, known, n=1)
                advice = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
                strange = _wrong(_name(key), "no such setting, passed over", advice, key)
                warn(_at_line(path, text, strange))
        return Settings(**{key: value for key, value in raw.items() if key in known})
    except SettingsError as error:
        raise _at_line(path, text, error) from None


def placed(path: Path, error: SettingsError) -> SettingsError:
    """The error with the line of the file on which its setting stands."""
    try:
        return _at_line(path, path.read_text("utf-8-sig"), error)
    except (OSError, UnicodeError):
        return error


def save(path: Path, settings: Settings) -> None:
    """Writes what changed; comments, order and whatever else is in the file stay. A crash leaves the
    old file or the new one. Raises SettingsError."""
    import tomlkit  # takes longer than a frame, and few sessions save
    from tomlkit.exceptions import ParseError

    fresh, defaults = not path.exists(), Settings()
    try:
        text = "" if fresh else path.read_bytes().decode("utf-8-sig")
        document = tomlkit.parse(text or f"{_HEAD}\n")
        for key, value in asdict(settings).items():
            if key in document:
                old = document[key]
                changed = (old.unwrap() if hasattr(old, "unwrap") else old) != value
                # to Python, 1 is True
                if changed or isinstance(value, bool) is not isinstance(old, bool):
                    document[key] = value
            elif (fresh and value != {}) or value != getattr(defaults, key):
                document[key] = value
        write_atomically(path, tomlkit.dumps(document))
    except (ParseError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: not TOML: {error}", "mend it, or remove it") from error
    except OSError as error:
        raise SettingsError(*unwritable(path, error, "mend its permissions")) from error


def _at_line(path: Path, text: str, error: SettingsError) -> SettingsError:
    what = error.what.replace("settings.toml:", f"{path}:{_line(text, error.key)}:", 1)
    return SettingsError(what, error.next_step, key=error.key)


def _line(text: str, key: str) -> int:
    """The line of a file on which a setting, or a key of [keys] as "keys.name", stands, from 1."""
    name = key.removeprefix("keys.")
    place = _place(text, "keys" if name != key else key)
    if name != key:
        place = _place(text, name, place, before=r"keys[ \t]*\.[ \t]*")
    return text.count("\n", 0, place) + 1


def _place(text: str, key: str, start: int = 0, before: str = r"\[[ \t]*") -> int:
    """Where a line begins with `key`, from `start` on; `start` where none does."""
    names = "|".join(map(re.escape, {key, _toml(key), f"'{key}'"}))
    line = re.compile(rf"^[ \t]*(?:{before})?(?:{names})[ \t]*[=.\]]", re.MULTILINE)
    found = line.search(text, start)
    return found.start() if found else start


def _one_of(key: str, value: Any, known: tuple[str, ...]) -> None:
    if value not in known:
        names = ", ".join(f'"{name}"' for name in known)
        raise _wrong(key, f"is {_shown(value)}", f"write one of {names}")


def _whole_number(key: str, value: Any, low: int, high: int) -> None:
    # to Python, True is a number
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise _wrong(key, f"is {_shown(value)}", f"write a whole number, {low} to {high}")


def _number(key: str, value: Any, bounds: str, fits: Any) -> None:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not fits(value):
        raise _wrong(key, f"is {_shown(value)}", f"write a number, {bounds}")


def _wrong(key: str, what: str, next_step: str, place: str | None = None) -> SettingsError:
    return SettingsError(f"settings.toml: {key}: {what}", next_step, key=place or key)


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
