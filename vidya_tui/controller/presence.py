"""Whether there is a model to talk to: it loads, is lost, comes back, or is changed for another.

Left out: restarting (worker/supervisor.py), and what the learner does (state/learner.py).
"""

from __future__ import annotations

from collections.abc import Callable

from learning.protocol.events import Event, Failed, Grown, ModelChanging, Ready, WorkerLost
from vidya_tui.controller.message import StatusMessage


class ModelPresence:
    """What the owner is told about the model's coming and going."""

    def __init__(self, take_up: Callable[[], None]) -> None:
        """take_up: tells a teacher that has just begun what it needs to know."""
        self._take_up = take_up
        self._lost = False
        self._cannot_load = False
        self._changing = False
        self._promised = False

    def promise_answer(self) -> None:
        """The owner was told that the answer comes with the model."""
        self._promised = True

    def hear(self, event: Event, *, training: bool) -> StatusMessage | None:
        """What an event means for the owner; None: nothing. training: whether the book is being
        learned."""
        match event:
            case Failed():
                step = f"; {event.next_step}" if event.next_step else ""
                stay = event.where in ("load", "worker")
                self._cannot_load = event.where == "load"
                return StatusMessage(event.what + step, trouble=True, stay=stay)
            case WorkerLost():
                return self._worker_lost(event, training)
            case ModelChanging():
                self._cannot_load = False
                self._changing = True
                self._take_up()
                return StatusMessage(f"changing to {event.model}; go on typing", stay=True)
            case Grown():
                size = f"{event.parameters / 1e6:.0f}M weights"
                return StatusMessage(
                    f"{event.name} is there, {size}: /model talks to it", stay=True
                )
            case Ready(continues_only=True):
                self._changing = self._lost = self._promised = False
                return StatusMessage(
                    f"{event.model} was trained on plain text only: it goes on with a text, and does "
                    "not answer; in the shell, vidya ask --raw TEXT; /train teaches it Vidya's book",
                    stay=True,
                )
            case Ready() if self._changing:
                self._changing = self._lost = False
                return StatusMessage(f"this is {event.model}, version {event.version}")
            case Ready() if self._lost:
                self._lost = self._promised = False
                return StatusMessage("the model is back")
            case Ready() if self._promised:
                self._promised = False
                return StatusMessage("")
        return None

    def _worker_lost(self, event: WorkerLost, training: bool) -> StatusMessage | None:
        words = f"{event.reason}; nothing is lost"
        if not event.restarting:
            if self._cannot_load:
                return None  # it has said itself what is wrong
            return StatusMessage(
                f"{words}; quit and start vidya again, or take another with /model",
                trouble=True,
                stay=True,
            )
        self._lost = True
        self._take_up()
        again = ", /train starts the training again" if training else ""
        return StatusMessage(f"{words}; starting it again{again}", trouble=True, stay=True)
