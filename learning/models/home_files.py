"""Every file of a home and what it is for: the one place that knows them all. No torch.

`forget` asks it what may hold what was taught, and refuses what it does not know; `problems` names what
a crash or a hand left behind. Whoever writes a new kind of file into a home adds it here. Left out:
what the files say.
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
from learning.home import Home
from learning.models.snapshots import SNAPSHOTS, broken_snapshots
from learning.models.unfinished_training import RECORD, TRAINED

Role = Literal[
    "journal",  # with what SQLite keeps beside it
    "journal copy",  # as it was before a newer vidya changed it
    "book",
    "export",  # a copy that the owner asked for
    "unsent",
    "log",
    "plain",  # settings, locks, marks: nothing that was said or learned
    "model",  # of a model, but made before anything was taught: its sizes, tokenizer, card
    "weights",
    "snapshot",
    "derived",  # made from the weights, and made again where it is missing
    "training",  # one that was broken off
    "pretraining",  # what `vidya pretrain` keeps to go on from
    "leftover",  # of a program that was killed while it wrote
    "unknown",
]

_DERIVED = ("watch.json", "talk.json", "voice.safetensors")
_MODEL = (
    *("config.json", "CARD.md", "LICENSE", ".lock"),
    *("tokenizer.tiktoken", "tokenizer_config.json"),  # vidya's own tokenizer, or another's:
    *("tokenizer.json", "chat_template.jinja", "chat.json"),
)
_PLAIN = ("lock", "learning.lock")
_SNAPSHOT = re.compile(r"\d{8,18}\.safetensors")


@dataclass(frozen=True)
class HomeFile:
    """One file, or a leftover folder with all in it."""

    path: Path
    role: Role
    folder: Path | None = None
    """Of the model that it belongs to."""


def home_files(home: Home, elsewhere: Iterable[Path] = ()) -> list[HomeFile]:
    """All files of the home, and of model folders that lie elsewhere; empty folders are none."""
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
    """Those of one model's folder."""
    if is_leftover(folder):
        return [HomeFile(folder, "leftover")]
    found = []
    for path in _listed(folder):
        inside = path.name in (SNAPSHOTS, "cache") and path.is_dir()
        for one in _below(path) if inside else [path]:
            found += [HomeFile(each, _model_role(each, folder), folder) for each in _parts(one)]
    return found


def problems(home: Home) -> list[str]:
    """What a crash or a hand left in the home that should not be there, each with its remedy; empty
    where all is well. Files that are being written just now are not told apart from leftovers."""
    said: list[str] = []
    broken = {
        path: str(why)
        for folder in (path for path in _listed(home.models_path) if path.is_dir())
        for path, why in broken_snapshots(folder).items()
    }
    for file in home_files(home):
        if file.path in broken:
            said.append(broken[file.path])
        elif file.role == "leftover":
            said.append(
                f"{file.path}: a program was stopped while it wrote this; the next lesson clears it "
                "away, or remove it"
            )
        elif file.role == "unknown":
            said.append(
                f"{file.path}: is none of vidya's files; `journal forget` cannot see into it, so move "
                "it out of the home"
            )
        elif _orphan(file):
            said.append(f"{file.path}: belongs to no training any more; remove it")
    return said + _open_to_others(home)


def _orphan(file: HomeFile) -> bool:
    """Weights of a training that was broken off, without what says how far it was."""
    weights = file.path.name == TRAINED and file.role == "training"
    return weights and not file.path.with_name(RECORD).exists()


def _open_to_others(home: Home) -> list[str]:
    """Files that others can read, because they can enter the home."""
    said = []
    if home.path.stat().st_mode & 0o011:
        for path in (home.journal_path, home.book_path, home.models_path):
            if path.exists() and path.stat().st_mode & 0o044:
                how = "chmod 700" if path.is_dir() else "chmod 600"
                said.append(f"{path}: others can read it; `{how} {path}` makes it private")
    return said


def _role(home: Home, path: Path) -> Role:
    """Of what lies in the home itself."""
    name, journal = path.name, home.journal_path.name
    plain = (home.settings_path, home.welcomed_path, home.first_frame_path)
    if is_leftover(path) or re.fullmatch(re.escape(journal) + r"\.before-\d+\.part.*", name):
        return "leftover"
    if re.fullmatch(re.escape(journal) + r"\.before-\d+", name):
        return "journal copy"
    if re.fullmatch(re.escape(journal) + r"(-wal|-shm|-journal)?", name):
        return "journal"
    if path == home.book_path:
        return "book"
    if path == home.unsent_path:
        return "unsent"
    if name in (home.log_path.name, f"{home.log_path.name}.old"):
        return "log"
    return "plain" if path in plain or name in _PLAIN else "unknown"


def _model_role(path: Path, folder: Path) -> Role:
    name = path.name
    if is_leftover(path):
        return "leftover"
    if path.parent == folder / SNAPSHOTS:
        return "snapshot" if _SNAPSHOT.fullmatch(name) else "unknown"
    if path.parent == folder / "cache":
        return "pretraining" if name.endswith(".tokens") else "unknown"
    if path.parent != folder:
        return "unknown"
    if name == TRAINED:
        return "pretraining" if _of_pretraining(path) else "training"
    roles: dict[str, Role] = {WEIGHTS: "weights", RECORD: "training", "record.json": "pretraining"}
    if name in _DERIVED:
        return "derived"
    return "model" if name in _MODEL else roles.get(name, "unknown")


def _of_pretraining(path: Path) -> bool:
    """`vidya pretrain` and a book training that was broken off have one name for different files."""
    try:
        return "identity" in read_metadata(path)
    except CheckpointError:
        return False


def _export_role(path: Path) -> Role:
    return "leftover" if is_leftover(path) else "export"


def _alone(path: Path) -> list[HomeFile]:
    """A file among the models' folders."""
    return [HomeFile(path, "leftover" if is_leftover(path) else "unknown")]


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _parts(path: Path) -> list[Path]:
    """A file, or the files in a folder that is no leftover."""
    folder = path.is_dir() and not path.is_symlink() and not is_leftover(path)
    return list(_below(path)) if folder else [path]


def _below(folder: Path) -> Iterator[Path]:
    """Files and leftovers under a folder; links are not followed."""
    for path in _listed(folder):
        if path.is_dir() and not path.is_symlink() and not is_leftover(path):
            yield from _below(path)
        else:
            yield path


def last_written(path: Path) -> float:
    """Seconds since the epoch; infinite where that cannot be told, as of what a link leads to."""
    try:
        linked = path.is_symlink() and path.is_dir()
        return float("inf") if linked else path.stat().st_mtime
    except OSError:
        return float("inf")
