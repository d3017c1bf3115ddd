"""Appends errors to the log in the home, for debugging."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import BinaryIO

LARGEST = 4_000_000
"""Bytes. A larger log is renamed to `.old` when it is next opened."""


def open_log(path: Path) -> BinaryIO:
    """Opens the log for appending, readable by its owner only. Raises OSError."""
    with contextlib.suppress(OSError):
        if path.stat().st_size > LARGEST:
            path.replace(path.with_name(path.name + ".old"))
    handle = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    return os.fdopen(handle, "ab", buffering=0)


def write_log(path: Path, text: str) -> None:
    """Adds an entry with the time. Ignores OSError."""
    stamp = time.strftime("%Y-%m-%d %H:%M:%S")
    with contextlib.suppress(OSError), open_log(path) as log:
        log.write(f"{stamp} {text.rstrip()}\n".encode("utf-8", "backslashreplace"))
