"""What practice is measured against, kept from run to run: how the model talked, and how much it knew, when
all of its weights were last trained on the book, or on the answers of a larger model.

With the weights before each run as the yardstick, every run may cost a little, and many runs cost much. The
copy is in float16: the anchor compares distributions, not weights. Lessons between two practices are no
reason for a new one. Left out: the anchor of lessons (learning.memory.reference), which is taken anew after
each practice; the next practice pulls both back.
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from engine.errors import CheckpointError
from engine.model import Model
from engine.storage.checkpoint import load_tensors, save_tensors
from engine.storage.files import write_atomically
from learning.data.examples import Example
from learning.journal.journal import Journal
from learning.memory.guard import SLACK
from learning.models.files import PRACTICE_ANCHOR, PRACTICE_BEST
from learning.protocol.records import DISTILLATION

TRAININGS = ("book training", DISTILLATION)
"""How the notes of publications begin after which the model talks, or knows, otherwise on purpose."""


@dataclass(frozen=True)
class Yardstick:
    """Of one model of a home."""

    model: Model
    """Frozen: how the model talked."""
    book: float
    """Best recall of the book since, 0 to 1; 0 if it was never measured."""
    path: Path
    mark: str
    """Of the lines of the book that `book` is about."""

    def before(self, recall: float) -> float:
        """The recall of the book that the guard compares with, given the recall at the start of a run: the
        best since, so that losses do not add up; but never so much that the weights as they are would be
        refused."""
        best = max(self.book, recall)
        if best > self.book:
            record = {"book": best, "mark": self.mark}
            with contextlib.suppress(OSError):  # a full disk: measured again
                write_atomically(self.path, json.dumps(record))
        return min(best, recall + SLACK)


def open_yardstick(
    folder: Path, model: Model, version: int, journal: Journal, book: Sequence[Example]
) -> Yardstick:
    """The folder's yardstick if the weights of `version` come from it; otherwise the model as it is now is
    the new one."""
    mark = hashlib.blake2b(repr([e.ids for e in book]).encode(), digest_size=16).hexdigest()
    path, still = folder / PRACTICE_BEST, copy.deepcopy(model).requires_grad_(False).eval()
    names = {name for name, _ in model.named_parameters()}
    with contextlib.suppress(CheckpointError):  # missing or damaged
        tensors, record = load_tensors(folder / PRACTICE_ANCHOR)
        notes = journal.notes_since(version, int(record.get("version", "-1")))
        fits = tensors.keys() == names and all(
            tensors[name].shape == value.shape for name, value in model.named_parameters()
        )
        if fits and notes is not None and not any(note.startswith(TRAININGS) for note in notes):
            _load(still, tensors)
            return Yardstick(still, _best(path, mark), path, mark)
    halves = {name: value.detach().half().cpu() for name, value in model.named_parameters()}
    path.unlink(missing_ok=True)
    with contextlib.suppress(CheckpointError):  # a full disk: taken again next time
        save_tensors(halves, folder / PRACTICE_ANCHOR, {"version": str(version)})
    _load(still, halves)  # as it will be read next time
    return Yardstick(still, 0.0, path, mark)


@torch.no_grad()
def _load(model: Model, tensors: dict[str, torch.Tensor]) -> None:
    for name, value in model.named_parameters():
        value.copy_(tensors[name])


def _best(path: Path, mark: str) -> float:
    """The best recall of the same lines; 0 if there is none."""
    try:
        record = json.loads(path.read_text("utf-8"))
        return float(record["book"]) if record["mark"] == mark else 0.0
    except (OSError, ValueError, KeyError, TypeError):
        return 0.0
