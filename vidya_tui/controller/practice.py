"""What the owner can do about practice, and practice while the owner is away.

Beside controller/controller.py: commands and events go in, words for the owner come out. Knows no
widgets.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from engine.errors import VidyaError
from learning.practice.idle import Idle
from learning.protocol.events import Event, PracticeDone
from learning.protocol.messages import TeacherPort
from learning.protocol.requests import CancelPractice, Practise
from vidya_tui.controller.message import StatusMessage
from vidya_tui.state import practice as practice_state
from vidya_tui.state.practice import Practising

WARM_UP = "warm-up"
IDLE_TASK = "chain_sum"
"""What is practised in idle hours where the settings name nothing else."""


class PracticeDesk:
    """The practice of one teacher."""

    def __init__(
        self,
        teacher: TeacherPort,
        *,
        idle_minutes: int = 0,
        idle_task: str = IDLE_TASK,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._teacher, self._clock = teacher, clock
        self._idle = Idle(idle_minutes, idle_task, last_key=clock())
        self.state = Practising()
        self._away: list[PracticeDone] = []
        """What was practised since the owner was here last."""
        self._was_here = False

    @property
    def running(self) -> bool:
        return self.state.running

    def carry_out(self, wanted: int | str | None) -> StatusMessage:
        """`begin`, or without a task how it goes."""
        if wanted is not None:
            return self.begin(str(wanted))
        shown = practice_state.short(self.state)
        return StatusMessage(shown or "nothing is practised; /practice TASK begins")

    def begin(self, wanted: str) -> StatusMessage:
        """`TASK`, and after it `warm-up` and settings as `max_terms=3`, in any order. Raises VidyaError for
        a task that does not exist."""
        from learning.rewards.registry import find_task, tasks

        if self.running:
            raise VidyaError(f"{self.state.task} is being practised already", "/cancel stops it")
        task, *rest = wanted.split()
        settings = tuple(word for word in rest if "=" in word)
        if set(rest) - {WARM_UP, *settings}:
            raise VidyaError(
                f"/practice {wanted}: only {WARM_UP!r} and settings can follow the task",
                f"type /practice {task}, /practice {task} {WARM_UP}, or /practice {task} NAME=VALUE",
            )
        if task not in tasks():
            find_task(task)  # says what it may have been
        warm_up = True if WARM_UP in rest else None
        self._teacher.send(Practise(task, warm_up=warm_up, settings=settings))
        self.state = practice_state.begun(task)
        return StatusMessage(f"practising {task}; /practice shows it, /cancel stops it")

    def stop(self) -> StatusMessage:
        """Ends it after the step under way."""
        self._teacher.send(CancelPractice())
        self.state = replace(self.state, stopping=self.running)
        return StatusMessage("ending practice after this step; what was gained is kept")

    def hear(self, event: Event) -> StatusMessage | None:
        """Takes every event; what it means for the owner."""
        alarm = self.state.alarm
        self.state = practice_state.after(self.state, event)
        self._idle.hear(event)
        if isinstance(event, PracticeDone) and event.idle:
            from learning.practice.report import together

            self._away.append(event)
            whole = practice_state.done(together(self._away))
            return StatusMessage(f"while you were away: {whole}", stay=True)
        if isinstance(event, PracticeDone):
            words = practice_state.done(event)
            if advice := practice_state.advice(event, f"/practice {event.task} {WARM_UP}"):
                words = f"{words}; {advice}"
            return StatusMessage(words)
        if self.state.alarm != alarm:
            return StatusMessage(f"practice: {self.state.alarm}", trouble=True, stay=True)
        return None

    # ------------------------------------------------------------ idle hours

    def idle_as(self, minutes: int, task: str) -> None:
        """What is practised after how many minutes, from now on; 0: nothing."""
        self._idle.minutes, self._idle.task = minutes, task

    def key(self) -> None:
        """The owner pressed a key; the teacher hears of it by OwnerActive."""
        self._idle.key(self._clock())
        self._was_here = True

    def away(self, *, busy: bool) -> None:
        """Asked now and then: begins to practise where the owner has been away for long."""
        if request := self._idle.due(self._clock(), busy=busy or self.running):
            if self._was_here:  # what came before was told to somebody
                self._away, self._was_here = [], False
            self.state = practice_state.begun(request.task, idle=True)
            self._teacher.send(request)
