"""A practice task for tests: sums of small numbers, scored by their last number."""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

import learning.rewards.registry as registry
from learning.rewards.asked import AskedTask
from learning.rewards.task import Problem, RewardWeights, Score, Split, Task, TaskOptions
from learning.rewards.verifiers.answer import in_format, read_answer
from learning.rewards.verifiers.verified import generated


class Sums:
    """`3 + 4`, answered `7`. Every fifth problem or so is held out."""

    name = "sums"

    def __init__(self, most: int = 9, other: int | None = None) -> None:
        """other: the largest second number; `most` where it is left out."""
        self._most, self._other = most, most if other is None else other
        self._weights = RewardWeights()
        self.closed = 0

    def describe(self) -> str:
        return f"sums of two numbers up to {self._most}"

    def problems(self, split: Split, rng: random.Random) -> Iterator[Problem]:
        if split == "held_out":
            pairs = [(a, b) for a in range(self._most + 1) for b in range(self._other + 1)]
            rng.shuffle(pairs)
            yield from (p for p in (self._problem(*pair) for pair in pairs) if p.split == split)
            return
        while True:
            problem = self._problem(rng.randint(0, self._most), rng.randint(0, self._other))
            if problem.split == split:
                yield problem

    def score(self, problem: Problem, answers: Sequence[str]) -> list[Score]:
        return [self._score(problem, answer) for answer in answers]

    def close(self) -> None:
        self.closed += 1

    def _problem(self, a: int, b: int) -> Problem:
        return Problem(f"{a} + {b} =", a + b, f"It is {a + b}.", "sums")

    def _score(self, problem: Problem, answer: str) -> Score:
        numbers = re.findall(r"\d+", answer)
        right = bool(numbers) and (numbers[-1].lstrip("0") or "0") == str(problem.truth)
        shape = bool(re.fullmatch(r"It is \d+\.", answer))
        return Score.of({"correct": float(right), "format": float(shape)}, self._weights)


class Unworked(Sums):
    """Sums without worked answers."""

    def _problem(self, a: int, b: int) -> Problem:
        return replace(super()._problem(a, b), worked=None)


class EasySums(Sums):
    """Sums that are paid for any number: what warm-up teaches in a second."""

    def _score(self, problem: Problem, answer: str) -> Score:
        shape = bool(re.search(r"\d", answer))
        return Score.of({"correct": float(shape)}, self._weights)


class HardSums(Sums):
    """Sums of five digits: no untrained model hits one by chance within a test."""

    def _problem(self, a: int, b: int) -> Problem:
        first, second = 10_001 + 100 * a, 10_001 + 100 * b
        return Problem(f"{first} + {second} =", first + second, f"It is {first + second}.", "sums")


class TaggedSums(EasySums):
    """The same, answered in the answer format, and paid for any number in its answer field."""

    def _problem(self, a: int, b: int) -> Problem:
        return Problem(f"{a} + {b} =", a + b, in_format(f"{a} + {b}", str(a + b)), "sums")

    def _score(self, problem: Problem, answer: str) -> Score:
        return super()._score(problem, read_answer(answer).field or "")


def asked_sums(name: str) -> AskedTask:
    """Sums of two digits that may be asked as `3 + 4 =`. An answer is right if its number is odd or even as
    the sum is, which chance finds half of the time."""

    def problem(a: int, b: int) -> Problem:
        key = " ".join(map(str, sorted((a, b))))
        return Problem(f"{a} + {b} =", str(a + b), f"It is {a + b}.", name, key)

    def read(text: str) -> Problem | None:
        found = re.fullmatch(r"([0-9]) ?\+ ?([0-9]) ?=", text.strip())
        return problem(int(found[1]), int(found[2])) if found else None

    def draw(rng: random.Random) -> Problem:
        return problem(rng.randint(0, 9), rng.randint(0, 9))

    def check(one: Problem, _: object, texts: Sequence[str]) -> list[float]:
        numbers = [re.findall(r"\d+", text) for text in texts]
        return [float(bool(n) and (int(n[-1]) - int(one.truth)) % 2 == 0) for n in numbers]

    return AskedTask(
        name,
        generated(draw),
        check,
        invitation="Ask",
        read=read,
        level=lambda one: f"2x{max(map(len, one.key.split()))}",
        example=draw,
    )


def make(name: str, options: TaskOptions) -> Task:
    """For the registry."""
    if name == "asked":
        return asked_sums(name)
    most = int(options.difficulty.get("most", 9))
    kind = {"easy": EasySums, "tagged": TaggedSums, "hard": HardSums}.get(name, Sums)
    task = kind(most)
    task.name = name
    return task


def register(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes tasks of the names "easy", "tagged", "hard" and "asked", for one test."""
    monkeypatch.setitem(sys.modules, "learning.rewards.tasks.sums_for_tests", sys.modules[__name__])
    ours = {"easy": "any number will do", "tagged": "in its field", "hard": "of five digits"}
    ours |= {"asked": "sums"}
    known = {name: ("sums_for_tests:make", line) for name, line in ours.items()}
    monkeypatch.setattr(registry, "_TASKS", {**registry._TASKS, **known})
