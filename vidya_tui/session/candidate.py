"""A candidate as it is shown: text that grows, is drawn anew, and ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from vidya_tui.text.numbers import counted, percent

if TYPE_CHECKING:  # the first frame waits for no more than it needs
    from learning.protocol.records import Candidate, Ending


@dataclass
class Card:
    """One candidate as it is shown."""

    index: int
    """1 to n."""
    text: str = ""
    state: Literal["waiting", "streaming", "done"] = "waiting"
    ending: Ending | None = None
    tokens: int = 0
    confidence: float | None = None
    """How sure the model is of it (learning.teacher.certainty), 0 to 1; None until it is done, and where that
    was not measured."""
    chosen: bool = False

    @property
    def said(self) -> str:
        """The text without white space around it, as an answer has it."""
        return self.text.strip()

    def certainty(self) -> float:
        """What cards are ordered by, 0 to 1; below 0 where the text is not whole, or where there is none."""
        whole = self.state == "done" and self.ending != "cancelled" and bool(self.said)
        return (self.confidence or 0.0) if whole else -1.0

    def facts(self, room: int = 80) -> str:
        """How long it is, how sure the model was and how it ended, in a few words; how it ended is
        what stays where there is no room for more."""
        count = len(self.text.split())
        words = counted(count, "word") if count else ""
        sure = ""
        if self.confidence is not None and self.ending != "cancelled":
            sure = f"{percent(self.confidence)} sure"
        end = "\u2026"
        if self.state == "done":
            end = {"end": "\u2713", "length": "cut off", "cancelled": "stopped", None: ""}[
                self.ending
            ]
        parts = [part for part in (words, sure, end) if part]
        while len(parts) > 1 and len(" \u00b7 ".join(parts)) > room:
            del parts[0]
        return " \u00b7 ".join(parts)

    def finish(self, candidate: Candidate) -> None:
        """It is complete, and this is all of it."""
        self.text, self.state, self.ending = candidate.text, "done", candidate.ending
        self.tokens = len(candidate.tokens)
        self.confidence = candidate.certainty

    def stop(self) -> None:
        """No more of it will come."""
        if self.state != "done":
            self.state, self.ending = "done", "cancelled"
