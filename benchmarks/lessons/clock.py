"""Times lessons and pauses of a pupil."""

from __future__ import annotations

import time
from collections.abc import Callable

from benchmarks.common.processes import peak_bytes
from benchmarks.lessons.collapse_pupils import Pupil
from learning.protocol.records import Lesson


class Clock:
    """Measures the time of lessons and pauses, memory, and the number of rollbacks."""

    def __init__(self, pause: float, timer: Callable[[], float] = time.perf_counter) -> None:
        """pause: most seconds of `timer` in a pause."""
        self._pause, self._timer = pause, timer
        self._lessons: list[float] = []
        self._worked: list[float] = []
        self._pauses: list[float] = []
        self._pauses_worked: list[float] = []
        self._rolled_back = 0

    def teach(self, pupil: Pupil, lesson: Lesson) -> None:
        started, worked = time.perf_counter(), time.process_time()
        kept = pupil.learn(lesson)
        self._lessons.append(time.perf_counter() - started)
        self._worked.append(time.process_time() - worked)
        self._rolled_back += not kept

    def rest(self, pupil: Pupil) -> None:
        started, worked = time.perf_counter(), time.process_time()
        pupil.rest(self._pause, self._timer)
        self._pauses.append(time.perf_counter() - started)
        self._pauses_worked.append(time.process_time() - worked)

    def row(self) -> dict[str, float | int | None]:
        """Figures of all lessons so far. cpu: processor time in seconds, which other load on the machine does
        not inflate. Memory: peak of the process since teaching began."""
        lessons, worked, pauses = map(sorted, (self._lessons, self._worked, self._pauses))
        pauses_worked = sorted(self._pauses_worked)
        peak = peak_bytes()
        if not lessons:
            return {"rolled_back": 0}
        return {
            "seconds_median": lessons[len(lessons) // 2],
            "seconds_max": lessons[-1],
            "cpu_median": worked[len(worked) // 2],
            "cpu_max": worked[-1],
            "pause_median": pauses[len(pauses) // 2],
            "pause_max": pauses[-1],
            "pause_cpu_median": pauses_worked[len(pauses_worked) // 2],
            "rolled_back": self._rolled_back,
            "memory_mb": peak / 2**20 if peak is not None else None,
        }
