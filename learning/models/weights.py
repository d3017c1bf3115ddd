"""The weights of one model of a home: the fp32 masters that learn, and the copy that answers.

Order of a publication: journal entry, file, mark in the journal, the new copy by one assignment; a
crash at any point leaves a lesson waiting at worst. Left out: what to learn, and whether the result
is good enough (learning.lessons.learner).
"""

from __future__ import annotations

import copy
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from torch import Tensor

from engine.errors import NotFound
from engine.model import Model
from engine.packed import share
from engine.precision import fast_dtype
from engine.storage.checkpoint import load_model, save_tensors, to_huggingface
from engine.storage.checkpoint_files import WEIGHTS, read_version
from engine.storage.files import remove_leftovers
from learning.journal.journal import Journal
from learning.models.snapshots import SNAPSHOTS, keep_snapshot, snapshots_of, weights_without


@dataclass(frozen=True)
class Published:
    """Weights that answers are generated from; never changed."""

    version: int
    model: Model


class Weights:
    """`model` may be changed in place; nobody sees it before `publish`."""

    def __init__(self, folder: Path, journal: Journal, *, device: str = "cpu") -> None:
        """Reads the folder's weights. Raises CheckpointError."""
        self.folder, self._journal = folder, journal
        for part in (folder, folder / SNAPSHOTS):
            remove_leftovers(part)
        self.model = load_model(folder, device=device)
        self.version = read_version(folder / WEIGHTS)
        self.published = Published(self.version, self._frozen())

    def state(self) -> dict[str, Tensor]:
        """A copy, for `restore`."""
        return {k: v.detach().clone() for k, v in self.model.state_dict().items()}

    def restore(self, state: dict[str, Tensor]) -> None:
        """The masters as they were; gradients are dropped."""
        self.model.load_state_dict(state)
        for parameter in self.model.parameters():
            parameter.requires_grad_(True)
            parameter.grad = None

    def publish(
        self, lessons: list[int], note: str, *, changed: bool = True, snapshot: bool = True
    ) -> None:
        """Saves and swaps. With `changed` false only the journal notes that the lessons are known.
        With `snapshot` false the weights before it are not kept: they are a part of the same work.
        Raises CheckpointError or JournalError; what answers is as before then."""
        version = self._new_version()
        path = self.folder / WEIGHTS
        self._journal.add_publication(version, self.version, lessons, str(path), note)
        if snapshot:
            keep_snapshot(self.folder, self._journal)
        state = {k: v.detach().cpu() for k, v in self.model.state_dict().items()}
        save_tensors(
            to_huggingface(state, self.model.config), path, {"version": str(version), "note": note}
        )
        self._journal.mark_saved(version)
        self.version = version
        model = before = self.published.model
        if changed:
            model = self._frozen()
            share(model, before)
        self.published = Published(version, model)

    def without(self, lessons: Collection[int]) -> tuple[int, Path]:
        """(version, file) of the newest snapshot, or else the shipped weights, that know none of
        these lessons. Raises NotFound where none are left."""
        old = weights_without(self.folder, self._journal, self.version, lessons)
        if old is None:
            raise NotFound(
                f"no weights without lesson {min(lessons)} are left",
                "teach what should be said instead, with /correct",
            )
        return old.version, old.path

    def go_back(self, version: int, path: Path, note: str) -> None:
        """Publishes the weights of that file, which were `version`, anew. Those that are left are not
        kept: they know what is taken back, and would push out weights that a further undo needs."""
        now = self.model, self.version
        self.model = load_model(self.folder, device=self.model.device, weights=path)
        self.version = version
        try:
            self.publish([], note, snapshot=False)
        except BaseException:
            self.model, self.version = now
            raise

    def _new_version(self) -> int:
        """Above those of the journal, and of the files, which may be newer than a journal that was
        moved away or brought back from a copy."""
        files = [old.version for old in snapshots_of(self.folder)]
        return max(self._journal.latest_version(), self.version, *files) + 1

    def _frozen(self) -> Model:
        """A copy of the masters in the numbers that answer fastest."""
        dtype = fast_dtype(self.model.device.type)
        return copy.deepcopy(self.model).to(dtype).requires_grad_(False).eval()
