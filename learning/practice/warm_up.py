"""Supervised training on worked examples until the success rate suffices for reinforcement learning.

It ends as soon as the success rate reaches `enough`. Where hardly any answer is right, groups give no
gradient; where few are, these are lucky guesses, and practice teaches to guess. Book lines and own talk are
in every batch.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import cycle, islice

import torch
from torch import Tensor

from engine.errors import DataError
from engine.model import Model
from learning.data.examples import Example
from learning.memory.retention import Retention
from learning.objectives.processes import ALONE, ProcessGroup
from learning.objectives.stepper import Stepper
from learning.objectives.supervised import likelihood_gradients
from learning.practice.sampling.rollouts import RolloutSampler
from learning.practice.settings import WarmUpSettings
from learning.practice.supply.source import ProblemSource
from learning.practice.tags import introduce_tags
from learning.rewards.task import Problem


@dataclass(frozen=True)
class WarmUpReport:
    """LearningProgress of warm-up."""

    step: int
    loss: float
    """Mean loss of the worked answers in nats per token; nan before the first step."""
    success: float | None
    """Share of sampled answers that are right; None if not measured at this step."""
    seconds: float
    steps: int = 0
    """Most steps."""
    enough: float = 0.0
    """Success rate at which it ends."""
    tagged: bool = False
    """Whether it has taught the tags of answers as single tokens."""


def warm_up(
    model: Model,
    tensors: Sequence[Tensor],
    roller: RolloutSampler,
    source: ProblemSource,
    keeper: Retention,
    settings: WarmUpSettings,
    generator: torch.Generator,
    *,
    report: Callable[[WarmUpReport], None] = lambda _: None,
    pause: Callable[[], None] = lambda: None,
    stop: Callable[[], bool] = lambda: False,
    team: ProcessGroup = ALONE,
) -> WarmUpReport:
    """Trains the model in place; returns the last report, with the success rate that was measured last.
    tensors: those to optimise. team: processes that share the work. Raises DataError if a problem has no
    worked answer, NumericsError if a loss is not finite (the caller restores the weights)."""
    started, tagged = time.monotonic(), False
    advice = "nothing was changed; try again"
    stepper = Stepper(
        tensors, settings.lr, ramp=settings.ramp, what="warm-up", advice=advice, team=team
    )

    def measured(step: int, loss: float) -> WarmUpReport:
        chosen = source.worked(settings.measured)
        samples = roller.draw(model, chosen, 1, generator).samples
        roller.judged(samples)
        last = now(step, loss, source.warmed(samples, settings.enough))
        report(last)
        return last

    def now(step: int, loss: float, success: float | None) -> WarmUpReport:
        seconds = time.monotonic() - started
        return WarmUpReport(
            step, loss, success, seconds, settings.steps, settings.enough, tagged=tagged
        )

    teach = _lessons(source, settings)
    last = measured(0, math.nan)
    step = 0
    while (last.success or 0.0) < settings.enough and step < settings.steps and not stop():
        encode = partial(settings.tags, roller.tokenizer)
        lines = [_worked(model, roller, problem, encode) for problem in teach()]
        if not tagged and any(roller.tokenizer.own_tags.intersection(line.ids) for line in lines):
            tagged = roller.says_tags = True
            introduce_tags(model, roller.tokenizer)
        loss = likelihood_gradients(model, lines, pause=pause, team=team)
        keeper.gradients(model, settings.keep)
        loss = stepper.step(loss)
        step += 1
        if step % settings.measure_every == 0 or step == settings.steps:
            last = measured(step, loss)
        else:
            unmeasured = now(step, loss, None)
            report(unmeasured)
            last = replace(unmeasured, success=last.success)
    return last


def _lessons(source: ProblemSource, settings: WarmUpSettings) -> Callable[[], list[Problem]]:
    """Returns the problems of each next step."""
    if not settings.examples:
        return lambda: source.worked(settings.batch, settings.again)
    turns = cycle(source.worked(settings.examples))
    return lambda: list(islice(turns, settings.batch))


def _worked(
    model: Model, roller: RolloutSampler, problem: Problem, encode: Callable[[str], list[int]]
) -> Example:
    worked = roller.worked(model, problem, encode)
    if worked is None:
        raise DataError(
            f"{roller.task.name}: its problems have no worked answers",
            "practise it without --warm-up, or give data that has them",
        )
    return worked
