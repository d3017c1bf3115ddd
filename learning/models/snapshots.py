"""Snapshots: copies of earlier weights of a model, for undo and rollback. Imports no torch.

A snapshot is a former newest weight file (engine.storage.weight_files): a whole file, or a delta. The base of
a delta stays beside the current weights as long as a snapshot needs it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.errors import CheckpointError
from engine.storage.checkpoint_files import WEIGHTS
from engine.storage.files import copy_atomically, is_leftover, make_private_folder
from engine.storage.weight_files import current_files, files_at
from learning.journal.journal import Journal

SHIPPED = Path(__file__).resolve().parents[2] / "engine" / "base"
SNAPSHOTS = "snapshots"
"""Name of the folder with snapshots inside a model's folder."""
KEEP_SNAPSHOTS = 4
"""Most snapshots of a model; an imported model keeps its first version in addition."""
KNOWN_ALREADY = ", known already"
"""Ends the note of a publication that only recorded lessons that the weights knew already; the weights are
unchanged."""
SNAPSHOT_NAME = re.compile(r"\d{8,18}\.safetensors")
"""Its version with leading zeros."""


@dataclass(frozen=True)
class OldWeights:
    """A file with earlier weights: a snapshot, or the shipped weights."""

    version: int
    """0: as the model was shipped or imported."""
    path: Path


def snapshots_of(folder: Path) -> list[OldWeights]:
    """All valid snapshots of a model's folder, oldest first, including those that the current weights did not
    come from."""
    read = (_read(folder, path) for path in snapshot_paths(folder))
    return [old for old in read if isinstance(old, OldWeights)]


def broken_snapshots(folder: Path) -> dict[Path, CheckpointError]:
    """By path, why an entry of the folder of snapshots is not a valid snapshot."""
    read = {path: _read(folder, path) for path in snapshot_paths(folder)}
    return {path: why for path, why in read.items() if isinstance(why, CheckpointError)}


def snapshot_paths(folder: Path) -> list[Path]:
    """All entries of the folder of snapshots, without temporary files."""
    try:
        found = sorted((folder / SNAPSHOTS).iterdir())
    except OSError:
        return []
    return [path for path in found if not is_leftover(path)]


def _read(folder: Path, path: Path) -> OldWeights | CheckpointError:
    """The snapshot at `path`, or the reason why it is not a valid one."""
    if not SNAPSHOT_NAME.fullmatch(path.name):
        return CheckpointError(
            f"{path}: is no snapshot of vidya's by its name", "move it away, or remove it"
        )
    try:
        version = files_at(folder, path).version
    except CheckpointError as error:
        return CheckpointError(error.what, "remove it; the other snapshots can be used")
    if version != int(path.stem):
        return CheckpointError(
            f"{path}: its name says version {int(path.stem)}, the file says {version}",
            "move it away, or remove it",
        )
    return OldWeights(version, path)


def kept_weights(folder: Path, journal: Journal, now: int) -> list[OldWeights]:
    """Earlier weights that version `now` came from, newest first: snapshots whose lessons are all in `now`,
    and last the shipped weights if the model is a shipped one."""
    known = journal.lessons_in(now)
    found = [
        old
        for old in reversed(snapshots_of(folder))
        if old.version != now and journal.lessons_in(old.version) <= known
    ]
    shipped = shipped_weights(folder, journal)
    if shipped and now and not any(old.version == 0 for old in found):
        found.append(OldWeights(0, shipped))
    return found


def weights_without(
    folder: Path, journal: Journal, now: int, lessons: Collection[int]
) -> OldWeights | None:
    """The newest of `kept_weights` that contains none of the lessons; None if all contain one."""
    for old in kept_weights(folder, journal, now):
        if journal.lessons_in(old.version).isdisjoint(lessons):
            return old
    return None


def keep_snapshot(folder: Path, journal: Journal, next_version: int | None = None) -> None:
    """Saves the current weights as a snapshot before new ones are written, then deletes surplus snapshots:
    first those that no undo can reach, then the oldest. The first snapshot of an imported model is always
    kept, as the base for undo.

    next_version: the snapshot that replaces the current weights in a rollback; None: the new weights are
    trained from the current ones. Does nothing if the current weights cannot be read. Raises CheckpointError
    if the snapshot cannot be written.
    """
    try:
        files = current_files(folder)
    except CheckpointError:
        return  # missing or damaged: nothing worth keeping
    current, version = files.newest, files.version
    kept = folder / SNAPSHOTS / f"{version:08d}.safetensors"
    try:
        make_private_folder(kept.parent)
        copy_atomically(current, kept, link=True)  # nothing is copied: weights are never changed
    except OSError as error:
        raise CheckpointError(
            f"{kept}: cannot be written ({error.strerror})",
            "free some space; what was taught waits in the journal",
        ) from error
    first = 0 if shipped_weights(folder, journal) else 1
    shots, now = snapshots_of(folder)[first:], version if next_version is None else next_version
    while len(shots) > KEEP_SNAPSHOTS:
        versions = [shot.version for shot in shots]
        earlier = (i for i, one in enumerate(versions) if one != version)
        lessons = {one: journal.lessons_in(one) for one in {*versions, now}}
        spare = (i for i in earlier if _spare(journal, versions, i, now, lessons))
        shots.pop(next(spare, 0)).path.unlink(missing_ok=True)


def shipped_weights(folder: Path, journal: Journal) -> Path | None:
    """The shipped weights, if `folder` is the home's own copy of a shipped model; otherwise None, also for a
    folder of the same name outside of the home."""
    shipped = SHIPPED / folder.name / WEIGHTS
    models = journal.path.with_name("models")
    own = folder.resolve().parent == models.resolve()
    return shipped if own and shipped.exists() else None


def _spare(
    journal: Journal,
    versions: list[int],
    place: int,
    now: int,
    lessons: Mapping[int, frozenset[int]],
) -> bool:
    """Whether no undo needs the snapshot `versions[place]`.

    versions: of all snapshots, oldest first. now: the version that answers. lessons: for each of these
    versions, the lessons in it.
    """
    version = versions[place]
    if version == now:
        return True  # these weights answer already
    if not lessons[version] <= lessons[now]:
        return True  # it contains a lesson that was undone or rolled back
    if place and journal.publication_note(version).endswith(KNOWN_ALREADY):
        return True  # the snapshot before it has the same weights
    return any(  # a newer snapshot has the same lessons; an undo takes that one
        lessons[newer] == lessons[version]
        and journal.trainings_in(newer) == journal.trainings_in(version)
        for newer in versions[place + 1 :]
    )
