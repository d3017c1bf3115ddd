"""Tells and journals what a run of practice does: steps, samples, measurements, warm-up.

Of several arms each is measured under its own name, so that the morning report has it beside runs of that
task alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from learning.journal.journal import Journal
from learning.journal.practices import add_practice_step
from learning.practice.figures import StepReport
from learning.practice.report import measure_name
from learning.practice.run import Evaluation
from learning.practice.supply.arms import split_arm
from learning.practice.warm_up import WarmUpReport
from learning.protocol.events import Event, PracticeSample, PracticeStage, PracticeStep
from learning.protocol.records import ArmFigures
from learning.protocol.requests import Practise


@dataclass
class PracticeTelling:
    """The messages of one run."""

    journal: Journal
    model: str
    """Name of the model that practises."""
    request: Practise
    emit: Callable[[Event], None]
    steps: int
    """Most steps of the run."""
    group_size: int
    run: int | None = None
    """Journal id of the run, once it has begun."""
    before: int = 0
    """Steps of earlier parts of the run."""
    _accuracy: float | None = None
    _recall: float | None = None
    _by_arm: Mapping[str, float] = field(default_factory=dict)
    _share: dict[str, float] = field(default_factory=dict)
    """Groups of each arm in this part."""
    _drawn: dict[str, int] = field(default_factory=dict)
    """Steps of this part in which the arm had problems."""

    def stepped(self, report: StepReport, curriculum: Mapping[str, Any] | None = None) -> None:
        """Tells a step. curriculum: what the curriculum has learned, which is kept with it."""
        number = self.before + report.step
        loss = report.loss if report.updates else math.nan
        drawn = report.groups * self.group_size
        self.journal.add_step([], loss, drawn, report.seconds, "practice", self.model)
        self._measured("reward", report.reward_mean)
        for arm in report.arms:
            self._share[arm.name] = self._share.get(arm.name, 0.0) + arm.groups
            self._drawn[arm.name] = self._drawn.get(arm.name, 0) + (arm.groups > 0)
        samples = [
            PracticeSample(
                number,
                sample.problem.prompt,
                sample.text,
                sample.reward,
                dict(sample.score.components),
                sample.truncated,
                sample.score.failed,
            )
            for sample in report.samples
        ]
        for one in samples:
            self.emit(one)
        arms = tuple(self._with_accuracy(arm) for arm in report.arms)
        fields: dict[str, Any] = {**report.figures(), "step": number, "arms": arms}
        if self.run is not None:
            kept = {**fields, "arms": [asdict(arm) for arm in arms]}
            if report.asking is not None:
                kept["asking"] = asdict(report.asking)
            if curriculum is not None:
                kept["curriculum"] = curriculum
            add_practice_step(self.journal, self.run, number, kept, samples)
        self.emit(
            PracticeStep(
                task=self.request.task,
                steps=self.steps,
                accuracy=self._accuracy,
                book_recall=self._recall,
                **fields,
            )
        )

    def evaluated(self, found: Evaluation) -> None:
        """Tells a measurement."""
        self._accuracy, self._recall, self._by_arm = found.accuracy, found.book_recall, found.by_arm
        if not found.held:  # the journal records only weights that are in use
            if found.by_arm:
                for name, accuracy in found.by_arm.items():
                    self._measured("accuracy", accuracy, name)
            else:
                self._measured("accuracy", found.accuracy)
            self.journal.add_measure("book_recall", found.book_recall, self.model)
        self.emit(
            PracticeStage(
                self.request.task,
                found.stage,
                self.before + found.step,
                accuracy=found.accuracy,
                book_recall=found.book_recall,
                saved=found.saved,
                held=found.held,
                alarm=found.alarm,
                by_arm=dict(found.by_arm),
            )
        )

    def warmed(self, report: WarmUpReport) -> None:
        """Tells a step of warm-up."""
        self.emit(
            PracticeStage(
                self.request.task,
                "warm_up",
                report.step,
                report.loss if report.step else None,
                report.success,
                steps=report.steps,
                enough=report.enough,
                seconds=report.seconds,
            )
        )

    def spent(self, steps: int, seconds: float) -> None:
        """Records the steps and seconds of a part that ended: of each arm those in which it was practised,
        and its share of the time."""
        if not self.request.arms:
            self._measured("steps", float(steps))
            self._measured("seconds", seconds)
            return
        total = sum(self._share.values())
        for name in self.request.arms:
            share = self._share.get(name, 0.0) / total if total else 1 / len(self.request.arms)
            self._measured("steps", float(self._drawn.get(name, 0)), name)
            self._measured("seconds", share * seconds, name)
        self._share.clear()
        self._drawn.clear()

    def _with_accuracy(self, arm: ArmFigures) -> ArmFigures:
        return replace(arm, accuracy=self._by_arm.get(arm.name))

    def _measured(self, what: str, value: float, arm: str | None = None) -> None:
        request = self.request
        task, settings = (request.task, request.settings) if arm is None else split_arm(arm)
        data = Path(request.data).name if request.data else ""
        self.journal.add_measure(measure_name(task, what, settings, data), value, self.model)
