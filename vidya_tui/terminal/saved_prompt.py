"""Saves the text in the prompt when the app closes, in a small file in the home, and restores it at the
next start.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from engine.storage.files import write_atomically
from learning.home import Home, HomeError
from learning.text.normalise import fold_spaces


class Unsent:
    """The saved prompt of one home."""

    def __init__(self, home: Home) -> None:
        self._path = home.unsent_path
        self._kept = False

    def read(self) -> str:
        """The saved text; empty if there is none or it cannot be read."""
        with contextlib.suppress(OSError):
            return self._path.read_text("utf-8", "replace")
        return ""

    def holds(self, text: str) -> bool:
        """True if the saved text contains `text`, in any case and with any white space."""
        return fold_spaces(text) in fold_spaces(self.read())

    def keep(self, text: str) -> None:
        """Saves a text, once, after an earlier one that was not restored yet. Ignores OSError, because the
        app is closing."""
        if self._kept or not text.strip():
            return
        self._kept = True
        earlier = self.read()
        with contextlib.suppress(OSError):
            write_atomically(self._path, f"{earlier}\n{text}" if earlier else text)

    def put_back(self, into: Callable[[str], None]) -> None:
        """Passes the saved text to `into` and removes the file."""
        if text := self.read():
            into(text)
            with contextlib.suppress(HomeError):
                self.remove()

    def remove(self) -> None:
        """Removes the file. Raises HomeError."""
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            raise HomeError(
                f"{self._path}: cannot be removed ({error.strerror})", "remove it by hand"
            ) from error
