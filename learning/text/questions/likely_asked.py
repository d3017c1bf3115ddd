"""How likely a message asks for something, by its words and letters, in any order and spelling.

    likely_asked("wat time is danas op agn pls")  # near 1
    likely_asked("dana's op is at nine")  # near 0

A logistic function of a sum over hashed features: words, pairs of neighbours, and runs of three letters, so
that a misspelled word counts too. benchmarks.facts.asking_weighing fitted the weights to what people told and
asked (benchmarks/data/owners.jsonl) and to remarks of conversations. Imports no torch. Left out: questions
that grammar shows (asking.py).
"""

from __future__ import annotations

import math
import re
import struct
import zlib
from array import array
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path

from engine.errors import CheckpointError

BUCKETS = 1 << 14
WEIGHTS = Path(__file__).with_name("likely_asked.bin")
_HEAD = struct.Struct("<ff")
"""Of the file: the bias, and the weight of a step; then BUCKETS signed bytes, numbers of steps."""
_PIECE = re.compile(r"[a-z']+|\d+|[^\w\s]")
_MOST_WORDS = 14


@lru_cache(maxsize=1 << 13)
def likely_asked(message: str) -> float:
    """0 to 1; 0 for what has other letters than English ones, or none. Raises CheckpointError if the weights
    cannot be read."""
    letters = [c for c in message if c.isalpha()]
    if not letters or not all(map(str.isascii, letters)):
        return 0.0
    bias, step, weights = _weights()
    evidence = bias + step * sum(weights[at] for at in features(message))
    return 1.0 / (1.0 + math.exp(-max(-50.0, min(50.0, evidence))))


def features(message: str) -> frozenset[int]:
    """The buckets of a message, each 0 to BUCKETS - 1. A mark at its end does not count."""
    return frozenset(zlib.crc32(one.encode()) % BUCKETS for one in _named(message))


def save_weights(bias: float, weights: list[float], path: Path = WEIGHTS) -> None:
    """Writes them, in BUCKETS steps of equal size. Raises OSError."""
    step = max(map(abs, weights)) / 127 or 1.0
    path.write_bytes(
        _HEAD.pack(bias, step) + array("b", (round(value / step) for value in weights)).tobytes()
    )


@cache
def _weights() -> tuple[float, float, array[int]]:
    """(bias, weight of a step, numbers of steps)."""
    try:
        data = WEIGHTS.read_bytes()
    except OSError as error:
        what = f"{WEIGHTS}: cannot be read ({error.strerror})"
        raise CheckpointError(what, "install vidya again") from error
    if len(data) != _HEAD.size + BUCKETS:
        what = f"{WEIGHTS}: has {len(data)} bytes in place of {_HEAD.size + BUCKETS}"
        raise CheckpointError(what, "install vidya again")
    bias, step = _HEAD.unpack_from(data)
    return bias, step, array("b", data[_HEAD.size :])


def _named(message: str) -> Iterator[str]:
    """The features by name: the first character says of what kind each is."""
    text = message.replace("\u2019", "'").strip().rstrip("?!. ")
    words = ["#" if piece.isdigit() else piece for piece in _PIECE.findall(text.lower())]
    yield f"n{min(len(words), _MOST_WORDS)}"
    yield "C" if text[:1].isupper() else "c"
    if not words:
        return
    yield f"1{words[0]}"
    yield f"L{words[-1]}"
    yield f"f{' '.join(words[:2])}"
    yield f"g{' '.join(words[:3])}"
    yield from (f"w{word}" for word in words)
    yield from (f"b{a} {b}" for a, b in zip(["^", *words], [*words, "$"], strict=True))
    for word in words:
        bounded = f"<{word}>"
        yield from (f"3{bounded[at : at + 3]}" for at in range(len(bounded) - 2))
