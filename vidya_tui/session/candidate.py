"""A candidate as its card shows it: text that grows, may be reset, and ends."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from vidya_tui.text.dates import when, when_short
from vidya_tui.text.numbers import counted, percent

if TYPE_CHECKING:  # the first frame waits for no more than it needs
    from learning.protocol.events import CandidateDone
    from learning.protocol.records import Ending


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
    """The model's certainty (learning.teacher.certainty), 0 to 1; None until the text is done, or where it
    was not measured."""
    chosen: bool = False
    recalled: int | None = None
    """The lesson that was recalled for it; the journal does not keep this."""
    said_at: float | None = None
    """When the owner said what it says back, in seconds since the epoch; the journal does not keep this."""
    offered: bool = False
    """Whether the program put the text here: that lesson's answer, or what the owner said. The model did not
    write it."""

    @property
    def said(self) -> str:
        """The text as it would be the answer: without white space around it."""
        return self.text.strip()

    def certainty(self) -> float:
        """The key that cards are sorted by, 0 to 1; -1 for a text that is empty or was cut short."""
        whole = self.state == "done" and self.ending != "cancelled" and bool(self.said)
        return (self.confidence or 0.0) if whole else -1.0

    def facts(self, room: int = 80) -> str:
        """Length, origin, certainty and ending in a few words. room: columns; where they are too few, words
        are left out, and at last all but the ending."""
        count = len(self.text.split())
        words = counted(count, "word") if count else ""
        share = sure = ""
        if self.confidence is not None and self.ending != "cancelled":
            share = percent(self.confidence)
            sure = f"{share} sure"
        end = "\u2026"
        if self.state == "done":
            end = {"end": "\u2713", "length": "cut off", "cancelled": "stopped", None: ""}[
                self.ending
            ]
        short = self.origin if self.recalled is None else f"lesson {self.recalled}"
        if self.said_at is not None:
            short = f"you said {when_short(self.said_at, time.time())}"
        ways = (
            *((words, self.origin, sure), (self.origin, sure), (short, sure)),
            *((short, share), (short or share,)),
        )
        lines = (" \u00b7 ".join(filter(None, (*parts, end))) for parts in ways)
        return next((line for line in lines if len(line) <= room), end)

    @property
    def origin(self) -> str:
        """Where it comes from, in words; empty if the model wrote it by itself."""
        if self.said_at is not None:
            return f"what you said ({when(self.said_at, time.time()).strip()})"
        if self.recalled is None:  # the journal does not keep of what
            return "offered" if self.offered else ""
        return f"{'offered' if self.offered else 'recalled'} from lesson {self.recalled}"

    def finish(self, done: CandidateDone) -> None:
        """Takes over the text, ending and certainty of the complete candidate, and where it comes from."""
        candidate = done.candidate
        self.recalled, self.said_at, self.offered = done.recalled, done.said_at, candidate.offered
        self.text, self.state, self.ending = candidate.text, "done", candidate.ending
        self.tokens = len(candidate.tokens)
        self.confidence = candidate.certainty

    def stop(self) -> None:
        """Ends the card as cancelled, unless it is done."""
        if self.state != "done":
            self.state, self.ending = "done", "cancelled"
