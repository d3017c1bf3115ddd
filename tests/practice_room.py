"""A teacher of a tiny model that practises tiny tasks (tests/sums.py), and all that it says."""

from __future__ import annotations

import queue
import time
from dataclasses import dataclass
from pathlib import Path

import torch

from engine.storage.checkpoint import load_model
from learning.journal.journal import Journal
from learning.practice.settings import PracticeSettings, WarmUpSettings
from learning.protocol.events import Event, Failed, PracticeDone
from learning.protocol.requests import Practise
from learning.teacher.teacher import Teacher

QUICK = PracticeSettings(
    lr=1e-3,
    groups=2,
    group_size=4,
    max_tokens=6,
    updates=1,
    redraws=9,
    held_out=4,
    measure_every=2,
    warm_up=WarmUpSettings(
        lr=5e-3, measure_every=5, save_every=5, measured=32, enough=0.2, steps=100
    ),
)


@dataclass
class Room:
    """A teacher of a tiny model and all that it says."""

    teacher: Teacher
    journal: Journal
    folder: Path
    events: queue.Queue[Event]

    def until(self, kind: type[Event], seconds: float = 60.0) -> list[Event]:
        """All events up to one of that kind, the last. Fails on a failure."""
        got: list[Event] = []
        end = time.monotonic() + seconds
        while not got or not isinstance(got[-1], kind):
            got.append(self.events.get(timeout=max(0.1, end - time.monotonic())))
            assert kind is Failed or not isinstance(got[-1], Failed), got[-1]
        return got

    def practise(self, *, task: str = "easy", **more: object) -> tuple[PracticeDone, list[Event]]:
        self.teacher.send(Practise(task, **{"seed": 0, **more}))  # type: ignore[arg-type]
        got = self.until(PracticeDone)
        done = got[-1]
        assert isinstance(done, PracticeDone)
        return done, got

    @property
    def weights(self) -> dict[str, torch.Tensor]:
        return load_model(self.folder).state_dict()


def same(a: dict[str, torch.Tensor], b: dict[str, torch.Tensor]) -> bool:
    return all(torch.equal(a[key], b[key]) for key in a)
