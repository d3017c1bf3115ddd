"""A task made of a supply of problems and a check of answers; what all tasks have in common.

The check says only whether an answer is right. Fields, format and length are read here, and whatever
a check raises becomes a failure of that answer's verification, never of the practice.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from engine.errors import ConfigError
from learning.rewards.registry import tasks
from learning.rewards.sandbox.pool import Sandbox, SandboxOutcome
from learning.rewards.task import Problem, RewardWeights, Score, Split, TaskOptions
from learning.rewards.verifiers.answer import ParsedAnswer, format_score, length_score, read_answer

LENGTH = 1_000
"""Characters of an answer up to which nothing is taken off, where a task does not say."""
PATIENCE = 2_000
"""Draws without a new problem of the split after which there are no more."""


@dataclass(frozen=True)
class ScoringFailed:
    """The check could not say."""

    why: str


Verdict = float | Mapping[str, float] | ScoringFailed
"""How right an answer is, in [0, 1]; or components, "correct" among them; or that it is not known."""
Check = Callable[[Problem, Sequence[ParsedAnswer], Sequence[str]], Sequence[Verdict]]
"""Takes a problem, the answers taken apart, and as they were written."""
Supply = Callable[[Split, random.Random], Iterator[Problem]]
Draw = Callable[[random.Random], Problem | None]
"""Makes a problem of either split; None: drawn in vain."""


@dataclass
class VerifiedTask:
    """Implements learning.rewards.task.Task."""

    name: str
    supply: Supply
    check: Check
    weights: RewardWeights = RewardWeights()
    length: int = LENGTH
    needs_field: bool = False
    """Whether an answer outside of an answer field is none: so where a word of the question can be
    right by chance."""
    on_close: Callable[[], None] = field(default=lambda: None)

    def describe(self) -> str:
        """One line."""
        return tasks()[self.name]

    def problems(self, split: Split, rng: random.Random) -> Iterator[Problem]:
        """See Task."""
        return self.supply(split, rng)

    def score(self, problem: Problem, answers: Sequence[str]) -> list[Score]:
        """See Task."""
        read = [read_answer(text) for text in answers]
        return [
            self._score(verdict, answer, text)
            for verdict, answer, text in zip(
                self._verdicts(problem, read, answers), read, answers, strict=True
            )
        ]

    def close(self) -> None:
        """See Task."""
        self.on_close()

    def _verdicts(
        self, problem: Problem, read: list[ParsedAnswer], answers: Sequence[str]
    ) -> Sequence[Verdict]:
        try:
            return self.check(problem, read, answers)
        except Exception as error:  # a verifier that fails is counted, and the others go on
            if len(read) == 1:
                return [ScoringFailed(f"{type(error).__name__}: {error}"[:300])]
        return [
            verdict
            for answer, text in zip(read, answers, strict=True)
            for verdict in self._verdicts(problem, [answer], [text])
        ]

    def _score(self, verdict: Verdict, answer: ParsedAnswer, text: str) -> Score:
        if isinstance(verdict, ScoringFailed):
            return Score.failure(verdict.why)
        right = dict(verdict) if isinstance(verdict, Mapping) else {"correct": float(verdict)}
        if self.needs_field and answer.field is None:
            right["correct"] = 0.0
        always = {"format": format_score(answer), "length": length_score(text, self.length)}
        return Score.of(right | always, self.weights)


def one_by_one(judge: Callable[[Any, ParsedAnswer], Verdict]) -> Check:
    """A check that looks at the truth and one answer at a time, in this process."""

    def check(problem: Problem, read: Sequence[ParsedAnswer], _: Sequence[str]) -> list[Verdict]:
        return [judge(problem.truth, answer) for answer in read]

    return check


def generated(draw: Draw) -> Supply:
    """Problems drawn one after another, as many as are asked for."""

    def supply(split: Split, rng: random.Random) -> Iterator[Problem]:
        seen: set[str] = set()
        vain = 0
        while vain < PATIENCE:
            problem = draw(rng)
            vain += 1
            if problem is None or problem.split != split or problem.prompt in seen:
                continue
            vain = 0
            if split == "held_out":
                seen.add(problem.prompt)
            yield problem
        if split == "train":
            raise ConfigError(
                f"with these settings the last {PATIENCE} draws gave no problem to train on",
                "make the settings wider",
            )

    return supply


def listed(load: Callable[[], Iterable[Problem]]) -> Supply:
    """Problems of a list, loaded when first asked for; `train` in a new order each round."""

    def supply(split: Split, rng: random.Random) -> Iterator[Problem]:
        mine = list({p.prompt: p for p in load() if p.split == split}.values())
        while mine:
            rng.shuffle(mine)
            yield from mine
            if split == "held_out":
                return
        if split == "train":
            raise ConfigError("the data has no problem to train on", "give more problems")

    return supply


Settings = TypeVar("Settings")


def configure(kind: type[Settings], options: TaskOptions, name: str) -> Settings:
    """The settings dataclass with what the options set; texts become what the default is.

    Raises ConfigError for an unknown name, or a value of another kind.
    """
    known = {f.name: f.default for f in fields(kind)}  # type: ignore[arg-type]
    given = {}
    for key, value in options.difficulty.items():
        if key not in known:
            raise ConfigError(
                f"task {name}: there is no setting {key!r}", f"choose among: {', '.join(known)}"
            )
        given[key] = convert(value, known[key], f"task {name}: {key}")
    return kind(**given)


def convert(value: Any, like: Any, where: str) -> Any:
    """The value as the kind that `like` is, from a text too; a list's values as the kind that all
    of `like`'s are. Raises ConfigError."""
    try:
        return _converted(value, like)
    except (ValueError, KeyError, OverflowError):
        raise ConfigError(f"{where} is {value!r}", f"give a value like {like!r}") from None


def _converted(value: Any, like: Any) -> Any:
    kind = type(like)
    if isinstance(value, str) and kind is bool:
        return {"true": True, "yes": True, "false": False, "no": False}[value.lower()]
    if isinstance(value, str) and kind in (int, float):
        return kind(value)
    if isinstance(value, str) and kind in (tuple, list):
        value = value.split(",")
    if kind in (tuple, list) and isinstance(value, list | tuple):
        kinds = {type(one) for one in like}
        alike = len(kinds) == 1 and kinds <= {bool, int, float, str}
        return kind(_converted(one, like[0]) if alike else one for one in value)
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind:
        raise ValueError(f"no {kind.__name__}")
    return value


class Lent:
    """The sandbox of the options, or one of the task's own from first use until `close`."""

    def __init__(self, given: Sandbox | None) -> None:
        self._given = given
        self._own: Sandbox | None = None

    def get(self) -> Sandbox:
        """Raises NoSandbox."""
        if self._given is not None:
            return self._given
        if self._own is None:
            self._own = Sandbox().__enter__()
        return self._own

    def close(self) -> None:
        """Ends the task's own; not one that was lent."""
        own, self._own = self._own, None
        if own is not None:
            own.__exit__(None, None, None)


OWN_FAULTS = ("memory", "crashed", "too much output")
"""Failures of a call that come of the answer's own size: it is wrong."""
BUSY = 0.5
"""Share of the time until a deadline from which on it was spent on the answer, and not on waiting for a
machine that had other things to do."""


def too_much(outcome: SandboxOutcome, seconds: float) -> bool:
    """Whether an answer was too much to work out within `seconds`, or in the memory that there is: then
    it is wrong. Anything else is a fault of the sandbox or the machine, of which nothing is known."""
    if outcome.failure == "timeout":
        return outcome.busy >= BUSY * seconds
    return outcome.failure in OWN_FAULTS


def verdict_of(outcome: SandboxOutcome, seconds: float = float("inf")) -> Verdict:
    """Of a function that returns a number from 0 to 1 or a truth value, called with a deadline."""
    if too_much(outcome, seconds):
        return 0.0
    if outcome.failure:
        return ScoringFailed(
            f"{outcome.failure}: {outcome.detail}" if outcome.detail else outcome.failure
        )
    return float(outcome.value)
