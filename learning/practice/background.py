"""Work that may take long, in another thread, while the one that waits asks whether to go on.

For idle practice: a scorer that runs programs, a generator, a download know nothing of the owner who
comes back. What is left behind ends by itself, or with its task.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from typing import TypeVar

from learning.rewards.task import Problem, Score, Split, Task

ASK_EVERY = 0.05
"""Seconds between two questions whether to go on."""

Result = TypeVar("Result")


def in_background(work: Callable[[], Result], pause: Callable[[], None]) -> Result:
    """The result of `work`, or what it raises. What `pause` raises is raised at once, and the work's
    result is dropped when it comes."""
    future: Future[Result] = Future()

    def do() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=do, name="practice-aside", daemon=True).start()
    while True:
        try:
            return future.result(ASK_EVERY)
        except TimeoutError:
            if future.done():
                raise  # the work's own
            pause()


class BackgroundScorer:
    """A task whose problems are made and whose answers are scored aside."""

    def __init__(self, task: Task, pause: Callable[[], None]) -> None:
        self._task, self._pause = task, pause
        self._left = threading.Lock()
        """Held while something is done aside."""

    @property
    def name(self) -> str:
        return self._task.name

    def describe(self) -> str:
        return self._task.describe()

    def problems(self, split: Split, rng: random.Random) -> Iterator[Problem]:
        """As the task's; each is made aside."""
        made = self._task.problems(split, rng)
        while (problem := self._aside(lambda: next(made, None))) is not None:
            yield problem

    def score(self, problem: Problem, answers: Sequence[str]) -> list[Score]:
        """As the task's, aside."""
        return self._aside(lambda: self._task.score(problem, answers))

    def close(self) -> None:
        """Does not wait: what was left behind ends first."""

        def end() -> None:
            with self._left:
                self._task.close()

        threading.Thread(target=end, name="practice-end", daemon=True).start()

    def _aside(self, work: Callable[[], Result]) -> Result:
        def alone() -> Result:
            with self._left:
                return work()

        return in_background(alone, self._pause)
