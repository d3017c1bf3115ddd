"""The protocol between session and teacher: requests go to the teacher, events come back, each as a frozen
dataclass (learning.protocol.requests, learning.protocol.events).

In the app, session and teacher run in different processes and exchange one JSON object a line. Shell
commands and tests pass the objects directly. Imports no torch.
"""

from __future__ import annotations

import functools
import json
import types
import typing
from dataclasses import fields, is_dataclass
from typing import Any, get_args, get_origin

from engine.errors import VidyaError
from learning.protocol.events import Event
from learning.protocol.requests import Request

Message = Request | Event
_BY_NAME: dict[str, type] = {cls.__name__: cls for cls in (*get_args(Request), *get_args(Event))}


class TeacherPort(typing.Protocol):
    """The methods of a teacher that a session uses. Events go to the callback that the teacher was built
    with, in order, from any thread."""

    def send(self, request: Request) -> None:
        """Sends a request and returns at once."""

    def close(self) -> None:
        """Stops the teacher. Returns when it has saved and ended."""


def encode(message: Message) -> str:
    """One line of JSON, without the newline."""
    return json.dumps({"type": type(message).__name__, **_plain(message)}, ensure_ascii=True)


def decode(line: str) -> Message:
    """The inverse of `encode`. Raises VidyaError for a line that is not a message."""
    try:
        raw = json.loads(line)
        cls = _BY_NAME[raw.pop("type")]
        return typing.cast(Message, _build(cls, raw))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise VidyaError(f"not a message: {line[:80]!r} ({error})", "update both sides") from error


@functools.cache
def _fields(kind: Any) -> dict[str, Any] | None:
    """Name -> type of each field of a dataclass or named tuple, which are encoded as objects; None for any
    other type. Cached, because reading annotations takes five times as long as the rest of decoding."""
    if not isinstance(kind, type) or not (is_dataclass(kind) or hasattr(kind, "_fields")):
        return None
    hints = typing.get_type_hints(kind)
    names = kind._fields if hasattr(kind, "_fields") else [field.name for field in fields(kind)]
    return {name: hints[name] for name in names}


def _plain(value: Any) -> Any:
    """Converts dataclasses and named tuples to dicts, and tuples to lists, recursively."""
    kind: Any = type(value)
    if kind is str or kind is int or kind is float:
        return value
    if (names := _fields(kind)) is not None:
        return {name: _plain(getattr(value, name)) for name in names}
    if kind is tuple or kind is list:
        return [_plain(one) for one in value]
    if kind is dict:
        return {key: _plain(one) for key, one in value.items()}
    return value


def _build(kind: Any, value: Any) -> Any:
    """The inverse of `_plain`: builds a value of type `kind` from parsed JSON."""
    if kind is str or kind is int or kind is float:
        return value
    if (hints := _fields(kind)) is not None:
        if unknown := set(value) - set(hints):
            raise KeyError(f"{kind.__name__} has no field {sorted(unknown)}")
        return kind(**{k: _build(hints[k], v) for k, v in value.items()})
    if get_origin(kind) is tuple:
        return tuple(_build(get_args(kind)[0], v) for v in value)
    if get_origin(kind) in (types.UnionType, typing.Union):
        inner = [k for k in get_args(kind) if k is not type(None)]
        return None if value is None else _build(inner[0], value)
    return value
