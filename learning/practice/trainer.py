"""GRPO on one task. Each step: sample groups of answers, score them, take policy-gradient updates.

    problems -> rollouts.draw -> rewards -> buffer -> advantages -> grpo_gradients + retention -> AdamW

Changes the model in place. Left out: the guard, the journal and publication (learning.practice.run).
"""

from __future__ import annotations

import copy
import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import zip_longest

import torch

from engine.model import Model
from engine.tokenizers.tokenizer import Tokenizer
from learning.agents.credit import GroupAdvantages
from learning.agents.value import ValueHead
from learning.memory.reference import reference_of
from learning.memory.replay import Replay
from learning.memory.retention import MENDING_RATE, Retention, rehearse
from learning.objectives.grpo import (
    GrpoGroup,
    GrpoReport,
    grpo_gradients,
)
from learning.objectives.processes import ALONE, ProcessGroup
from learning.objectives.stepper import Stepper
from learning.objectives.token_credit import credited, trajectories
from learning.practice.checks.yardstick import Yardstick
from learning.practice.critic import RolloutCritic
from learning.practice.figures import Learned, StepReport, is_dead, step_report
from learning.practice.rereading import Reader
from learning.practice.sampling.buffer import (
    ExperienceBuffer,
    Kept,
    ScoredGroup,
    scored_group,
)
from learning.practice.sampling.mixed import sampler
from learning.practice.sampling.rollouts import (
    Drawn,
    HeldOut,
    RolloutSampler,
    held_out_problems,
)
from learning.practice.settings import PracticeSettings
from learning.practice.supply.source import MakeSource, ProblemSource, SingleSource, can_begin
from learning.practice.tags import as_text, with_tags
from learning.practice.trained import TrainedWeights, WholeModel
from learning.practice.warm_up import WarmUpReport, warm_up
from learning.rewards.task import Problem, Task

READ_GROUPS = 4
"""Groups per step, dead or not, on which the KL from the weights before the first step is estimated, and
the mismatch of drawing is measured."""


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
        trained: TrainedWeights | None = None,
        yardstick: Yardstick | None = None,
        value: ValueHead | None = None,
        source: MakeSource = SingleSource,
        pause: Callable[[], None] = lambda: None,
        team: ProcessGroup = ALONE,
    ) -> None:
        """trained: what is trained, within its `training`; None: all weights. yardstick: what
        talk and book are held to; None: as they are now. value: of these weights on this task, learned
        before, for a critic. source: of the problems that are practised. team: processes that practise
        together: each draws answers to its share of the problems and computes its share of the gradients.
        Raises DataError if the task has no problems."""
        self.model, self.task, self.settings, self.team = model, task, settings, team
        self._pause, self._trained = pause, trained or WholeModel(model)
        self._rng = random.Random(seed)
        self.generator = torch.Generator().manual_seed(team.own_seed(seed))
        self.roller = self._sampler(tokenizer, task)
        self._samplers = [self.roller]
        """All that draw; in self-play there is one for questions too."""
        self._reader = Reader(settings.objective, self.roller.never, pause, team)

        def fits(problem: Problem) -> bool:
            return self.roller.fits(model, problem)

        self._held_out = held_out_problems(task, settings.held_out, fits)
        self._source = source(task, random.Random(seed), fits)
        self.keeper = Retention(
            model,
            replay,
            settings.keep,
            self._rng,
            reference=reference_of(yardstick.model, pause=pause) if yardstick else None,
            check_tokens=min(2048, 4 * settings.objective.micro_tokens),
            pause=pause,
            team=team,
        )
        if yardstick:
            self.keeper.book_before = yardstick.before(self.keeper.book_recall)
        self._stepper = self._new_stepper(settings.lr, "practice", settings.ramp)
        self.step_number = 0
        self._moved = 0
        """How often the weights have moved, which numbers them for the buffers."""
        self._buffer = ExperienceBuffer(settings.buffer_size or settings.groups, settings.max_age)
        self._buffers = [self._buffer]
        """One for each kind of answers that is learned from; in self-play new problems are a second kind."""
        self._advantages: list[GroupAdvantages] = [settings.advantages]
        self._live = 1.0
        """Share of groups whose answers differed in reward, among those drawn last."""
        self.updates = 0
        """Optimizer steps so far, including warm-up."""
        self.taught_tags = False
        """Whether warm-up taught a model that did not know them the tags of answers as single tokens."""
        self._start: Model | None = None
        self.critic: RolloutCritic | None = None
        if settings.critic.answers:
            self.critic = settings.critic.step(model, settings.critic, value)

    @property
    def held_out(self) -> int:
        """Number of problems on which accuracy is measured."""
        return len(self._held_out)

    @property
    def tokenizer(self) -> Tokenizer:
        """That of the model as it is: warm-up may have taught it the tags of answers as single tokens."""
        given = self.roller.tokenizer
        return with_tags(given) if self.taught_tags else given

    @property
    def problems_held_out(self) -> list[Problem]:
        """Those problems."""
        return self._held_out

    @property
    def start(self) -> Model:
        """A frozen copy of the weights before the first step; those of now if none was taken."""
        if self._start is None:
            with self._trained.added():
                self._start = copy.deepcopy(self.model).requires_grad_(False)
        return self._start

    @property
    def has_worked(self) -> bool:
        """True if the problems have worked answers for warm-up."""
        return any(problem.worked is not None for problem in self._held_out)

    def accuracy(self) -> float:
        """Accuracy on the held-out problems under greedy decoding, 0 to 1."""
        return self.look().accuracy

    def look(self) -> HeldOut:
        """Answers the held-out problems with greedy decoding."""
        return self.roller.held_out(self.model, self._held_out)

    def is_cold(self, look: HeldOut) -> bool:
        """Whether practice should begin with warm-up: with some task that has worked answers it cannot begin
        yet. look: at the held-out problems."""
        taught = {problem.arm for problem in self._held_out if problem.worked is not None}
        success = look.by_arm() or dict.fromkeys(taught, look.accuracy)
        success = {arm: success[arm] for arm in taught & success.keys()}
        enough = self.settings.warm_up.enough
        return bool(success) and not can_begin(self._source.coldest(success), enough)

    def warm_up(
        self, report: Callable[[WarmUpReport], None], stop: Callable[[], bool]
    ) -> WarmUpReport:
        """See learning.practice.warm_up."""
        before, settings = self.updates, self.settings.warm_up
        settings = replace(settings, lr=settings.lr * self._trained.rate)
        if not self._trained.embeddings:
            settings = replace(settings, tags=as_text)

        def heard(now: WarmUpReport) -> None:
            self.updates = before + now.step
            self.taught_tags = now.tagged and not self.roller.tokenizer.says_tags
            for drawer in self._samplers:
                drawer.says_tags |= now.tagged
            report(now)

        return warm_up(
            self.model,
            self._trained.tensors(),
            *self._taught(),
            self.keeper,
            settings,
            self.generator,
            report=heard,
            pause=self._pause,
            stop=stop,
            team=self.team,
        )

    def _taught(self) -> tuple[RolloutSampler, ProblemSource]:
        """What warm-up draws with, and what it teaches."""
        return self.roller, self._source

    def step(self) -> StepReport:
        """One rollout and its updates. Raises NumericsError if a loss or gradient is not finite,
        ConfigError if the verifier failed on all answers."""
        started = time.monotonic()
        _ = self.start  # copied before the first update
        self.step_number += 1
        dropped = sum(map(self._drop, self._buffers))
        drawn = self._draw()
        self.roller.judged([sample for part in drawn for sample in part.samples])
        self._source.learn(drawn)
        groups = [
            scored_group(prompt, samples, self.roller.longest(samples[0].problem))
            for part in drawn[:1]  # redrawn ones stand for dead ones, which are in the first part
            for prompt, samples in zip(part.prompts, part.groups, strict=True)
        ][:READ_GROUPS]
        kl = self._reader.divergence(self.start, groups)
        mismatch = self._reader.mismatch(self.model, groups)
        batches = [buffer.batch(self._rng) or [] for buffer in self._buffers]
        reports = self._learn(batches)
        ages = [self._moved - one.born for batch in batches for one in batch]
        self._moved += bool(reports)
        learned = Learned(reports, ages, len(self._buffer), self._buffer.size, dropped)
        seconds = time.monotonic() - started
        report = step_report(
            self.step_number, drawn, learned, seconds, self.settings.shown, kl=kl, mismatch=mismatch
        )
        return replace(report, arms=self._source.arms())

    def mend(self, mended: Callable[[], bool]) -> None:
        """Rehearses book and lessons alone until `mended()` is true (learning.memory.retention), at a share
        of the rate of warm-up: at that of practice adapters hardly move."""
        rate = self.settings.warm_up.lr * self._trained.rate
        stepper = self._new_stepper(MENDING_RATE * rate, "mending")

        def step() -> None:
            self.keeper.gradients(self.model, mending=True)
            stepper.step()
            self.updates += 1

        self._moved += 1
        rehearse(step, mended)

    # ------------------------------------------------------------ drawing

    def _sampler(self, tokenizer: Tokenizer, task: Task) -> RolloutSampler:
        return sampler(
            tokenizer,
            task,
            max_tokens=self.settings.max_tokens,
            temperature=self.settings.objective.temperature,
            rows=self.settings.rows,
            weights=self._trained.added,
            pause=self._pause,
            team=self.team,
        )

    def _draw(self) -> list[Drawn]:
        """All answers sampled. Groups whose answers differ in reward go into the buffer; others are replaced
        up to `redraws` times. As many more are drawn as will be dead if the draw is like the one before."""
        settings, buffer = self.settings, self._buffer
        drawn: list[Drawn] = []
        wanted = min(settings.groups, buffer.size - len(buffer)) + len(buffer)
        for _ in range(1 + settings.redraws):
            if (missing := wanted - len(buffer)) <= 0:
                break
            problems = self._source.take(min(settings.groups, math.ceil(missing / self._live)))
            found = self.roller.draw(self.model, problems, settings.group_size, self.generator)
            drawn.append(found)
            live = self._keep(buffer, found, settings.kl_reward)
            self._live = max(1, live) / len(problems)
        return drawn

    def _keep(self, buffer: ExperienceBuffer, drawn: Drawn, weight: float) -> int:
        """Puts groups whose answers differ in reward into a buffer; returns their number. weight: of KL."""
        live = [
            scored_group(prompt, samples, self.roller.longest(samples[0].problem))
            for prompt, samples in zip(drawn.prompts, drawn.groups, strict=True)
            if is_dead(samples) is False
        ]
        live = self._reader.as_trained(self.model, live)
        if weight:
            live = self._reader.penalised(self.start, live, weight)
        buffer.add(live, self._moved)
        return len(live)

    def _drop(self, buffer: ExperienceBuffer) -> int:
        """Drops groups that waited too long, or from which the policy has moved away; returns how many."""
        old = buffer.drop_old(self._moved)
        waiting = buffer.waiting(self._moved)
        read = self._reader.read(self.model, [one.group for one in waiting])
        drifted = []
        for one, values in zip(waiting, read, strict=True):
            was = torch.tensor([p for answer in one.group.answers for p in answer.logprobs])
            if float((torch.cat(values).cpu() - was).abs().mean()) > self.settings.max_drift:
                drifted.append(one)
        buffer.drop(drifted)
        return old + len(drifted)

    # ------------------------------------------------------------ learning

    def _learn(self, batches: Sequence[Sequence[Kept]]) -> list[GrpoReport]:
        """Reports of the updates, of each on the first kind of answers that it had. Every update has its
        share of every batch."""
        settings = self.settings
        reports: list[GrpoReport] = []
        kinds = [
            self._with_advantages([one.group for one in batch], advantages)
            for batch, advantages in zip(batches, self._advantages, strict=True)
            if batch
        ]
        for _ in range(settings.passes):
            shares = [self._shares(groups) for groups in kinds]
            reports += [self._update(*own) for own in zip_longest(*shares, fillvalue=())]
        return reports

    def _shares(self, groups: list[GrpoGroup]) -> list[list[GrpoGroup]]:
        """The groups in random order, divided among the updates of a pass."""
        order = self._rng.sample(groups, len(groups))
        size = math.ceil(len(order) / self.settings.updates)
        return [order[start : start + size] for start in range(0, len(order), size)]

    def _with_advantages(
        self, groups: Sequence[ScoredGroup], advantages: GroupAdvantages | None = None
    ) -> list[GrpoGroup]:
        """The groups of one batch with the advantages of their tokens. A critic first learns from the batch,
        and credits it once it is good enough."""
        plain = [group.plain for group in groups]
        rewards = [group.rewards for group in groups]
        credit = self.settings.credit(advantages or self.settings.advantages)
        if self.critic is not None:
            self.critic.observe(trajectories(plain, rewards))
            credit = self.critic.credit() if self.critic.ready else credit
        return credited(plain, rewards, credit)

    def _update(self, *kinds: Sequence[GrpoGroup]) -> GrpoReport:
        settings = self.settings
        reference = self._start if settings.objective.kl_weight else None
        try:
            reports = [
                grpo_gradients(
                    self.model,
                    groups,
                    settings.objective,
                    reference=reference,
                    never=self.roller.never(self.model),
                    pause=self._pause,
                    team=self.team,
                )
                for groups in kinds
                if groups
            ]
            kept = self.keeper.gradients(self.model)
            self._stepper.step(sum(report.loss for report in reports) + kept)
            self.updates += 1
        finally:
            self._stepper.clear()
        return reports[0]

    def _new_stepper(self, lr: float, what: str, ramp: int = 1) -> Stepper:
        """An optimizer of what is trained, without state."""
        return Stepper(
            self._trained.tensors(),
            lr,
            ramp=ramp,
            what=what,
            advice="nothing of it is kept; practise again",
            team=self.team,
        )
