"""What a practice task is: problems with a truth, and scores of answers by component.

A task gives problems in two splits that never share one, and scores any text without raising. The
registry (`tasks`, `find_task`) names every task and imports its module only when it is asked for.
Left out: how answers are made, and what is learned from their scores. No torch here.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from engine.errors import ConfigError

if TYPE_CHECKING:
    from learning.rewards.sandbox.pool import Sandbox

Split = Literal["train", "held_out"]
HELD_OUT = 5
"""One problem in so many is held out: chosen by its text, so always the same ones."""


@dataclass(frozen=True)
class RewardWeights:
    """How much each component pays. A component without a weight is only recorded.

    Raises ConfigError where the others together reach what correctness gives.
    """

    correct: float = 1.0
    """For the right answer; above the sum of the others."""
    format: float = 0.1
    """For fields `<think>` and `<answer>` as they should be; >= 0."""
    length: float = 0.0
    """For staying within the length; >= 0."""
    wrong_too: bool = False
    """Whether the others pay where the answer is wrong. They are learned before correctness then,
    and a group without any right answer is no longer seen as dead."""

    def __post_init__(self) -> None:
        others = (self.format, self.length)
        if min(others) < 0 or not sum(others) < self.correct < float("inf"):
            raise ConfigError(
                f"weights {self.correct} (correct), {self.format} (format), {self.length} (length)"
                " let an answer be paid without being right",
                "give correct more than the others together, and none below 0",
            )

    def total(self, components: Mapping[str, float]) -> float:
        """Weighted mean in [0, 1]; 1 where every weighted component is 1 or absent."""
        correct = components["correct"]
        others = {"format": self.format, "length": self.length}
        present = {name: weight for name, weight in others.items() if name in components}
        paid = sum(weight * components[name] for name, weight in present.items())
        share = 1.0 if self.wrong_too else correct
        return (self.correct * correct + share * paid) / (self.correct + sum(present.values()))


@dataclass(frozen=True)
class Score:
    """What a verifier says of one answer."""

    components: Mapping[str, float]
    """Each in [0, 1]; "correct" is always there."""
    total: float
    """The reward, in [0, 1]: the components weighted (Weights); 0 where `failed`."""
    failed: str | None = None
    """Why the verifier itself could not say: out of time, killed. Counted apart from wrong answers."""

    @property
    def correct(self) -> bool:
        """Whether the answer is right."""
        return self.components["correct"] == 1.0

    @classmethod
    def of(cls, components: Mapping[str, float], weights: RewardWeights) -> Score:
        """The weighted score. Raises ValueError where a component is outside [0, 1]."""
        if not all(0.0 <= value <= 1.0 for value in components.values()):
            raise ValueError(f"components outside 0 to 1: {dict(components)}")
        return cls(dict(components), weights.total(components))

    @classmethod
    def failure(cls, why: str) -> Score:
        """The verifier failed: not a wrong answer, and nothing is paid."""
        return cls({"correct": 0.0}, 0.0, why)


@dataclass(frozen=True)
class Problem:
    """A question with an answer that can be checked."""

    prompt: str
    """What is said to the model, as the owner would say it."""
    truth: Any
    """What the verifier compares with; can be written as JSON."""
    worked: str | None = None
    """A right answer with short reasoning, in the answer format, from the task's own generator."""
    source: str = ""
    """Where it comes from: file and line, or generator."""

    @property
    def split(self) -> Split:
        """Decided by the prompt alone (white space and case folded)."""
        folded = " ".join(self.prompt.casefold().split())
        lot = zlib.crc32(folded.encode("utf-8", "surrogatepass"))
        return "held_out" if lot % HELD_OUT == 0 else "train"


class Task(Protocol):
    """Something to practise."""

    @property
    def name(self) -> str:
        """As in the registry."""
        ...

    def describe(self) -> str:
        """One line."""
        ...

    def problems(self, split: Split, rng: random.Random) -> Iterator[Problem]:
        """Problems of one split; the two never share one. `train` goes on for ever, `held_out`
        repeats none and ends when there are no more. Raises DataError or ConfigError where there is
        no data, or a package is missing."""
        ...

    def score(self, problem: Problem, answers: Sequence[str]) -> list[Score]:
        """One score for each answer, in order. Never raises, whatever the text."""
        ...

    def close(self) -> None:
        """Ends the processes that this task started, if any; it may be used again after."""
        ...


@dataclass(frozen=True)
class TaskOptions:
    """What a task may be given."""

    weights: RewardWeights = RewardWeights()
    data: Path | None = None
    """File or folder of problems of a published set; None: from the Hugging Face hub. Tasks that make
    their own problems take none."""
    length: int | None = None
    """Characters of an answer up to which the component "length" is 1; None: the task's own."""
    difficulty: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the task's generator, e.g. {"max_terms": 3}; the rest keeps its default."""
    sandbox: Sandbox | None = None
    """Where model text is run or evaluated; None: the task opens its own when it needs one."""
