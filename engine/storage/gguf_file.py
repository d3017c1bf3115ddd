"""Reads files in llama.cpp's format GGUF: what they say of themselves, and their tensors as numbers.

A file can come from anywhere: every count and length is compared with what the file has before anything
is read by it. The package `gguf` turns quantised blocks into numbers; its own reader goes round a count
of 2^62 for ever. Left out: what the metadata means (engine.storage.gguf_model, engine.tokenizers.gguf);
big-endian files, files in several parts.
"""

from __future__ import annotations

import math
import mmap
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import CheckpointError, reason
from engine.storage.reading import open_regular

MAGIC = b"GGUF"
VERSIONS = (2, 3)
MOST_HEADER = 1 << 28
"""Bytes before the tensors; a vocabulary of 250,000 with its merges has 10 million."""
MOST_ENTRIES = 1 << 16
"""Tensors, and pairs of metadata; real files have some hundred."""
MOST_ITEMS = 1 << 22
"""In an array of the metadata."""
MOST_TEXT = 1 << 24
"""Bytes of one text."""
_SCALARS = {
    **{0: "<u1", 1: "<i1", 2: "<u2", 3: "<i2", 4: "<u4", 5: "<i4", 6: "<f4", 7: "?"},
    **{10: "<u8", 11: "<i8", 12: "<f8"},
}
_TEXT, _ARRAY = 8, 9
_ADVICE = "copy or download the file again"
Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class TensorEntry:
    """Where a tensor lies, and as what."""

    shape: tuple[int, ...]
    """Rows first, as numpy has it."""
    kind: int
    """Number of a GGMLQuantizationType."""
    start: int
    """Byte in the file."""


class GgufFile:
    """An open file. Every method raises CheckpointError for a file that is none, or is damaged."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.metadata: dict[str, Any] = {}
        """Numbers, truth values, texts, and lists of them."""
        self.tensors: dict[str, TensorEntry] = {}
        try:
            with open_regular(path) as file:
                if file.read(4) != MAGIC:
                    raise ValueError("it does not begin as one")
                self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            self._place = 4
            self._read_header()
        except (OSError, ValueError, OverflowError, struct.error) as error:
            raise CheckpointError(
                f"{path}: is no whole GGUF file ({reason(error)})", _ADVICE
            ) from error

    def array(self, name: str) -> Array:
        """A tensor in float32; a float16 or float32 one in its own precision. Raises KeyError where
        there is none."""
        from gguf import GGMLQuantizationType
        from gguf.quants import dequantize

        entry = self.tensors[name]
        kind = GGMLQuantizationType(entry.kind)
        block, size = _block(entry.kind)
        *rows, columns = entry.shape
        count = math.prod(rows) * (columns // block) * size
        raw = np.frombuffer(self._bytes, np.uint8, count, entry.start)
        if kind == GGMLQuantizationType.F32:
            return raw.view("<f4").reshape(entry.shape)
        if kind == GGMLQuantizationType.F16:
            return raw.view("<f2").reshape(entry.shape)
        try:
            with np.errstate(all="ignore"):  # what is not finite is found when the model is read
                blocks = raw.reshape(*rows, -1)
                return np.asarray(dequantize(blocks, kind), np.float32).reshape(entry.shape)
        except (NotImplementedError, ValueError, IndexError) as error:
            raise CheckpointError(
                f"{self.path}: {name!r} is quantised as {kind.name}, which cannot be read",
                "choose a file in F16, BF16, Q8_0, Q6_K, Q5_K, Q4_K, Q4_0 or Q4_1",
            ) from error

    def _read_header(self) -> None:
        version = self._number("<I")
        if version not in VERSIONS:
            raise ValueError(f"it has version {version}, {VERSIONS[0]} and {VERSIONS[1]} are read")
        tensors, pairs = self._number("<Q"), self._number("<Q")
        if max(tensors, pairs) > MOST_ENTRIES:
            raise ValueError(f"it counts {tensors} tensors and {pairs} entries")
        for _ in range(pairs):
            key = self._text()
            self.metadata[key] = self._value(self._number("<I"))
        if self.metadata.get("split.count", 1) not in (0, 1):
            raise ValueError("it is one of several parts; join them with llama-gguf-split")
        entries = [self._entry() for _ in range(tensors)]
        alignment = self.metadata.get("general.alignment", 32)
        if not isinstance(alignment, int) or not 1 <= alignment <= 1 << 16:
            raise ValueError("its alignment is no size")
        data = -(-self._place // alignment) * alignment
        for name, shape, kind, offset in entries:
            block, size = _block(kind)
            count = math.prod(shape)
            if not count or shape[-1] % block:
                raise ValueError(f"{name!r} has the shape {shape}")
            if data + offset + count // block * size > len(self._bytes):
                raise ValueError(f"it ends within {name!r}")
            self.tensors[name] = TensorEntry(shape, kind, data + offset)

    def _entry(self) -> tuple[str, tuple[int, ...], int, int]:
        name, dimensions = self._text(), self._number("<I")
        if not 1 <= dimensions <= 4:
            raise ValueError(f"{name!r} has {dimensions} dimensions")
        shape = tuple(self._number("<Q") for _ in range(dimensions))[::-1]
        return name, shape, self._number("<I"), self._number("<Q")

    def _value(self, kind: int, nested: bool = False) -> Any:
        if kind in _SCALARS:
            return self._numbers(kind, 1)[0].item()
        if kind == _TEXT:
            return self._text()
        if kind != _ARRAY or nested:
            raise ValueError(f"a value of the type {kind}")
        of, count = self._number("<I"), self._number("<Q")
        if count > MOST_ITEMS:
            raise ValueError(f"an array of {count}")
        if of in _SCALARS:
            return self._numbers(of, count).tolist()
        return [self._value(of, nested=True) for _ in range(count)]

    def _numbers(self, kind: int, count: int) -> Array:
        dtype = np.dtype(_SCALARS[kind])
        return np.frombuffer(self._bytes, dtype, count, self._take(count * dtype.itemsize))

    def _number(self, layout: str) -> int:
        (value,) = struct.unpack_from(layout, self._bytes, self._take(struct.calcsize(layout)))
        return int(value)

    def _text(self) -> str:
        length = self._number("<Q")
        if length > MOST_TEXT:
            raise ValueError(f"a text of {length} bytes")
        start = self._take(length)
        return self._bytes[start : start + length].decode("utf-8")

    def _take(self, count: int) -> int:
        """The place where so many bytes begin; goes on behind them."""
        start, self._place = self._place, self._place + count
        if self._place > min(len(self._bytes), MOST_HEADER):
            raise ValueError("it ends within what it says of itself")
        return start


def _block(kind: int) -> tuple[int, int]:
    """Numbers in a block, and its bytes. Raises ValueError for a kind that nobody knows."""
    from gguf import GGML_QUANT_SIZES, GGMLQuantizationType

    try:
        block, size = GGML_QUANT_SIZES[GGMLQuantizationType(kind)]
    except (ValueError, KeyError):
        raise ValueError(f"it is quantised as type {kind}, which nobody here knows") from None
    return block, size
