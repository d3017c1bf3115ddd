"""What is known of a book training: the curve of its loss, recall before and now, how it ended.

Pure. Left out: the screen that draws it (screens/train.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from learning.protocol.events import (
    Event,
    Failed,
    LearnerState,
    TeacherEnded,
    TrainDone,
    TrainProgress,
)
from vidya_tui.state import learner as words
from vidya_tui.text.numbers import percent, seconds

MOST_POINTS = 1200
"""Most points of the curve; beyond it every second one is dropped."""


@dataclass(frozen=True)
class TrainingLog:
    """The training that runs, or the last one."""

    losses: tuple[tuple[int, float], ...] = ()
    """(step, loss), in order."""
    recalls: tuple[tuple[int, float], ...] = ()
    """(step, recall of the book 0 to 1) at the end of each epoch."""
    before: float | None = None
    """Recall of the book when it began."""
    progress: TrainProgress | None = None
    result: TrainDone | None = None
    failure: str = ""
    running: bool = False
    stopping: bool = False
    """It was asked to stop."""

    def stopped(self) -> TrainingLog:
        """It was asked to stop."""
        return replace(self, stopping=self.running)

    def after(self, event: Event) -> TrainingLog:
        """What is known after an event."""
        match event:
            case TrainProgress():
                return _moved(self if self.running else BEGUN, event)
            case LearnerState(book_recall=float() as recall) if self.running and not self.losses:
                return replace(self, before=recall)
            case TrainDone():
                before = event.recall_before
                ended = replace(self, before=before, result=event)
                return replace(ended, running=False, stopping=False)
            case Failed(where="train" | "worker") if self.running or event.where == "train":
                return self._ended(
                    f"{event.what}; {event.next_step}" if event.next_step else event.what
                )
            case TeacherEnded() if self.running:
                goes_on = "goes on where it was" if self.losses else "begins again"
                return self._ended(f"the model was started anew meanwhile; /train {goes_on}")
        return self

    def _ended(self, words: str) -> TrainingLog:
        return replace(self, failure=words, running=False, stopping=False)

    # ------------------------------------------------------------ in words

    @property
    def share(self) -> float:
        """Share that is done, 0 to 1."""
        if self.result is not None and not self.result.cancelled:
            return 1.0
        return words.fraction(self.progress) if self.progress else 0.0

    def state(self) -> str:
        """What it does at the moment, or how it ended, in words."""
        if self.failure:
            return self.failure
        if self.result is not None:
            return words.trained(self.result)
        if not self.running:
            return "nothing was trained since the start; t trains the whole book"
        now = self.progress
        if now is None:
            return "stopping" if self.stopping else "asking every line of the book first"
        if self.stopping or now.asked is not None or now.step <= now.begun:
            return words.learning_book(now, stopping=self.stopping)
        left = seconds(now.seconds_left)
        return f"about {left} left, sooner where all is known before"

    def facts(self) -> list[tuple[str, str]]:
        """(name, value) rows about the newest step."""
        made: list[tuple[str, str]] = []
        if (now := self.progress) is not None and now.step:
            made.append(("epoch", f"{now.epoch} of {now.epochs}"))
            made.append(("step", f"{now.step} of {now.steps}"))
            if self.losses:
                made.append(("loss", f"{self.losses[-1][1]:.3f}"))
            made.append(("took" if not self.running else "so far", seconds(now.seconds)))
        return made

    def recall(self) -> str:
        """Recall of the book before and now, as far as it was measured, and the number of known lines."""
        recalls = [self.before] if self.before is not None else []
        newest = self.result.recall_after if self.result else None
        recalls += [newest] if newest is not None else [r for _, r in self.recalls[-1:]]
        shown = " \u2192 ".join(map(percent, recalls))
        lines = words.lines_known(self.progress) if self.progress and self.running else ""
        return f"{shown}, {lines}" if shown and lines else shown or lines


def _moved(now: TrainingLog, event: TrainProgress) -> TrainingLog:
    before, recalls, losses = now.before, now.recalls, now.losses
    if event.recall is not None and event.step <= event.begun:
        before = event.recall
    elif event.recall is not None and event.epoch_ended:
        recalls = (*recalls, (event.step, event.recall))
    made = event.asked is None and event.step > event.begun
    if made and (not losses or event.step > losses[-1][0]):
        losses = (*losses, (event.step, event.loss))
    if len(losses) > MOST_POINTS:
        losses = losses[::2]
    return replace(now, progress=event, before=before, recalls=recalls, losses=losses)


BEGUN = TrainingLog(running=True)
"""A training that was just requested."""
