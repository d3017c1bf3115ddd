"""Trains a reward model on the owner's preferences, one batch at a time, and measures it on held-out ones.

One epoch: more make it worse (a pilot: pairs .81 after one and two, .71 after four). Always from the policy's
blocks and all preferences that stand, so that what was withdrawn leaves no trace. Left out: when to train
(reward_keeper), reading preferences (reward_data).
"""

from __future__ import annotations

import math
import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.model import Model
from engine.tokenizers.tokenizer import Tokenizer
from learning.maths.preference import (
    calibration_error,
    centring,
    fitted_temperature,
    luce_loss,
    verdict_loss,
)
from learning.objectives.stepper import Stepper
from learning.rewards.reward_data import (
    MOST_OPTIONS,
    Choice,
    Opinion,
    Preferences,
    Split,
    split,
)
from learning.rewards.reward_model import HEADS, AnswerGroup, RewardModel, build, passes, read
from learning.rewards.reward_report import TasteReport

LEARNING_RATE = 3e-4
BATCH = 16
"""Choices and opinions of one step."""
CENTRING = 0.01
"""Weight of the penalty on the level of the rewards."""
TOKENS = 1024
"""Padded ids of one forward pass with gradients: a sixth of a second at 10M on one core, which is how long
the owner waits for one. Larger ones are no faster: nine tenths of the time are in products of matrices."""


class RewardTraining:
    """One epoch of training under way. The policy is copied at the beginning."""

    def __init__(
        self,
        policy: Model,
        tokenizer: Tokenizer,
        found: Preferences,
        *,
        seed: int = 0,
        pause: Callable[[], None] = lambda: None,
    ) -> None:
        """pause: called before every forward pass; may raise Stopped, after which nothing is kept."""
        self.found, self._pause = found, pause
        self.data = data = split(found)
        self._tokenizer, self._context = tokenizer, policy.config.context
        self._policy_weights = policy.config.parameters
        generator = torch.Generator().manual_seed(seed)
        self.model = build(policy, generator)
        self._stepper = Stepper(self.model.trained(), LEARNING_RATE, what="taste")
        self._items = data.train.items
        random.Random(seed).shuffle(self._items)
        self._weights = torch.poisson(torch.ones(len(self._items), HEADS), generator)
        self._offsets = position_offsets(data.train) if data.train.read_in_order else None
        self.done = 0
        """Choices and opinions that were trained on."""
        self.seconds = 0.0

    @property
    def total(self) -> int:
        """All choices and opinions of the epoch."""
        return len(self._items)

    def step(self) -> bool:
        """Trains on the next batch. Returns False if there is none. Raises NumericsError."""
        if self.done >= len(self._items):
            return False
        started = time.monotonic()
        chosen = range(self.done, min(self.done + BATCH, len(self._items)))
        groups = {place: self._read(self._items[place]) for place in chosen}
        loss = 0.0
        for indices in passes([sum(g.size for g in groups[place]) for place in chosen], TOKENS):
            self._pause()
            places = [chosen[index] for index in indices]
            loss += self._add_gradients(places, groups, len(chosen))
        self._stepper.step(loss)
        self.done += len(chosen)
        self.seconds += time.monotonic() - started
        return self.done < len(self._items)

    def _read(self, item: Choice | Opinion) -> list[AnswerGroup]:
        """The ids of its answers."""
        texts = item.options if isinstance(item, Choice) else (item.answer,)
        return read(self._tokenizer, [(item.prompt, text) for text in texts], self._context)

    def _add_gradients(
        self, places: Sequence[int], groups: dict[int, list[AnswerGroup]], count: int
    ) -> float:
        rewards = self.model([group for place in places for group in groups[place]])  # (answers, H)
        counts = [sum(len(group.answers) for group in groups[place]) for place in places]
        losses, means = list[Tensor](), list[Tensor]()
        for place, own in zip(places, rewards.split(counts), strict=True):
            losses.append(self._loss(self._items[place], own) * self._weights[place])
            means.append(own.mean(0))
        total = torch.stack(losses).mean(1).sum() / count
        total = total + CENTRING * centring(torch.stack(means)) * len(places) / count
        total.backward()  # type: ignore[no-untyped-call]
        return float(total.detach())

    def _loss(self, item: Choice | Opinion, rewards: Tensor) -> Tensor:
        """Loss of each head, [H]. rewards: [K, H]. Opinions are about 0, where centring holds the mean."""
        if isinstance(item, Opinion):
            good = torch.full((HEADS,), item.good)
            return verdict_loss(rewards[0], good, torch.zeros(()))
        if self._offsets is not None and item.shown:
            rewards = rewards + self._offsets[: len(rewards), None]
        return luce_loss(rewards.T, torch.full((HEADS,), item.chosen))

    def report(self, version: int) -> TasteReport:
        """Measures the trained model on the held-out choices. version: of the policy's weights."""
        started = time.monotonic()
        data, all_choices = self.data, (*self.data.train.choices, *self.data.held_out.choices)
        found = measure(self, data.held_out.choices)
        length = length_compared(data, found.pairs)
        shown = self.rewards(all_choices[-200:])
        spread = torch.cat(shown) if shown else torch.zeros(2)
        return TasteReport(
            version=version,
            mark=self.found.mark,
            judgements=tuple(sorted(self.found.judgements)),
            trained_on=len(data.train.choices),
            opinions=len(data.train.opinions),
            held_out=len(data.held_out.choices),
            picks_right=found.picks_right,
            pairs_right=found.pairs_right,
            pairs_error=standard_error(found.pairs),
            length_right=length.right,
            length_error=length.error,
            beyond_length=length.beyond,
            beyond_error=length.beyond_error,
            chance=data.held_out.chance,
            ceiling=found.ceiling,
            temperature=found.temperature,
            calibration_error=found.calibration_error,
            first=self.found.first,
            read_in_order=self._offsets is not None,
            mean=float(spread.mean()),
            deviation=max(1e-6, float(spread.std())),
            seconds=self.seconds + time.monotonic() - started,
            weights=self.model.size,
            policy_weights=self._policy_weights,
        )

    def rewards(self, choices: Sequence[Choice]) -> list[Tensor]:
        """Mean rewards of the heads, [K] for each choice."""
        groups = [group for choice in choices for group in self._read(choice)]
        flat = self.model.rewards(groups, pause=self._pause).mean(1)
        return list(flat.split([len(choice.options) for choice in choices]))


@dataclass(frozen=True)
class Foretold:
    """How well rewards agree with choices; see TasteReport."""

    picks_right: float
    pairs: tuple[float, ...]
    """Of each choice, the share of its pairs that are ordered as the owner did."""
    ceiling: float
    temperature: float
    calibration_error: float

    @property
    def pairs_right(self) -> float:
        """The mean over choices; 0 for none."""
        return sum(self.pairs) / len(self.pairs) if self.pairs else 0.0


def measure(training: RewardTraining, choices: Sequence[Choice]) -> Foretold:
    """Compares the model's rewards with choices it was not trained on."""
    return measured(training.rewards(choices), [choice.chosen for choice in choices])


def measured(rewards: Sequence[Tensor], chosen: Sequence[int]) -> Foretold:
    """rewards: [K] for each choice; chosen: an index each. The temperature is fitted to these very pairs: one
    number, so the calibration error is hardly better than it will be."""
    if not rewards:
        return Foretold(0.0, (), 0.0, 50.0, 0.0)
    picks = sum(_share_of_best(r, c) for r, c in zip(rewards, chosen, strict=True))
    margins = torch.cat(
        [r[c] - torch.cat([r[:c], r[c + 1 :]]) for r, c in zip(rewards, chosen, strict=True)]
    )
    temperature = fitted_temperature(margins)
    favoured = torch.sigmoid(margins.abs() / temperature)
    ceiling = sum(float(torch.softmax(r / temperature, 0).max()) for r in rewards) / len(rewards)
    return Foretold(
        picks / len(rewards),
        tuple(_pairs_right(r.tolist(), c) for r, c in zip(rewards, chosen, strict=True)),
        ceiling,
        temperature,
        calibration_error(favoured, margins > 0),
    )


def _pairs_right(scores: Sequence[float], chosen: int) -> float:
    """Share of a choice's pairs in which the chosen answer has the higher score; ties count half."""
    mine, others = scores[chosen], [*scores[:chosen], *scores[chosen + 1 :]]
    return sum((mine > other) + 0.5 * (mine == other) for other in others) / len(others)


def standard_error(shares: Sequence[float]) -> float:
    """Of their mean. Choices are independent; the pairs of one choice are not, so a choice counts once.
    1, more than any can have, for fewer than two."""
    if len(shares) < 2:
        return 1.0
    return statistics.stdev(shares) / math.sqrt(len(shares))


@dataclass(frozen=True)
class LengthCompared:
    """What the length of answers alone foretells of the same held-out choices. Means over choices with their
    standard errors."""

    right: float
    error: float
    beyond: float
    """By how much more the reward model orders rightly, paired by choice."""
    beyond_error: float


def length_compared(data: Split, pairs: Sequence[float]) -> LengthCompared:
    """pairs: of each held-out choice, the share that the reward model orders rightly. Whether the owner
    likes longer or shorter answers is taken from the choices that were trained on."""
    if not pairs:
        return LengthCompared(0.0, 1.0, 0.0, 1.0)
    longer = _by_length(data.train.choices, 1)
    way = 1 if sum(longer) >= 0.5 * len(longer) else -1
    mine = _by_length(data.held_out.choices, way)
    more = [one - other for one, other in zip(pairs, mine, strict=True)]
    means = sum(mine) / len(mine), sum(more) / len(more)
    return LengthCompared(means[0], standard_error(mine), means[1], standard_error(more))


def _by_length(choices: Sequence[Choice], way: int) -> list[float]:
    return [
        _pairs_right([way * len(text) for text in choice.options], choice.chosen)
        for choice in choices
    ]


def _share_of_best(rewards: Tensor, chosen: int) -> float:
    """1 if the chosen answer has the highest reward, less if others have the same."""
    best = rewards == rewards.max()
    return float(best[chosen]) / float(best.sum())


def position_offsets(data: Preferences) -> Tensor:
    """Log of the share of picks at each place of the screen, [MOST_OPTIONS], smoothed by one pick. Added to
    the rewards while training and never after, so that reading order is not learned as taste (conditional
    logit with known constants)."""
    counts = torch.ones(MOST_OPTIONS)
    for choice in data.choices:
        if choice.shown:
            counts[choice.chosen] += 1
    return (counts / counts.sum()).log()


def trained(
    policy: Model,
    tokenizer: Tokenizer,
    found: Preferences,
    version: int,
    *,
    seed: int = 0,
    pause: Callable[[], None] = lambda: None,
) -> tuple[RewardModel, TasteReport]:
    """The whole training at once."""
    training = RewardTraining(policy, tokenizer, found, seed=seed, pause=pause)
    while training.step():
        pass
    return training.model, training.report(version)
