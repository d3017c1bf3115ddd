"""Reads GGUF files, the format of llama.cpp: metadata and tensors.

A file may be malicious, so every count and length is checked against the size of the file before it is used.
The package `gguf` dequantises the blocks; its own reader is not used, because it loops forever on a count of
2^62. Left out: the meaning of the metadata (engine.storage.gguf_model, engine.tokenizers.from_gguf);
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
"""Limit of the bytes before the tensors. A vocabulary of 250,000 with its merges takes 10 million."""
MOST_ENTRIES = 1 << 16
"""Limit of the number of tensors, and of metadata entries. Real files have a few hundred."""
MOST_ITEMS = 1 << 22
"""Limit of the length of an array in the metadata."""
MOST_TEXT = 1 << 24
"""Limit of the length of a text, in bytes."""
_SCALARS = {
    **{0: "<u1", 1: "<i1", 2: "<u2", 3: "<i2", 4: "<u4", 5: "<i4", 6: "<f4", 7: "?"},
    **{10: "<u8", 11: "<i8", 12: "<f8"},
}
_TEXT, _ARRAY = 8, 9
_ADVICE = "copy or download the file again"
Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class TensorEntry:
    """The place and format of a tensor in the file."""

    shape: tuple[int, ...]
    """In numpy's order; the file has the reverse order."""
    kind: int
    """A value of GGMLQuantizationType."""
    start: int
    """Offset in the file, in bytes."""


class GgufFile:
    """An open GGUF file. Every method raises CheckpointError if the file is not GGUF or is damaged."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.metadata: dict[str, Any] = {}
        """Key -> number, bool, text or a list of these."""
        self.tensors: dict[str, TensorEntry] = {}
        try:
            with open_regular(path) as file:
                if file.read(4) != MAGIC:
                    raise ValueError("it does not begin with GGUF")
                self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            self._place = 4
            self._read_header()
        except (OSError, ValueError, OverflowError, struct.error) as error:
            raise CheckpointError(
                f"{path}: is no whole GGUF file ({reason(error)})", _ADVICE
            ) from error

    def array(self, name: str) -> Array:
        """A tensor: float16 and float32 ones unchanged, all others converted to float32. Raises KeyError if
        the file has no such tensor."""
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
            with np.errstate(all="ignore"):  # load_model checks for infinities and NaNs
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
            raise ValueError(f"it counts too much (tensors: {tensors}, entries: {pairs})")
        for _ in range(pairs):
            key = self._text()
            self.metadata[key] = self._value(self._number("<I"))
        if self.metadata.get("split.count", 1) not in (0, 1):
            raise ValueError("it is one of several parts; join them with llama-gguf-split")
        entries = [self._entry() for _ in range(tensors)]
        alignment = self.metadata.get("general.alignment", 32)
        if not isinstance(alignment, int) or not 1 <= alignment <= 1 << 16:
            raise ValueError("its alignment is out of range")
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
        """The current offset; moves on by count bytes. Raises ValueError at the end of the file or of the
        largest header."""
        start, self._place = self._place, self._place + count
        if self._place > min(len(self._bytes), MOST_HEADER):
            raise ValueError("it ends within its header")
        return start


def _block(kind: int) -> tuple[int, int]:
    """(numbers per block, bytes per block) of a GGMLQuantizationType. Raises ValueError if it is unknown."""
    from gguf import GGML_QUANT_SIZES, GGMLQuantizationType

    try:
        block, size = GGML_QUANT_SIZES[GGMLQuantizationType(kind)]
    except (ValueError, KeyError):
        raise ValueError(f"it is quantised as type {kind}, which is unknown") from None
    return block, size
