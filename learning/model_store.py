"""The owner's models: directories under `home/models`, and the snapshots of their weights.

A shipped model is copied into the home at its first use, so that lessons never touch what came
with the program. Every publication that is saved keeps the weights before it as a snapshot; only
the newest few stay. Torch-free: a listing must not take a second.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.checkpoint_files import WEIGHTS, read_metadata, read_version
from engine.config import ModelConfig
from engine.errors import CheckpointError, NotFound
from learning.home import Home
from learning.journal import Journal
from learning.old_weights import SHIPPED, keep_snapshot


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
        target, folder = self.place(name), self.place(f".{name}.{os.getpid()}")
        try:
            self._models.mkdir(parents=True, exist_ok=True)
            for left in self._models.glob(f".{name}.*"):  # by a program that was killed
                if left.stat().st_mtime < time.time() - 60.0:
                    shutil.rmtree(left, ignore_errors=True)
            folder.mkdir()
            yield folder
            os.replace(folder, target)
        except OSError as error:
            # that of a whole tree is a list: (from, to, why) of every file
            why = error.args[0][0][2] if isinstance(error, shutil.Error) else error
            raise CheckpointError(
                f"{target}: cannot be written ({why})", "free some space or choose another --home"
            ) from error
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def snapshots(self, name_or_path: str) -> Sequence[Snapshot]:
        """Oldest first. Raises NotFound."""
        folder = self.resolve(name_or_path) / "snapshots"
        return sorted(map(_snapshot, folder.glob("*.safetensors")), key=lambda s: s.version)

    def rollback(self, name_or_path: str, version: int, journal: Journal) -> Snapshot:
        """Makes a snapshot the current weights again; those of now become one, so that it can be taken
        back. Lessons published since become needs_practice, so that the next book training brings
        them back; those that come back with the weights are learned. Raises NotFound."""
        found = {s.version: s for s in self.snapshots(name_or_path)}
        if version not in found:
            versions = ", ".join(map(str, found)) or "none"
            raise NotFound(f"{name_or_path} has no snapshot {version}", f"there are: {versions}")
        folder = self.resolve(name_or_path)
        temporary = folder / f".{WEIGHTS}.rollback"
        kept = journal.lessons_in(version)
        before: int | None = None
        with contextlib.suppress(CheckpointError):  # weights that are not whole are not kept
            before = read_version(folder / WEIGHTS)
            journal.follow(before)  # another model may have been in use since
        try:
            shutil.copyfile(found[version].path, temporary)
            if before not in (None, version):
                keep_snapshot(folder, journal, version)
            # before the file: a crash in between must not make them wait and undo the rollback
            for lesson in journal.lessons(state="learned"):
                if lesson.id not in kept:
                    journal.set_lesson_state(lesson.id, "needs_practice")
            os.replace(temporary, folder / WEIGHTS)
        except OSError as error:
            raise CheckpointError(
                f"{folder / WEIGHTS}: cannot be written ({error.strerror})",
                "free some space and do it again",
            ) from error
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
        for lesson in journal.back_in(version, before or 0):
            journal.set_lesson_state(lesson.id, "learned")
        journal.mark_saved(version)
        return found[version]


def _folders(parent: Path) -> dict[str, Path]:
    if not parent.is_dir():
        return {}
    return {
        p.name: p for p in sorted(parent.iterdir()) if (p / WEIGHTS).exists() and p.name[0] != "."
    }


def _info(name: str, path: Path, shipped: bool) -> ModelInfo:
    try:
        config = ModelConfig.from_huggingface(json.loads((path / "config.json").read_text("utf-8")))
        size = (path / WEIGHTS).stat().st_size
    except (OSError, ValueError) as error:
        raise CheckpointError(
            f"{path}: cannot be read ({error})", "remove the folder, or restore it from a copy"
        ) from error
    version = read_version(path / WEIGHTS)
    return ModelInfo(name, path, config.parameters, version, size, shipped)


def _snapshot(path: Path) -> Snapshot:
    record, stat = read_metadata(path), path.stat()
    return Snapshot(int(path.stem), path, stat.st_mtime, record.get("note", ""), stat.st_size)


__all__ = ["SHIPPED", "ModelInfo", "ModelStore", "Snapshot"]
