"""Alarms of practice: what is paid rises while what it stands for falls.

Held-out problems are the same at every look, so two looks are compared problem by problem (McNemar's exact
test), from the first save point on. Left out: what is done about an alarm (learning.practice.run).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from learning.maths.alarm import LEAST_COUNT
from learning.maths.paired import changes, mcnemar
from learning.practice.figures import StepReport
from learning.practice.sampling.rollouts import HeldOut

SURE = 0.01
"""p-value below which a fall of held-out accuracy is not chance. With 200 problems, 11 lost and 1 gained."""
RISE = 0.1
"""Rise of a component's mean, 0 to 1, that counts as a rise."""
RECALL_FALL = 0.01
"""Fall of book recall that raises an alarm while the reward rises; half of the guard's SLACK. The whole book
is measured each time, so there is no chance in it."""

OFTENER = 1.25
"""Where drawn answers do something this many times as often as before, practice looks at once: greedy answers
may change altogether within two steps, so a look that is due ten steps later comes too late."""


class CountWatch:
    """Watches what drawn answers do several times, such as calls of a tool."""

    def __init__(self) -> None:
        self._level: dict[str, float] = {}
        """The mean of each count with which later steps are compared: the mean at the first step that has the
        count, and after each rise the mean at that step."""

    def rises(self, report: StepReport) -> bool:
        """Whether this step's answers do something OFTENER times as often; told once for each such rise."""
        risen = False
        for name, value in report.counts.items():
            before = self._level.setdefault(name, value)
            if value > OFTENER * max(LEAST_COUNT, before):
                self._level[name], risen = value, True
        return risen


def fell(best: HeldOut, now: HeldOut) -> bool:
    """Whether clearly fewer of the same problems are solved than at the best look."""
    lost, gained = changes(best.right, now.right)
    return lost > gained and mcnemar(lost, gained) < SURE


def fallen_arms(before: HeldOut, now: HeldOut) -> str:
    """The arms of which clearly fewer of the same problems are solved than before, with both accuracies;
    empty if there is none. A single task is one arm without a name."""
    was, is_now = before.by_arm(), now.by_arm()
    if not was:
        change = f"{before.accuracy:.0%} → {now.accuracy:.0%}"
        return change if fell(before, now) else ""
    return ", ".join(
        f"{name} {was[name]:.0%} → {is_now[name]:.0%}"
        for name in was
        if fell(before.of(name), now.of(name))
    )


@dataclass(frozen=True)
class RewardCourse:
    """How reward and components went on the practised problems since the best look."""

    reward: float = 0.0
    """Mean of the later half of the steps minus mean of the earlier half."""
    components: Mapping[str, float] | None = None
    """The same for each component."""


def course(steps: Sequence[StepReport]) -> RewardCourse:
    """The course over these steps. Of a single step nothing can be said."""
    half = len(steps) // 2
    if not half:
        return RewardCourse()
    early, late = steps[:half], steps[-half:]
    names = {name for step in steps for name in step.components}
    return RewardCourse(
        fmean(s.reward_mean for s in late) - fmean(s.reward_mean for s in early),
        {
            name: fmean(s.components.get(name, 0.0) for s in late)
            - fmean(s.components.get(name, 0.0) for s in early)
            for name in names
        },
    )


def alarm(
    best: HeldOut, now: HeldOut, steps: Sequence[StepReport], book_before: float, book: float
) -> str:
    """A message; empty if there is nothing to tell. best: the look at which most problems were solved, now:
    this one; steps: those in between; book_before, book: its recall, 0 to 1."""
    went = course(steps)
    if fell(best, now):
        lost, gained = changes(best.right, now.right)
        fall = (
            f"held-out accuracy fell from {best.accuracy:.0%} to {now.accuracy:.0%} "
            f"({lost} problems lost, {gained} gained)"
        )
        paid = dict(went.components or {})
        practised = paid.pop("correct", 0.0)
        held_out = {
            name: value - best.components.get(name, 0.0)
            for name, value in now.components.items()
            if name != "correct"
        }
        risen = sorted({name for part in (paid, held_out) for name in part if part[name] > RISE})
        if risen:
            return f"{', '.join(risen)} rises while {fall}: look at the samples, the reward may be fooled"
        if practised > 0.0:
            return f"the practised problems are solved better while {fall}: it learns these, not the task"
        if went.reward > 0.0:
            return f"the reward rises while {fall}: look at the samples, the reward may be fooled"
    if went.reward > 0.0 and book < book_before - RECALL_FALL:
        return (
            f"the reward rises while recall of the book fell from {book_before:.0%} to {book:.0%}"
        )
    return ""
