"""Defines a practice task: problems with a known answer, and scores of answers by component.

A task yields problems in two disjoint splits and scores any text without raising. The registry
(`tasks`, `find_task`) lists every task and imports its module only on request.
Left out: how answers are generated and what is learned from the scores. Loads no torch.
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
    from learning.rewards.owner import OwnerData
    from learning.rewards.sandbox.pool import Sandbox

Split = Literal["train", "held_out"]
HELD_OUT = 5
"""One problem in this many is held out. A hash of its key decides, so always the same ones are."""


COUNT = "_count"
"""How the name of a component ends that counts something, and is not a share."""


@dataclass(frozen=True)
class RewardWeights:
    """Weight of each component in the reward. A component without a weight is only recorded.

    Raises ConfigError if the other weights together reach the weight of correctness, or a count has one.
    """

    correct: float = 1.0
    """For the right answer; greater than the sum of the others."""
    format: float = 0.1
    """For well-formed `<think>` and `<answer>` fields; >= 0."""
    length: float = 0.0
    """For staying within the length limit; >= 0."""
    wrong_too: bool = False
    """Whether a wrong answer earns the other components too. The model then learns these before
    correctness, and a group without a right answer no longer counts as dead."""
    more: Mapping[str, float] = field(default_factory=dict)
    """Weights of a task's own components, each >= 0."""

    def __post_init__(self) -> None:
        others = self.others.values()
        counted = any(weight for name, weight in self.more.items() if name.endswith(COUNT))
        if counted or min(others) < 0 or not sum(others) < self.correct < float("inf"):
            named = ", ".join(f"{weight} ({name})" for name, weight in self.others.items())
            raise ConfigError(
                f"weights {self.correct} (correct), {named} let an answer be paid without being right",
                "give correct more than the others together, none below 0, and no count any",
            )

    @classmethod
    def unsafe(cls, more: Mapping[str, float], format: float = 0.1) -> RewardWeights:  # noqa: A002
        """For benchmarks that show how a reward is fooled, and for nothing else: weights without that rule.
        The reward is the plain sum of weighted components, also beside a wrong answer, and has no bound."""
        return _UnsafeWeights(format=format, more=more, wrong_too=True)

    @property
    def others(self) -> dict[str, float]:
        """The weights besides that of correctness."""
        return {"format": self.format, "length": self.length, **self.more}

    def total(self, components: Mapping[str, float]) -> float:
        """Weighted mean in [0, 1]; 1 if every weighted component is 1 or absent."""
        correct = components["correct"]
        present = {name: weight for name, weight in self.others.items() if name in components}
        paid = sum(weight * components[name] for name, weight in present.items())
        share = 1.0 if self.wrong_too else correct
        return (self.correct * correct + share * paid) / (self.correct + sum(present.values()))


class _UnsafeWeights(RewardWeights):
    """See RewardWeights.unsafe."""

    def __post_init__(self) -> None:
        pass

    def total(self, components: Mapping[str, float]) -> float:
        """The sum of weighted components."""
        others = sum(weight * components.get(name, 0.0) for name, weight in self.others.items())
        return self.correct * components["correct"] + others


@dataclass(frozen=True)
class Score:
    """A verifier's result for one answer."""

    components: Mapping[str, float]
    """Each in [0, 1], but counts (COUNT), which are >= 0; "correct" is there unless the task knows no truth,
    as with taste."""
    total: float
    """The reward, in [0, 1]: the weighted components (RewardWeights); 0 if `failed`."""
    failed: str | None = None
    """Why the verifier itself failed (timed out, killed); None if it did not. Counted apart from
    wrong answers."""

    @property
    def correct(self) -> bool | None:
        """Whether the answer is right; None where there is no truth."""
        return self.components["correct"] == 1.0 if "correct" in self.components else None

    @property
    def success(self) -> bool:
        """What accuracy counts: a right answer; where there is no truth, one with a reward above 0.5."""
        return self.total > 0.5 if self.correct is None else self.correct

    @classmethod
    def of(cls, components: Mapping[str, float], weights: RewardWeights) -> Score:
        """The weighted score. Raises ValueError if a component is outside [0, 1], or a count below 0."""
        counts = {name for name in components if name.endswith(COUNT)}
        if not all(v >= 0.0 and (v <= 1.0 or n in counts) for n, v in components.items()):
            raise ValueError(f"components outside 0 to 1: {dict(components)}")
        return cls(dict(components), weights.total(components))

    @classmethod
    def failure(cls, why: str) -> Score:
        """The score when the verifier failed: the reward is 0, and the answer does not count as wrong."""
        return cls({"correct": 0.0}, 0.0, why)


@dataclass(frozen=True)
class Problem:
    """A question with an answer that can be checked."""

    prompt: str
    """The user message, worded as the owner would word it."""
    truth: Any
    """What the verifier compares an answer with; JSON-serialisable."""
    worked: str | None = None
    """A right answer with short reasoning, in the answer format, from the task's generator or data."""
    source: str = ""
    """Where the problem comes from: file and line, or generator."""
    key: str = ""
    """The same for problems that are one problem in other words or another order, such as `4 + 9` and
    `9 + 4`; empty: the prompt."""
    arm: str = ""
    """Task and settings that it was drawn from, where several are practised together."""
    form: str = ""
    """The same for problems of one kind within the task, such as the forms of a syllogism's statements; empty
    where the task tells none."""

    @property
    def same(self) -> str:
        """What tells problems apart: the key, or else the prompt, without case and extra white space."""
        return " ".join((self.key or self.prompt).casefold().split())

    @property
    def split(self) -> Split:
        """Depends on `same` alone, so a problem is never held out whose mirror image is practised."""
        folded = self.same
        lot = zlib.crc32(folded.encode("utf-8", "surrogatepass"))
        return "held_out" if lot % HELD_OUT == 0 else "train"


class Task(Protocol):
    """Something to practise."""

    @property
    def name(self) -> str:
        """The name in the registry."""
        ...

    def describe(self) -> str:
        """A one-line description."""
        ...

    def problems(self, split: Split, rng: random.Random) -> Iterator[Problem]:
        """Yields problems of one split; the splits are disjoint. `train` never ends; `held_out` yields
        each problem once and ends. Raises DataError or ConfigError if there is no data or a package
        is missing."""
        ...

    def score(self, problem: Problem, answers: Sequence[str]) -> list[Score]:
        """One score per answer, in order. Never raises, whatever the text."""
        ...

    def close(self) -> None:
        """Ends the processes that this task started, if any. The task can still be used afterwards."""
        ...


@dataclass(frozen=True)
class TaskOptions:
    """Options of a task."""

    weights: RewardWeights = RewardWeights()
    data: Path | None = None
    """File or folder with the problems of a published set; None: download from the Hugging Face hub.
    Tasks that generate their problems take none."""
    length: int | None = None
    """Longest answer, in characters, with a "length" component of 1; None: the task's default."""
    difficulty: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the task's generator, e.g. {"max_terms": 3}; the others keep their defaults."""
    needs_field: bool = False
    """Whether only an answer field counts also in tasks that take the last number or line of a text without
    one. Programs are run wherever they stand."""
    owner: OwnerData | None = None
    """Model, journal and messages; tasks about the owner's taste need it."""
    sandbox: Sandbox | None = None
    """Runs or evaluates model text; None: the task opens a sandbox of its own when it needs one."""
