"""What stood in the prompt when the app was left: a small file in the home, until the next start has
put it back there.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from engine.storage.files import write_atomically
from learning.home import Home, HomeError


class Unsent:
    """Of one home."""

    def __init__(self, home: Home) -> None:
        self._path = home.unsent_path
        self._kept = False

    def read(self) -> str:
        """The text; empty if there is none, or it cannot be read."""
        with contextlib.suppress(OSError):
            return self._path.read_text("utf-8", "replace")
        return ""

    def holds(self, text: str) -> bool:
        """Whether a text is in it, whatever its case."""
        return text.casefold() in self.read().casefold()

    def keep(self, text: str) -> None:
        """Keeps a text, once, behind one that was not put back yet. Errors are passed over: the owner
        leaves."""
        if self._kept or not text.strip():
            return
        self._kept = True
        earlier = self.read()
        with contextlib.suppress(OSError):
            write_atomically(self._path, f"{earlier}\n{text}" if earlier else text)

    def put_back(self, into: Callable[[str], None]) -> None:
        """Puts the text where it was, and removes it here."""
        if text := self.read():
            into(text)
            with contextlib.suppress(HomeError):
                self.remove()

    def remove(self) -> None:
        """It is in the prompt again, or is to be forgotten. Raises HomeError."""
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            raise HomeError(
                f"{self._path}: cannot be removed ({error.strerror})", "remove it by hand"
            ) from error
