"""settings.toml: all settings, validated on reading. Saving keeps the rest of the file as it is.

Knows values and bounds. Left out: which themes and models exist; the code that uses them checks that.
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
from engine.errors import ConfigError, VidyaError
from engine.storage.disk import unwritable
from engine.storage.files import write_atomically
from learning.practice.supply.typed import split_typed

_DRAWN = Sampling()


EAGER = ("at once", "in pauses")
"""Values of `eager`: when to learn lessons."""


class SettingsError(VidyaError):
    """A setting that is unknown, of the wrong type, or out of bounds; or an unreadable file."""

    def __init__(self, what: str, next_step: str = "", *, key: str = "") -> None:
        super().__init__(what, next_step)
        self.key = key
        """Name of the setting; empty if the file itself is at fault."""


@dataclass(frozen=True)
class Settings:
    """All settings with their defaults. Raises SettingsError for a value out of bounds."""

    candidates: int = 5
    """Candidates per message, 1 to 9; 1 is plain chat."""
    temperature: float | None = None
    """Sampling temperature, 0 to 10; 0 always takes the likeliest token. None: what suits the model."""
    top_p: float | None = None
    """Nucleus sampling: only the likeliest tokens with this total probability, above 0 and at most 1. None:
    what suits the model."""
    max_tokens: int = _DRAWN.max_tokens
    """Longest answer in tokens, 1 to 4096."""
    learning: bool = True
    """Whether Vidya learns while you talk; lessons wait while it is off."""
    eager: str = EAGER[0]
    """When to learn: "at once", or "in pauses" of the owner."""
    left_standing: bool = False
    """Whether to learn, weakly, from answers after which the owner went on without judging them."""
    owner_words: bool = False
    """Whether to learn, very weakly, from the owner's messages."""
    recall: bool = True
    """Whether a lesson, or what the owner said earlier, may help to answer a message that asks for it."""
    offers: bool = True
    """Whether some of the answers may be those of lessons which a message perhaps asks for, or say back
    what the owner said earlier."""
    reasons: bool = False
    """Whether pauses carry your reasons ("shorter please") over to other messages."""
    mark_taste: bool = False
    """Whether the note of a pick says which answer your taste, as it is learned, would have picked."""
    keep_unchosen: bool = True
    """Whether to keep candidates that were not chosen in the journal after the conversation went on."""
    idle_practice: int = 0
    """Minutes without a key press after which to practise `practice_task`, at most 240; 0: never."""
    practice_task: str = "chain_sum"
    """Task of idle practice; `vidya practice --list` shows the names."""
    practice_others: str = "chain_sum, syllogism, propositional_logic"
    """Tasks that are practised too, each followed by its settings; a curriculum chooses. Empty: none."""
    practice_settings: str = ""
    """Settings of that task, NAME=VALUE with spaces between; in quotes where a value has spaces."""
    practice_options: str = ""
    """Options of every practice, NAME=VALUE with spaces between (learning.practice.options)."""
    theme: str = ""
    """Name of a theme; empty: light or dark like the terminal."""
    motion: bool = True
    """Whether to animate the screen."""
    model: str = "10m"
    """Name of a model in the home, or the path of one."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """Name of a command or key -> its keys, if changed by the owner."""

    def __post_init__(self) -> None:
        """Raises SettingsError."""
        _whole_number("candidates", self.candidates, 1, 9)
        if self.temperature is not None:
            _number("temperature", self.temperature, "0 to 10", lambda value: 0 <= value <= 10)
        if self.top_p is not None:
            _number("top_p", self.top_p, "above 0 and at most 1", lambda value: 0 < value <= 1)
        _whole_number("max_tokens", self.max_tokens, 1, 4096)
        for key in (
            "learning",
            "left_standing",
            "owner_words",
            "recall",
            "offers",
            "reasons",
            "mark_taste",
            "keep_unchosen",
            "motion",
        ):
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
        for key in (
            "theme",
            "model",
            "practice_task",
            "practice_settings",
            "practice_options",
            "practice_others",
        ):
            value = getattr(self, key)
            if not isinstance(value, str):
                raise _wrong(key, f"is {_shown(value)}", "write a name in quotes")
            if not value.isprintable():
                raise _wrong(key, "has characters that cannot be shown", "write a plain name")
        for word in split_typed(self.practice_settings):
            if not all(word.partition("=")):
                raise _wrong("practice_settings", f"has {_shown(word)}", "write NAME=VALUE")
        if self.practice_others and self.practice_others != Settings.practice_others:
            from learning.practice.supply.arms import parse_others

            try:
                parse_others(split_typed(self.practice_others))
            except VidyaError as error:
                raise _wrong("practice_others", error.what, error.next_step) from None
        if self.practice_task != Settings.practice_task:
            from learning.practice.supply.arms import require_task

            try:
                require_task(self.practice_task)
            except VidyaError as error:
                raise _wrong("practice_task", error.what, error.next_step) from None
        if self.practice_options:
            from learning.practice.options import check_options

            try:
                check_options(self.practice_options.split())
            except ConfigError as error:
                raise _wrong("practice_options", error.what, error.next_step) from None
        if not self.model:
            raise _wrong(
                "model", "is empty", 'name a model, "10m" is the one that comes with vidya'
            )

    @property
    def sampling(self) -> Sampling:
        """The sampling parameters with a model that says nothing about them."""
        return self.sampling_of(_DRAWN)

    def sampling_of(self, model: Sampling) -> Sampling:
        """The sampling parameters: what the owner chose goes before what suits the model."""
        return model.with_(
            temperature=None if self.temperature is None else float(self.temperature),
            top_p=None if self.top_p is None else float(self.top_p),
            max_tokens=self.max_tokens,
        )


_HEAD = "# Settings of vidya; /settings in the app changes them too."


Warn = Callable[[SettingsError], None]
"""Called for each entry of the file that is ignored."""


def load(path: Path, warn: Warn | None = None) -> Settings:
    """Reads the settings; defaults for a missing file or key. Unknown keys, perhaps of another version, are
    ignored and passed to `warn`. Raises SettingsError."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
        raw = tomllib.loads(text)
    except FileNotFoundError:
        return Settings()
    except OSError as error:
        raise SettingsError(
            f"{path}: cannot be read ({error.strerror})", _way_out(error)
        ) from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path}: not UTF-8 text", "save it as UTF-8, or remove it") from error
    except (ValueError, RecursionError) as error:  # also an endless number, and nesting without end
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
    """The error with the number of the line that has the setting."""
    try:
        return _at_line(path, path.read_text("utf-8-sig"), error)
    except (OSError, UnicodeError):
        return error


def save(path: Path, settings: Settings) -> None:
    """Writes the settings that changed; keeps comments, order and everything else in the file. A crash
    leaves the old or the new file. Raises SettingsError."""
    import tomlkit  # imported here: takes longer than a frame, and few sessions save
    from tomlkit.exceptions import ParseError

    fresh, defaults = not path.exists(), Settings()
    try:
        text = "" if fresh else path.read_bytes().decode("utf-8-sig")
        document = tomlkit.parse(text or f"{_HEAD}\n")
        for key, value in asdict(settings).items():
            if value is None:  # TOML has no word for it
                document.pop(key, None)
            elif key in document:
                old = document[key]
                changed = (old.unwrap() if hasattr(old, "unwrap") else old) != value
                # in Python, 1 == True
                if changed or isinstance(value, bool) is not isinstance(old, bool):
                    document[key] = value
            elif (fresh and value != {}) or value != getattr(defaults, key):
                document[key] = value
        write_atomically(path, tomlkit.dumps(document))
    except (ParseError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: not TOML: {error}", "mend it, or remove it") from error
    except OSError as error:
        raise SettingsError(*unwritable(path, error, _way_out(error))) from error


def _way_out(error: OSError) -> str:
    """What to do about settings that cannot be read or written."""
    folder = isinstance(error, IsADirectoryError)
    return "move this folder away" if folder else "mend its permissions"


def _at_line(path: Path, text: str, error: SettingsError) -> SettingsError:
    what = error.what.replace("settings.toml:", f"{path}:{_line(text, error.key)}:", 1)
    return SettingsError(what, error.next_step, key=error.key)


def _line(text: str, key: str) -> int:
    """Line number, from 1, of a setting; "keys.name" means a key in the table [keys]."""
    name = key.removeprefix("keys.")
    place = _place(text, "keys" if name != key else key)
    if name != key:
        place = _place(text, name, place, before=r"keys[ \t]*\.[ \t]*")
    return text.count("\n", 0, place) + 1


def _place(text: str, key: str, start: int = 0, before: str = r"\[[ \t]*") -> int:
    """Offset of the first line from `start` on that begins with `key`; `start` if there is none."""
    names = "|".join(map(re.escape, {key, _toml(key), f"'{key}'"}))
    line = re.compile(rf"^[ \t]*(?:{before})?(?:{names})[ \t]*[=.\]]", re.MULTILINE)
    found = line.search(text, start)
    return found.start() if found else start


def _one_of(key: str, value: Any, known: tuple[str, ...]) -> None:
    if value not in known:
        names = ", ".join(f'"{name}"' for name in known)
        raise _wrong(key, f"is {_shown(value)}", f"write one of {names}")


def _whole_number(key: str, value: Any, low: int, high: int) -> None:
    # in Python, True is an int
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise _wrong(key, f"is {_shown(value)}", f"write a whole number, {low} to {high}")


def _number(key: str, value: Any, bounds: str, fits: Any) -> None:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not fits(value):
        raise _wrong(key, f"is {_shown(value)}", f"write a number, {bounds}")


def _wrong(key: str, what: str, next_step: str, place: str | None = None) -> SettingsError:
    return SettingsError(f"settings.toml: {key}: {what}", next_step, key=place or key)


def _shown(value: Any) -> str:
    """A value in TOML, shortened to 40 characters."""
    try:
        text = _toml(value)
    except TypeError:
        text = str(value)
    except ValueError:  # 0xff... with more digits than Python writes
        text = "a number of thousands of digits"
    return text if len(text) <= 40 else f"{text[:37]}..."


def _name(key: str) -> str:
    return key if key.isprintable() else _toml(key)


def _toml(value: Any) -> str:
    """A value in TOML. Numbers, booleans and texts are written as in JSON, except for DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
