"""Runs slow work in another thread while the waiting thread polls `pause`.

For idle practice: a scorer that runs programs, a generator or a download cannot notice that the owner
has come back. Abandoned work ends by itself or when its task closes.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from typing import TypeVar

from learning.rewards.task import Problem, Score, Split, Task

ASK_EVERY = 0.05
"""Seconds between two calls of `pause`."""

Result = TypeVar("Result")


def in_background(work: Callable[[], Result], pause: Callable[[], None]) -> Result:
    """Returns the result of `work` or raises its exception. If `pause` raises, that is raised at once and
    the result of the work is dropped."""
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
            if future.done():  # since then; or `work` itself raised TimeoutError
                return future.result()
            pause()


class BackgroundScorer:
    """Wraps a task: makes its problems and scores its answers in a background thread."""

    def __init__(self, task: Task, pause: Callable[[], None]) -> None:
        self._task, self._pause = task, pause
        self._left = threading.Lock()
        """Held while the background thread uses the task."""

    @property
    def name(self) -> str:
        return self._task.name

    def describe(self) -> str:
        return self._task.describe()

    def problems(self, split: Split, rng: random.Random) -> Iterator[Problem]:
        """The task's problems, each made in the background."""
        made = self._task.problems(split, rng)
        while (problem := self._aside(lambda: next(made, None))) is not None:
            yield problem

    def score(self, problem: Problem, answers: Sequence[str]) -> list[Score]:
        """The task's scores, computed in the background."""
        return self._aside(lambda: self._task.score(problem, answers))

    def close(self) -> None:
        """Closes the task once abandoned work has ended. Returns at once."""

        def end() -> None:
            with self._left:
                self._task.close()

        threading.Thread(target=end, name="practice-end", daemon=True).start()

    def _aside(self, work: Callable[[], Result]) -> Result:
        def alone() -> Result:
            with self._left:
                return work()

        return in_background(alone, self._pause)
