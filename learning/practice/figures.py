"""The figures of one step of practice, from its answers and updates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from statistics import fmean, stdev
from typing import Any

from learning.objectives.grpo import GrpoReport
from learning.practice.sampling.rollouts import Drawn, Sample, share_right
from learning.protocol.records import StepFigures
from learning.rewards.task import COUNT

MISMATCH = 0.01
"""Nats a token between the drawn odds and those in float32 above which something is wrong. With weights in
float16 (engine.packed) 0.003 was measured, with weights in float32 less than 0.0001."""


@dataclass(frozen=True)
class StepReport(StepFigures):
    """Figures of one step and some of the answers sampled in it."""

    samples: tuple[Sample, ...] = ()
    counts: Mapping[str, float] = field(default_factory=dict)
    """Name of each count among the components -> its mean over the answers that have it. In a mixture of
    tasks perhaps only one has a tool, so only its answers count calls."""

    def figures(self) -> dict[str, Any]:
        """The fields of StepFigures by name."""
        return {one.name: getattr(self, one.name) for one in fields(StepFigures)}


@dataclass(frozen=True)
class Learned:
    """What the updates of one step were."""

    reports: Sequence[GrpoReport] = ()
    """One per optimizer step."""
    ages: Sequence[int] = ()
    """Of each group that was learned from, in steps."""
    waiting: int = 0
    needed: int = 0
    dropped: int = 0


def judged(samples: Sequence[Sample]) -> list[Sample]:
    """Those that the verifier could judge."""
    return [sample for sample in samples if sample.score.failed is None]


def mean(values: Sequence[float]) -> float:
    """The mean; 0 of nothing."""
    return fmean(values) if values else 0.0


def is_dead(samples: Sequence[Sample]) -> bool | None:
    """Whether the judged answers of a group all have exactly the same reward; None with fewer than two."""
    rewards = [sample.reward for sample in judged(samples)]
    return None if len(rewards) < 2 else all(reward == rewards[0] for reward in rewards)


def step_report(
    step: int,
    drawn: Sequence[Drawn],
    learned: Learned,
    seconds: float,
    shown: int,
    *,
    kl: float,
    mismatch: float,
) -> StepReport:
    """All figures together. shown: most samples."""
    groups = [group for part in drawn for group in part.groups]
    samples = [sample for group in groups for sample in group]
    known, dead = judged(samples), [is_dead(group) for group in groups]
    names = sorted({name for s in known for name in s.score.components})
    tokens = sum(part.tokens for part in drawn)
    reports = learned.reports
    spreads = [judged(group) for group in groups]
    drawn_tokens = [p for sample in samples for p in sample.answer.logprobs]
    return StepReport(
        step=step,
        reward_mean=mean([sample.reward for sample in known]),
        reward_std=mean([stdev(s.reward for s in own) for own in spreads if len(own) > 1]),
        success=share_right(samples),
        groups=len(groups),
        dead_groups=sum(one is True for one in dead),
        unjudged_groups=sum(one is None for one in dead),
        kl=kl,
        loss=mean([r.loss for r in reports]),
        entropy=-mean(drawn_tokens) if drawn_tokens else 0.0,
        entropy_live=mean([r.entropy for r in reports]),
        clipped=mean([r.clipped for r in reports]),
        ratio=mean([r.ratio for r in reports if r.tokens]) or 1.0,
        mismatch=mismatch,
        length=mean([float(s.answer.drawn) for s in samples]),
        truncated=mean([float(s.truncated) for s in samples]),
        failed=len(samples) - len(known),
        tokens=tokens,
        tokens_per_second=tokens / max(1e-6, sum(part.seconds for part in drawn)),
        seconds=seconds,
        components={
            name: mean([s.score.components.get(name, 0.0) for s in known]) for name in names
        },
        updates=len(reports),
        waiting=learned.waiting,
        needed=learned.needed,
        dropped=learned.dropped,
        age=mean([float(age) for age in learned.ages]),
        samples=tuple(_shown(samples, shown)),
        counts={
            name: fmean(s.score.components[name] for s in known if name in s.score.components)
            for name in names
            if name.endswith(COUNT)
        },
    )


def _shown(samples: list[Sample], count: int) -> list[Sample]:
    """The best answer, the worst, the median, then others in order; at most `count`."""
    ranked = sorted(samples, key=lambda s: -s.reward)
    middle = ranked[len(ranked) // 2 :][:1]
    chosen = [*ranked[:1], *ranked[-1:], *middle, *samples]
    return list({id(sample): sample for sample in chosen}.values())[:count]
