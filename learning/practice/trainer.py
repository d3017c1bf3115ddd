"""GRPO on one task. Each step: sample groups of answers, score them, take policy-gradient updates.

    problems -> rollouts.draw -> rewards -> advantages in each group -> grpo_gradients + retention -> AdamW

Changes the model in place. Left out: the guard, the journal and publication (learning.practice.run).
"""

from __future__ import annotations

import copy
import math
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean, stdev

import torch

from engine.model import Model
from engine.tokenizers.tokenizer import Tokenizer
from learning.agents.value import ValueHead
from learning.maths.kl import k3
from learning.memory.replay import Replay
from learning.memory.retention import Retention, rehearse
from learning.objectives.grpo import (
    GrpoAnswer,
    GrpoGroup,
    GrpoReport,
    grpo_gradients,
    log_probabilities,
)
from learning.objectives.stepper import Stepper
from learning.objectives.token_credit import credited, trajectories
from learning.practice.critic import RolloutCritic
from learning.practice.rollouts import Drawn, RolloutSampler, Sample, fitting, held_out_problems
from learning.practice.settings import PracticeSettings
from learning.practice.warm_up import WarmUpReport, warm_up
from learning.protocol.records import StepFigures
from learning.rewards.task import Problem, Task

KL_GROUPS = 4
"""Groups per step on which the KL from the weights before the first step is estimated."""


@dataclass(frozen=True)
class StepReport(StepFigures):
    """Figures of one step and some of the answers sampled in it."""

    samples: tuple[Sample, ...] = ()


class GrpoTrainer:
    """Trains one model on one task."""

    def __init__(
        self,
        model: Model,
        tokenizer: Tokenizer,
        task: Task,
        replay: Replay,
        settings: PracticeSettings,
        *,
        seed: int = 0,
        value: ValueHead | None = None,
        pause: Callable[[], None] = lambda: None,
    ) -> None:
        """value: of these weights on this task, learned before, for the critic if the settings have one.
        Raises DataError if the task has no problems."""
        self.model, self.task, self.settings = model, task, settings
        self._pause = pause
        self._rng = random.Random(seed)
        self.generator = torch.Generator().manual_seed(seed)
        self.roller = RolloutSampler(
            tokenizer,
            task,
            max_tokens=settings.max_tokens,
            temperature=settings.objective.temperature,
            rows=settings.rows,
            pause=pause,
        )

        def fits(problem: Problem) -> bool:
            return self.roller.fits(model, problem)

        self._held_out = held_out_problems(task, settings.held_out, fits)
        self._problems = fitting(task, random.Random(seed), fits)
        self.keeper = Retention(
            model,
            replay,
            settings.keep,
            self._rng,
            check_tokens=min(2048, 4 * settings.objective.micro_tokens),
            pause=pause,
        )
        for parameter in model.parameters():
            parameter.requires_grad_(True)
        self._stepper = Stepper(
            model.parameters(),
            settings.lr,
            what="practice",
            advice="nothing of it is kept; practise again",
        )
        self.step_number = 0
        self.updates = 0
        """Optimizer steps so far, including warm-up."""
        self._start: Model | None = None
        self.critic = RolloutCritic(model, settings.critic, value) if settings.critic else None

    @property
    def held_out(self) -> int:
        """Number of problems on which accuracy is measured."""
        return len(self._held_out)

    @property
    def has_worked(self) -> bool:
        """True if the problems have worked answers for warm-up."""
        return self._held_out[0].worked is not None

    def accuracy(self) -> float:
        """Accuracy on the held-out problems under greedy decoding, 0 to 1."""
        return self.roller.accuracy(self.model, self._held_out)

    def warm_up(
        self, report: Callable[[WarmUpReport], None], stop: Callable[[], bool]
    ) -> WarmUpReport:
        """See learning.practice.warm_up."""
        before = self.updates

        def heard(now: WarmUpReport) -> None:
            self.updates = before + now.step
            report(now)

        return warm_up(
            self.model,
            self.roller,
            self._problems,
            self.keeper,
            self.settings.warm_up,
            self.generator,
            report=heard,
            pause=self._pause,
            stop=stop,
        )

    def step(self) -> StepReport:
        """One rollout and its updates. Raises NumericsError if a loss or gradient is not finite,
        ConfigError if the verifier failed on all answers."""
        started = time.monotonic()
        if self._start is None:
            self._start = copy.deepcopy(self.model).requires_grad_(False)
        drawn, live = self._draw()
        self.roller.judged([sample for part in drawn for sample in part.samples])
        groups = self._by_value(live)
        kl = self._distance(groups)
        reports = self._learn(groups)
        self.step_number += 1
        return self._report(drawn, reports, len(live), kl, time.monotonic() - started)

    def mend(self, mended: Callable[[], bool]) -> None:
        """Rehearses book and lessons alone until `mended()` is true (learning.memory.retention)."""

        def step() -> None:
            self.keeper.gradients(self.model, mending=True)
            self._step()

        rehearse(step, mended)

    # ------------------------------------------------------------ drawing

    def _draw(self) -> tuple[list[Drawn], list[tuple[tuple[Sample, ...], GrpoGroup]]]:
        """All answers sampled, and the groups whose answers differ in reward. Dead groups are replaced
        up to `redraws` times."""
        settings = self.settings
        drawn: list[Drawn] = []
        live: list[tuple[tuple[Sample, ...], GrpoGroup]] = []
        for _ in range(1 + settings.redraws):
            missing = settings.groups - len(live)
            if not missing:
                break
            problems = [next(self._problems) for _ in range(missing)]
            found = self.roller.draw(self.model, problems, settings.group_size, self.generator)
            drawn.append(found)
            for prompt, samples in zip(found.prompts, found.groups, strict=True):
                if group := self._group(prompt, samples):
                    live.append((samples, group))
        return drawn, live

    def _group(self, prompt: tuple[int, ...], samples: tuple[Sample, ...]) -> GrpoGroup | None:
        """The group with its advantages; None if it is dead. Answers on which the verifier failed are
        left out; truncated answers enter the mean but give no gradient."""
        judged, rewards = _judged(samples)
        if len(judged) < 2 or len(set(rewards)) == 1:
            return None
        answers = tuple(
            GrpoAnswer(s.answer.tokens, s.answer.logprobs, 0.0, not s.truncated) for s in judged
        )
        credit = self.settings.credit(self.settings.advantages)
        return credited([GrpoGroup(prompt, answers)], [rewards], credit)[0]

    def _by_value(self, live: list[tuple[tuple[Sample, ...], GrpoGroup]]) -> list[GrpoGroup]:
        """The groups; where there is a critic, it learns from them, and once it is good enough their tokens
        are credited by its values."""
        groups, rewards = [group for _, group in live], [_judged(samples)[1] for samples, _ in live]
        if self.critic is None:
            return groups
        self.critic.observe(trajectories(groups, rewards))
        return credited(groups, rewards, self.critic.credit()) if self.critic.ready else groups

    @torch.no_grad()
    def _distance(self, groups: list[GrpoGroup]) -> float:
        """Mean KL per token to the weights before the first step, in nats, estimated by k3 on the
        sampled answers."""
        assert self._start is not None
        chosen = groups[:KL_GROUPS]
        read = log_probabilities(self._start, chosen, self.settings.objective, pause=self._pause)
        now = [p for group in chosen for answer in group.answers for p in answer.logprobs]
        if not now:
            return 0.0
        was = torch.cat([values for own in read for values in own])
        return float(k3(torch.tensor(now), was).mean())

    # ------------------------------------------------------------ learning

    def _learn(self, groups: list[GrpoGroup]) -> list[GrpoReport]:
        settings = self.settings
        reports: list[GrpoReport] = []
        for _ in range(settings.passes):
            order = self._rng.sample(groups, len(groups))
            size = math.ceil(len(order) / settings.updates)
            for start in range(0, len(order), max(1, size)):
                reports.append(self._update(order[start : start + size]))
        return reports

    def _update(self, groups: list[GrpoGroup]) -> GrpoReport:
        settings = self.settings
        reference = self._start if settings.objective.kl_weight else None
        try:
            report = grpo_gradients(
                self.model, groups, settings.objective, reference=reference, pause=self._pause
            )
            kept = self.keeper.gradients(self.model)
            self._step(report.loss + kept)
        finally:
            self._stepper.clear()
        return report

    def _step(self, loss: float = 0.0) -> None:
        self._stepper.step(loss, min(1.0, (self._stepper.count + 1) / self.settings.ramp))
        self.updates += 1

    # ------------------------------------------------------------ reporting

    def _report(
        self,
        drawn: list[Drawn],
        reports: list[GrpoReport],
        live: int,
        kl: float,
        seconds: float,
    ) -> StepReport:
        groups = [group for part in drawn for group in part.groups]
        samples = [sample for group in groups for sample in group]
        rewards = [sample.score.total for sample in samples]
        names = sorted({name for s in samples for name in s.score.components})
        tokens = sum(part.tokens for part in drawn)

        def mean(values: list[float]) -> float:
            return fmean(values) if values else 0.0

        return StepReport(
            step=self.step_number,
            reward_mean=mean(rewards),
            reward_std=mean([stdev(s.score.total for s in group) for group in groups]),
            success=mean([float(s.score.correct) for s in samples]),
            groups=len(groups),
            dead_groups=len(groups) - live,
            kl=kl,
            loss=mean([r.loss for r in reports]),
            entropy=mean([r.entropy for r in reports]),
            clipped=mean([r.clipped for r in reports]),
            length=mean([float(len(s.answer.tokens)) for s in samples]),
            truncated=mean([float(s.truncated) for s in samples]),
            failed=sum(s.score.failed is not None for s in samples),
            tokens=tokens,
            tokens_per_second=tokens / max(1e-6, sum(part.seconds for part in drawn)),
            seconds=seconds,
            components={
                name: mean([s.score.components.get(name, 0.0) for s in samples]) for name in names
            },
            samples=tuple(_shown(samples, self.settings.shown)),
        )


def _judged(samples: tuple[Sample, ...]) -> tuple[list[Sample], list[float]]:
    """The samples that the verifier could judge, and their rewards."""
    judged = [s for s in samples if s.score.failed is None]
    return judged, [s.score.total for s in judged]


def _shown(samples: list[Sample], count: int) -> list[Sample]:
    """The best answer, the worst, then others in order; at most `count`."""
    ranked = sorted(samples, key=lambda s: -s.score.total)
    chosen = [*ranked[:1], *ranked[-1:], *samples]
    return list({id(sample): sample for sample in chosen}.values())[:count]
