"""A book training that was broken off: how far it was, kept beside the model until it is finished.

`training.json` says what was asked for and how far it came; `training.safetensors` holds the weights
as they were then. Nobody answers from them: the guard has not judged them yet. Imports no torch.
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
    """A training between two of its steps."""

    request: Train
    version: int
    """Of the weights that it began with."""
    lessons: tuple[int, ...] = ()
    """Lessons among its lines."""
    epoch: int = 0
    """The one that was under way or done; 0: none had begun."""
    step: int = 0
    """Steps done; the weights are those after this one, where there are any."""

    def still_true(self, journal: Journal, version: int) -> bool:
        """Whether nothing that it knows was taken back since, and nothing was learned that no line of
        a book or lesson brings back; weights of `version` answer now."""
        before, now = journal.lessons_in(self.version), journal.lessons_in(version)
        try:
            states = [journal.lesson(lesson).state for lesson in self.lessons]
            since = [journal.lesson(lesson) for lesson in now - before]
        except NotFound:  # forgotten
            return False
        lost = any(lesson.kind == "practice" or not lesson.answer for lesson in since)
        return before <= now and "undone" not in states and not lost


def read_unfinished(folder: Path) -> Unfinished | None:
    """What was broken off in that model's folder; None where nothing was, or it cannot be read."""
    try:
        raw = read_json(folder / RECORD)
        request = Train(**raw.pop("request"))
        return replace(Unfinished(request, **raw), lessons=tuple(raw["lessons"]))
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def write_unfinished(folder: Path, unfinished: Unfinished) -> None:
    """Raises OSError."""
    write_atomically(folder / RECORD, json.dumps(asdict(unfinished)))


def remove_unfinished(folder: Path) -> None:
    """It is finished, or not wanted any more."""
    for name in (RECORD, TRAINED):
        with contextlib.suppress(OSError):
            (folder / name).unlink(missing_ok=True)
