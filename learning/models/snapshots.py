"""Earlier weights of a model: kept aside before new ones are written, let go, found again. No torch.

A snapshot is what was the newest file of the weights (engine.storage.weight_files): a whole one or a delta,
whose base stays beside the current weights as long as a snapshot needs it.
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
"""The folder for them, in a model's."""
KEEP_SNAPSHOTS = 4
KNOWN_ALREADY = ", known already"
"""Ends the note of weights that are those before them, with a lesson that they knew."""
SNAPSHOT_NAME = re.compile(r"\d{8,18}\.safetensors")
"""Its version, with zeros before it."""


@dataclass(frozen=True)
class OldWeights:
    """Weights as they were."""

    version: int
    """0: as the model came with the program."""
    path: Path


def snapshots_of(folder: Path) -> list[OldWeights]:
    """Those that are whole, oldest first, whether the weights of now came from them or not."""
    read = (_read(folder, path) for path in snapshot_paths(folder))
    return [old for old in read if isinstance(old, OldWeights)]


def broken_snapshots(folder: Path) -> dict[Path, CheckpointError]:
    """Whatever else lies among a model's snapshots, but what is being written, and why it is none."""
    read = {path: _read(folder, path) for path in snapshot_paths(folder)}
    return {path: why for path, why in read.items() if isinstance(why, CheckpointError)}


def snapshot_paths(folder: Path) -> list[Path]:
    """All that lies among them, but what is being written."""
    try:
        found = sorted((folder / SNAPSHOTS).iterdir())
    except OSError:
        return []
    return [path for path in found if not is_leftover(path)]


def _read(folder: Path, path: Path) -> OldWeights | CheckpointError:
    """A snapshot, or why it is none."""
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
    """Those that `now` came from, newest first: snapshots whose lessons it still has, and last the
    model as it came, where it came with the program."""
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
    """The newest of them that know none of the lessons."""
    for old in kept_weights(folder, journal, now):
        if journal.lessons_in(old.version).isdisjoint(lessons):
            return old
    return None


def keep_snapshot(folder: Path, journal: Journal, next_version: int | None = None) -> None:
    """Moves the current weights aside before new ones are written, and lets go of what is too many:
    first what no undo goes back to, then the oldest, but never the first of a model that did not come
    with the program: undo begins there.

    next_version: of the snapshot that is to take their place; None: weights made out of them are.
    """
    try:
        files = current_files(folder)
    except CheckpointError:
        return  # not there, or not whole: nothing that could be gone back to
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
    """The weights that came with the program, where the folder is the home's own copy of them. One of
    the same name elsewhere is another model."""
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
    """Whether no undo needs the snapshot at that place, among those of these versions. lessons: that
    each of them, and `now`, knows; all their ancestors are gone through for it."""
    version = versions[place]
    if version == now:
        return True  # it is what answers
    if not lessons[version] <= lessons[now]:
        return True  # it knows what was taken back or rolled back
    if place and journal.publication_note(version).endswith(KNOWN_ALREADY):
        return True  # those before it are the same weights
    return any(  # an undo goes back to the newer one
        lessons[newer] == lessons[version]
        and journal.trainings_in(newer) == journal.trainings_in(version)
        for newer in versions[place + 1 :]
    )
