"""Group rewards that one word decides: updates of practice with credit for whole answers and for tokens.

Two tasks in text. "end": some words in any order, then a colour; only the colour is paid. "early": the colour
comes first. After a warm-up on answers with random colours, every arm practises from the same weights. Part 2
of `vidya bench credit` (VIDYA_CREDIT_PART=rewards, or "slow rewards" at a tenth of the rate).
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks import BenchOptions
from benchmarks.common.pupil import EARLIER_RATE, Pupil
from learning.agents.credit import decayed
from learning.practice.options import with_options
from learning.practice.settings import CriticSettings, PracticeSettings, WarmUpSettings
from learning.practice.trainer import GrpoTrainer
from learning.rewards.task import Problem, RewardWeights, Score, Split
from learning.text.normalise import fold

COLOURS = ("red", "blue", "green", "white", "black", "yellow", "brown", "grey")
PAID = "green"
WORDS = (
    *("lamp", "tree", "boat", "house", "stone", "river", "bread", "apple"),
    *("horse", "chair", "window", "garden", "letter", "candle", "bridge", "cloud"),
)
OFFERED, SAID = 8, 5
SOLVED, OVER = 0.8, 4
"""Share of right answers, over this many steps, at which a task counts as learned."""
STEPS = 120
SETTINGS = with_options(
    PracticeSettings(
        groups=4,
        group_size=4,
        updates=1,
        max_tokens=32,
        held_out=16,
        warm_up=WarmUpSettings(measure_every=4, measured=128, enough=0.09, steps=80),
    ),
    EARLIER_RATE,
)
ARMS: dict[str, PracticeSettings] = {
    "whole answer": SETTINGS,
    "critic": replace(SETTINGS, critic=CriticSettings(answers=48)),
    "half-life 3": replace(SETTINGS, credit=lambda advantages: decayed(advantages, 3.0)),
}
SLOWLY = replace(SETTINGS, lr=0.1 * SETTINGS.lr)
SLOW_ARMS: dict[str, PracticeSettings] = {
    "whole answer": SLOWLY,
    "critic from 0": replace(SLOWLY, critic=CriticSettings(answers=48, explained=0.0)),
    "critic": replace(SLOWLY, critic=CriticSettings(answers=48)),
}
"""At a tenth of the rate."""


@dataclass
class OneWord:
    """Words and a colour; the colour alone is paid."""

    early: bool
    _weights: RewardWeights = field(default_factory=RewardWeights)

    @property
    def name(self) -> str:
        return "early" if self.early else "end"

    def describe(self) -> str:
        return "a colour, and words that do not matter"

    def problems(self, split: Split, rng: random.Random) -> Iterator[Problem]:
        left = 200 if split == "held_out" else None
        while left is None or left > 0:
            problem = self._problem(rng)
            if problem.split == split:
                left = None if left is None else left - 1
                yield problem

    def score(self, problem: Problem, answers: Sequence[str]) -> list[Score]:
        return [
            Score.of({"correct": float(self.right(answer))}, self._weights) for answer in answers
        ]

    def close(self) -> None:
        pass

    def right(self, answer: str) -> bool:
        """Whether the word at the colour's place is the paid one."""
        said = fold(answer).split()
        return bool(said) and said[0 if self.early else -1] == PAID

    def _problem(self, rng: random.Random) -> Problem:
        offered = rng.sample(WORDS, OFFERED)
        words, colour = " ".join(rng.sample(offered, SAID)), rng.choice(COLOURS)
        asked = f"{SAID} of these words: {' '.join(offered)}."
        if self.early:
            return Problem(f"Say a colour and {asked}", PAID, f"{colour}, {words}.", "words")
        return Problem(f"Say a colour after {asked}", PAID, f"{words}, {colour}.", "words")


def measure(
    folder: Path,
    seeds: Sequence[int],
    rows: list[dict[str, Any]],
    options: BenchOptions,
    arms: Mapping[str, PracticeSettings] = ARMS,
) -> Iterator[dict[str, Any]]:
    """One row for each task, arm and seed that is not in `rows` yet."""
    done = {(row["task"], row["arm"], row["seed"]) for row in rows}
    for seed in seeds:
        for early in (False, True):
            task = OneWord(early)
            missing = [arm for arm in arms if (task.name, arm, seed) not in done]
            if missing:
                chosen = {arm: arms[arm] for arm in missing}
                yield from _arms(folder, task, seed, chosen, options)


def _arms(
    folder: Path,
    task: OneWord,
    seed: int,
    arms: Mapping[str, PracticeSettings],
    options: BenchOptions,
) -> Iterator[dict[str, Any]]:
    pupil = Pupil.loaded(folder)
    warm = pupil.trainer(task, SETTINGS, seed)
    limit = 1 if options.quick else SETTINGS.warm_up.steps
    last = warm.warm_up(lambda _: None, lambda: warm.updates >= limit)
    options.say(f"seed {seed}, {task.name}: warm-up {last.step} steps, right {last.success}")
    for arm, settings in arms.items():
        own = pupil.copied()
        trainer = own.trainer(task, settings, seed)
        updates, curve = _practise(trainer, 2 if options.quick else STEPS)
        explained = trainer.critic.explained if trainer.critic else None
        row = {"task": task.name, "arm": arm, "seed": seed, "updates": updates, "curve": curve}
        row |= {"explained": explained, "book": own.book_recall()}
        options.say(
            f"seed {seed}, {task.name}, {arm}: {updates} updates, {curve[-1]:.2f} at the end"
        )
        yield row


def _practise(trainer: GrpoTrainer, steps: int) -> tuple[int | None, list[float]]:
    """Updates until the task is learned, None if it is not; the share of right answers of each step."""
    curve: list[float] = []
    begun = trainer.updates
    for _ in range(steps):
        curve.append(trainer.step().success)
        if len(curve) >= OVER and sum(curve[-OVER:]) / OVER >= SOLVED:
            return trainer.updates - begun, curve
    return None, curve
