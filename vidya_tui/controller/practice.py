"""Begins and stops practice, on command and while the owner is away.

Beside controller/controller.py: commands and events go in, words for the owner come out. Knows no
widgets.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from engine.errors import VidyaError
from learning.practice.idle import Idle
from learning.practice.settings import SELF_PLAY
from learning.protocol.events import Event
from learning.protocol.messages import TeacherPort
from learning.protocol.requests import CancelPractice
from vidya_tui.state import practice as practice_state
from vidya_tui.state.known import StateStore
from vidya_tui.state.message import StatusMessage
from vidya_tui.state.practice import SELF_PLAY_WORD, WARM_UP, Practising

IDLE_TASK = "chain_sum"
"""The default task of idle practice."""


class PracticeController:
    """The practice of one teacher."""

    def __init__(
        self,
        teacher: TeacherPort,
        known: StateStore | None = None,
        *,
        idle_minutes: int = 0,
        idle_task: str = IDLE_TASK,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """known: what the teacher's events have told; None: nothing yet."""
        self._teacher, self._clock = teacher, clock
        self._idle = Idle(idle_minutes, idle_task, last_key=clock())
        self.known = known or StateStore()
        self._was_here = False
        """The owner pressed a key since idle practice was begun last."""

    @property
    def state(self) -> Practising:
        """What is known of the practice."""
        return self.known.now.practice

    def _set(self, state: Practising) -> None:
        self.known.change(practice=state)

    @property
    def running(self) -> bool:
        return self.state.running

    def carry_out(self, wanted: int | str | None) -> StatusMessage:
        """`begin`, or without a task how it goes."""
        if wanted is not None:
            return self.begin(str(wanted))
        shown = practice_state.short(self.state)
        nothing = "nothing is practised; /practice TASK begins, /practice runs lists earlier ones"
        return StatusMessage(shown or nothing)

    def begin(self, wanted: str) -> StatusMessage:
        """wanted: one or more tasks, each followed by settings like `max_terms=3`; `warm-up`, `self-play` and
        options of practice anywhere among them. Raises VidyaError for an unknown task or another word."""
        from learning.practice.options import parse_options
        from learning.practice.supply.arms import requested
        from learning.practice.supply.typed import split_typed
        from learning.rewards.registry import tasks

        if self.running:
            raise VidyaError(f"{self.state.task} is being practised already", "/cancel stops it")
        given = split_typed(wanted)
        words = [word for word in given if word not in (WARM_UP, SELF_PLAY_WORD)]
        if any("=" not in word and word.strip(",") not in tasks() for word in words[1:]):
            raise VidyaError(
                f"/practice {wanted}: only {WARM_UP!r}, {SELF_PLAY_WORD!r}, settings and other tasks can "
                "follow the task",
                f"type /practice {words[0]}, /practice {words[0]} {WARM_UP}, or /practice {words[0]} "
                "NAME=VALUE",
            )
        request = requested(words)
        asked = (f"self_play.questions={SELF_PLAY}",) if SELF_PLAY_WORD in given else ()
        task, options = request.task, (*self._idle.options, *asked, *request.options)
        parse_options(options)  # a wrong value is told before anything begins
        warm_up = True if WARM_UP in given else None
        self._teacher.send(replace(request, warm_up=warm_up, options=options))
        self._set(practice_state.begun(task, typed=wanted))
        return StatusMessage(f"practising {task}; /practice shows it, /cancel stops it")

    def stop(self) -> StatusMessage:
        """Ends it after the step under way."""
        self._teacher.send(CancelPractice())
        self._set(replace(self.state, stopping=self.running))
        return StatusMessage("ending practice after this step; what was gained is kept")

    def hear(self, event: Event) -> None:
        """Takes every event: some endings of an idle practice mean that no other should begin."""
        self._idle.hear(event)

    # ------------------------------------------------------------ idle hours

    def idle_as(
        self,
        minutes: int,
        task: str,
        settings: tuple[str, ...] = (),
        options: tuple[str, ...] = (),
        others: tuple[str, ...] = (),
    ) -> None:
        """Sets the task of idle practice with its settings, and after how many minutes without a key it
        begins; 0: never. options: of every practice. others: what is practised too."""
        self._idle.minutes, self._idle.task = minutes, task
        self._idle.settings, self._idle.options = settings, options
        self._idle.others = others

    def key(self) -> None:
        """The owner pressed a key. The teacher is told by OwnerActive, not here."""
        self._idle.key(self._clock())
        self._was_here = True

    def away(self, *, busy: bool) -> None:
        """Called every few seconds: begins idle practice where the owner has been away long enough."""
        if request := self._idle.due(self._clock(), busy=busy or self.running):
            earlier = () if self._was_here else self.state.idle_runs  # else they were told already
            self._was_here = False
            self._set(practice_state.begun(request.task, idle_runs=earlier))
            self._teacher.send(request)
