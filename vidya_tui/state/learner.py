"""What is known of the learner, and the sentences that say it.

Pure functions of frozen values, so that every sentence can be tested without a screen. Left out: how the
lines are drawn (widgets/learner_panel.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vidya_tui.state.fetching import Fetching
from vidya_tui.text.numbers import counted, percent, seconds
from vidya_tui.text.sanitise import one_line

if TYPE_CHECKING:  # the first frame waits for no more than it needs
    from learning.protocol.events import (
        Event,
        LearnerState,
        LessonDone,
        MakingVectors,
        MessageCut,
        TrainDone,
        TrainProgress,
    )
    from learning.protocol.records import Understanding

VECTORS_A_SECOND = 400
"""Vectors of lessons that one core makes in a second."""
PHASES = {
    "idle": "",
    "gathering": "gathering",
    "learning": "learning",
    "checking": "checking that nothing was forgotten",
    "consolidating": "going over earlier lessons",
    "taste": "learning what you like",
    "training": "learning the book",
    "paused": "paused while you type",
    "off": "learning is switched off",
}


RECENT = 20
"""Lessons whose seconds are kept."""


@dataclass(frozen=True)
class Learning:
    """What is known of the learner, from the newest event of each kind."""

    model: str = ""
    version: int = 0
    loaded: bool = False
    lost: bool = False
    """The model's process ended and will not come back."""
    state: LearnerState | None = None
    """The newest report of the learner; None before the first."""
    outcome: str = ""
    """The outcome of the last lesson, or of the last book training, in words."""
    training: TrainProgress | None = None
    """The newest report of a book training that runs; else None."""
    stopping: bool = False
    """Book training was asked to stop, and has not yet."""
    recall: float | None = None
    """Recall of the book, 0 to 1."""
    practice: str = ""
    """The practice that runs, or the model that is being made, in words; else empty."""
    fetching: Fetching | None = None
    """A model that is on its way into the home."""
    took: tuple[float, ...] = ()
    """Seconds of the last lessons that the model in use has learned since it was loaded, at most RECENT."""


def outcome(done: LessonDone) -> str:
    """The outcome of a lesson, in words."""
    if done.rolled_back:
        return "rolled back: it would have cost too much of what was known"
    if done.state == "undone":
        return "taken back"
    if done.why:
        return f"not learned: {done.why}"
    if done.state == "needs_practice" or not done.known_after:
        return "needs practice"
    if done.known_before and not done.steps:
        return "knew it already"
    took = f"learned in {seconds(done.seconds)}"
    understood = understanding_words(done.understanding)
    return ", ".join(filter(None, (took, understood, changed_words(done.changed))))


def lesson_line(done: LessonDone) -> str:
    """What became of a lesson, its steps and the recall of the book, on one line."""
    steps = f", {counted(done.steps, 'step')}" if done.steps else ""
    return f"lesson {done.lesson}: {outcome(done)}{steps}, book recall {done.book_recall:.1%}"


def understanding_words(found: Understanding, *, none_too: bool = False) -> str:
    """In how many other wordings of its question a lesson is known, and to how many other questions its
    answer is given, if to any. none_too: says also that it is given to none of them. Empty where there is
    nothing to say."""
    ways = others = ""
    if found.ways_asked:
        ways = f"known in {found.ways_known} of {counted(found.ways_asked, 'way')}"
    if found.neighbours_leaked or (none_too and found.neighbours_asked):
        asked = counted(found.neighbours_asked, "other question")
        others = f"given to {found.neighbours_leaked or 'none'} of {asked}"
    return ", ".join(filter(None, (ways, others)))


def changed_words(questions: Sequence[str]) -> str:
    """Says that a lesson changed the answers to questions in other words too; empty without any."""
    if not questions:
        return ""
    if len(questions) == 1:
        return f"and \u201c{one_line(questions[0], 60)}\u201d is answered so too"
    return f"and {counted(len(questions), 'other way')} to ask are answered so too"


def cut(event: MessageCut) -> str:
    """Says that a message is longer than the model's context, and how much of it the model reads."""
    read = event.characters - event.left_out
    return (
        f"the message is too long for this model: of its {counted(event.characters, 'character')} "
        f"it reads {read:,}, the beginning and the end; send a part of it"
    )


def making_vectors(event: MakingVectors) -> str:
    """Says that an answer waits until lessons can be recalled."""
    return (
        f"{counted(event.lessons, 'new lesson')} cannot be recalled yet; this answer waits for that, about "
        f"{seconds(event.lessons / VECTORS_A_SECOND)}"
    )


def trained(done: TrainDone) -> str:
    """What book training did, in a sentence."""
    if not done.left_out:
        return _trained(done)
    named = ", ".join(done.left_out[:3])
    more = f" and {len(done.left_out) - 3} more" if done.left_out[3:] else ""
    return f"{_trained(done)}; left out, too long for this model: {named}{more}"


def _trained(done: TrainDone) -> str:
    if done.rolled_back:
        return "the training was rolled back: it would have cost too much of what was known"
    before, after = done.recall_before, done.recall_after
    if done.goes_on:
        return "training stopped; nothing of it counts yet, the next one goes on where it was"
    if before is None or after is None:
        return "training stopped before it began; nothing was changed"
    if not done.steps and not done.cancelled:
        return f"nothing to train: book recall is {percent(after)} already"
    if not done.steps:
        return "training stopped; nothing of it was kept, what it had cost was not known yet"
    epochs = counted(done.epochs, "epoch")
    took, end = seconds(done.seconds), f"trained after {epochs} in"
    if done.cancelled:
        end = f"training stopped in epoch {done.epochs} after"
    return f"{end} {took}: book recall {percent(before)} \u2192 {percent(after)}"


def fraction(progress: TrainProgress) -> float:
    """Share of the steps up to the limit of epochs that is done, 0 to 1; training usually ends earlier.
    Steps that an earlier run of the program took are counted."""
    return min(1.0, max(0.0, progress.step / progress.steps)) if progress.steps > 0 else 0.0


def learning_book(progress: TrainProgress, *, stopping: bool = False) -> str:
    """What a book training does at the moment, in words."""
    asked = "" if progress.asked is None else f", {percent(progress.asked)}"
    if stopping and asked and progress.step > progress.begun:
        return f"stopping: asking every line what was learned{asked}"
    if stopping:
        return "stopping the training"
    if asked and progress.step > progress.begun:
        return f"epoch {progress.epoch} of {progress.epochs}: asking what is known now{asked}"
    if progress.step <= progress.begun:
        where = f"going on after epoch {progress.epoch} of {progress.epochs}"
        if progress.recall is not None and not asked:  # the first step is under way
            return where if progress.begun else f"book, epoch 1 of {progress.epochs}"
        if not progress.begun:
            return f"asking every line of the book before it is learned{asked}"
        return f"{where}: asking every line first{asked}"
    return (
        f"book, epoch {progress.epoch} of {progress.epochs}, loss {progress.loss:.2f}, "
        f"{seconds(progress.seconds_left)} left"
    )


def lines_known(progress: TrainProgress) -> str:
    """How many lines of the trained book are known: "1 of 2 known"; empty where they were not counted."""
    return f"{progress.known} of {progress.entries} known" if progress.entries else ""


def epoch_ended(progress: TrainProgress) -> str:
    """What an epoch of book training came to."""
    recall = "" if progress.recall is None else f", recall {percent(progress.recall)}"
    if lines := lines_known(progress):
        recall = f", {lines}"
    return f"epoch {progress.epoch} of {progress.epochs}: loss {progress.loss:.3f}{recall}"


def doing(now: Learning) -> str:
    """What the learner does at the moment: "gathering", "learning, loss 0.41", "learned in 2.1 s"."""
    if now.lost:
        return "the model is gone"
    if not now.loaded:
        return "the model is waking up"
    state = now.state
    if now.training is not None:
        return learning_book(now.training, stopping=now.stopping)
    if now.stopping:
        return "stopping the training"
    if now.practice:
        return now.practice
    if state is None:
        return now.outcome or "ready"
    words = PHASES[state.phase]
    if state.phase in ("learning", "consolidating", "training") and state.loss is not None:
        return f"{words}, loss {state.loss:.2f}"
    return words or now.outcome or "ready"


def waiting(now: Learning) -> str:
    """How many lessons wait; empty where none does."""
    count = now.state.waiting if now.state else 0
    return f"{counted(count, 'lesson')} waiting" if count else ""


def recall(now: Learning) -> str:
    """Recall of the book, where it was measured."""
    return "" if now.recall is None else f"book recall {percent(now.recall)}"


def model(now: Learning) -> str:
    """Name and version of the weights that answer."""
    return f"{now.model}, version {now.version}" if now.model else ""


def short(now: Learning, beside: str = "") -> str:
    """Activity, waiting lessons and recall on one line. beside: what else goes on, after the activity."""
    parts = (doing(now), beside, waiting(now), recall(now))
    return " \u00b7 ".join(part for part in parts if part)


def after(now: Learning, event: Event) -> Learning:
    """What is known after an event."""
    from learning.protocol.events import (
        Failed,
        LearnerState,
        LessonDone,
        Ready,
        TeacherEnded,
        TrainDone,
        TrainProgress,
        Understood,
        UndoDone,
        WorkerLost,
    )

    match event:
        case Ready():
            if event.model != now.model:  # what was measured is of the other model
                now = replace(now, took=(), recall=None, outcome="")
            now = replace(now, loaded=True, lost=False)
            return replace(now, model=event.model, version=event.version)
        case LearnerState():
            recall = now.recall if event.book_recall is None else event.book_recall
            return replace(now, state=event, recall=recall)
        case LessonDone():
            learned = event.steps and not event.rolled_back
            return replace(
                now,
                took=(*now.took, event.seconds)[-RECENT:] if learned else now.took,
                version=event.version,
                outcome=outcome(event),
                recall=event.book_recall,
            )
        case Understood():
            return replace(now, outcome=understanding_words(event.understanding))
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
                outcome=trained(event),
                recall=recall,
            )
        case Failed(where="train" | "worker"):
            return replace(now, training=None, stopping=False)
        case TeacherEnded():
            return replace(
                now,
                loaded=False,
                lost=isinstance(event, WorkerLost) and not event.restarting,
                training=None,
                stopping=False,
                state=LearnerState("idle", now.state.waiting if now.state else 0),
            )
    return now
