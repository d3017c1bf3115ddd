"""Makes the batches of steps ahead, in processes and a thread, and puts them on the device.

Process n of N makes steps n, n + N ... of lives; the thread takes them in order and adds rows of the book,
everyday talk and the base's own words, so the rows depend on the seed alone, but for lines that were found
weak.
"""

from __future__ import annotations

import multiprocessing
import queue
import random
import signal
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import torch

from engine.errors import ConfigError
from engine.tokenizers.load import load_tokenizer
from learning.meta_training.kept_rows import KeptRows
from learning.meta_training.kinds import trained_kinds
from learning.meta_training.packing import PackedBatch, Packer, shipped
from learning.meta_training.plans import LessonPlan
from learning.meta_training.rows import MetaRow, weighed
from learning.meta_training.settings import BOOK, EVERYDAY, HELD, OWN, PEOPLE, MetaSettings
from learning.meta_training.step_rows import LessonRows, RowSource, StepRows

AHEAD = 3
"""Batches that wait on the device."""
AHEAD_OF_PROCESS = 4
"""Steps of rows that wait of each process."""
LINES, LINES_OF_SMALL = 40, 6
"""Lines of the book in a step, and in a small one."""
OWN_AFTER, PEOPLE_AFTER = 6, 2
"""Rows of the base's own words, and people's conversations, after a lesson."""
PEOPLE_PLAIN = 12
"""People's conversations in a step."""


@dataclass(frozen=True)
class LessonBatch:
    """A lesson, and what the taught weights are asked."""

    plan: LessonPlan
    asked: list[PackedBatch]


@dataclass(frozen=True)
class OuterBatch:
    """All of one step."""

    lessons: list[LessonBatch]
    plain: list[PackedBatch]


@dataclass(frozen=True)
class FeedSource:
    """What a process needs to make rows."""

    base: Path
    own: Path | None
    context: int
    settings: MetaSettings

    def rows(self) -> RowSource:
        """Reads the texts. Raises DataError or CheckpointError."""
        kept = KeptRows.of(load_tokenizer(self.base), self.context, self.own)
        return RowSource(kept, trained_kinds(), self.settings.lessons, self.settings.small)


class Feed:
    """Batches in order. Use as a context, which ends the processes."""

    def __init__(self, source: FeedSource, kept: KeptRows, device: torch.device) -> None:
        """kept: from which rows are added. Its `own` and `conversations` must have references when `begin` is
        called."""
        self.weak: list[MetaRow] = []
        """Lines of the book that come oftener."""
        self._source, self._kept, self._device = source, kept, device
        self._rng = random.Random(source.settings.seed)
        self._lines = LINES_OF_SMALL if source.settings.small else LINES
        self._ready: queue.Queue[OuterBatch | BaseException] = queue.Queue(maxsize=AHEAD)
        self._stopped = threading.Event()
        self._made: list[Any] = []
        self._workers: list[BaseProcess] = []
        self._thread = threading.Thread(target=self._fill, daemon=True)

    def __enter__(self) -> Feed:
        count, make = self._source.settings.workers, multiprocessing.get_context("spawn")
        for number in range(count):
            made = make.Queue(maxsize=AHEAD_OF_PROCESS)
            worker = make.Process(
                target=_work, args=(self._source, number, count, made), daemon=True
            )
            self._made.append(made)
            self._workers.append(worker)
            worker.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        for worker in self._workers:
            worker.terminate()
        if self._thread.is_alive():
            while not self._ready.empty():
                self._ready.get_nowait()
            self._thread.join(timeout=10.0)
        for worker in self._workers:
            worker.join()

    def begin(self) -> None:
        """From now on batches are made."""
        self._thread.start()

    def get(self) -> OuterBatch:
        """The next batch. Raises what its making raised."""
        found = self._ready.get()
        if isinstance(found, BaseException):
            raise found
        return found

    def _fill(self) -> None:
        try:
            for rows in self._of_processes() if self._workers else self._of_this():
                self._hand_over(shipped(self._batch(rows), self._device))
                if self._stopped.is_set():
                    return
        except BaseException as error:  # noqa: BLE001 - raised again where the batch is taken
            self._hand_over(error)

    def _hand_over(self, found: OuterBatch | BaseException) -> None:
        while not self._stopped.is_set():
            try:
                self._ready.put(found, timeout=0.2)
                return
            except queue.Full:
                continue

    def _of_this(self) -> Iterator[StepRows]:
        rows, number = self._source.rows(), 0
        while True:
            yield rows.step(self._source.settings.seed, number)
            number += 1

    def _of_processes(self) -> Iterator[StepRows]:
        number = 0
        while True:
            place = number % len(self._workers)
            yield self._taken(place)
            number += 1

    def _taken(self, place: int) -> StepRows:
        while not self._stopped.is_set():
            alive = self._workers[place].is_alive()
            try:
                found: StepRows = self._made[place].get(timeout=1.0)
                return found
            except queue.Empty:
                if not alive:
                    break
        raise ConfigError(
            "a process that makes rows has ended", "read its error above, or try --workers 0"
        )

    def _batch(self, rows: StepRows) -> OuterBatch:
        """With the rows that do not come from lives."""
        kept, rng, count = self._kept, self._rng, self._lines
        packer, weak = Packer(kept.writer.start), self.weak
        lines = rng.sample(weak, min(len(weak), count // 3))
        lines += rng.sample(kept.book, count - len(lines))
        lines += rng.sample(kept.careless, count // 4)
        for _ in range(count // 6):
            lines.append(kept.writer.after(*rng.sample(kept.book, 2)))
        own = rng.sample(kept.own, min(count // 2, len(kept.own)))
        plain = [
            *rows.plain,
            *weighed(lines, BOOK),
            *weighed(rng.sample(kept.everyday, count // 2), EVERYDAY),
            *weighed(own, OWN),
            *weighed(self._people(PEOPLE_PLAIN), PEOPLE),
        ]
        lessons = [self._lesson(one, len(rows.lessons), packer) for one in rows.lessons]
        return OuterBatch(lessons, packer.packs(plain))

    def _people(self, count: int) -> list[MetaRow]:
        found = self._kept.conversations
        return self._rng.sample(found, min(count, len(found)))

    def _lesson(self, one: LessonRows, lessons: int, packer: Packer) -> LessonBatch:
        own = self._rng.sample(self._kept.own, min(OWN_AFTER, len(self._kept.own)))
        rows = [*one.asked, *weighed([*own, *self._people(PEOPLE_AFTER)], HELD)]
        rows = [row.weighing(row.weight / lessons) for row in rows]
        return LessonBatch(one.plan, packer.packs(rows))


def _work(source: FeedSource, number: int, count: int, made: Any) -> None:
    """Makes steps `number`, `number + count` ... until it or its parent has ended."""
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # Ctrl+C is for the parent, which ends its processes
    torch.set_num_threads(1)
    rows, parent = source.rows(), multiprocessing.parent_process()
    while True:
        step = rows.step(source.settings.seed, number)
        while True:
            if parent is not None and not parent.is_alive():
                return
            try:
                made.put(step, timeout=5.0)
                break
            except queue.Full:
                continue
        number += count
