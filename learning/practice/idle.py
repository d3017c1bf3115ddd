"""Decides when to start practice because the owner is away, and what. Pure: the caller passes the time. No
torch.

Any key press goes to the teacher as OwnerActive, which ends the practice; this module only decides when
to start. A task that cannot be mixed is practised first. When more of it would be pointless, the others are
practised.
"""

from __future__ import annotations

from dataclasses import dataclass

from learning.practice.options import parse_options
from learning.practice.supply.arms import arm_name, label
from learning.practice.supply.ladder import EXHAUSTED, climbs
from learning.protocol.events import Event, Failed, PracticeDone, TeacherEnded
from learning.protocol.requests import Practise
from learning.rewards.registry import ALONE, SELF_PLAY

POINTLESS = ("too_hard", "too_few", "solved", "rolled_back", "alarm")
"""Values of PracticeDone.ended after which the same practice would end the same way again."""
OWNERS_SHARE = "curriculum.first=0.5"
"""Least share of a night's problems that the owner's own task gets, whatever the curriculum says."""
EXAMPLES, QUESTIONS = "few.examples", "self_play.questions"
"""Options with which one task is practised alone."""


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
    own_over: bool = False
    """More practice of the owner's task alone would be pointless."""
    warm_up: bool | None = None
    """As in Practise. False once warm-up was taken back: until the next key press it would be again."""

    def key(self, now: float) -> None:
        """Records a key press."""
        self.last_key, self.over, self.own_over, self.warm_up = now, False, False, None

    def due(self, now: float, *, busy: bool) -> Practise | None:
        """The request to send to the teacher now, or None. busy: it answers, trains or practises."""
        away = now - self.last_key
        if not self.minutes or busy or self.running or self.over or away < 60.0 * self.minutes:
            return None
        self.running = True
        return self.plan()

    @property
    def alone(self) -> bool:
        """Whether the owner's task cannot be practised in turns with others: by its kind, or by options."""
        return self.task in ALONE or self._uses(EXAMPLES) or self._self_play

    def plan(self) -> Practise:
        """What is practised while the owner is away."""
        chosen = arm_name(self.task, self.settings)
        if self.alone and not self.own_over:
            return self._own_alone(self.options if self._self_play else self._without("self_play."))
        own = () if self.alone else (chosen,)
        firsts = () if own else ("curriculum.first=",)  # the first of the others is not the owner's
        options = self._without("self_play.", "few.", *firsts)
        arms = tuple(dict.fromkeys((*own, *self.others)))
        climbing = climbs(arms)
        if len(arms) == 1 and own and not climbing:
            return self._own_alone(options)
        if own and len(arms) > 1:
            options = (OWNERS_SHARE, *options)
        return Practise(
            label(arms),
            warm_up=self.warm_up,
            options=options,
            arms=arms,
            climbs=climbing,
            idle=True,
        )

    def _own_alone(self, options: tuple[str, ...]) -> Practise:
        """The owner's task and nothing else."""
        return Practise(
            self.task, warm_up=self.warm_up, settings=self.settings, options=options, idle=True
        )

    def hear(self, event: Event) -> None:
        """Updates the state from an event of the teacher."""
        if isinstance(event, PracticeDone) and event.idle:
            self.running = False
            goes_on = bool(event.joined) and event.ended in EXHAUSTED
            if self.warm_up is None and event.ended == "rolled_back" and not event.steps:
                self.warm_up = False
            elif event.ended in POINTLESS and not goes_on:
                self._pointless()
        elif isinstance(event, Failed) and event.where == "practise":
            if self.running:
                self._pointless()
            self.running = False
        elif isinstance(event, TeacherEnded) or (
            isinstance(event, Failed) and event.where == "worker"
        ):
            self.over = self.over or self.running
            self.running = False

    def _pointless(self) -> None:
        """The night goes on with the others where the owner's task was practised alone, and else ends."""
        if self.alone and self.others and not self.own_over:
            self.own_over, self.warm_up = True, None
        else:
            self.over = True

    @property
    def _self_play(self) -> bool:
        """Whether the model asks the questions itself. A task that has no self-play is practised as usual."""
        return self.task in SELF_PLAY and self._uses(QUESTIONS)

    def _uses(self, option: str) -> bool:
        return int(parse_options(self.options).get(option, "0")) > 0

    def _without(self, *parts: str) -> tuple[str, ...]:
        """The options of practice without those that begin so."""
        return tuple(option for option in self.options if not option.strip().startswith(parts))
