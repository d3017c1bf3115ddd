"""Turns the reports of a book training into events; also the event for one that never started.

Left out: the training itself (learning.book_training).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from engine.lora import LoraSettings
from learning.book_training.asking import EpochReport
from learning.book_training.loop import ADAPTER_SETTINGS, OWN_TALK_SETTINGS, BookSettings
from learning.book_training.moved import AdapterPlan
from learning.models.unfinished_training import read_unfinished
from learning.protocol.events import Event, TrainDone, TrainProgress
from learning.protocol.requests import Train

TELL_EVERY = 0.25
"""Seconds between two reports."""


def book_settings(job: Train) -> BookSettings:
    """The settings in the request; defaults for the others."""
    usual = BookSettings() if job.own_talk is None else OWN_TALK_SETTINGS
    settings = ADAPTER_SETTINGS if job.rank else usual
    if job.epochs is not None:
        settings = replace(settings, epochs=job.epochs, until_known=False)
    if job.batch is not None:
        settings = replace(settings, batch=job.batch)
    return settings


def adapter_plan(job: Train, layers: int) -> AdapterPlan | None:
    """As asked for, of a model with so many blocks; None where all weights are to be trained."""
    if job.rank is None:
        return None
    upper = job.blocks if job.blocks is not None else max(1, layers // 3)
    settings = LoraSettings(job.rank, 2.0 * job.rank, first_block=max(0, layers - upper))
    return AdapterPlan(
        settings,
        Path(job.adapter) if job.adapter else None,
    )


class TrainingEvents:
    """Emits TrainProgress at most once per TELL_EVERY, and at the end of each epoch."""

    def __init__(self, emit: Callable[[Event], None], epochs: int, *, own: bool) -> None:
        """epochs: the limit. own: see TrainProgress."""
        self._emit, self._epochs, self._own = emit, epochs, own
        self._told = 0.0
        self._recall: float | None = None

    def __call__(self, now: EpochReport) -> None:
        self._recall = now.recall if now.recall is not None else self._recall
        clock = time.monotonic()
        if now.recall is None and now.asked != 0.0 and clock - self._told < TELL_EVERY:
            return
        self._told = clock
        done, left = now.step - now.begun, 0.0
        if done > 0:
            left = now.seconds / done * max(0, now.steps - now.step)
        self._emit(
            TrainProgress(
                now.epoch,
                self._epochs,
                now.step,
                now.steps,
                now.loss,
                self._recall,
                now.seconds,
                left,
                now.examples,
                now.recall is not None and done > 0,
                now.known,
                now.entries,
                now.kept,
                now.asked,
                self._own,
                now.begun,
            )
        )


def never_begun(job: Train, folder: Path, version: int) -> TrainDone:
    """The event for a training that was cancelled while it waited in the queue. folder: the model's."""
    kept = read_unfinished(folder) if job == Train() else None
    return TrainDone(
        0,
        0,
        0.0,
        None,
        None,
        0.0,
        cancelled=True,
        rolled_back=False,
        version=version,
        own=job.book is not None,
        goes_on=kept is not None and kept.step > 0,
    )
