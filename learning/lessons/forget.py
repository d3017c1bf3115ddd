"""Forgetting, whole: out of the weights, their snapshots, every other file of the home, and the journal.

Every file of the home is accounted for (learning.models.home_files): it cannot hold what is forgotten, or
loses it, or is named; where one is unknown nothing is erased. The journal goes last, because it alone
says what the others must lose: after a crash in between, forgetting the same again finishes the work.
Later lessons than those forgotten leave the weights too, as with undo, and wait to be learned again. From the
history of those in the same conversation the erased text is removed.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import CheckpointError, NotFound
from engine.storage.checkpoint_files import read_version
from engine.storage.files import ABANDONED, last_change, remove
from engine.storage.weight_files import (
    current_version,
    has_weights,
    parts_of,
    remove_unneeded,
)
from learning.book.lines import WRITTEN
from learning.book.owner_book import OwnerBook
from learning.home import Home, HomeError
from learning.journal.erasing.erase import erase
from learning.journal.erasing.plan import ErasurePlan
from learning.journal.journal import Journal
from learning.lessons.forget_files import Texts, going, holds, plain
from learning.lessons.forget_weights import (
    first_said,
    learned_elsewhere,
    may_know,
    not_vouched_for,
    talk_may_know,
    weights_before,
)
from learning.models.files import REFERENCE, TALK
from learning.models.home_files import HomeFile, home_files, last_written
from learning.models.snapshots import (
    SHIPPED,
    OldWeights,
    broken_snapshots,
    snapshot_paths,
    snapshots_of,
)
from learning.models.unfinished_training import remove_unfinished
from learning.protocol.records import Rating

if TYPE_CHECKING:
    from learning.lessons.learner import Learner

JUST_NOW = 5.0
"""Seconds: in the app a file that was touched since may be one that it is writing."""


@dataclass(frozen=True)
class ForgetReport:
    """What `forget` did."""

    records: int
    """Number of asks, lessons and titles erased from the journal."""
    book_lines: int
    models: tuple[str, ...]
    """Models whose weights from before the lessons were restored."""
    training_lost: bool
    """The restored weights lack a book training."""
    practice_lost: tuple[int, ...] = ()
    """Lessons of practice that stay in the journal and that the restored weights lack."""
    removed: tuple[Path, ...] = ()
    """Exports and other files with the texts, which were removed."""
    unvouched: Mapping[str, str] = field(default_factory=dict)
    """Models (by name, or by folder outside of the home) that may still know it, and why."""
    left: tuple[Path, ...] = ()
    """Unknown files that may contain the texts, kept because of `leave_unknown`."""
    shortened: int = 0
    """Number of the owner's lessons that stayed, and from which the erased text was removed."""


def forget(
    home: Home,
    journal: Journal,
    doomed: ErasurePlan,
    folders: Iterable[Path] = (),
    *,
    text: str | None = None,
    device: str = "cpu",
    learner: Learner | None = None,
    leave_unknown: bool = False,
) -> ForgetReport:
    """Erases the rows of `doomed` everywhere. The caller holds the home's lock and the lock on learning.

    folders: model folders that may know the lessons; all other models of the home are checked too. Empty: no
    weights are changed. text: also removes lines of the book and files that contain this text. learner:
    the running learner of one of these models, if there is one. leave_unknown: keep files that are not
    vidya's.

    Raises, with nothing erased: NotFound if a model has no weights without the lessons, HomeError if an
    unknown file may contain the texts.
    """
    named = list(folders)
    folders = _all_folders(home, named)
    targets = {folder: _target(folder, journal, doomed) for folder in folders}
    since = first_said(journal, doomed)
    said = going(journal, doomed) | ({(plain(text),)} if text and plain(text) else frozenset())
    outside = [folder for folder in folders if folder.parent != home.models_path]
    everything = home_files(home, outside)
    files = [file for file in everything if last_written(file.path) >= since]
    unknown = [f.path for f in files if _unsure(f, said)]
    if unknown and named and not leave_unknown:
        raise _unknown(unknown)
    lost_lines = _only_in_book(home, journal, doomed, text)
    unvouched = _unvouched(home, journal, doomed, folders, files, since, lost_lines)

    went_back, training_lost, lost = [], False, set[int]()
    for folder, target in targets.items():
        if target is not None:
            before = current_version(folder)
            mine = learner if learner is not None and learner.folder == folder else None
            _take_out(home, folder, journal, doomed, device, mine, target)
            went_back.append(folder.name)
            after = current_version(folder)
            trainings = journal.trainings_in(before) - journal.trainings_in(after)
            training_lost = training_lost or bool(trainings)
            lost |= journal.lessons_in(before) - journal.lessons_in(after) - {*doomed.lessons}
        written = [f for f in files if f.folder == folder]
        sure = _named(home, folder) not in unvouched
        _clear(folder, journal, doomed, written, keep_talk=sure)
    practised = [lesson.id for lesson in journal.lessons() if lesson.kind == "practice"]
    practice_lost = tuple(number for number in practised if number in lost)
    # an older file does not quote these rows, but may have the text from elsewhere
    removed = _remove_texts(everything if text else files, said)
    _remove_leftovers(home, folders, 0.0 if learner is None else JUST_NOW)
    lines = OwnerBook(home.book_path).erase(_exchanges(journal, doomed), text)
    _drop_vectors(home, journal, doomed)
    records = erase(journal, doomed)
    if learner is not None:
        learner.forget_memory()  # what is erased is not rehearsed any more, whatever the weights know
        _drop_vectors(home, journal, doomed)  # another thread may have written some meanwhile
    return ForgetReport(
        records,
        lines,
        tuple(went_back),
        training_lost,
        practice_lost,
        removed,
        unvouched,
        tuple(unknown),
        doomed.shortened_lessons,
    )


def finish(home: Home, journal: Journal) -> None:
    """What an erasing that was broken off had left to do once the journal knew nothing of it any more.
    Raises JournalError."""
    _remove_leftovers(home, (), 0.0)
    erase(journal, ErasurePlan((), ()))


def _target(folder: Path, journal: Journal, doomed: ErasurePlan) -> OldWeights | None:
    """The weights to restore; None if the current ones cannot know the lessons. Raises NotFound if all kept
    weights may know them."""
    if not has_weights(folder):
        return None
    try:
        now = current_version(folder)
    except CheckpointError as error:
        raise CheckpointError(
            f"{error.what}; nothing was erased",
            f"roll it back, or remove the model with `vidya model remove {folder.name}`",
        ) from error
    known = may_know(journal, now, doomed)
    if not known:
        return None
    target = weights_before(folder, journal, now, doomed)
    if target is None:
        raise NotFound(
            f"{folder.name}: no weights without lesson {min(known)} are left, so nothing was erased",
            f"remove the model with `vidya model remove {folder.name}`, or add --keep-weights to "
            "forget it in the journal and the book only",
        )
    return target


def _take_out(
    home: Home,
    folder: Path,
    journal: Journal,
    doomed: ErasurePlan,
    device: str,
    learner: Learner | None,
    target: OldWeights,
) -> None:
    if learner is None:
        from learning.lessons.learner import Learner  # brings torch

        learner = Learner(home, folder, journal, device=device)
    learner.leave(doomed.lessons, target)


def _clear(
    folder: Path,
    journal: Journal,
    doomed: ErasurePlan,
    files: Sequence[HomeFile],
    *,
    keep_talk: bool,
) -> None:
    """Removes the snapshots and other files of a model that may know what is erased. files: those written
    since it was said. keep_talk: keep own talk if it was sampled from weights that cannot know it."""
    for old in snapshots_of(folder):
        if may_know(journal, old.version, doomed):
            remove(old.path)
    for path in parts_of(
        folder
    ):  # what weights are made of knows no more than they: none of these are left
        with contextlib.suppress(CheckpointError):
            if may_know(journal, read_version(path), doomed):
                remove(path)
    halves = {path for path in broken_snapshots(folder) if path.stem.isdecimal()}
    innocent = keep_talk and not talk_may_know(folder, journal, doomed)
    stays = (TALK, REFERENCE) if innocent else ()
    for file in files:
        derived = file.role == "derived" and file.path.name not in stays
        if derived or (file.role == "snapshot" and file.path in halves):
            remove(file.path)
    remove_unneeded(folder, snapshot_paths(folder))  # bases of those that are gone, above all
    if any(file.role == "training" for file in files):
        remove_unfinished(folder)  # one that was broken off may know it


def _drop_vectors(home: Home, journal: Journal, doomed: ErasurePlan) -> None:
    """Keeps only the vectors of the lessons that stay."""
    from learning.memory.lesson_vectors import KnownAnswer, VectorFile  # brings torch

    stays = [one for one in journal.standing() if one.prompt and one.id not in doomed.lessons]
    VectorFile(home.lesson_vectors_path).drop_all_but(map(KnownAnswer.of, stays))


def _remove_texts(files: Iterable[HomeFile], said: Texts) -> tuple[Path, ...]:
    """Removes copies and notes that hold it, which are returned, and the logs, which may quote it in any
    form."""
    removed = []
    for file in files:
        if file.role == "log":
            remove(file.path)
        elif file.role in ("export", "unsent") and holds(file.path, said):
            remove(file.path)
            removed.append(file.path)
    return tuple(removed)


def _remove_leftovers(home: Home, folders: Iterable[Path], untouched: float) -> None:
    """Removes all leftovers of the home and of the folders. untouched: only those that have not changed for
    this many seconds; in a folder of `vidya pretrain`, which may be running, at least ABANDONED."""
    for file in home_files(home, folders):
        if file.role == "leftover":
            trained = file.folder is not None and (file.folder / ".lock").exists()
            with contextlib.suppress(FileNotFoundError):
                if time.time() - last_change(file.path) >= (ABANDONED if trained else untouched):
                    remove(file.path)


def _all_folders(home: Home, named: Sequence[Path]) -> list[Path]:
    """All other model folders of the home, then the named ones without shipped ones, which contain no
    lessons. Empty if none is named."""
    if not named:
        return []
    found = {file.folder: None for file in home_files(home) if file.folder is not None}
    others = [folder for folder in found if folder not in named]
    return [*others, *(one for one in named if one.parent != SHIPPED and has_weights(one))]


def _unsure(file: HomeFile, said: Texts) -> bool:
    """Whether a file may contain the texts and must not simply be removed: an unreadable export or an
    unknown file."""
    if file.role == "export":
        return holds(file.path, said) is None
    return file.role == "unknown" and holds(file.path, said) is not False


def _unknown(paths: Sequence[Path]) -> HomeError:
    named = ", ".join(map(str, paths[:3])) + (f" and {len(paths) - 3} more" if paths[3:] else "")
    many = "these are none" if paths[1:] else "this is none"
    return HomeError(
        f"{named}: {many} of vidya's files and may hold it, so nothing was erased",
        "move it out of the home or remove it, then forget again; or leave it with --leave-unknown",
    )


def _unvouched(
    home: Home,
    journal: Journal,
    doomed: ErasurePlan,
    folders: Sequence[Path],
    files: Sequence[HomeFile],
    since: float,
    lost_lines: bool,
) -> dict[str, str]:
    """Models that may still know the texts, and why. files: those written since then."""
    found = dict[str, str]()
    for folder in folders:
        name = _named(home, folder)
        if not has_weights(folder):
            if any(f.role == "pretraining" and f.folder == folder for f in files):
                found[name] = "what `vidya pretrain` made of its data is kept there"
        elif why := not_vouched_for(folder, journal, since):
            found[name] = why
        elif lost_lines and current_version(folder):
            found[name] = (
                "lessons rehearse the book, and no lesson says when this line came into it"
            )
    for folder in learned_elsewhere(journal, doomed.quoting, folders):
        found[str(folder)] = "it learned this, and lies outside of the home"
    return found


def _named(home: Home, folder: Path) -> str:
    """A model's name or, outside of the home, its folder."""
    return folder.name if folder.parent == home.models_path else str(folder)


def _only_in_book(home: Home, journal: Journal, doomed: ErasurePlan, text: str | None) -> bool:
    """Whether the owner's book contains the text in lines that do not come from an erased lesson."""
    book = OwnerBook(home.book_path)
    return text is not None and book.holds(text, without=_exchanges(journal, doomed))


def _exchanges(journal: Journal, doomed: ErasurePlan) -> set[tuple[str, str]]:
    """(question, answer) of all book lines that come from erased rows, and that no remaining lesson wrote."""
    gone, stays = set(), set()
    for lesson in journal.lessons():
        if lesson.answer and lesson.prompt:
            pair = (lesson.prompt[-1].text, lesson.answer)
            if lesson.id in doomed.lessons:
                gone.add(pair)
            elif lesson.kind in WRITTEN and lesson.state != "undone":
                stays.add(pair)
    for ask in map(journal.ask, doomed.asks):
        for judged in journal.judgements(ask.id):
            if not isinstance(judged.judgement, Rating):
                gone.add((ask.turns[-1].text, judged.answer))
    return gone - stays
