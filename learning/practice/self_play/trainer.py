"""Self-play by GRPO: one step asks questions, answers them, and learns from both.

    invitation -> questions -> a program reads them -> answers -> share of right ones -> questioner's rewards

Questioner and answerer are the same weights; the invitation tells the roles apart, and only practice says it.
Groups of questions and groups of answers wait in buffers of their own and have normalisers of their own, and
an update learns from both. Left out: what a question is worth (learning.maths.learnability).
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from engine.errors import ConfigError
from engine.model import Model
from engine.tokenizers.tokenizer import Tokenizer
from learning.maths.alarm import Signs
from learning.maths.learnability import questioner_rewards
from learning.maths.policy import batch_advantages
from learning.memory.replay import Replay
from learning.practice.figures import StepReport, is_dead, mean
from learning.practice.sampling.buffer import ExperienceBuffer
from learning.practice.sampling.rollouts import (
    Drawn,
    HeldOut,
    RolloutSampler,
    Sample,
    right_by_arm,
    share_right,
)
from learning.practice.self_play.asking import AskingTask
from learning.practice.settings import PracticeSettings
from learning.practice.supply.mixture import TaskMixture
from learning.practice.supply.source import ProblemSource, SingleSource, can_begin
from learning.practice.trainer import GrpoTrainer
from learning.protocol.records import AskingFigures
from learning.rewards.asked import AskedTask
from learning.rewards.registry import SELF_PLAY
from learning.rewards.task import Problem, Score, Task

ADVICE = "practise the task itself for a while, or undo this practice and take another seed"
"""What to do where its questions became all the same."""


@dataclass(frozen=True)
class Asked:
    """The questions of one step, with what they were worth."""

    groups: tuple[tuple[Sample, ...], ...] = ()
    figures: AskingFigures | None = None


class BothSource(SingleSource):
    """Answers and questions for warm-up, one of each in turn. A fifth of valid questions is enough: the model
    learns to ask from examples of which a quarter may not be practised."""

    def warmed(self, samples: Sequence[Sample], enough: float) -> float:
        """See ProblemSource: of the answers, or of the questions if too few of these are valid and fewer
        than of the answers."""
        right = {"answers": 0.0, "questions": 0.0} | right_by_arm(samples)
        asks = can_begin(right["questions"], enough)
        return right["answers"] if asks else min(right.values())


def askable(task: Task) -> AskedTask:
    """The task. Raises ConfigError for one whose questions no program can read."""
    if not isinstance(task, AskedTask):
        raise ConfigError(
            f"{task.name} has no self-play: no program can answer any question about it",
            f"practise {' or '.join(SELF_PLAY)} so, or leave self-play out",
        )
    return task


class SelfPlayTrainer(GrpoTrainer):
    """Trains one model on questions of its own about one task."""

    def __init__(
        self,
        model: Model,
        tokenizer: Tokenizer,
        task: Task,
        replay: Replay,
        settings: PracticeSettings,
        *,
        seed: int = 0,
        **more: Any,
    ) -> None:
        """See GrpoTrainer. Held-out problems and those of warm-up are the task's own. Raises ConfigError for
        a task whose questions no program can read."""
        super().__init__(model, tokenizer, task, replay, settings, seed=seed, **more)
        own = settings.self_play
        self._asked_task = task = askable(task)
        self._asking = AskingTask(task, own.examples, random.Random(seed))
        self._asker = self._sampler(tokenizer, self._asking)
        self._samplers.append(self._asker)
        # together as many texts to an update as where the questions are the task's own
        texts = (settings.groups - own.questions) * settings.group_size
        enough = settings.buffer_size or max(1, texts // own.answers)
        most = max(enough, own.questions * settings.group_size)
        self._buffer = ExperienceBuffer(enough, settings.max_age, most)
        self._questions = ExperienceBuffer(
            max(1, own.questions // 2), settings.max_age, own.questions
        )
        self._buffers = [self._buffer, self._questions]
        # rewards of questions are no yes or no: a group's own deviation would blow up the small differences
        # among questions that are all too hard
        self._advantages = [settings.advantages, batch_advantages]
        self._asked = Asked()

    def signs(self, _: HeldOut) -> Signs:
        """What alarms judge at a save point: how different the questions of the last step were."""
        figures = self._asked.figures
        return Signs(asked=figures.variety) if figures else Signs()

    def is_cold(self, look: HeldOut) -> bool:
        """See GrpoTrainer; also if not one question can be practised."""
        return super().is_cold(look) or not any(
            sample.score.success for sample in self._ask().samples
        )

    def _taught(self) -> tuple[RolloutSampler, ProblemSource]:
        """To ask and to answer in the same batches: taught to ask alone, it forgets how to answer. Warm-up
        ends once both succeed often enough."""
        both = TaskMixture({"answers": self.task, "questions": self._asking})
        source = BothSource(both, random.Random(self._rng.random()), lambda _: True)
        return self._sampler(self.roller.tokenizer, both), source

    def step(self) -> StepReport:
        """See GrpoTrainer."""
        report, asked = super().step(), self._asked
        questions = sorted((s for group in asked.groups for s in group), key=lambda s: -s.reward)
        shown = [*questions[:1], *questions[-1:]] if self.settings.shown else []
        return replace(report, asking=asked.figures, samples=(*report.samples, *shown))

    # ------------------------------------------------------------ drawing

    def _ask(self) -> Drawn:
        """The questions of a step, scored by whether they are valid."""
        invitations = [self._asking.invitation] * self.settings.self_play.questions
        return self._asker.draw(self.model, invitations, self.settings.group_size, self.generator)

    def _draw(self) -> list[Drawn]:
        """Asks, answers each different valid question, and puts both kinds of live groups into the buffers.
        Returns the answers; there is nothing to draw anew, because each question was asked by chance."""
        asked, answers = self._ask(), self.settings.self_play.answers
        read = [[self._read_question(sample) for sample in group] for group in asked.groups]
        different: dict[str, Problem] = {}
        for problem in (one for group in read for one in group if one is not None):
            different.setdefault(problem.same, problem)
        drawn = Drawn((), (), 0, 0.0)
        if different:
            problems = list(different.values())
            drawn = self.roller.draw(self.model, problems, answers, self.generator)
        right = {
            key: share_right(group) for key, group in zip(different, drawn.groups, strict=True)
        }
        groups = self._rewarded(asked.groups, read, right)
        figures = self._figures(groups, read, right, different, asked.tokens)
        self._asked = Asked(groups, figures)
        settings = self.settings
        self._keep(self._buffer, drawn, settings.kl_reward)
        self._keep(self._questions, replace(asked, groups=groups), settings.self_play.kl_reward)
        return [drawn]

    def _read_question(self, sample: Sample) -> Problem | None:
        """The problem that is asked; None: it may not be practised, or the context has no room for it."""
        problem = self._asked_task.accept(sample.text)
        fits = problem is not None and self.roller.fits(self.model, problem)
        return problem if fits else None

    def _rewarded(
        self,
        groups: Sequence[Sequence[Sample]],
        read: Sequence[Sequence[Problem | None]],
        right: Mapping[str, float],
    ) -> tuple[tuple[Sample, ...], ...]:
        """The questions with what they are worth. right: share of right answers by `Problem.same`."""
        keys = [None if one is None else one.same for group in read for one in group]
        rewards = iter(questioner_rewards(keys, right, self.settings.self_play.reward))
        return tuple(
            tuple(_worth(sample, problem, right, next(rewards)) for sample, problem in pairs)
            for pairs in (zip(*both, strict=True) for both in zip(groups, read, strict=True))
        )

    def _figures(
        self,
        groups: Sequence[Sequence[Sample]],
        read: Sequence[Sequence[Problem | None]],
        right: Mapping[str, float],
        different: Mapping[str, Problem],
        tokens: int,
    ) -> AskingFigures:
        valid = [one for group in read for one in group if one is not None]
        levels = sorted(self._asked_task.level(one) for one in valid)
        return AskingFigures(
            asked=sum(map(len, groups)),
            valid=len(valid),
            distinct=len(different),
            reward_mean=mean([sample.reward for group in groups for sample in group]),
            success=mean(list(right.values())),
            dead_groups=sum(is_dead(group) is True for group in groups),
            groups=len(groups),
            tokens=tokens,
            levels={level: levels.count(level) for level in dict.fromkeys(levels)},
        )


def _worth(
    sample: Sample, problem: Problem | None, right: Mapping[str, float], reward: float
) -> Sample:
    """The question with its reward, and what it comes from as components."""
    components = {"valid": float(problem is not None)}
    if problem is not None:
        components["right"] = right[problem.same]
    return replace(sample, score=Score(components, components["valid"]), rewards=(reward,))
