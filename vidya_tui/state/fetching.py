"""A model that is being fetched, until the talk goes on with it, and the offer of one. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING

from engine.storage.disk import size
from vidya_tui.state.message import StatusMessage
from vidya_tui.text.numbers import percent

if TYPE_CHECKING:  # the first frame waits for no more than it needs
    from learning.models.known import KnownModel
    from learning.protocol.events import Event


ENOUGH = 3
"""Lessons of which a median says how fast a machine is. The first one of a session takes longer."""


@dataclass(frozen=True)
class Fetching:
    """A model on its way into the home."""

    name: str
    done: int = 0
    """Bytes that are there ..."""
    total: int = 0
    """... of so many; 0 until that is known."""
    prepared: float = 0.0
    """Share of its preparation that is done once all bytes are there, 0 to 1."""
    there: bool = False
    """It is in the home; the talk goes on with it in the next pause."""
    wanted: bool = True
    """The talk goes on with it; False: the owner has chosen another model since."""

    @property
    def share(self) -> float:
        """Share that is fetched, 0 to 1."""
        return min(1.0, max(0.0, self.done / self.total)) if self.total > 0 else 0.0

    def short(self) -> str:
        """A few words for the learning line, after a bar."""
        if self.there:
            return f"{self.name} is there"
        if self.total and self.done >= self.total:
            share = f", {percent(self.prepared)}" if self.prepared > 0 else ""
            return f"preparing {self.name}{share}"
        return f"{percent(self.share)} of {self.name}"

    def words(self) -> str:
        """A sentence for the model screen and the line mode."""
        if not self.total or self.there or self.done >= self.total:
            return f"fetching {self.name}" if not self.total else self.short()
        return f"fetching {self.name}: {percent(self.share)} of {size(self.total)}"


def after(now: Fetching | None, event: Event) -> Fetching | None:
    """What is known after an event."""
    from learning.protocol.events import Failed
    from learning.protocol.model_events import Fetched, FetchProgress

    match event:
        case FetchProgress() if now is not None and now.name == event.name:
            return replace(now, done=event.done, total=event.total, prepared=event.prepared)
        case Fetched() if now is not None and now.name == event.name:
            return replace(now, there=True)
        case Failed(where="fetch"):
            return None
    return now


def failed(name: str, what: str, next_step: str) -> StatusMessage:
    """Says that a model could not be fetched."""
    step = f"; {next_step}" if next_step else ""
    return StatusMessage(
        f"{name} was not fetched: {what}{step}; /get {name} tries again", trouble=True, stay=True
    )


def facts(model: KnownModel) -> str:
    """Size and licence of a model that can be fetched: "98 MB, Apache-2.0"."""
    return f"{size(model.download_bytes)}, {model.licence.capitalize()}"


def lesson(model: KnownModel, used: str, took: Sequence[float]) -> str:
    """How long a lesson of the model takes: "about 5 s a lesson here"; empty: not known.

    used: the model in use. took: seconds of lessons that it has learned on this machine. If it is the shipped
    one and has learned ENOUGH of them, their median is multiplied by the ratio that the benchmarks found.
    Otherwise the time is that of the machine of the benchmarks.
    """
    from learning.models.known import SHIPPED_LESSON_SECONDS

    if model.lesson_seconds is None:
        return ""
    shipped, there = SHIPPED_LESSON_SECONDS
    if used != shipped or len(took) < ENOUGH:
        return f"about {_whole(model.lesson_seconds)} s a lesson on the benchmark machine"
    return f"about {_whole(median(took) * model.lesson_seconds / there)} s a lesson on this machine"


def _whole(seconds: float) -> int:
    """Rounds to whole seconds, at least one."""
    return max(1, round(seconds))


def offer(model: KnownModel, lesson: str, way: str) -> str:
    """Offers a model in one sentence. lesson: see `lesson`. way: the key or command that fetches it."""
    takes = f", and takes {lesson}" if lesson else ""
    return (
        f"{model.name} ({facts(model)}) speaks much better{takes}; {way} fetches it while you talk."
    )
