"""Messages between vidya and the sandbox, and between the two processes inside: JSON, never pickle.

A frame is a four-byte length and JSON; one above MOST_BYTES is refused before it is read. `plain` turns
a Python value into JSON that keeps its type (tuple or list, int or float); `value` turns it back. Only
exact built-in types come out, so an object with its own `__eq__` cannot cross. Other objects cross as
a number, a handle that only the process that issued it can resolve.
Left out: mutation. Arguments are passed by value.
"""

from __future__ import annotations

import collections
import decimal
import fractions
import itertools
import json
import socket
import struct
import time
from collections.abc import Callable, Iterable
from typing import Any

MOST_BYTES = 1 << 20
"""Longest frame, in bytes."""
MOST_ITEMS = 10_000
"""Longest iterator that is read; a longer one raises TooMuch."""
SAFE_INT = 1 << 53
"""Integers of at least this size cross as hexadecimal: Python refuses very long decimal literals."""


class TooMuch(Exception):
    """A frame exceeds MOST_BYTES or an iterator MOST_ITEMS."""


class Closed(Exception):
    """The other side closed the connection."""


def send(sock: socket.socket, message: Any) -> None:
    """Sends one frame. Raises TooMuch, or OSError if the other side is gone."""
    body = json.dumps(message, separators=(",", ":")).encode()
    if len(body) > MOST_BYTES:
        raise TooMuch(f"{len(body)} bytes, at most {MOST_BYTES}")
    sock.sendall(struct.pack("<I", len(body)) + body)


def receive(sock: socket.socket, until: float | None = None) -> Any:
    """Receives the next frame. until: deadline on time.monotonic(), after which it raises TimeoutError.

    Raises Closed, TooMuch, or ValueError if the frame is not JSON.
    """
    (length,) = struct.unpack("<I", _exactly(sock, 4, until))
    if length > MOST_BYTES:
        raise TooMuch(f"{length} bytes, at most {MOST_BYTES}")
    try:
        return json.loads(_exactly(sock, length, until), parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _exactly(sock: socket.socket, length: int, until: float | None) -> bytes:
    got = bytearray()
    while len(got) < length:
        if until is not None:
            # data that arrived in time still counts if this process was suspended past the deadline
            sock.settimeout(max(0.0, until - time.monotonic()))
        try:
            piece = sock.recv(min(length - len(got), 1 << 16))
        except BlockingIOError:
            raise TimeoutError from None
        except ConnectionError:
            piece = b""
        if not piece:
            raise Closed
        got += piece
    return bytes(got)


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")


def plain(value: Any, keep: Callable[[Any], int]) -> Any:
    """A value as JSON. keep(object) stores an object that is not data and returns its handle."""

    def all_of(values: Any) -> list[Any]:
        return [plain(item, keep) for item in values]

    if value is None or value is True or value is False or type(value) is str:
        return value
    if isinstance(value, int):
        number = int.__index__(value)
        return number if -SAFE_INT < number < SAFE_INT else ["int", hex(number)]
    if isinstance(value, float):
        return ["float", float.hex(value)]
    if isinstance(value, str):
        return str.__str__(value)
    for kind, name in _KINDS:
        if isinstance(value, kind):
            return [name, all_of(kind.__iter__(value))]
    if isinstance(value, dict):
        return ["dict", [all_of(entry) for entry in dict.items(value)]]
    if isinstance(value, bytes | bytearray):
        return ["bytes", bytes(value).hex()]
    if isinstance(value, complex):
        return ["complex", value.real.hex(), value.imag.hex()]
    if isinstance(value, range):
        return ["range", all_of((value.start, value.stop, value.step))]
    if isinstance(value, decimal.Decimal):
        return ["Decimal", decimal.Decimal.__str__(value)]
    if isinstance(value, fractions.Fraction):
        return ["Fraction", all_of((value.numerator, value.denominator))]
    if isinstance(value, type({}.keys())):
        return ["keys", all_of(value)]
    if isinstance(value, type({}.items())):
        entries: Iterable[Any] = value
        return ["items", [all_of(entry) for entry in entries]]
    if hasattr(type(value), "__next__") or isinstance(value, type({}.values())):
        taken = list(itertools.islice(value, MOST_ITEMS + 1))
        if len(taken) > MOST_ITEMS:
            raise TooMuch(f"an iterator of more than {MOST_ITEMS} items")
        return ["iterator", all_of(taken)]
    if type(value) is type and value in _TYPES:
        return ["type", value.__name__]
    return ["object", keep(value)]


_TYPES = (int, str, float, bool, list, tuple, dict, set, frozenset, bytes, complex, range)
_KINDS: tuple[tuple[Any, str], ...] = (
    (list, "list"),
    (tuple, "tuple"),
    (set, "set"),
    (frozenset, "frozenset"),
    (collections.deque, "deque"),
)
_MAKE: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
    "deque": collections.deque,
    "dict": dict,
    "keys": lambda items: dict.fromkeys(items).keys(),
    "items": lambda pairs: dict(pairs).items(),
    "range": lambda ends: range(*ends),
    "Fraction": lambda parts: fractions.Fraction(*parts),
    "iterator": iter,
}


def value(data: Any, found: Callable[[int], Any]) -> Any:
    """Inverse of `plain`. found(handle) returns the local stand-in for an object of the other side.

    Raises ValueError, TypeError or KeyError if `plain` did not write the data.
    """
    if data is None or isinstance(data, bool | int | str):
        return data
    if not isinstance(data, list) or len(data) < 2 or not isinstance(data[0], str):
        raise ValueError("not a value")
    kind, first = data[0], data[1]
    if kind == "object":
        return found(first)
    if kind in _MAKE:
        if kind in ("dict", "items"):
            return _MAKE[kind]([(value(k, found), value(v, found)) for k, v in first])
        return _MAKE[kind]([value(item, found) for item in first])
    if not isinstance(first, str):
        raise ValueError("not a value")
    if kind == "int":
        return int(first, 16)
    if kind == "float":
        return float.fromhex(first)
    if kind == "bytes":
        return bytes.fromhex(first)
    if kind == "type":
        return {one.__name__: one for one in _TYPES}[first]
    if kind == "Decimal":
        return decimal.Decimal(first)
    if kind == "complex":
        return complex(float.fromhex(first), float.fromhex(data[2]))
    raise ValueError("not a value")
