"""The owner's own editor for a long message: $VISUAL, else $EDITOR, else what there is.

Left out: giving it the terminal (the app suspends itself around `edit`).
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from engine.errors import VidyaError

USUAL = ("nano", "vim", "vi", "notepad")
SOON = 0.5
"""Seconds after the editor in which the app may still be told of a ctrl+c that was pressed in it."""
_left: float | None = None
"""When the last editor was left."""


def editor(env: Mapping[str, str]) -> list[str]:
    """The command line of the editor, without a file. Raises VidyaError."""
    advice = "set VISUAL or EDITOR to the name of an editor that is installed"
    for name in ("VISUAL", "EDITOR"):
        wanted = env.get(name, "").strip()
        if not wanted:
            continue
        try:
            words = shlex.split(wanted)
        except ValueError as error:
            raise VidyaError(f"{name} is {wanted!r}: {error}", advice) from error
        if shutil.which(words[0], path=env.get("PATH")) is None:
            raise VidyaError(f"{name} is {wanted!r}, which is not installed", advice)
        return words
    for wanted in USUAL:
        if shutil.which(wanted, path=env.get("PATH")):
            return [wanted]
    raise VidyaError("there is no editor", advice)


def edit(text: str, command: list[str]) -> str:
    """What stands in the file when the editor is left, or is ended by a signal, without line breaks at
    the end. Nobody else can read the file, and it is gone afterwards. Raises VidyaError."""
    global _left
    number, name = tempfile.mkstemp(prefix="vidya-", suffix=".txt")
    path = Path(name)
    try:
        with os.fdopen(number, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
        status = subprocess.run([*command, name], check=False).returncode
        if status > 0:  # as by vim's :cq
            raise VidyaError(
                f"{command[0]} ended with status {status}", "your message is as it was before"
            )
        return path.read_text("utf-8", "replace").rstrip("\n")
    except OSError as error:
        raise VidyaError(
            f"the message could not be edited ({error.strerror})", "it is as it was before"
        ) from error
    finally:
        path.unlink(missing_ok=True)
        _left = time.monotonic()


def just_left() -> bool:
    """Whether ctrl+c may have been meant for the editor: it reaches whoever runs in the terminal."""
    return _left is not None and time.monotonic() - _left < SOON
