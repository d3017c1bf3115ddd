"""Saves the text in the prompt while it is typed and when the app closes, in a small file in the home, and
restores it at the next start.
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
        self._saved = self._before = ""
        """What this run of the program left in the file, and what it left there before."""
        self._earlier = ""
        """What was in the file from elsewhere and is not restored yet."""

    def read(self) -> str:
        """The saved text; empty if there is none or it cannot be read."""
        with contextlib.suppress(OSError):
            return self._path.read_text("utf-8", "replace")
        return ""

    def holds(self, text: str) -> bool:
        """True if the saved text contains `text`, in any case and with any white space."""
        return fold_spaces(text) in fold_spaces(self.read())

    def save(self, text: str) -> None:
        """Saves a text in place of the one saved before, after an earlier one that was not restored yet. An
        empty text removes what was saved. Does nothing after `keep`. Ignores OSError: the text is still in
        the prompt."""
        there = self.read()
        if self._kept:
            return
        if there not in (self._saved, self._before):  # a signal may come between the two
            self._earlier = there
        whole = "\n".join(filter(str.strip, (self._earlier, text)))
        self._before, self._saved = there, whole
        with contextlib.suppress(OSError):
            if not whole:
                self._path.unlink(missing_ok=True)
            elif whole != there:
                write_atomically(self._path, whole)

    def keep(self, text: str) -> None:
        """Saves the text for the last time, because the app is closing. An empty one is not the last: the
        prompt may be empty because it is closed already."""
        self.save(text)
        self._kept = self._kept or bool(text.strip())

    def put_back(self, into: Callable[[str], None]) -> None:
        """Passes the saved text to `into` and removes the file."""
        if text := self.read():
            into(text)
            self._saved = self._earlier = ""
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
