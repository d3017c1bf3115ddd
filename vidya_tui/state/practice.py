"""What is known of a practice, and the lines that show it. Pure functions of frozen values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from learning.practice.report import Gain, together
from learning.protocol.events import (
    Event,
    Failed,
    PracticeDone,
    PracticeSample,
    PracticeStage,
    PracticeStep,
    TeacherEnded,
)
from learning.protocol.practice_events import PracticeStarted
from learning.protocol.records import ArmFigures, AskingFigures
from vidya_tui.state.ladder import joined
from vidya_tui.state.samples import by_component, none_has
from vidya_tui.text.numbers import counted, percent, seconds
from vidya_tui.text.sanitise import one_line

KEPT, SHOWN = 120, 12
"""Samples that are kept to choose among, and that are shown."""
RECENT = 8
"""Steps whose mean says how long the next ones will take."""
BEGINNING = "beginning: looking at book and problems"
"""What a run does before its first step; minutes with a large model."""
WARM_UP = "warm-up"
"""What follows the task in a command that begins with worked examples."""
SELF_PLAY_WORD = "self-play"
"""What follows the task in a command by which the model asks the questions itself."""
STAYED = 0.05
"""Change of held-out accuracy below which nothing is said to have risen or fallen: some sixty problems of
each task cannot tell."""
BARS = "\u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588"


@dataclass(frozen=True)
class Practising:
    """What is known of a practice."""

    task: str = ""
    running: bool = False
    idle: bool = False
    stage: str = ""
    """The stage it is in, in words."""
    steps: tuple[PracticeStep, ...] = ()
    samples: tuple[PracticeSample, ...] = ()
    """The newest first."""
    measured: tuple[PracticeStage, ...] = ()
    """Stages at which accuracy was measured, in order."""
    alarm: str = ""
    """The newest; of a save point, or of a step, which is known when the practice has ended."""
    changed: tuple[str, ...] = ()
    """Options that are not the defaults, as one types them."""
    warming: PracticeStage | None = None
    """The newest report of warm-up, while that lasts."""
    rated: PracticeStage | None = None
    """The newest one with a success rate."""
    stopping: bool = False
    """It was asked to end, and has not yet."""
    done: PracticeDone | None = None
    idle_runs: tuple[PracticeDone, ...] = ()
    """Idle practices that have ended since the owner was here last."""
    typed: str = ""
    """What the owner typed to begin it; empty for an idle one."""
    failed: str = ""
    """Why it could not be done, and what to do next."""


def begun(
    task: str, *, typed: str = "", idle_runs: tuple[PracticeDone, ...] | None = None
) -> Practising:
    """A practice that was just requested. typed: the owner's words. idle_runs: for an idle one, those before
    it; else None."""
    idle = idle_runs is not None
    return Practising(task, True, idle, BEGINNING, idle_runs=idle_runs or (), typed=typed)


def after(now: Practising, event: Event) -> Practising:
    """What is known after an event."""
    match event:
        case PracticeStarted():
            changed = tuple(f"{name}={value}" for name, value in event.changed.items())
            return replace(now, task=event.task, running=True, changed=changed)
        case PracticeStage():
            warming = event if event.stage == "warm_up" else None
            rated = now.rated if warming and event.success is None else warming
            stage = staged(event, rated) or now.stage
            measured = now.measured if event.accuracy is None else (*now.measured, event)
            now = replace(now, stage=stage, warming=warming, rated=rated, measured=measured)
            return replace(now, task=event.task, running=True, alarm=event.alarm or now.alarm)
        case PracticeStep():
            stage = f"step {event.step} of {event.steps}"
            steps = (*now.steps, event)
            return replace(
                now, task=event.task, running=True, stage=stage, steps=steps, warming=None
            )
        case PracticeSample():
            return replace(now, samples=(event, *now.samples)[:KEPT])
        case PracticeDone():
            runs = (*now.idle_runs, event) if event.idle else now.idle_runs
            ended = replace(now, running=False, stopping=False, done=event, stage="ended")
            return replace(ended, idle_runs=runs, alarm=event.alarm or now.alarm)
        case Failed(where="practise" | "worker"):
            failed = ". ".join(filter(None, (event.what, event.next_step)))
            ended = replace(now, running=False, stopping=False, stage="could not be done")
            return replace(ended, failed=failed if now.running else now.failed)
        case TeacherEnded() if now.running:
            lost = "the model was lost; what was saved is kept"
            return replace(now, running=False, stopping=False, stage=lost)
    return now


def share(now: Practising) -> float:
    """Share of the steps that is done, 0 to 1; during warm-up, of the steps that it may take. 1 where the
    task was solved earlier."""
    if now.done is not None and now.done.ended in ("steps", "solved"):
        return 1.0
    if now.warming is not None:
        return now.warming.step / max(1, now.warming.steps)
    return now.steps[-1].step / max(1, now.steps[-1].steps) if now.steps else 0.0


def left(now: Practising) -> str:
    """The time left if all steps are taken; empty where it cannot be estimated yet."""
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
        most = (
            f", {warming.step} of at most {counted(warming.steps, 'step')}" if warming.steps else ""
        )
        most += f", {left(now).removesuffix(' at most')}" if left(now) else ""
        return f"practising {now.task}, warming up{most}"
    if not now.steps:
        doing = "the first step" if now.measured else "measuring first"
        return f"practising {now.task}, {doing}"
    step = now.steps[-1]
    done = f"step {step.step} of {step.steps}, {good(step)} {percent(step.success)}"
    return f"practising {now.task}, {done}, {left(now)}"


def figures(now: Practising) -> list[tuple[str, str]]:
    """(name, value) rows about the newest step and measurement."""
    rows: list[tuple[str, str]] = []
    if now.measured:
        first, last = now.measured[0], now.measured[-1]
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
            (good(step), f"{percent(step.success)}  {spark([s.success for s in now.steps])}"),
            (
                "nothing to compare",
                f"in {step.dead_groups} of {step.groups}: all answers scored alike",
            ),
            ("drift", f"{step.kl:.3f} nats a token from before (KL)"),
            ("variety", f"{step.entropy:.2f} nats a token (entropy)"),
            ("length", f"{step.length:.0f} tokens, {percent(step.truncated)} cut off"),
            ("speed", f"{step.tokens_per_second:.0f} tokens/s, {seconds(step.seconds)} a step"),
        ]
        if not step.updates:
            rows.append(("no update yet", waiting(step)))
        elif step.ratio != 1.0:
            ratio = f"{step.ratio:.3f} now to when drawn, {percent(step.clipped)} clipped"
            rows.append(("ratio", ratio))
        rows += [(arm.name, _arm(arm)) for arm in step.arms]
        if (asking := step.asking) is not None:
            rows += [("questions", _questions(asking)), ("asked", levels(asking.levels))]
    if now.changed:
        rows.append(("options", " ".join(now.changed)))
    return rows


def good(event: PracticeStep) -> str:
    """What answers are that count as a success: "right", or "liked" where nothing is right or wrong."""
    return "liked" if event.components and "correct" not in event.components else "right"


def _arm(arm: ArmFigures) -> str:
    """Figures of one task or difficulty: how often it is chosen, how it goes, what the curriculum thinks."""
    parts = [f"{percent(arm.weight)} of the problems"]
    if arm.accuracy is not None:
        parts.append(f"held out {percent(arm.accuracy)}")
    if arm.success is not None:
        alike = f"{arm.dead_groups} of {arm.groups} alike"
        parts.append(f"right {percent(arm.success)}, {alike}")
    return ", ".join([*parts, f"worth {arm.value:.2f}"])


def _questions(asking: AskingFigures) -> str:
    """How the questions of a step went."""
    parts = [f"{asking.asked} asked", f"{asking.valid} valid", f"{asking.distinct} different"]
    return ", ".join([*parts, f"worth {asking.reward_mean:.2f}"])


def levels(asked: Mapping[str, int]) -> str:
    """The histogram of the questions' levels in words, for sums terms x digits: "2x1 75 %, 3x1 25 %"."""
    total = sum(asked.values())
    return ", ".join(f"{level} {percent(n / total)}" for level, n in asked.items()) or "nothing"


def by_task(event: PracticeDone) -> str:
    """What became of each task and difficulty, in a sentence; empty where there was one."""
    found = []
    for name, before in event.arms_before.items():
        now = event.arms_after.get(name, before)
        if abs(now - before) < STAYED:
            found.append(f"{name} stayed at {percent(now)}")
        else:
            went = "rose" if now > before else "fell"
            found.append(f"{name} {went} from {percent(before)} to {percent(now)}")
    return ", ".join(found)


def waiting(event: PracticeStep) -> str:
    """How many problems are there for the next update."""
    return f"{event.waiting} of the {counted(event.needed, 'problem')} that one needs"


def started(event: PracticeStarted) -> str:
    """The run's number, its seed, what is not as usual, and what happens now."""
    changed = "".join(f", {name}={value}" for name, value in event.changed.items())
    first = f"run {event.run}, seed {event.seed}{changed}"
    return "\n".join([first, *(f"differs: {what}" for what in event.differs), BEGINNING])


def spark(values: Sequence[float], width: int = 24) -> str:
    """The last values, each in 0 to 1, as a row of bars."""
    return "".join(BARS[min(len(BARS) - 1, int(max(0.0, v) * len(BARS)))] for v in values[-width:])


def samples(
    kept: Sequence[PracticeSample], width: int, by: str = "", most: int | None = SHOWN
) -> str:
    """The first answers with their rewards by component; by: a component, those with most of it first. most:
    at most so many; None: all."""
    found = by_component(kept, by)[:most]
    lines = [sampled(sample, max(20, width)) for sample in found]
    if by:
        order = "" if "=" in by else ", most first"
        lines.insert(0, f"by {by}{order}" if found else none_has(by))
    return "\n".join(lines)


def staged(event: PracticeStage, rated: PracticeStage | None = None) -> str:
    """One measurement or report of warm-up on one line; empty if it has no figure. rated: the newest report
    of warm-up that has a success rate. If `event` has none, the line tells this rate and its step."""
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
    newest = event.success if rated is None else rated.success
    if rated is not None and newest is not None and 0 < rated.step < event.step:
        known.append(f"{percent(newest)} right at step {rated.step}")
    if newest is not None and event.enough:
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
        f"{good(event)} {percent(event.success)}",
        f"nothing to compare in {event.dead_groups} of {event.groups}",
        f"drift {event.kl:.3f}",
        f"variety {event.entropy:.2f}",
        f"{event.length:.0f} tokens an answer",
    ]
    if event.truncated:
        parts.append(f"{percent(event.truncated)} cut off")
    if event.failed:
        parts.append(f"{event.failed} not judged")
    if not event.updates:
        parts.append(f"no update yet: {waiting(event)}")
    if event.arms:
        chosen = ", ".join(f"{arm.name} {percent(arm.weight)}" for arm in event.arms)
        parts.append(f"chosen: {chosen}")
    if event.asking is not None:
        parts.append(f"questions: {_questions(event.asking)} ({levels(event.asking.levels)})")
    if event.dropped:
        parts.append(f"{event.dropped} waited too long")
    return " \u00b7 ".join([*parts, seconds(event.seconds)])


def sampled(event: PracticeSample, width: int = 100) -> str:
    """A sample and its reward, with the components."""
    parts = ", ".join(f"{name} {value:g}" for name, value in event.components.items())
    judged = f"{event.reward:.2f} ({parts})"
    if event.failed:
        judged = f"not judged: {one_line(event.failed, width)}"
    cut = " (cut off)" if event.truncated else ""
    asked, said = one_line(event.prompt, width), one_line(event.text, width)
    return f"{judged}\n  {asked}\n  {said}{cut}"


def night(now: Practising) -> PracticeDone:
    """The idle practices since the owner was here last, as one; there must be at least one."""
    return together(now.idle_runs)


def alarmed(words: str, alarm: str) -> str:
    """The result of a practice with an alarm, unless there is none or the result says it already."""
    return words if alarm in words else f"{words}; alarm: {alarm}"


def warm_up(event: PracticeDone) -> str:
    """The command that practises the task with a warm-up."""
    return f"/practice {' '.join(event.arms_before) or event.task} {WARM_UP}"


def advice(event: PracticeDone, how: str) -> str:
    """What to try next; empty: nothing. how: the command for a warm-up, in the app or in the shell."""
    if event.ended == "too_hard" and not event.warm_up_steps:
        return f"{how} begins with worked examples"
    return ""


def done(event: PracticeDone) -> str:
    """The result of a practice in a sentence or two."""
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
    if event.arms_before:
        gained += f". Held out, {by_task(event)}"
    if event.asked_before:
        asked = f"{levels(event.asked_before)}; at the end: {levels(event.asked_after)}"
        gained += f". Questions asked at first: {asked}"
    if event.joined:
        gained += f". {joined(event.joined)}"
    return f"{gained}; {event.why}" if event.why else gained


def gained(gain: Gain) -> str:
    """One task of the morning report."""
    return (
        f"{gain.task}: {counted(gain.steps, 'step')} in {seconds(gain.seconds)}, "
        f"held-out accuracy {percent(gain.accuracy_before)} \u2192 {percent(gain.accuracy_after)}"
    )
