"""Decides when to start practice because the owner is away. Pure: the caller passes the time. No torch.

Any key press goes to the teacher as OwnerActive, which ends the practice; this module only decides when
to start.
"""

from __future__ import annotations

from dataclasses import dataclass

from learning.practice.supply.arms import arm_name, label
from learning.protocol.events import Event, Failed, PracticeDone, TeacherEnded
from learning.protocol.requests import Practise

POINTLESS = ("too_hard", "too_few", "solved", "rolled_back", "alarm")
"""Values of PracticeDone.ended after which the same practice would end the same way again."""
OWNERS_SHARE = "curriculum.first=0.5"
"""Least share of a night's problems that the owner's own task gets, whatever the curriculum says."""


@dataclass
class Idle:
    """State of idle practice."""

    minutes: int
    """Minutes without a key press before practice starts; 0: never."""
    task: str
    last_key: float
    """Time of the last key press, in seconds of the same clock as `now`."""
    settings: tuple[str, ...] = ()
    """Of the task, NAME=VALUE."""
    options: tuple[str, ...] = ()
    """Of practice, NAME=VALUE."""
    others: tuple[str, ...] = ()
    """Tasks that are practised too, each with its settings (learning.practice.supply.arms)."""
    running: bool = False
    over: bool = False
    """More practice would be pointless until the next key press."""

    def key(self, now: float) -> None:
        """Records a key press."""
        self.last_key, self.over = now, False

    def due(self, now: float, *, busy: bool) -> Practise | None:
        """The request to send to the teacher now, or None. busy: it answers, trains or practises."""
        away = now - self.last_key
        if not self.minutes or busy or self.running or self.over or away < 60.0 * self.minutes:
            return None
        self.running = True
        return self.plan()

    def plan(self) -> Practise:
        """What is practised while the owner is away."""
        chosen = arm_name(self.task, self.settings)
        arms = tuple(dict.fromkeys((chosen, *self.others)))
        options = self.options
        if len(arms) > 1:
            options = (OWNERS_SHARE, *options)
            return Practise(label(arms), warm_up=True, options=options, arms=arms, idle=True)
        return Practise(self.task, warm_up=True, settings=self.settings, options=options, idle=True)

    def hear(self, event: Event) -> None:
        """Updates the state from an event of the teacher."""
        if isinstance(event, PracticeDone) and event.idle:
            self.running, self.over = False, self.over or event.ended in POINTLESS
        elif isinstance(event, TeacherEnded) or (
            isinstance(event, Failed) and event.where in ("practise", "worker")
        ):
            self.over = self.over or self.running
            self.running = False
