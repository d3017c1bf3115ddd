"""Folders that a program was filling with a new model when it was killed: `.NAME.PID` in `models`."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import time
from pathlib import Path

_NAME = re.compile(r"\..+\.(\d{1,10})")
STILL = 60.0
"""Seconds for which a folder is left alone after it was last written."""
LONGEST = 86_400.0
"""Seconds after which it is removed even where its process seems to live: the number is another's."""


def remove_unfinished_models(models: Path) -> None:
    """Removes those whose process is gone. What cannot be removed stays: errors are passed over."""
    with contextlib.suppress(OSError):
        for path in models.iterdir():
            found = _NAME.fullmatch(path.name)
            if not found or path.is_symlink() or not path.is_dir():
                continue
            age = time.time() - path.stat().st_mtime
            if age > LONGEST or (age > STILL and not _alive(int(found[1]))):
                shutil.rmtree(path, ignore_errors=True)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # another user's
        return True
    return True
