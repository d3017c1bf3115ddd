"""Whether a message asks for something by the look of its words and letters, in any order and spelling.

    likely_asked("wat time is danas op agn pls")  # near 1
    likely_asked("dana's op is at nine")  # near 0
    asks_by_its_look("garage code pls")  # True

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
from learning.text.questions.asking import states, without_opening

BUCKETS = 1 << 14
WEIGHTS = Path(__file__).with_name("likely_asked.bin")
_HEAD = struct.Struct("<ff")
"""Of the file: the bias, and the weight of a step; then BUCKETS signed bytes, numbers of steps."""
_PIECE = re.compile(r"[a-z']+|\d+|[^\w\s]")
_MOST_WORDS = 14
_BESIDES = re.compile(r", (?:who|whose|which|where|when)\b[^,]*(?=,)")
"""A clause between commas: "my house, where I was born, is red"."""
_EXCLAIMS = re.compile(
    r"(?:(?:what (?:an? (?:[\w'-]+ ){0,2}[\w'-]+|the (?:hell|heck|devil|fuck)|luck|fun|joy|nonsense|rubbish)"
    r"|how (?!many\b|much\b|old\b|long\b|far\b|often\b|big\b|tall\b|come\b)"
    r"[\w'-]+(?: (?:is|are|was) (?:that|it|this)| (?:of|for) .+)?"
    r"|how time flies|(?:so|what|now|say) (?:what|up)|says who|why not|who (?:cares|knows)"
    r"|(?:no|good|thank|cheers|ta|sorry|fair|nice|well|see) [\w'-]+(?: [\w'-]+)?)[.! ]*)",
    re.IGNORECASE,
)
"""What asks nothing although it begins like a question, or is as short: "What a day", "How cool"."""
_REPORTS = re.compile(
    r"(?:\w+ ){1,3}(?:told|said|says|asked|knows?|knew|showed|explained|thinks)\b"
)
"""What somebody said: "Tom told me who did it"."""
_VALUE = re.compile(r"\S \S*(?:\d\d|[A-Z])\S*$")
"""A code or a name at the end: "gate code 4471", "ring size M"."""
_ASKED_FOR = re.compile(
    r"\b(?:w(?:h?[ao]ts?|h?ens?|h?er?es?|h?ich|hos?)|hw|how|pl[sz]+|please)\b", re.IGNORECASE
)
ASKS, ASKS_IN_TWO = 0.6, 0.85
"""Likelihood from which a message asks by the look of its words, and the same for one of two words
(benchmarks/results/asking.md)."""


def asks_by_its_look(message: str, likely: float | None = None) -> bool:
    """Whether a message is likely to ask for something, and has not the form of a statement, a report, an
    exclamation or a value. likely: 0 to 1; by default `likely_asked`, which may raise CheckpointError."""
    stated = without_opening(_BESIDES.sub("", message).strip())
    count = len(stated.split())
    if count < 2 or _EXCLAIMS.fullmatch(stated) or _REPORTS.match(stated) or states(stated):
        return False
    if _VALUE.search(stated) and not (message.isupper() or _ASKED_FOR.search(stated)):
        return False
    likely = likely_asked(message) if likely is None else likely
    return likely >= (ASKS_IN_TWO if count == 2 else ASKS)


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
