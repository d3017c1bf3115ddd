"""The weights of one model of a home: the fp32 masters that learn, and the copy that answers.

Order of a publication: journal entry, files, mark in the journal, the new copy by one assignment; a
crash at any point leaves a lesson waiting at worst. What moved since the last whole file is written as a
delta against it (engine.storage.weight_files), a whole file now and then. Left out: what to learn, and
whether the result is good enough (learning.memory.transaction).
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from torch import Tensor

from engine.errors import CheckpointError, NotFound
from engine.model import Model
from engine.packed import replaced, share
from engine.precision import fast_dtype
from engine.storage.checkpoint import (
    huggingface_names,
    load_model,
    save_tensors,
    to_huggingface,
)
from engine.storage.checkpoint_files import WEIGHTS, parse_number, read_header, read_metadata
from engine.storage.disk import unwritable
from engine.storage.files import ABANDONED, copy_atomically, remove_leftovers
from engine.storage.weight_files import (
    BASE,
    CHECKSUM,
    COUNT,
    WeightFiles,
    checksum,
    current_files,
    files_at,
    part_path,
    remove_unneeded,
    use_delta,
)
from learning.journal.journal import Journal
from learning.models.snapshots import (
    SNAPSHOTS,
    keep_snapshot,
    snapshot_paths,
    snapshots_of,
    weights_without,
)
from learning.models.trainable import all_weights

DELTAS = 64
"""Publications after a whole file, at most, that are deltas: then another one is written, so that damage to
one file does not cost all weights that are kept."""
LARGEST = 0.75
"""Share of all bytes, at most, that a delta may have: a larger one saves little, and a whole file needs no
other."""


@dataclass(frozen=True)
class Published:
    """Weights that answers are generated from; never changed."""

    version: int
    model: Model


@dataclass(frozen=True)
class _Base:
    """The whole file that the masters came from, and what moved since."""

    version: int
    path: Path
    moved: frozenset[str] = frozenset()
    """Our names of tensors."""
    deltas: int = 0
    """Publications since."""
    checksum: str = ""
    """Of the file; empty where it was not read yet."""


class Weights:
    """`model` may be changed in place; nobody sees it before `publish`."""

    def __init__(self, folder: Path, journal: Journal, *, device: str = "cpu") -> None:
        """Reads the folder's weights. Raises CheckpointError."""
        self.folder, self._journal = folder, journal
        for part in (folder, folder / SNAPSHOTS):
            remove_leftovers(part)
        remove_unneeded(folder, snapshot_paths(folder), ABANDONED)
        self.model = load_model(folder, device=device)
        files = current_files(folder)
        self.version, self._base = files.version, _base(files, self.model)
        self.published = Published(self.version, self._frozen())

    def state(self) -> dict[str, Tensor]:
        """A copy of all masters."""
        return all_weights(self.model).state()

    def publish(
        self,
        lessons: list[int],
        note: str,
        *,
        moved: Collection[str] | None = None,
        snapshot: bool = True,
    ) -> None:
        """Saves and swaps.

        moved: names of the parameters that differ from what was published last; None where any may. With
        none only the journal notes that the lessons are known. With `snapshot` false the weights before
        it are not kept: they are a part of the same work. Raises CheckpointError or JournalError; what
        answers is as before then.
        """
        self._save(lessons, note, moved, snapshot)
        before = self.published.model
        if moved is None:
            model = self._frozen()
            share(model, before)
        else:
            model = replaced(before, self._cast(moved)) if moved else before
        self.published = Published(self.version, model)

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
        now = self.model, self.version, self._base
        self.model = load_model(self.folder, device=self.model.device, weights=path)
        self.version, self._base = version, _base(files_at(self.folder, path), self.model)
        try:
            self._save([], note, (), snapshot=False)
        except BaseException:
            self.model, self.version, self._base = now
            raise
        model = self._frozen()
        share(model, self.published.model)
        self.published = Published(self.version, model)

    def _save(
        self, lessons: list[int], note: str, moved: Collection[str] | None, snapshot: bool
    ) -> None:
        version = self._new_version()
        path = str(self.folder / WEIGHTS)
        self._journal.add_publication(version, self.version, lessons, path, note)
        if snapshot:
            keep_snapshot(self.folder, self._journal)
        record = {"version": str(version), "note": note}
        try:
            if not (moved is not None and self._write_delta(version, record, moved)):
                self._write_whole(version, record)
        except OSError as error:
            raise CheckpointError(
                *unwritable(self.folder, error, "choose another --home")
            ) from error
        remove_unneeded(self.folder, snapshot_paths(self.folder))
        self._journal.mark_saved(version)
        self.version = version

    def _write_whole(self, version: int, record: Mapping[str, str]) -> None:
        path = self.folder / WEIGHTS
        save_tensors(self._written(name for name, _ in self.model.named_parameters()), path, record)
        self._base = _Base(version, path)

    def _write_delta(self, version: int, record: Mapping[str, str], moved: Collection[str]) -> bool:
        """What moved since the base; False where a whole file is to be written."""
        base, sizes = self._base, {k: v.nbytes for k, v in self.model.named_parameters()}
        names = base.moved | set(moved)
        size = sum(sizes[name] for name in names)
        if base.deltas >= DELTAS or size > LARGEST * sum(sizes.values()):
            return False
        digest = base.checksum or checksum(base.path)
        base = replace(base, moved=names, deltas=base.deltas + 1, checksum=digest)
        part, path = self._base_part(base), part_path(self.folder, version)
        if part is None:
            return False
        of_base = {BASE: str(base.version), CHECKSUM: digest, COUNT: str(base.deltas)}
        save_tensors(self._written(names), path, {**record, **of_base})
        use_delta(self.folder, WeightFiles(version, part, path))
        self._base = replace(base, path=part)
        return True

    def _base_part(self, base: _Base) -> Path | None:
        """The base's file under the name that deltas look for; None where it cannot have that name,
        because another file has it, or must not, because it belongs to the program."""
        part = part_path(self.folder, base.version)
        if part.exists():
            same = part.samefile(base.path) or checksum(part) == base.checksum
            return part if same else None
        if base.path.parent not in (self.folder, self.folder / SNAPSHOTS):
            return None
        copy_atomically(base.path, part, link=True)  # weights are never changed
        return part

    def _new_version(self) -> int:
        """Above those of the journal, and of the files, which may be newer than a journal that was
        moved away or brought back from a copy."""
        files = [old.version for old in snapshots_of(self.folder)]
        return max(self._journal.latest_version(), self.version, *files) + 1

    def _written(self, names: Iterable[str]) -> dict[str, Tensor]:
        """These masters as files have them."""
        state = {name: self.model.get_parameter(name).detach().cpu() for name in names}
        return to_huggingface(state, self.model.config)

    def _cast(self, names: Collection[str]) -> dict[str, Tensor]:
        """Copies of these masters in the numbers that answer fastest."""
        dtype = fast_dtype(self.model.device.type)
        parameters = {name: self.model.get_parameter(name).detach() for name in names}
        return {name: tensor.to(dtype, copy=True) for name, tensor in parameters.items()}

    def _frozen(self) -> Model:
        """A copy of the masters in the numbers that answer fastest."""
        dtype = fast_dtype(self.model.device.type)
        return copy.deepcopy(self.model).to(dtype).requires_grad_(False).eval()


def _base(files: WeightFiles, model: Model) -> _Base:
    """What the masters came from, where these files were read."""
    if files.delta is None:
        return _Base(files.version, files.whole)
    record, inside = read_metadata(files.delta), read_header(files.delta)
    moved = frozenset(
        name for name, _ in model.named_parameters() if inside.keys() & set(huggingface_names(name))
    )
    base, count = parse_number(record[BASE]), parse_number(record.get(COUNT))
    return _Base(base, files.whole, moved, count, record[CHECKSUM])
