"""The task class that all tasks share, built from a supply of problems and a check of answers.

The check only decides whether an answer is right. Fields, format and length are scored here. If a check
raises, that answer's verification counts as failed, and practice goes on.
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
"""Default for the longest answer, in characters, with a "length" component of 1."""
PATIENCE = 2_000
"""After this many draws in a row without a new problem of the split, there are no more."""


@dataclass(frozen=True)
class ScoringFailed:
    """The check failed, so it is not known whether the answer is right."""

    why: str


Verdict = float | Mapping[str, float] | ScoringFailed
"""Correctness in [0, 1]; or components in [0, 1], "correct" among them; or a failed check."""
Check = Callable[[Problem, Sequence[ParsedAnswer], Sequence[str]], Sequence[Verdict]]
"""(problem, parsed answers, their texts) -> one verdict per answer."""
Supply = Callable[[Split, random.Random], Iterator[Problem]]
Draw = Callable[[random.Random], Problem | None]
"""Draws a problem of either split; None: this draw gave no problem."""


@dataclass
class VerifiedTask:
    """Implements learning.rewards.task.Task."""

    name: str
    supply: Supply
    check: Check
    weights: RewardWeights = RewardWeights()
    length: int = LENGTH
    needs_field: bool = False
    """Whether only an answer field counts; for tasks where a word of the question may be right by
    chance."""
    on_close: Callable[[], None] = field(default=lambda: None)

    def describe(self) -> str:
        """See Task."""
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
        except Exception as error:  # counts as a failed verification; the other answers go on
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
    """A check that judges one answer at a time against the truth, in this process."""

    def check(problem: Problem, read: Sequence[ParsedAnswer], _: Sequence[str]) -> list[Verdict]:
        return [judge(problem.truth, answer) for answer in read]

    return check


def generated(draw: Draw) -> Supply:
    """A supply that draws problems one by one; `held_out` repeats none and ends after PATIENCE vain
    draws. Raises ConfigError if the settings yield no problem to train on."""

    def supply(split: Split, rng: random.Random) -> Iterator[Problem]:
        seen: set[str] = set()
        vain = 0
        while vain < PATIENCE:
            problem = draw(rng)
            vain += 1
            if problem is None or problem.split != split or problem.same in seen:
                continue
            vain = 0
            if split == "held_out":
                seen.add(problem.same)
            yield problem
        if split == "train":
            raise ConfigError(
                f"with these settings the last {PATIENCE} draws gave no problem to train on",
                "make the settings wider",
            )

    return supply


def listed(load: Callable[[], Iterable[Problem]]) -> Supply:
    """A supply from a list, loaded on first use. `train` repeats it for ever, in a new order each round.
    Raises ConfigError if no problem is in `train`."""

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


def check_choice(name: str, value: str, choices: Sequence[str]) -> None:
    """Raises ConfigError if the setting `name` is none of the choices."""
    if value not in choices:
        raise ConfigError(f"{name} is {value!r}", f"choose among: {', '.join(choices)}")


def configure(kind: type[Settings], options: TaskOptions, name: str) -> Settings:
    """The settings dataclass with the values of options.difficulty; texts are converted to the type of
    the default.

    Raises ConfigError, which names the task, for an unknown name, a value of the wrong type, and one that
    the dataclass refuses.
    """
    known = {f.name: f.default for f in fields(kind)}  # type: ignore[arg-type]
    given = {}
    for key, value in options.difficulty.items():
        if key not in known:
            raise ConfigError(
                f"task {name}: there is no setting {key!r}", f"choose among: {', '.join(known)}"
            )
        given[key] = convert(value, known[key], f"task {name}: {key}")
    try:
        return kind(**given)
    except ConfigError as error:
        raise ConfigError(f"task {name}: {error.what}", error.next_step) from None


def convert(value: Any, like: Any, where: str) -> Any:
    """Converts a value, possibly a text, to the type of `like`; the items of a list to the common type
    of `like`'s items. Raises ConfigError."""
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
    """The sandbox given in the options, or else the task's own, from first use until `close`."""

    def __init__(self, given: Sandbox | None) -> None:
        self._given = given
        self._own: Sandbox | None = None

    def get(self) -> Sandbox:
        """The sandbox, opened if necessary. Raises NoSandbox."""
        if self._given is not None:
            return self._given
        if self._own is None:
            self._own = Sandbox().__enter__()
        return self._own

    def close(self) -> None:
        """Ends the task's own sandbox, but not one given to it."""
        own, self._own = self._own, None
        if own is not None:
            own.__exit__(None, None, None)


OWN_FAULTS = ("memory", "crashed", "too much output")
"""Failures of a call that the answer's size causes: the answer is wrong."""
BUSY = 0.5
"""A timeout is the answer's fault if the call used at least this share of the deadline as processor
time; otherwise the machine was busy with other work."""


def too_much(outcome: SandboxOutcome, seconds: float) -> bool:
    """True if the answer itself exceeded the deadline of `seconds` or the memory limit, so it is wrong.
    Any other failure is the sandbox's or the machine's and says nothing about the answer."""
    if outcome.failure == "timeout":
        return outcome.busy >= BUSY * seconds
    return outcome.failure in OWN_FAULTS


def verdict_of(outcome: SandboxOutcome, seconds: float = float("inf")) -> Verdict:
    """Verdict from the outcome of a function that returns a bool or a number in [0, 1]."""
    if too_much(outcome, seconds):
        return 0.0
    if outcome.failure:
        return ScoringFailed(
            f"{outcome.failure}: {outcome.detail}" if outcome.detail else outcome.failure
        )
    return float(outcome.value)
