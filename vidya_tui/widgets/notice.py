"""The line above the prompt: says what just happened, or why something could not be done."""

from __future__ import annotations

from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from vidya_tui.text.sanitise import one_line

SECONDS, READ_IN_A_SECOND = 12.0, 15
"""A notice stays for so long, and a longer one until it can be read at so many characters a second."""


class Notice(Static):
    """Hidden while there is nothing to say."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__("", markup=False, id=id)
        self._timer: Timer | None = None
        self.words = ""
        self.display = False

    def say(self, words: str, *, trouble: bool = False, stay: bool = False) -> None:
        """Shows the words for a while, or until the next ones (`stay`)."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        self.words = one_line(words)
        self.set_class(trouble, "-trouble")
        self.update(Content(("! " if trouble else "") + self.words))
        self.display = bool(self.words)
        if self.words and not stay:
            seconds = max(SECONDS, len(self.words) / READ_IN_A_SECOND)
            self._timer = self.set_timer(seconds, self.clear_words)

    def clear_words(self) -> None:
        self.say("")
