"""Opens the owner's editor for a long message: $VISUAL, else $EDITOR, else a usual one that is installed.

Left out: handing over the terminal (the app suspends itself around `edit`).
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
"""Seconds after the editor has closed in which a ctrl+c may still have been meant for it."""
_left: float | None = None
"""time.monotonic() at which the last editor closed."""


def editor(env: Mapping[str, str]) -> list[str]:
    """The editor's command line without a file. Raises VidyaError if there is no editor."""
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
    """Lets the owner edit a text; returns the saved file without trailing line breaks, also if a signal
    ended the editor. Uses a private temporary file, which is removed. Raises VidyaError."""
    global _left
    number, name = tempfile.mkstemp(prefix="vidya-", suffix=".txt")
    path = Path(name)
    try:
        with os.fdopen(number, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
        status = subprocess.run([*command, name], check=False).returncode
        if status > 0:  # for example vim's :cq
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
    """True if a ctrl+c may have been meant for the editor: every program in the terminal receives it."""
    return _left is not None and time.monotonic() - _left < SOON
