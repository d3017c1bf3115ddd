"""What is known from the teacher's events: the one place where an event becomes knowledge.

`after` is called with every event, in order; `told` says what the event means for the owner. Each part has
its own file beside this one, with its sentences. Left out: the conversation and its candidates
(session/session.py), and sentences that name a lesson of the journal (controller/controller.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from learning.protocol.events import Event, Failed, MessageCut, PracticeDone, TrainDone
from learning.protocol.reason_events import ReasonGivenUp
from vidya_tui.state import fetching, growth, learner, practice, presence
from vidya_tui.state.fetching import Fetching
from vidya_tui.state.growth import Growing
from vidya_tui.state.learner import Learning
from vidya_tui.state.lessons import quote
from vidya_tui.state.message import StatusMessage
from vidya_tui.state.practice import Practising
from vidya_tui.state.presence import ModelPresence
from vidya_tui.state.training import TrainingLog


@dataclass(frozen=True)
class TeacherState:
    """What is known of the teacher."""

    model: ModelPresence = ModelPresence()
    learning: Learning = Learning()
    training: TrainingLog = TrainingLog()
    """The book training that runs, or the last one."""
    practice: Practising = Practising()
    growing: Growing | None = None
    """A larger model that is being made."""
    fetching: Fetching | None = None
    """A model that is on its way into the home."""


def after(now: TeacherState, event: Event) -> TeacherState:
    """What is known after an event."""
    practising = practice.after(now.practice, event)
    growing = growth.after(now.growing, event)
    learning = learner.after(now.learning, event)
    fetched = fetching.after(now.fetching, event)
    aside = practice.short(practising) or (growing.short() if growing else "")
    if aside != learning.practice:
        learning = replace(learning, practice=aside)
    if fetched != learning.fetching:
        learning = replace(learning, fetching=fetched)
    return TeacherState(
        model=presence.after(now.model, event),
        learning=learning,
        training=now.training.after(event),
        practice=practising,
        growing=growing,
        fetching=fetched,
    )


def told(before: TeacherState, event: Event, now: TeacherState) -> StatusMessage | None:
    """What to tell the owner about an event; None: nothing. before, now: the state before and after it."""
    match event:
        case TrainDone():
            return StatusMessage(learner.trained(event))
        case Failed(where="fetch"):
            name = before.fetching.name if before.fetching else "the model"
            return fetching.failed(name, event.what, event.next_step)
        case ReasonGivenUp():
            return StatusMessage(
                f"no other answer was found that follows {quote(event.reason)}; it holds for its own "
                "message, and is not tried again"
            )
        case MessageCut():
            return StatusMessage(learner.cut(event), trouble=True)
        case PracticeDone(idle=True):
            night = practice.night(now.practice)
            words = practice.alarmed(practice.done(night), night.alarm)
            trouble = bool(night.alarm)
            return StatusMessage(f"while you were away: {words}", trouble=trouble, stay=True)
        case PracticeDone():
            words, next_step = practice.done(event), practice.advice(event, practice.warm_up(event))
            words = f"{words}; {next_step}" if next_step else words
            alarm = now.practice.alarm if now.practice.alarm != before.practice.alarm else ""
            return StatusMessage(
                practice.alarmed(words, alarm), trouble=bool(alarm), stay=bool(alarm)
            )
    if now.practice.alarm != before.practice.alarm:
        return StatusMessage(f"practice: {now.practice.alarm}", trouble=True, stay=True)
    return presence.told(
        before.model, event, training=before.training.running, practising=before.practice.running
    )


class StateStore:
    """Holds the newest TeacherState. Events change it, and so do the owner's commands."""

    def __init__(self) -> None:
        self.now = TeacherState()

    def take(self, event: Event) -> StatusMessage | None:
        """Takes every event, in order; returns what to tell the owner about it."""
        before, self.now = self.now, after(self.now, event)
        return told(before, event, self.now)

    def change(self, **parts: object) -> None:
        """Replaces parts of it, by the names of TeacherState's fields."""
        self.now = replace(self.now, **parts)  # type: ignore[arg-type]
        if self.now.fetching != self.now.learning.fetching:
            learning = replace(self.now.learning, fetching=self.now.fetching)
            self.now = replace(self.now, learning=learning)
