"""What a book training has shown so far: the curve of its loss, recall before and now, how it ended.

Kept from the first event on, whether anybody looks or not. Pure; drawn by screens/train.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from learning.protocol.events import (
    Event,
    Failed,
    LearnerState,
    ModelChanging,
    TrainDone,
    TrainProgress,
    WorkerLost,
)
from vidya_tui.state import learner as words
from vidya_tui.text.numbers import percent, seconds

MOST_POINTS = 1200
"""Points of the curve; beyond it every second one goes."""


@dataclass
class TrainingLog:
    """The training that runs, or the last one."""

    losses: list[tuple[int, float]] = field(default_factory=list)
    """(step, loss), in order."""
    recalls: list[tuple[int, float]] = field(default_factory=list)
    """(step, recall of the book 0 to 1) at the end of each epoch."""
    before: float | None = None
    """Recall of the book when it began."""
    progress: TrainProgress | None = None
    result: TrainDone | None = None
    failure: str = ""
    running: bool = False
    stopping: bool = False
    """It was asked to stop."""

    def begin(self) -> None:
        """A new training was asked for."""
        self.__init__(running=True)  # type: ignore[misc]

    def stop(self) -> None:
        """It was asked to stop."""
        self.stopping = self.running

    def hear(self, event: Event) -> None:
        """Takes every event; those of no concern pass."""
        match event:
            case TrainProgress():
                self._moved(event)
            case LearnerState(book_recall=float() as recall) if self.running and not self.losses:
                self.before = recall
            case TrainDone():
                self.before = event.recall_before
                self.result, self.running, self.stopping = event, False, False
            case Failed(where="train"):
                self._end(f"{event.what}; {event.next_step}" if event.next_step else event.what)
            case WorkerLost() | ModelChanging():
                if self.running:
                    self._end("the model was started anew meanwhile; /train goes on where it was")
            case _:
                pass

    def _moved(self, event: TrainProgress) -> None:
        if not self.running:
            self.begin()
        self.progress = event
        if event.recall is not None and event.step <= event.begun:
            self.before = event.recall
        elif event.recall is not None and event.epoch_ended:
            self.recalls.append((event.step, event.recall))
        made = event.asked is None and event.step > event.begun
        if made and (not self.losses or event.step > self.losses[-1][0]):
            self.losses.append((event.step, event.loss))
        if len(self.losses) > MOST_POINTS:
            self.losses = self.losses[::2]

    def _end(self, words: str) -> None:
        self.failure, self.running, self.stopping = words, False, False

    # ------------------------------------------------------------ in words

    @property
    def share(self) -> float:
        """How much of it is done, 0 to 1."""
        if self.result is not None and not self.result.cancelled:
            return 1.0
        return words.fraction(self.progress) if self.progress else 0.0

    def state(self) -> str:
        """What it does now, or what came of it."""
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
        """(name, value) of what can be said."""
        made: list[tuple[str, str]] = []
        if (now := self.progress) is not None and now.step:
            made.append(("epoch", f"{now.epoch} of {now.epochs}"))
            made.append(("step", f"{now.step} of {now.steps}"))
            if self.losses:
                made.append(("loss", f"{self.losses[-1][1]:.3f}"))
            made.append(("took" if not self.running else "so far", seconds(now.seconds)))
        return made

    def recall(self) -> str:
        """Recall of the book, before and now, where it was measured, and how many lines that is."""
        recalls = [self.before] if self.before is not None else []
        newest = self.result.recall_after if self.result else None
        recalls += [newest] if newest is not None else [r for _, r in self.recalls[-1:]]
        shown = " \u2192 ".join(map(percent, recalls))
        lines = words.lines_known(self.progress) if self.progress and self.running else ""
        return f"{shown}, {lines}" if shown and lines else shown or lines
