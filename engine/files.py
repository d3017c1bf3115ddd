"""Writing a file so that it is never seen half written."""

from __future__ import annotations

import contextlib
import os
import shutil
import uuid
from pathlib import Path


def write_atomically(path: Path, text: str, *, private: bool = True) -> None:
    """Replaces a file's text so that a crash leaves either the old or the new one, whole.

    Follows a symbolic link and keeps the permissions of what was there; a new file is for its owner
    only where it is `private`, else for whom the process makes files. What is there and no file, as
    a pipe or /dev/stdout, is written into. Bytes that were read with `surrogateescape` are written as
    they were. Raises OSError.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        return
    path = path.resolve()
    # the name carries a fresh number, so that two writers never share a temporary file
    name = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode("utf-8", "surrogateescape"))
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            shutil.copymode(path, name)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            name.unlink()
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
