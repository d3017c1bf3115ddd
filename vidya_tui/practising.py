"""Practice as it is shown: what is known after each event, and its lines. Pure functions of frozen
values; the screen only places them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from learning.events import (
    Event,
    Failed,
    ModelChanging,
    PracticeDone,
    PracticeSample,
    PracticeStage,
    PracticeStep,
    WorkerLost,
)
from vidya_tui import practice_words
from vidya_tui.progress_words import percent, seconds

KEPT = 12
"""Samples that are shown."""
RECENT = 8
"""Steps whose mean says how long the next ones will take."""
BARS = "\u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588"


@dataclass(frozen=True)
class Practising:
    """What is known of a practice."""

    task: str = ""
    running: bool = False
    idle: bool = False
    stage: str = ""
    """What it goes through, in words."""
    steps: tuple[PracticeStep, ...] = ()
    samples: tuple[PracticeSample, ...] = ()
    """The newest first."""
    looks: tuple[PracticeStage, ...] = ()
    """Those with an accuracy, in order."""
    alarm: str = ""
    warming: PracticeStage | None = None
    """The newest moment of warm-up, while that lasts."""
    stopping: bool = False
    """It was asked to end, and has not yet."""
    done: PracticeDone | None = None


def begun(task: str, *, idle: bool = False) -> Practising:
    """A practice that was just asked for."""
    return Practising(task, True, idle, "beginning: looking at book and problems")


def after(now: Practising, event: Event) -> Practising:
    """What is known after an event."""
    match event:
        case PracticeStage():
            words = practice_words.staged(event) or now.stage
            warming = event if event.stage == "warm_up" else None
            now = replace(now, task=event.task, running=True, stage=words, warming=warming)
            if event.accuracy is not None:
                now = replace(now, looks=(*now.looks, event))
            return replace(now, alarm=event.alarm or now.alarm)
        case PracticeStep():
            stage = f"step {event.step} of {event.steps}"
            steps = (*now.steps, event)
            return replace(
                now, task=event.task, running=True, stage=stage, steps=steps, warming=None
            )
        case PracticeSample():
            return replace(now, samples=(event, *now.samples)[:KEPT])
        case PracticeDone():
            return replace(now, running=False, stopping=False, done=event, stage="ended")
        case Failed(where="practise" | "worker"):
            return replace(now, running=False, stopping=False, stage="could not be done")
        case WorkerLost() | ModelChanging() if now.running:
            lost = "the model was lost; what was saved is kept"
            return replace(now, running=False, stopping=False, stage=lost)
    return now


def share(now: Practising) -> float:
    """How much of the steps is done, 0 to 1, or of those that warm-up may take; all of it where no more
    are needed."""
    if now.done is not None and now.done.ended in ("steps", "solved"):
        return 1.0
    if now.warming is not None:
        return now.warming.step / max(1, now.warming.steps)
    return now.steps[-1].step / max(1, now.steps[-1].steps) if now.steps else 0.0


def left(now: Practising) -> str:
    """The time that is left if all steps are taken; empty where that is not known."""
    warming = now.warming
    if now.running and warming is not None and warming.step and warming.steps:
        each = warming.seconds / warming.step
        return f"{seconds(each * (warming.steps - warming.step))} left at most"
    if not now.running or not now.steps:
        return ""
    newest = now.steps[-RECENT:]
    each = sum(step.seconds for step in newest) / len(newest)
    return f"{seconds(each * (newest[-1].steps - newest[-1].step))} left"


def short(now: Practising) -> str:
    """For the learning line: "practising syllogism, step 4 of 100, right 41 %, 19 min left"."""
    if not now.running:
        return ""
    if now.stopping:
        return f"practising {now.task}, ending after this step"
    if (warming := now.warming) is not None:
        most = f", {warming.step} of at most {warming.steps} steps" if warming.steps else ""
        most += f", {left(now).removesuffix(' at most')}" if left(now) else ""
        return f"practising {now.task}, warming up{most}"
    if not now.steps:
        doing = "the first step" if now.looks else "measuring first"
        return f"practising {now.task}, {doing}"
    step = now.steps[-1]
    done = f"step {step.step} of {step.steps}, right {percent(step.success)}"
    return f"practising {now.task}, {done}, {left(now)}"


def figures(now: Practising) -> list[tuple[str, str]]:
    """(name, value) of the newest step and look."""
    rows: list[tuple[str, str]] = []
    if now.looks:
        first, last = now.looks[0], now.looks[-1]
        assert first.accuracy is not None and last.accuracy is not None
        rows.append(
            ("held-out accuracy", f"{percent(first.accuracy)} \u2192 {percent(last.accuracy)}")
        )
        if first.book_recall is not None and last.book_recall is not None:
            recall = f"{percent(first.book_recall)} \u2192 {percent(last.book_recall)}"
            rows.append(("book recall", recall))
    if now.steps:
        step = now.steps[-1]
        rewards = [s.reward_mean for s in now.steps]
        spread = f"{step.reward_mean:.2f} \u00b1 {step.reward_std:.2f}"
        rows += [
            ("reward", f"{spread}  {spark(rewards)}"),
            ("right", f"{percent(step.success)}  {spark([s.success for s in now.steps])}"),
            (
                "nothing to compare",
                f"in {step.dead_groups} of {step.groups}: all answers scored alike",
            ),
            ("drift", f"{step.kl:.3f} nats a token from before (KL)"),
            ("variety", f"{step.entropy:.2f} nats a token (entropy)"),
            ("length", f"{step.length:.0f} tokens, {percent(step.truncated)} cut off"),
            ("speed", f"{step.tokens_per_second:.0f} tokens/s, {seconds(step.seconds)} a step"),
        ]
    return rows


def spark(values: Sequence[float], width: int = 24) -> str:
    """The last values, each in 0 to 1, as a row of bars."""
    return "".join(BARS[min(len(BARS) - 1, int(max(0.0, v) * len(BARS)))] for v in values[-width:])


def samples(now: Practising, width: int) -> str:
    """The newest samples with their rewards by component."""
    return "\n".join(practice_words.sampled(sample, max(20, width)) for sample in now.samples)
