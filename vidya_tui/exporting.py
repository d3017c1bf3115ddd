"""Writes a file that the owner asked for: into the folder for such files, or where it was told to."""

from __future__ import annotations

from pathlib import Path

from engine.errors import VidyaError
from learning.home import Home, write_atomically


def write_export(path: Path, text: str) -> None:
    """Raises VidyaError."""
    try:
        write_atomically(path, text)
    except OSError as error:
        reason = error.strerror or str(error)
        raise VidyaError(f"{path}: cannot be written ({reason})", "choose another file") from error


def exported(home: Home, name: str, text: str) -> Path:
    """Writes `name` into the home's folder for copies; where that is. Raises VidyaError."""
    try:
        home.exports_path.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise VidyaError(
            f"{home.exports_path}: cannot be made ({error.strerror})", "make the home writable"
        ) from error
    path = home.exports_path / name
    write_export(path, text)
    return path
