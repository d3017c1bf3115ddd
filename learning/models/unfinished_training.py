"""The record of an interrupted book training, kept in the model's folder until the training is finished.

`training.json` holds the request and the progress; `training.safetensors` holds the weights of the last save
point. No answer is generated from them, because the guard has not judged them yet. Imports no torch.
"""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from engine.errors import NotFound
from engine.storage.files import write_atomically
from engine.storage.reading import read_json
from learning.journal.journal import Journal
from learning.protocol.requests import Train

RECORD, TRAINED = "training.json", "training.safetensors"


@dataclass(frozen=True)
class Unfinished:
    """The progress of a training at a save point."""

    request: Train
    version: int
    """Version of the weights that training started from."""
    lessons: tuple[int, ...] = ()
    """Ids of the lessons in the training set."""
    epoch: int = 0
    """The current or last epoch, counted from 1; 0: none had begun."""
    step: int = 0
    """Steps taken. The saved weights, if there are any, are those after this step."""

    def still_true(self, journal: Journal, version: int) -> bool:
        """Whether the training may be resumed now that weights of `version` answer.

        False if a lesson that it contains was undone or forgotten, or if something was learned since that
        resuming would lose: practice, or a lesson without an answer.
        """
        before, now = journal.lessons_in(self.version), journal.lessons_in(version)
        try:
            states = [journal.lesson(lesson).state for lesson in self.lessons]
            since = [journal.lesson(lesson) for lesson in now - before]
        except NotFound:  # forgotten
            return False
        lost = any(lesson.kind == "practice" or not lesson.answer for lesson in since)
        return before <= now and "undone" not in states and not lost


def read_unfinished(folder: Path) -> Unfinished | None:
    """The interrupted training in a model's folder; None if there is none or it cannot be read."""
    try:
        raw = read_json(folder / RECORD)
        request = Train(**raw.pop("request"))
        return replace(Unfinished(request, **raw), lessons=tuple(raw["lessons"]))
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def write_unfinished(folder: Path, unfinished: Unfinished) -> None:
    """Writes the record atomically. Raises OSError."""
    write_atomically(folder / RECORD, json.dumps(asdict(unfinished)))


def remove_unfinished(folder: Path) -> None:
    """Removes the record and the weights of an interrupted training, if they exist."""
    for name in (RECORD, TRAINED):
        with contextlib.suppress(OSError):
            (folder / name).unlink(missing_ok=True)
