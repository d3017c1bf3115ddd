"""Practice in plain words: events in, lines of text out. Pure, so that every sentence can be tested."""

from __future__ import annotations

from learning.events import PracticeDone, PracticeSample, PracticeStage, PracticeStep
from learning.practice.report import Gain
from vidya_tui.plain import one_line
from vidya_tui.progress_words import percent, seconds
from vidya_tui.words import counted


def staged(event: PracticeStage) -> str:
    """What a look or a moment of warm-up says; empty where it says nothing new."""
    known = []
    if event.success is not None:
        known.append(f"{percent(event.success)} of its answers are right")
    if event.loss is not None and (event.success is not None or event.steps):
        known.append(f"loss {event.loss:.2f}")
    if event.accuracy is not None:
        known.append(f"held-out accuracy {percent(event.accuracy)}")
    if event.book_recall is not None:
        known.append(f"book recall {percent(event.book_recall)}")
    if event.saved:
        known.append("saved")
    if event.held:
        known.append("held back: fewer problems solved than before")
    if not known:
        return ""
    most = f" of at most {event.steps}" if event.steps else ""
    if event.success is not None and event.enough:
        known.append(f"it ends with {percent(event.enough)}")
    where = {
        "before": "before",
        "warm_up": f"warm-up, step {event.step}{most}",
        "warmed_up": "after warm-up",
        "during": f"after step {event.step}",
        "after": "at the end",
    }[event.stage]
    return f"{where}: {', '.join(known)}"


def stepped(event: PracticeStep) -> str:
    """One step on one line."""
    parts = [
        f"step {event.step} of {event.steps}",
        f"reward {event.reward_mean:.2f} \u00b1 {event.reward_std:.2f}",
        f"right {percent(event.success)}",
        f"nothing to compare in {event.dead_groups} of {event.groups}",
        f"drift {event.kl:.3f}",
        f"variety {event.entropy:.2f}",
        f"{event.length:.0f} tokens an answer",
    ]
    if event.truncated:
        parts.append(f"{percent(event.truncated)} cut off")
    if event.failed:
        parts.append(f"{event.failed} not judged")
    return " \u00b7 ".join([*parts, seconds(event.seconds)])


def sampled(event: PracticeSample, width: int = 100) -> str:
    """A sample and what it was paid for."""
    parts = ", ".join(f"{name} {value:g}" for name, value in event.components.items())
    judged = f"not judged: {event.failed}" if event.failed else f"{event.reward:.2f} ({parts})"
    cut = " (cut off)" if event.truncated else ""
    asked, said = one_line(event.prompt, width), one_line(event.text, width)
    return f"{judged}\n  {asked}\n  {said}{cut}"


def advice(event: PracticeDone, how: str) -> str:
    """What to do after it; how: to warm it up, where the owner is. Empty where there is nothing to say."""
    if event.ended == "too_hard" and not event.warm_up_steps:
        return f"{how} begins with worked examples"
    return ""


def done(event: PracticeDone) -> str:
    """What practice came to, in a sentence or two."""
    if event.accuracy_before is None or event.accuracy_after is None:
        return f"{event.task}: {event.why or 'nothing was measured'}"
    before = event.accuracy_before if event.accuracy_warm is None else event.accuracy_warm
    gained = (
        f"{event.task}: held-out accuracy {percent(before)} \u2192 {percent(event.accuracy_after)}"
        f" on {counted(event.held_out, 'problem')} after {counted(event.steps, 'step')}"
        f" in {seconds(event.seconds)}"
    )
    if event.accuracy_warm is not None:
        gained += (
            f" (warm-up, {counted(event.warm_up_steps, 'step')}: {percent(event.accuracy_before)} \u2192 "
            f"{percent(event.accuracy_warm)})"
        )
    if event.book_before is not None and event.book_after is not None:
        gained += f"; book recall {percent(event.book_before)} \u2192 {percent(event.book_after)}"
    return f"{gained}; {event.why}" if event.why else gained


def gained(gain: Gain) -> str:
    """One task of the morning report."""
    return (
        f"{gain.task}: {counted(gain.steps, 'step')} in {seconds(gain.seconds)}, "
        f"held-out accuracy {percent(gain.accuracy_before)} \u2192 {percent(gain.accuracy_after)}"
    )
