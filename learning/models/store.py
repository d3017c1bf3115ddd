"""The owner's models: folders under `home/models`, and the snapshots of their weights.

A shipped model is copied into the home when it is first used, so lessons never change the installed program.
Imports no torch, so that a listing is fast.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.config import ModelConfig
from engine.errors import CheckpointError, ConfigError, NotFound, reason
from engine.storage.checkpoint_check import check_model
from engine.storage.checkpoint_files import WEIGHTS, read_metadata
from engine.storage.disk import demand_room, unwritable
from engine.storage.files import (
    absolute,
    copy_atomically,
    is_leftover,
    new_folder,
    remove,
    remove_durably,
    remove_leftovers,
    replacing,
    temporary_name,
)
from engine.storage.generation_file import Generation, read_generation
from engine.storage.reading import read_json
from engine.storage.weight_files import (
    INDEX,
    WeightFiles,
    current_files,
    current_version,
    files_at,
    has_weights,
    index_text,
    part_path,
    remove_unneeded,
)
from learning.home import Home
from learning.journal.journal import Journal
from learning.models.snapshots import (
    SHIPPED,
    OldWeights,
    broken_snapshots,
    keep_snapshot,
    snapshot_paths,
    snapshots_of,
)


@dataclass(frozen=True)
class ModelInfo:
    """One model."""

    name: str
    path: Path
    parameters: int
    version: int
    """Published version of its weights; 0: as shipped or imported."""
    bytes: int
    """Size of the weights on disk."""
    shipped: bool
    """True: a shipped model that was not used yet, so the home has no copy of it."""

    def is_called(self, name_or_path: str) -> bool:
        """True if this is the model's name or the path of its folder."""
        return name_or_path in (self.name, str(self.path))


@dataclass(frozen=True)
class Snapshot:
    """The saved weights of an earlier version, as shown to the owner."""

    version: int
    path: Path
    created: float
    """Seconds since the epoch."""
    note: str
    """What the publication that made these weights was for; may be empty."""
    bytes: int


class ModelStore:
    """All models of a home, and the shipped ones."""

    def __init__(self, home: Home, shipped: Path = SHIPPED) -> None:
        self._models = home.models_path
        self._shipped = shipped

    def names(self) -> Sequence[str]:
        """Names of the models in the home, then of shipped models that are not in the home yet. Includes
        models that cannot be read."""
        installed = _folders(self._models)
        return [*installed, *(n for n in _folders(self._shipped) if n not in installed)]

    def list(self) -> list[ModelInfo]:
        """All models. Raises CheckpointError if one cannot be read."""
        return [self.info(name) for name in self.names()]

    def called(self, info: ModelInfo) -> str:
        """The argument by which `info` and `resolve` find the model: its name; outside the home, its path."""
        owned = info.shipped or info.path.parent == self._models
        return info.name if owned else str(info.path)

    def readable(self) -> tuple[Sequence[ModelInfo], dict[str, CheckpointError]]:
        """The models that can be read, and for each other model, by name, why it cannot."""
        found, broken = dict[str, ModelInfo](), dict[str, CheckpointError]()
        for name in self.names():
            try:
                found[name] = self.info(name)
            except CheckpointError as error:
                broken[name] = error
        return tuple(found.values()), broken

    def info(self, name_or_path: str) -> ModelInfo:
        """One model. Raises NotFound, and CheckpointError if it cannot be read."""
        for parent, shipped in ((self._models, False), (self._shipped, True)):
            if path := _folders(parent).get(name_or_path):
                return _info(name_or_path, path, shipped)
        path = self.resolve(name_or_path)
        return _info(path.name, path, False)

    def generation(self, name_or_path: str) -> Generation:
        """How the model draws its answers; the program's defaults for one that is not there. Copies nothing
        into the home."""
        for parent in (self._models, self._shipped):
            if path := _folders(parent).get(name_or_path):
                return read_generation(path)
        return read_generation(Path(name_or_path).expanduser())

    def place(self, name: str) -> Path:
        """The folder that a model of that name has in the home. It need not exist."""
        return self._models / name

    def resolve(self, name_or_path: str) -> Path:
        """The model's folder. A shipped model, named or given by its path, is first copied into the home.

        Raises NotFound, and CheckpointError if the folder is incomplete or the copy cannot be written.
        """
        given = absolute(name_or_path)
        if given.resolve().parent == self._shipped.resolve() and (given / WEIGHTS).exists():
            name_or_path = given.resolve().name  # lessons must not change the installed program
        own = self._models / name_or_path
        if "/" not in name_or_path and name_or_path not in ("", ".", ".."):
            if (own / "config.json").exists():
                return own
            if (own / ".lock").exists():
                raise CheckpointError(
                    f"{own}: a pre-training was begun there and has saved nothing yet",
                    "go on with vidya pretrain, or remove the folder",
                )
            if own.exists():
                raise CheckpointError(
                    f"{own}: has no config.json",
                    "restore the folder from a copy, or move it away to begin anew",
                )
            if (self._shipped / name_or_path / WEIGHTS).exists():
                return self._install(name_or_path)
        if (given / "config.json").exists():
            return given
        known = ", ".join(sorted({*_folders(self._models), *_folders(self._shipped)}))
        raise NotFound(
            f"model {name_or_path!r} does not exist", f"choose one of: {known}; or a folder"
        )

    def _install(self, name: str) -> Path:
        target = self.place(name)
        demand_room(target, (self._shipped / name / WEIGHTS).stat().st_size)
        try:
            with self.new_model(name) as folder:
                shutil.copytree(self._shipped / name, folder, dirs_exist_ok=True)
        except CheckpointError:
            if not (target / "config.json").exists():  # otherwise another process installed it
                raise
        return target

    @contextlib.contextmanager
    def new_model(self, name: str) -> Iterator[Path]:
        """Yields a temporary folder to fill. At the end of the block it becomes the model `name`; if the
        block raises, it is removed. Raises CheckpointError if it cannot be written."""
        target = self.place(name)
        try:
            remove_leftovers(self._models)
            with new_folder(target) as folder:
                yield folder
        except OSError as error:
            # shutil.Error holds a list with (source, target, reason) of every file
            why = OSError(error.args[0][0][2]) if isinstance(error, shutil.Error) else error
            raise CheckpointError(*unwritable(target, why, "choose another --home")) from error

    def check_removable(self, name: str) -> Path:
        """The folder of a model in the home, readable or not. Raises NotFound if the home has no such
        model."""
        folder = self.place(name)
        own = name not in ("", ".", "..") and "/" not in name and "\0" not in name
        if not own or is_leftover(folder) or not (folder.is_dir() or folder.is_symlink()):
            known = ", ".join(_folders(self._models)) or "none"
            raise NotFound(f"the home has no model {name!r}", f"it has: {known}")
        return folder

    def remove(self, name: str) -> None:
        """Removes a model of the home with its snapshots, readable or not. A shipped model is as shipped
        again.

        Raises NotFound, and CheckpointError if it cannot be removed or `vidya pretrain` is writing there.
        """
        folder = self.check_removable(name)
        going = temporary_name(folder)
        try:
            with _nobody_writes(folder):
                os.replace(folder, going)  # atomic: a crash after this leaves a leftover folder
            remove(going)
        except OSError as error:
            raise CheckpointError(
                f"{folder}: cannot be removed ({error.strerror})", "remove the folder by hand"
            ) from error

    def snapshots(self, name_or_path: str) -> Sequence[Snapshot]:
        """All valid snapshots of a model, oldest first. Raises NotFound."""
        return [_snapshot(old) for old in snapshots_of(self.resolve(name_or_path))]

    def broken_snapshots(self, name_or_path: str) -> Sequence[CheckpointError]:
        """One error for each invalid file among the model's snapshots. Raises NotFound."""
        return list(broken_snapshots(self.resolve(name_or_path)).values())

    def rollback(self, name_or_path: str, version: int, journal: Journal) -> Snapshot:
        """Makes a snapshot the current weights again. The weights before become a snapshot, so that a
        rollback can be reverted. Learned lessons that the snapshot does not contain become
        "needs_practice", so the next book training teaches them again; lessons that it brings back become
        "learned".

        Raises NotFound if there is no such snapshot, and CheckpointError, with the current weights unchanged,
        if it is damaged, does not fit the model or cannot be written.
        """
        folder = self.resolve(name_or_path)
        found = {s.version: s for s in self.snapshots(name_or_path)}
        if version not in found:
            for path, why in broken_snapshots(folder).items():
                if path.stem.isdecimal() and int(path.stem) == version:
                    raise why
            versions = ", ".join(map(str, found)) or "none"
            raise NotFound(f"{name_or_path} has no snapshot {version}", f"there are: {versions}")
        check_model(folder, found[version].path)
        kept = journal.lessons_in(version)
        before: int | None = None
        with contextlib.suppress(CheckpointError):  # damaged weights are not kept
            before = current_version(folder)
            journal.set_version_in_use(before)  # another model may have been in use in between
        files = files_at(folder, found[version].path)
        path = folder / (INDEX if files.delta else WEIGHTS)
        try:
            with replacing(path) as new:
                if files.delta:
                    part = part_path(folder, version)
                    copy_atomically(files.delta, part, link=True)
                    new.write_text(index_text(WeightFiles(version, files.whole, part)), "utf-8")
                else:
                    shutil.copyfile(files.whole, new)
                if before not in (None, version):
                    keep_snapshot(folder, journal, version)
                # before the weights: after a crash, lessons marked learned would be learned again, which
                # would undo the rollback
                for lesson in journal.lessons(state="learned"):
                    if lesson.id not in kept:
                        journal.set_lesson_state(lesson.id, "needs_practice")
            if files.delta:
                remove_durably(folder / WEIGHTS)
            remove_unneeded(folder, snapshot_paths(folder))
        except OSError as error:
            raise CheckpointError(
                f"{path}: cannot be written ({error.strerror})",
                "free some space and do it again",
            ) from error
        for lesson in journal.lessons_restored(version, before or 0):
            journal.set_lesson_state(lesson.id, "learned")
        journal.mark_saved(version)
        return found[version]


@contextlib.contextmanager
def _nobody_writes(folder: Path) -> Iterator[None]:
    """Holds the folder's lock. Raises CheckpointError if `vidya pretrain` holds it."""
    try:
        handle = os.open(folder / ".lock", os.O_RDWR)
    except OSError:
        yield  # `vidya pretrain` never ran in this folder
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise CheckpointError(
            f"{folder}: a training is writing there", "stop it, then remove the model"
        ) from error
    finally:
        os.close(handle)


def _folders(parent: Path) -> dict[str, Path]:
    if not parent.is_dir():
        return {}
    return {p.name: p for p in sorted(parent.iterdir()) if has_weights(p) and p.name[0] != "."}


def _info(name: str, path: Path, shipped: bool) -> ModelInfo:
    try:
        config = ModelConfig.from_huggingface(read_json(path / "config.json"))
        files = current_files(path)
        size = files.bytes
    except (OSError, ValueError, ConfigError) as error:
        raise CheckpointError(
            f"{path}: cannot be read ({reason(error)})",
            "remove the folder, or restore it from a copy",
        ) from error
    return ModelInfo(name, path, config.parameters, files.version, size, shipped)


def _snapshot(old: OldWeights) -> Snapshot:
    record, stat = read_metadata(old.path), old.path.stat()
    return Snapshot(old.version, old.path, stat.st_mtime, record.get("note", ""), stat.st_size)


__all__ = ["SHIPPED", "ModelInfo", "ModelStore", "Snapshot"]
