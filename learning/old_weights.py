"""Which earlier weights of a model are still there, and the newest that lack lessons. No torch."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from engine.checkpoint_files import WEIGHTS
from learning.journal import Journal
from learning.model_store import SHIPPED


@dataclass(frozen=True)
class OldWeights:
    """Weights as they were."""

    version: int
    """0: as the model came with the program."""
    path: Path


def kept_weights(folder: Path, journal: Journal, now: int) -> list[OldWeights]:
    """Those that `now` came from, newest first: snapshots whose lessons it still has, and last the
    model as it came, where it came with the program."""
    known = journal.lessons_in(now)
    found = []
    for path in sorted((folder / "snapshots").glob("*.safetensors"), reverse=True):
        version = int(path.stem)
        if version != now and journal.lessons_in(version) <= known:
            found.append(OldWeights(version, path))
    shipped = SHIPPED / folder.name / WEIGHTS
    if shipped.exists() and now and not any(old.version == 0 for old in found):
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
