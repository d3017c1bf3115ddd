"""What is known of the learner after each of its events."""

from __future__ import annotations

from dataclasses import replace

from learning.events import (
    Event,
    Failed,
    LearnerState,
    LessonDone,
    ModelChanging,
    Ready,
    TrainDone,
    TrainProgress,
    UndoDone,
    WorkerLost,
)
from vidya_tui import progress_words
from vidya_tui.progress_words import Learning


def after(now: Learning, event: Event) -> Learning:
    """What is known after an event."""
    match event:
        case Ready():
            return replace(now, model=event.model, version=event.version, loaded=True, lost=False)
        case LearnerState():
            recall = now.recall if event.book_recall is None else event.book_recall
            return replace(now, state=event, recall=recall)
        case LessonDone():
            return replace(
                now,
                version=event.version,
                outcome=progress_words.outcome(event),
                recall=event.book_recall,
            )
        case UndoDone():
            return replace(now, version=event.version, outcome="")
        case TrainProgress():
            recall = now.recall if event.recall is None or event.own else event.recall
            return replace(now, training=event, recall=recall)
        case TrainDone():
            measured = event.recall_before if event.rolled_back else event.recall_after
            recall = now.recall if measured is None or event.own else measured
            return replace(
                now,
                training=None,
                stopping=False,
                version=event.version,
                outcome=progress_words.trained(event),
                recall=recall,
            )
        case Failed(where="train"):
            return replace(now, training=None, stopping=False)
        case WorkerLost() | ModelChanging():
            return replace(
                now,
                loaded=False,
                lost=isinstance(event, WorkerLost) and not event.restarting,
                training=None,
                stopping=False,
                state=LearnerState("idle", now.state.waiting if now.state else 0),
            )
    return now
