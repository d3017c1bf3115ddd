"""Lists every file of a home with its role. Imports no torch.

`journal forget` uses the roles to find files that may contain a lesson, and refuses to run if a file has an
unknown role. `vidya doctor` reports `problems`. Code that writes a new kind of file into a home must add it
here. Left out: the contents of the files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from engine.errors import CheckpointError
from engine.storage.checkpoint_files import WEIGHTS, read_metadata
from engine.storage.files import is_leftover
from engine.storage.weight_files import INDEX, needed_parts, parts_of
from learning.home import Home
from learning.models.snapshots import SNAPSHOT_NAME, SNAPSHOTS, broken_snapshots, snapshot_paths
from learning.models.unfinished_training import RECORD, TRAINED

Role = Literal[
    "journal",  # the database, and the files that SQLite keeps beside it
    "journal copy",  # a backup from before a migration
    "book",
    "export",  # a copy that the owner asked for
    "unsent",
    "log",
    "plain",  # settings, locks, markers: contains no conversation and no lesson
    "model",  # part of a model, written before any lesson: config, tokenizer, card
    "weights",  # the current weights, and base files that they or a snapshot need
    "snapshot",
    "derived",  # computed from the weights or the lessons; computed again if it is missing
    "training",  # an interrupted book training
    "pretraining",  # the checkpoint of `vidya pretrain`
    "leftover",  # a temporary file of a program that was killed while writing
    "unknown",
]

_DERIVED = (
    "watch.json",
    "talk.json",
    "voice.safetensors",
    "trunk.safetensors",
    "practice_anchor.safetensors",
    "practice_best.json",
    "teacher_answers.jsonl",
    "taste.safetensors",
    "value.safetensors",
)
_MODEL = (
    *("config.json", "generation_config.json", "CARD.md", "LICENSE", ".lock"),
    *("tokenizer.tiktoken", "tokenizer_config.json"),  # vidya's own tokenizer, or Hugging Face's:
    *("tokenizer.json", "chat_template.jinja", "chat.json"),
)
_PLAIN = ("lock", "learning.lock")


@dataclass(frozen=True)
class Fault:
    """A problem with a file of a home."""

    what: str
    """The path, a colon, and what is wrong."""
    remedy: str
    """What the owner can do."""

    def __str__(self) -> str:
        return f"{self.what}; {self.remedy}"


@dataclass(frozen=True)
class HomeFile:
    """One file, or a leftover folder with its contents."""

    path: Path
    role: Role
    folder: Path | None = None
    """The folder of the model that the file belongs to; None if it belongs to none."""


def home_files(home: Home, elsewhere: Iterable[Path] = ()) -> list[HomeFile]:
    """All files of the home, and of the model folders `elsewhere`. Empty folders are not listed."""
    found: list[HomeFile] = []
    for path in _listed(home.path):
        if path == home.models_path and path.is_dir():
            for model in _listed(path):
                found += model_files(model) if model.is_dir() else _alone(model)
        elif path == home.exports_path and path.is_dir():
            found += [HomeFile(one, _export_role(one)) for one in _below(path)]
        elif path == home.downloads_path and path.is_dir():
            found += [HomeFile(one, "plain") for one in _below(path)]
        elif path.is_dir() and not path.is_symlink() and not is_leftover(path):
            found += [HomeFile(one, "unknown") for one in _below(path)]
        else:
            found.append(HomeFile(path, _role(home, path)))
    for folder in elsewhere:
        found += model_files(folder)
    return found


def model_files(folder: Path) -> list[HomeFile]:
    """All files of one model's folder."""
    if is_leftover(folder):
        return [HomeFile(folder, "leftover")]
    found, spare = list[HomeFile](), _spare_parts(folder)
    for path in _listed(folder):
        inside = path.name in (SNAPSHOTS, "cache") and path.is_dir()
        for one in _below(path) if inside else [path]:
            for each in _parts(one):
                role: Role = "leftover" if each in spare else _model_role(each, folder)
                found.append(HomeFile(each, role, folder))
    return found


def _spare_parts(folder: Path) -> set[Path]:
    """Weight files that nothing needs: a program was killed while publishing."""
    parts = set(parts_of(folder))
    needed = needed_parts(folder, snapshot_paths(folder))
    index = {folder / INDEX} if (folder / WEIGHTS).exists() else set()
    return index if needed is None else index | (parts - needed)


def problems(home: Home) -> list[Fault]:
    """Leftovers, unknown files, broken snapshots, and files that other users can read; empty if all is well.
    A file that is being written right now is reported as a leftover."""
    found: list[Fault] = []
    broken = {
        path: Fault(why.what, why.next_step)
        for folder in (path for path in _listed(home.models_path) if path.is_dir())
        for path, why in broken_snapshots(folder).items()
    }
    for file in home_files(home):
        if file.path in broken:
            found.append(broken[file.path])
        elif file.role == "leftover":
            found.append(
                Fault(
                    f"{file.path}: a program was stopped while it wrote this",
                    "the next lesson clears it away, or remove it",
                )
            )
        elif file.role == "unknown":
            found.append(
                Fault(
                    f"{file.path}: is none of vidya's files",
                    "`journal forget` cannot see into it, so move it out of the home",
                )
            )
        elif _orphan(file):
            found.append(Fault(f"{file.path}: belongs to no training any more", "remove it"))
    return found + _open_to_others(home)


def _orphan(file: HomeFile) -> bool:
    """Whether the file holds the weights of an interrupted training whose record is missing."""
    weights = file.path.name == TRAINED and file.role == "training"
    return weights and not file.path.with_name(RECORD).exists()


def _open_to_others(home: Home) -> list[Fault]:
    """The journal, the book and the models if other users can enter the home and read them."""
    found = []
    if home.path.stat().st_mode & 0o011:
        for path in (home.journal_path, home.book_path, home.models_path):
            if path.exists() and path.stat().st_mode & 0o044:
                how = "chmod 700" if path.is_dir() else "chmod 600"
                found.append(
                    Fault(f"{path}: others can read it", f"`{how} {path}` makes it private")
                )
    return found


def named_files(home: Home) -> dict[Path, Role]:
    """The paths of the home's well-known files with their roles. A file need not exist."""
    return {
        home.journal_path: "journal",
        home.book_path: "book",
        home.settings_path: "plain",
        home.log_path: "log",
        home.unsent_path: "unsent",
        home.welcomed_path: "plain",
        home.first_frame_path: "plain",
        home.book_vectors_path: "plain",
        home.lesson_vectors_path: "derived",
    }


def _role(home: Home, path: Path) -> Role:
    """The role of a file that lies directly in the home."""
    name, journal = path.name, re.escape(home.journal_path.name)
    if is_leftover(path) or re.fullmatch(rf"{journal}\.before-\d+\.part.*", name):
        return "leftover"
    if re.fullmatch(rf"{journal}\.before-\d+", name):
        return "journal copy"
    if re.fullmatch(rf"{journal}-(wal|shm|journal)", name):
        return "journal"
    if name == f"{home.log_path.name}.old":
        return "log"
    return named_files(home).get(path, "plain" if name in _PLAIN else "unknown")


def _model_role(path: Path, folder: Path) -> Role:
    name = path.name
    if is_leftover(path):
        return "leftover"
    if path.parent == folder / SNAPSHOTS:
        return "snapshot" if SNAPSHOT_NAME.fullmatch(name) else "unknown"
    if path.parent == folder / "cache":
        return "pretraining" if name.endswith(".tokens") else "unknown"
    if path.parent != folder:
        return "unknown"
    if path in parts_of(folder):
        return "weights"
    if name == TRAINED:
        return "pretraining" if _of_pretraining(path) else "training"
    roles: dict[str, Role] = {WEIGHTS: "weights", INDEX: "weights"}
    roles |= {RECORD: "training", "record.json": "pretraining"}
    if name in _DERIVED:
        return "derived"
    return "model" if name in _MODEL else roles.get(name, "unknown")


def _of_pretraining(path: Path) -> bool:
    """Whether the file is from `vidya pretrain`: an interrupted book training uses the same file name."""
    try:
        return "identity" in read_metadata(path)
    except CheckpointError:
        return False


def _export_role(path: Path) -> Role:
    return "leftover" if is_leftover(path) else "export"


def _alone(path: Path) -> list[HomeFile]:
    """A file that lies directly in `models/`, where only folders belong."""
    return [HomeFile(path, "leftover" if is_leftover(path) else "unknown")]


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _parts(path: Path) -> list[Path]:
    """The path itself, or for a folder the files in it; a leftover folder counts as one file."""
    folder = path.is_dir() and not path.is_symlink() and not is_leftover(path)
    return list(_below(path)) if folder else [path]


def _below(folder: Path) -> Iterator[Path]:
    """All files and leftover folders under a folder. Does not follow links."""
    for path in _listed(folder):
        if path.is_dir() and not path.is_symlink() and not is_leftover(path):
            yield from _below(path)
        else:
            yield path


def last_written(path: Path) -> float:
    """Modification time in seconds since the epoch; infinity if it cannot be read, or for a link to a
    folder."""
    try:
        linked = path.is_symlink() and path.is_dir()
        return float("inf") if linked else path.stat().st_mtime
    except OSError:
        return float("inf")
