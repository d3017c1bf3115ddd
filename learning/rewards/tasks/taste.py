"""taste: answers that the owner would pick, as the reward model of their picks rates them.

Half of the problems are the owner's own first messages, half questions that the model makes up. The reward is
σ((r - μ₀)/σ₀), where μ₀ and σ₀ are of answers of the policy that practice starts with, so that about half of
these are liked. Nothing is right or wrong here, and the reward model errs away from the answers that it was
trained on: practice takes the divergence off the reward, and watches for alarms
(learning.practice.checks.signs). Left out: training the reward model (learning.rewards.reward_keeper).
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from engine.errors import ConfigError
from engine.rollout import message_answers
from learning.rewards.owner import OwnerData, first_messages
from learning.rewards.registry import TASTE, tasks
from learning.rewards.reward_keeper import usable
from learning.rewards.reward_model import RewardModel, read
from learning.rewards.reward_report import TasteReport
from learning.rewards.task import Problem, RewardWeights, Score, Split, TaskOptions
from learning.text.normalise import fold, writable

ANSWERS = 256
"""Answers of the starting policy by which rewards are measured."""
TOKENS = 64
"""Longest of these, in tokens."""
LONGEST_MESSAGE = 200
"""Characters of a message that is practised."""
BAND = 0.05
"""Share of the starting policy's answers below the band of lengths, and share above it."""


@dataclass(frozen=True)
class StartingAnswers:
    """How the policy answered before practice."""

    mean: float
    deviation: float
    """Of the rewards of its answers."""
    shortest: int
    longest: int
    """Characters of an answer with a "length" of 1."""


class TasteTask:
    """See above. The reward model is read once, and does not change in a run."""

    name = TASTE

    def __init__(
        self,
        owner: OwnerData,
        model: RewardModel,
        report: TasteReport,
        weights: RewardWeights = RewardWeights(),  # noqa: B008 - frozen
    ) -> None:
        """weights: only those of correctness, which taste stands for here, and of length count."""
        self._owner, self._length = owner, weights.length / weights.correct
        self._model, self._report = model, report
        self._context = owner.policy.config.context
        self._start: StartingAnswers | None = None

    def describe(self) -> str:
        return tasks()[TASTE]

    def problems(self, split: Split, rng: random.Random) -> Iterator[Problem]:
        """Owner's messages and made-up questions in turn, in an order of the dice."""
        self.starting()
        parts = [part for part in self._messages(split) if part]
        if not parts:
            return
        if split == "held_out":
            shuffled = [rng.sample(part, len(part)) for part in parts]
            for turn in range(max(map(len, shuffled))):
                yield from (part[turn] for part in shuffled if turn < len(part))
            return
        while True:
            yield rng.choice(rng.choice(parts))

    def score(self, problem: Problem, answers: Sequence[str]) -> list[Score]:
        """An empty answer pleases nobody."""
        start = self.starting()
        texts = [writable(answer).strip() for answer in answers]
        rewards = self._rated([(problem.prompt, text) for text in texts]).mean(1).tolist()
        found = []
        for text, reward in zip(texts, rewards, strict=True):
            liked = 1.0 / (1.0 + math.exp(-_bounded((reward - start.mean) / start.deviation)))
            # rounded, so that the rest of the batch does not change it in the last digits
            taste = round(liked, 4) if text else 0.0
            length = float(start.shortest <= len(text) <= start.longest)
            total = (taste + self._length * length) / (1.0 + self._length) if text else 0.0
            found.append(Score({"taste": taste, "length": length}, total))
        return found

    def close(self) -> None:
        """There is nothing to end."""

    def disagreement(self, rows: Sequence[tuple[str, str]]) -> float:
        """Mean standard deviation of the heads on (message, answer) rows, in deviations of shown answers."""
        if not rows:
            return 0.0
        return float(self._rated(rows).std(1).mean()) / self._report.deviation

    def dispute(self, message: str, answers: Sequence[str]) -> float:
        """How much the heads disagree about which answer is better: their standard deviation about the
        differences of rewards, averaged over all pairs, in deviations of shown answers. 0 for fewer than
        two."""
        rewards = self._rated([(message, answer) for answer in answers])  # (K, H)
        first, second = torch.triu_indices(len(answers), len(answers), 1)
        if not len(first):
            return 0.0
        return float((rewards[first] - rewards[second]).std(1).mean()) / self._report.deviation

    def starting(self) -> StartingAnswers:
        """How the starting policy answers: measured at the first call, so call it before a training."""
        if self._start is None:
            self._start = self._measured()
        return self._start

    # ------------------------------------------------------------ inside

    def _rated(self, rows: Sequence[tuple[str, str]]) -> torch.Tensor:
        """Rewards [rows, heads]; the same to the last bit for the same row, or a group of one and the same
        answer would seem to have a better one."""
        different = {row: place for place, row in enumerate(dict.fromkeys(rows))}
        asked = (([("user", message)], text) for message, text in different)
        rewards = self._model.rewards(read(self._owner.tokenizer, asked, self._context))
        return rewards[[different[row] for row in rows]]

    def _messages(self, split: Split) -> list[list[Problem]]:
        """The owner's messages of a split, and the made-up questions that none of these is."""
        own, made_up = first_messages(self._owner.journal), self._owner.made_up()
        seen, parts = set[str](), list[list[Problem]]()
        for source, texts in (("your messages", own), ("made up", made_up)):
            part = []
            for text in map(str.strip, map(writable, texts)):
                key = fold(text)
                if key and key not in seen and len(text) <= LONGEST_MESSAGE:
                    seen.add(key)
                    part.append(Problem(text, None, source=source, key=key))
            parts.append([problem for problem in part if problem.split == split])
        return parts

    def _measured(self) -> StartingAnswers:
        owner, rng = self._owner, random.Random(0)
        parts = [part for part in self._messages("train") if part]
        if not parts:
            return StartingAnswers(self._report.mean, self._report.deviation, 0, 10**9)
        asked = [rng.choice(rng.choice(parts)).prompt for _ in range(ANSWERS)]
        found = message_answers(
            owner.policy,
            owner.tokenizer,
            asked,
            1,
            max_tokens=TOKENS,
            generator=torch.Generator().manual_seed(0),
            pause=owner.pause,
        )
        texts = [text for ((text, _),) in found]
        rewards = self._rated(list(zip(asked, texts, strict=True))).mean(1)
        lengths = sorted(len(text) for text in texts)
        aside = int(BAND * len(lengths))
        return StartingAnswers(
            float(rewards.mean()),
            max(1e-6, float(rewards.std())),
            lengths[aside],
            lengths[len(lengths) - 1 - aside],
        )


def _bounded(value: float) -> float:
    return max(-30.0, min(30.0, value))


def taste(name: str, options: TaskOptions) -> TasteTask:
    """For the registry. Raises ConfigError outside a home, and RewardError if there is no taste to use."""
    if options.difficulty:
        raise ConfigError(
            f"task {name} has no setting {next(iter(options.difficulty))!r}", "leave out --set"
        )
    if options.owner is None:
        raise ConfigError(f"task {name} needs an owner", "practise it with `vidya practice taste`")
    owner = options.owner
    return TasteTask(owner, *usable(owner.folder, owner.journal), options.weights)
