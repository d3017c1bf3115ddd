"""Decides which weights may know the lessons that are to be forgotten.

The journal lists the lessons of each version and its ancestors. That is not enough in two cases: a lesson
that was never learned may be in the owner's book, which later lessons rehearse; and nothing is known about
imported weights, or about versions that are not in this journal. Imports no torch.
"""

from __future__ import annotations

import contextlib
import filecmp
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from engine.errors import CheckpointError
from engine.storage.checkpoint_files import WEIGHTS, read_version
from engine.storage.weight_files import current_version, has_weights, parts_of
from learning.book.lines import WRITTEN
from learning.journal.erasing.plan import ErasurePlan
from learning.journal.journal import Journal
from learning.journal.lessons import LINE, WITHOUT
from learning.journal.standing import of_kinds
from learning.models.files import reference_version
from learning.models.home_files import last_written
from learning.models.snapshots import (
    KNOWN_ALREADY,
    OldWeights,
    kept_weights,
    shipped_weights,
    snapshots_of,
)

COARSE = 2.0
"""Seconds by which a file's time may be too early: a tick of the kernel, two seconds on FAT."""


@dataclass(frozen=True)
class PublishedVersion:
    """A version of the weights in the journal."""

    version: int
    created: float
    """Seconds since the epoch."""
    note: str
    path: str | None


def line_of(journal: Journal, version: int) -> list[PublishedVersion]:
    """A version and its ancestors, newest first."""
    sql = LINE + "SELECT version, created, note, path FROM publications JOIN line USING (version)"
    return [PublishedVersion(*row) for row in journal.rows(f"{sql} ORDER BY version DESC", version)]


def may_know(journal: Journal, version: int, doomed: ErasurePlan) -> frozenset[int]:
    """The lessons that quote what is erased and that weights of that version learned or may have rehearsed.

    Weights rehearse the owner's book, which has the question and the answer of a lesson once it is taught,
    and all lessons that some model learned, with the talk before them. A lesson that stays quotes what is
    erased only in that talk.
    """
    known = journal.lessons_in(version) & doomed.quoting
    trained = [
        made.created
        for made in line_of(journal, version)
        if not made.note.startswith(WITHOUT) and not made.note.endswith(KNOWN_ALREADY)
    ]
    taught = f"SELECT created FROM lessons WHERE id = ? AND {of_kinds(WRITTEN)} AND answer != ''"
    events = "(SELECT {}(created) FROM lesson_events WHERE lesson = ? AND state = '{}')"
    rehearsed = set()
    for number in doomed.quoting - known:
        since = taught if number in doomed.lessons else events.format("min", "learned")
        row = journal.row(f"SELECT ({since}), {events.format('max', 'undone')}", number, number)
        begin, end = row or (None, None)
        if begin is not None and any(begin <= at <= (end or float("inf")) for at in trained):
            rehearsed.add(number)
    return known | rehearsed


def talk_may_know(folder: Path, journal: Journal, doomed: ErasurePlan) -> bool:
    """Whether a model's own talk and its reference may know what is erased. They cannot if the file of the
    reference names a version that the present weights were trained from, and that version cannot know it."""
    version = reference_version(folder)
    try:
        if version is None or not journal.comes_from(current_version(folder), version):
            return True
    except CheckpointError:
        return True
    return bool(may_know(journal, version, doomed))


def weights_before(
    folder: Path, journal: Journal, now: int, doomed: ErasurePlan
) -> OldWeights | None:
    """The newest earlier weights that cannot know what is erased; None if all may know it."""
    old = kept_weights(folder, journal, now)
    return next((one for one in old if not may_know(journal, one.version, doomed)), None)


def first_said(journal: Journal, doomed: ErasurePlan) -> float:
    """When the oldest of the rows came into the journal, in seconds since the epoch, minus COARSE; 0 if
    that is unknown. A file that was last written before then cannot contain any of them."""
    times = [
        row[0]
        for table, numbers in (
            ("asks", doomed.asks),
            ("lessons", doomed.lessons),
            ("judgements", doomed.judgements),
            ("conversations", doomed.titles),
            ("candidates", doomed.candidates),
            ("answers", doomed.answers),
        )
        for number in numbers
        if (row := journal.row(f"SELECT created FROM {table} WHERE id = ?", number))
    ]
    return min(times, default=COARSE) - COARSE


def not_vouched_for(folder: Path, journal: Journal, since: float) -> str:
    """Why the journal alone does not tell what a model knows of texts that are as old as `since` (seconds
    since the epoch). Empty if it does: the model is a shipped one, or its first weights are older than the
    texts."""
    try:
        version = current_version(folder)
    except CheckpointError:
        return "its weights cannot be read"
    line = line_of(journal, version)
    first = line[-1].version if line else version
    row = journal.row("SELECT parent FROM publications WHERE version = ?", first)
    base = int(row[0]) if row else version
    origin = _origin(folder, journal, line)
    shipped = shipped_weights(origin, journal)
    if base == 0 and shipped and (line or _same(folder / WEIGHTS, shipped)):
        return ""
    if any(last_written(path) < since for path in _files_of(origin, base)):
        return ""
    return "it came from elsewhere, or was made from files, after this was first said"


def learned_elsewhere(
    journal: Journal, lessons: Collection[int], folders: Collection[Path]
) -> list[Path]:
    """Existing model folders other than `folders` whose weights learned one of the lessons."""
    paths = {
        Path(path).parent
        for number in lessons
        for (path,) in journal.rows(
            """SELECT path FROM publications JOIN publication_lessons USING (version)
            WHERE lesson = ? AND path IS NOT NULL""",
            number,
        )
    }
    mine = {folder.resolve() for folder in folders}
    return sorted(path for path in paths if path.resolve() not in mine and has_weights(path))


def _origin(folder: Path, journal: Journal, line: list[PublishedVersion]) -> Path:
    """The folder of the model's first version: another folder if the model was grown."""
    if not line or not line[-1].path:
        return folder
    origin = Path(line[-1].path).parent
    moved = journal.path.with_name("models") / origin.name
    return origin if origin.exists() else moved


def _files_of(folder: Path, version: int) -> list[Path]:
    """All weight files of that version."""
    found = [old.path for old in snapshots_of(folder) if old.version == version]
    for path in (folder / WEIGHTS, *parts_of(folder)):
        with contextlib.suppress(CheckpointError):
            if read_version(path) == version:
                found.append(path)
    return found


def _same(one: Path, other: Path) -> bool:
    try:
        return filecmp.cmp(one, other, shallow=False)
    except OSError:
        return False
