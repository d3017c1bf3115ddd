"""The weights of one model of a home: the float32 master weights that are trained, and the copy that answers.

`publish` writes the journal entry, then the files, then a mark in the journal, and then replaces the copy
that answers by one assignment. After a crash at any point, a lesson is at worst learned again. Most
publications write a delta against the last whole file (engine.storage.weight_files). Left out: what to learn,
and whether the result is good enough (learning.memory.transaction).
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from torch import Tensor

from engine.errors import CheckpointError, NotFound
from engine.model import Model
from engine.packed import replaced, share
from engine.precision import fast_dtype
from engine.products import let_go
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
"""Most deltas in a row. Then a new whole file is written, so that damage to one base does not make all
snapshots unusable."""
LARGEST = 0.75
"""Largest size of a delta, as a share of all weights' bytes. Above it a whole file is written, which needs no
base and is hardly larger."""


@dataclass(frozen=True)
class Published:
    """Weights that answers are generated from. Never modified; a publication replaces the object."""

    version: int
    model: Model


@dataclass(frozen=True)
class _Base:
    """The whole file that deltas are written against, and what has changed since it was written."""

    version: int
    path: Path
    moved: frozenset[str] = frozenset()
    """Parameters that changed since, by their names in the model."""
    deltas: int = 0
    """Deltas written against the file."""
    checksum: str = ""
    """Checksum of the file; empty until it is needed."""
    stamp: tuple[int, ...] = ()
    """Inode, size and time of the file, to notice that another program replaced it."""


class Weights:
    """Master weights and published weights of a model. `model` may be modified in place; answers do not
    change before `publish`. Answers may be read by any thread, all else belongs to one."""

    def __init__(self, folder: Path, journal: Journal, *, device: str = "cpu") -> None:
        """Reads the folder's weights. Raises CheckpointError."""
        self.folder, self._journal = folder, journal
        for part in (folder, folder / SNAPSHOTS):
            remove_leftovers(part)
        remove_unneeded(folder, snapshot_paths(folder), ABANDONED)
        self._model, self._resting = load_model(folder, device=device), False
        files = current_files(folder)
        self.version = files.version
        self._base: _Base | None = _base(files, self._model)
        """None after a publication failed: the next one then writes a whole file."""
        self.published = Published(self.version, self._frozen())

    @property
    def model(self) -> Model:
        """The master weights. Read again after `rest`; raises CheckpointError if they cannot be."""
        if self._resting:
            device = self._model.device
            read = load_model(self.folder, device=device)
            if current_files(self.folder).version != self.version:
                raise CheckpointError(
                    f"{self.folder / WEIGHTS}: has been replaced while vidya had it open",
                    "start vidya again",
                )
            for name, parameter in self._model.named_parameters():
                parameter.data = read.get_parameter(name).data
            self._resting = False
        return self._model

    def rest(self) -> None:
        """Frees the memory of the master weights, which the files have too, until they are needed again. Call
        it only when no training is under way. Does nothing after a publication that failed, because the
        files may then differ."""
        if self._base is None or _stamp(self._base.path) != self._base.stamp:
            return
        let_go(self._model.parameters())
        for parameter in self._model.parameters():
            parameter.data, parameter.grad = parameter.data.new_empty(0), None
        self._resting = True

    def state(self) -> dict[str, Tensor]:
        """A copy of all master weights by name."""
        return all_weights(self.model).state()

    def publish(
        self,
        lessons: list[int],
        note: str,
        *,
        moved: Collection[str] | None = None,
        snapshot: bool = True,
    ) -> None:
        """Saves the master weights as a new version, and answers from them from then on.

        lessons: ids of lessons that are new in this version. note: what the version is for. moved: names of
        the parameters that differ from the version before; None: any may differ; empty: only the journal
        records that the lessons are known. snapshot: whether to keep the weights before as a snapshot.
        Raises CheckpointError or JournalError; answers still come from the version before then.
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
        """(version, file) of the newest snapshot that contains none of the lessons, or of the shipped
        weights. Raises NotFound if there is neither."""
        old = weights_without(self.folder, self._journal, self.version, lessons)
        if old is None:
            raise NotFound(
                f"no weights without lesson {min(lessons)} are left",
                "teach what should be said instead, with /correct",
            )
        return old.version, old.path

    def go_back(self, version: int, path: Path, note: str) -> None:
        """Publishes the weights in `path`, of the earlier `version`, as a new version with the lessons of the
        earlier one. Keeps no snapshot of the weights before: these contain the lesson that is undone, and
        would displace a snapshot that a further undo needs. Raises CheckpointError or JournalError."""
        with contextlib.suppress(CheckpointError):  # weights that are left may be damaged
            _ = self.model  # to have them again if nothing can be saved
        now = self._model, self._resting, self.version
        self._model = load_model(self.folder, device=self._model.device, weights=path)
        self._resting = False
        self.version, self._base = version, _base(files_at(self.folder, path), self._model)
        try:
            self._save([], note, (), snapshot=False)
        except BaseException:
            self._model, self._resting, self.version = now
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
        # if anything fails from here on, the next publication writes a whole file
        base, self._base = self._base, None
        try:
            if base is not None and moved is not None:
                base = self._write_delta(base, version, record, moved)
            if base is None or moved is None:
                base = self._write_whole(version, record)
        except OSError as error:
            raise CheckpointError(
                *unwritable(self.folder, error, "choose another --home")
            ) from error
        remove_unneeded(self.folder, snapshot_paths(self.folder))
        self._journal.mark_saved(version)
        self.version, self._base = version, base

    def _write_whole(self, version: int, record: Mapping[str, str]) -> _Base:
        path = self.folder / WEIGHTS
        save_tensors(self._written(name for name, _ in self.model.named_parameters()), path, record)
        return _Base(version, path, stamp=_stamp(path))

    def _write_delta(
        self, base: _Base, version: int, record: Mapping[str, str], moved: Collection[str]
    ) -> _Base | None:
        """Writes a delta with all that changed since the base. Returns the new base; None if a whole file
        must be written instead."""
        sizes = {k: v.nbytes for k, v in self.model.named_parameters()}
        names = base.moved | set(moved)
        size = sum(sizes[name] for name in names)
        if base.deltas >= DELTAS or size > LARGEST * sum(sizes.values()):
            return None
        if _stamp(base.path) != base.stamp:
            return None  # another program replaced or removed it
        digest = base.checksum or checksum(base.path)
        base = replace(base, moved=names, deltas=base.deltas + 1, checksum=digest)
        part, path = self._base_part(base), part_path(self.folder, version)
        if part is None:
            return None
        of_base = {BASE: str(base.version), CHECKSUM: digest, COUNT: str(base.deltas)}
        save_tensors(self._written(names), path, {**record, **of_base})
        use_delta(self.folder, WeightFiles(version, part, path))
        return replace(base, path=part, stamp=_stamp(part))

    def _base_part(self, base: _Base) -> Path | None:
        """The base's file under the name by which deltas refer to it, linked or copied if necessary. None if
        another file has that name, or if the base is outside of the model's folder (the shipped weights)."""
        part = part_path(self.folder, base.version)
        if part.exists():
            same = part.samefile(base.path) or checksum(part) == base.checksum
            return part if same else None
        if base.path.parent not in (self.folder, self.folder / SNAPSHOTS):
            return None
        copy_atomically(base.path, part, link=True)  # weight files are never modified in place
        return part

    def _new_version(self) -> int:
        """A version above all in the journal and in files. Files may be newer than the journal, if it was
        moved away or restored from a backup."""
        files = [old.version for old in snapshots_of(self.folder)]
        return max(self._journal.latest_version(), self.version, *files) + 1

    def _written(self, names: Iterable[str]) -> dict[str, Tensor]:
        """These master weights on the CPU, under the names used in files."""
        state = {name: self.model.get_parameter(name).detach().cpu() for name in names}
        return to_huggingface(state, self.model.config)

    def _cast(self, names: Collection[str]) -> dict[str, Tensor]:
        """Copies of these master weights in the dtype that is fastest for answering."""
        dtype = fast_dtype(self.model.device.type)
        parameters = {name: self.model.get_parameter(name).detach() for name in names}
        return {name: tensor.to(dtype, copy=True) for name, tensor in parameters.items()}

    def _frozen(self) -> Model:
        """A copy of the model in the dtype that is fastest for answering, without gradients."""
        dtype = fast_dtype(self.model.device.type)
        return copy.deepcopy(self.model).to(dtype).requires_grad_(False).eval()


def _base(files: WeightFiles, model: Model) -> _Base:
    """The base for the next delta after `files` were loaded into `model`."""
    if files.delta is None:
        return _Base(files.version, files.whole, stamp=_stamp(files.whole))
    record, inside = read_metadata(files.delta), read_header(files.delta)
    moved = frozenset(
        name for name, _ in model.named_parameters() if inside.keys() & set(huggingface_names(name))
    )
    base, count = parse_number(record[BASE]), parse_number(record.get(COUNT))
    return _Base(base, files.whole, moved, count, record[CHECKSUM], _stamp(files.whole))


def _stamp(path: Path) -> tuple[int, ...]:
    """Inode, size and modification time of a file; empty if it is gone."""
    try:
        found = path.stat()
    except OSError:
        return ()
    return found.st_ino, found.st_size, found.st_mtime_ns
