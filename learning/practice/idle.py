"""When to practise because the owner is away. Pure; the clock is given. Imports no torch.

The first key after a start is told to the teacher as any key is (OwnerActive), which ends the practice;
this only decides when one begins.
"""

from __future__ import annotations

from dataclasses import dataclass

from learning.protocol.events import Event, Failed, PracticeDone, TeacherEnded
from learning.protocol.requests import Practise

POINTLESS = ("too_hard", "solved", "rolled_back")
"""Ends after which the same practice would end the same way."""


@dataclass
class Idle:
    """One owner's idle hours."""

    minutes: int
    """Without a key, before practice begins; 0: never."""
    task: str
    last_key: float
    """Seconds of the clock that `due` is asked with."""
    running: bool = False
    over: bool = False
    """Nothing more is to be gained until the owner was here again."""

    def key(self, now: float) -> None:
        """The owner is here."""
        self.last_key, self.over = now, False

    def due(self, now: float, *, busy: bool) -> Practise | None:
        """What to ask of the teacher now. busy: it answers, trains or practises already."""
        away = now - self.last_key
        if not self.minutes or busy or self.running or self.over or away < 60.0 * self.minutes:
            return None
        self.running = True
        return Practise(self.task, warm_up=True, idle=True)

    def hear(self, event: Event) -> None:
        """Events of the teacher."""
        if isinstance(event, PracticeDone) and event.idle:
            self.running, self.over = False, self.over or event.ended in POINTLESS
        elif isinstance(event, TeacherEnded) or (
            isinstance(event, Failed) and event.where in ("practise", "worker")
        ):
            self.over = self.over or self.running
            self.running = False
