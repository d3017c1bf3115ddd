"""Opens text files, possibly compressed, and reads them line by line."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO

from engine.errors import DataError, reason
from engine.storage.reading import SAVE_FIRST, open_regular

COMPRESSED = (".zst", ".gz")


OnBad = Callable[[DataError], None]
"""Called with the error of a row that is skipped."""


def plain_suffix(path: Path) -> str:
    """The suffix in lower case, ignoring a suffix of compression: ".jsonl" for "a.JSONL.zst"."""
    name = Path(path.name.lower())
    return name.with_suffix("").suffix if name.suffix in COMPRESSED else name.suffix


def open_file(path: Path) -> BinaryIO:
    """A file of data that is opened for reading. Raises OSError, and DataError for a device or a pipe: it may
    never end, and data is read more than once."""
    try:
        return open_regular(path)
    except ValueError as error:
        raise DataError(f"{path}: cannot be read ({reason(error)})", SAVE_FIRST) from error


@contextmanager
def open_data(path: Path) -> Iterator[IO[bytes]]:
    """Yields a binary stream of a file, decompressed if its suffix is .zst or .gz. Raises DataError as
    open_file does and for damaged compression, and OSError."""
    kind = path.suffix.lower()
    broken: tuple[type[Exception], ...] = (gzip.BadGzipFile, zlib.error, EOFError)
    if kind == ".zst":
        import zstandard

        broken = (zstandard.ZstdError,)
    try:
        with open_file(path) as stream:
            if kind == ".zst":
                yield io.BufferedReader(_Unpacked(stream))
            elif kind == ".gz":
                yield io.BufferedReader(gzip.GzipFile(fileobj=stream))
            else:
                yield stream
    except broken as error:
        raise DataError(
            f"{path}: cannot be decompressed ({reason(error)})", f"give a whole file ({kind})"
        ) from error


class _Unpacked(io.RawIOBase):
    """Decompresses a .zst file of one or more frames. Raises ZstdError if the last frame is truncated;
    zstandard's own reader treats that as the end of the file."""

    def __init__(self, packed: IO[bytes]) -> None:
        self._packed = packed
        self._frame: Any = None
        self._left = self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready and self._fill():
            pass
        given, self._ready = self._ready[: len(buffer)], self._ready[len(buffer) :]
        buffer[: len(given)] = given
        return len(given)

    def _fill(self) -> bool:
        """Decompresses the next block. Returns False at the end of the file."""
        import zstandard

        block = self._left or self._packed.read(1 << 14)
        if not block:
            if self._frame is not None:
                raise zstandard.ZstdError("it is cut short")
            return False
        self._frame = self._frame or zstandard.ZstdDecompressor().decompressobj()
        self._ready = self._frame.decompress(block)
        self._left = self._frame.unused_data if self._frame.eof else b""
        self._frame = None if self._frame.eof else self._frame
        return True


def text_lines(
    stream: IO[bytes], path: Path, on_bad: OnBad | None = None
) -> Iterator[tuple[int, str]]:
    """Yields (line number from 1, text) of each line. Raises DataError for a line that is not UTF-8; if
    `on_bad` is given, calls it with that error and skips the line."""
    for number, line in enumerate(stream, 1):
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            report_bad(
                DataError(f"{path}:{number}: is no UTF-8 ({error})", "save it as UTF-8"), on_bad
            )
        else:
            yield number, text.rstrip("\r\n")


def report_bad(error: DataError, on_bad: OnBad | None) -> None:
    """Calls `on_bad` with the error; raises it if there is no `on_bad`."""
    if on_bad is None:
        raise error
    on_bad(error)
