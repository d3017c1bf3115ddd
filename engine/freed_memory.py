"""Returns memory that was freed to the operating system. Imports no torch."""

from __future__ import annotations

import contextlib
import ctypes


def return_freed_memory() -> None:
    """Lets malloc return what it keeps of freed memory. Takes 10 ms; does nothing unless malloc is glibc's.

    While it works, a process is to keep that memory (vidya_tui/worker/environment.py); an idle one is not.
    """
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)
