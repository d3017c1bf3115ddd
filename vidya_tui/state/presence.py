"""Whether there is a model to talk to: it loads, is lost, comes back, or is changed for another. Pure.

Left out: restarting it (worker/supervisor.py), and what the learner does (state/learner.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from learning.protocol.events import Event, Failed, ModelChanging, Ready, WorkerLost
from learning.protocol.model_events import Fetched, Grown
from vidya_tui.state.message import StatusMessage


@dataclass(frozen=True)
class ModelPresence:
    """What is known of the model's coming and going."""

    lost: bool = False
    """Its process ended, and another one is being started."""
    cannot_load: bool = False
    """It said itself why it cannot be loaded."""
    changing: bool = False
    """Another model was asked for."""
    promised: bool = False
    """The owner was told that the answer comes as soon as the model is loaded."""
    fetched: Fetched | None = None
    """A downloaded model of which the owner is told something as soon as it is in use."""


def after(now: ModelPresence, event: Event) -> ModelPresence:
    """What is known after an event."""
    match event:
        case Failed(where="fetch"):
            return now
        case Failed():
            return replace(now, cannot_load=event.where == "load")
        case WorkerLost(restarting=True):
            return replace(now, lost=True)
        case Fetched() if event.told:
            return replace(now, fetched=event)
        case ModelChanging():
            return replace(now, cannot_load=False, changing=True)
        case Ready(continues_only=True):
            return ModelPresence(cannot_load=now.cannot_load)
        case Ready() if now.changing:
            fetched = None if _is_fetched(now, event) else now.fetched
            return replace(now, changing=False, lost=False, fetched=fetched)
        case Ready():
            return replace(now, lost=False, promised=False)
    return now


def told(
    now: ModelPresence, event: Event, *, training: bool, practising: bool = False
) -> StatusMessage | None:
    """What to tell the owner about an event; None: nothing. now: the state before it. training, practising:
    whether book training or a practice was running."""
    match event:
        case Failed():
            step = f"; {event.next_step}" if event.next_step else ""
            stay = event.where in ("load", "worker")
            return StatusMessage(event.what + step, trouble=True, stay=stay)
        case WorkerLost():
            return _worker_lost(now, event, training)
        case ModelChanging():
            stops = (
                "; book training stops" if training else "; practice stops" if practising else ""
            )
            return StatusMessage(f"changing to {event.model}{stops}; go on typing", stay=True)
        case Grown():
            size = f"{event.parameters / 1e6:.0f}M weights"
            return StatusMessage(f"{event.name} is there, {size}: /model talks to it", stay=True)
        case Ready(continues_only=True):
            return StatusMessage(
                f"{event.model} was trained on plain text only: it goes on with a text, and does "
                "not answer; in the shell, vidya ask --raw TEXT; /train teaches it Vidya's book",
                stay=True,
            )
        case Ready() if now.changing:
            words = f"this is {event.model}, version {event.version}"
            if (fetched := now.fetched) and _is_fetched(now, event):
                return StatusMessage(f"{words}; {fetched.told}", trouble=fetched.trouble, stay=True)
            return StatusMessage(words)
        case Ready() if now.lost:
            return StatusMessage("the model is back")
        case Ready() if now.promised:
            return StatusMessage("")
    return None


def _is_fetched(now: ModelPresence, event: Ready) -> bool:
    """Whether the model in use is the one that was downloaded."""
    return now.fetched is not None and now.fetched.name == event.model


def _worker_lost(now: ModelPresence, event: WorkerLost, training: bool) -> StatusMessage | None:
    words = f"{event.reason}; nothing is lost"
    if event.restarting:
        again = ", /train starts the training again" if training else ""
        return StatusMessage(f"{words}; starting it again{again}", trouble=True, stay=True)
    if now.cannot_load:
        return None  # the owner was told why already
    return StatusMessage(
        f"{words}; quit and start vidya again, or take another with /model", trouble=True, stay=True
    )
