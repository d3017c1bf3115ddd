"""The owner's models: directories under `home/models`, and the snapshots of their weights.

A shipped model is copied into the home at its first use, so that lessons never touch what came
with the program. Every publication that is saved keeps the weights before it as a snapshot; only
the newest few stay. Torch-free: a listing must not take a second.
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
    """Published version of its weights; 0 as shipped."""
    bytes: int
    """Size of the weights on disk."""
    shipped: bool
    """True: came with the program and was not yet used, so nothing is in the home."""

    def is_called(self, name_or_path: str) -> bool:
        """True if this is the model's name or the path of its folder."""
        return name_or_path in (self.name, str(self.path))


@dataclass(frozen=True)
class Snapshot:
    """Weights as they were at a version."""

    version: int
    path: Path
    created: float
    """Seconds since the epoch."""
    note: str
    bytes: int


class ModelStore:
    """All models of a home and those that came with the program."""

    def __init__(self, home: Home, shipped: Path = SHIPPED) -> None:
        self._models = home.models_path
        self._shipped = shipped

    def names(self) -> Sequence[str]:
        """Models in the home, then shipped ones that are not there yet; also what cannot be read."""
        installed = _folders(self._models)
        return [*installed, *(n for n in _folders(self._shipped) if n not in installed)]

    def list(self) -> list[ModelInfo]:
        """All of them. Raises CheckpointError where one cannot be read."""
        return [self.info(name) for name in self.names()]

    def called(self, info: ModelInfo) -> str:
        """The argument by which `info` and `resolve` find the model: its name; outside the home, its path."""
        owned = info.shipped or info.path.parent == self._models
        return info.name if owned else str(info.path)

    def readable(self) -> tuple[Sequence[ModelInfo], dict[str, CheckpointError]]:
        """Those that can be read, and by name why the others cannot."""
        found, broken = dict[str, ModelInfo](), dict[str, CheckpointError]()
        for name in self.names():
            try:
                found[name] = self.info(name)
            except CheckpointError as error:
                broken[name] = error
        return tuple(found.values()), broken

    def info(self, name_or_path: str) -> ModelInfo:
        """Raises NotFound, or CheckpointError where it cannot be read."""
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
        """Where a model of that name is, or would be."""
        return self._models / name

    def resolve(self, name_or_path: str) -> Path:
        """The model's folder; a shipped one, also where its path is given, is copied into the home
        first. Raises NotFound."""
        given = Path(name_or_path).expanduser()
        if given.resolve().parent == self._shipped.resolve() and (given / WEIGHTS).exists():
            name_or_path = given.resolve().name  # lessons never touch what came with the program
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
            if not (target / "config.json").exists():  # else another program was quicker
                raise
        return target

    @contextlib.contextmanager
    def new_model(self, name: str) -> Iterator[Path]:
        """A folder to fill, which becomes the model `name` at the end, whole, or is removed. Raises
        CheckpointError where it cannot be written."""
        target = self.place(name)
        try:
            remove_leftovers(self._models)
            with new_folder(target) as folder:
                yield folder
        except OSError as error:
            # that of a whole tree is a list: (from, to, why) of every file
            why = OSError(error.args[0][0][2]) if isinstance(error, shutil.Error) else error
            raise CheckpointError(*unwritable(target, why, "choose another --home")) from error

    def check_removable(self, name: str) -> Path:
        """The folder of a model of the home, whether or not it can be read. Raises NotFound."""
        folder = self.place(name)
        own = name not in ("", ".", "..") and "/" not in name and "\0" not in name
        if not own or is_leftover(folder) or not (folder.is_dir() or folder.is_symlink()):
            known = ", ".join(_folders(self._models)) or "none"
            raise NotFound(f"the home has no model {name!r}", f"it has: {known}")
        return folder

    def remove(self, name: str) -> None:
        """Removes a model of the home with its snapshots, also one that cannot be read. One that came
        with the program is then as it came. Raises NotFound, or CheckpointError where it cannot be
        removed or a training is writing there."""
        folder = self.check_removable(name)
        going = temporary_name(folder)
        try:
            with _nobody_writes(folder):
                os.replace(folder, going)  # at once: a crash from here on leaves a leftover
            remove(going)
        except OSError as error:
            raise CheckpointError(
                f"{folder}: cannot be removed ({error.strerror})", "remove the folder by hand"
            ) from error

    def snapshots(self, name_or_path: str) -> Sequence[Snapshot]:
        """Those that are whole, oldest first. Raises NotFound."""
        return [_snapshot(old) for old in snapshots_of(self.resolve(name_or_path))]

    def broken_snapshots(self, name_or_path: str) -> Sequence[CheckpointError]:
        """Why what else lies among them is none. Raises NotFound."""
        return list(broken_snapshots(self.resolve(name_or_path)).values())

    def rollback(self, name_or_path: str, version: int, journal: Journal) -> Snapshot:
        """Makes a snapshot the current weights again; those of now become one, so that it can be taken
        back. Lessons published since become needs_practice, so that the next book training brings
        them back; those that come back with the weights are learned.

        Raises NotFound, and CheckpointError where the snapshot is not whole, or does not fit the
        model; what stands is kept then.
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
        with contextlib.suppress(CheckpointError):  # weights that are not whole are not kept
            before = current_version(folder)
            journal.follow(before)  # another model may have been in use since
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
                # before the file: a crash in between must not make them wait and undo the rollback
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
        for lesson in journal.back_in(version, before or 0):
            journal.set_lesson_state(lesson.id, "learned")
        journal.mark_saved(version)
        return found[version]


@contextlib.contextmanager
def _nobody_writes(folder: Path) -> Iterator[None]:
    """Raises CheckpointError where `vidya pretrain` is at work in the folder."""
    try:
        handle = os.open(folder / ".lock", os.O_RDWR)
    except OSError:
        yield  # no training ever was there
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
