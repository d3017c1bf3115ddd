"""A larger model that is being made, from the request to the end."""

from __future__ import annotations

from dataclasses import dataclass

from learning.protocol.events import Event, Failed, TeacherEnded
from learning.protocol.model_events import Grown
from vidya_tui.text.numbers import seconds


@dataclass(frozen=True)
class Growing:
    """A model that is being made."""

    name: str
    """Of the larger model."""
    since: float
    """time.monotonic() of the request."""

    def short(self) -> str:
        """A few words for the learning line."""
        return f"growing to {self.name}"

    def words(self, now: float, *, waits: bool) -> str:
        """A sentence for the model screen. now: time.monotonic(); waits: a book training runs first."""
        so_far = f"growing to {self.name} \u00b7 {seconds(round(now - self.since))} so far"
        return f"{so_far} \u00b7 it begins after the training" if waits else so_far


def after(now: Growing | None, event: Event) -> Growing | None:
    """What is known after an event."""
    match event:
        case Grown() | Failed(where="grow" | "worker") | TeacherEnded():
            return None
    return now
