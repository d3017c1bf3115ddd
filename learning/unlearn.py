"""Forgetting, whole: out of the weights, their snapshots, the owner's book, and the journal.

The journal goes last, because it alone says what the others must lose: after a crash in between,
forgetting the same again finishes the work. Later lessons than those forgotten leave the weights
too, as with undo, and wait to be learned again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine.checkpoint_files import WEIGHTS, read_version
from engine.errors import NotFound
from learning.forget import Doomed, erase
from learning.home import Home
from learning.journal import Journal
from learning.old_weights import weights_without
from learning.owner_book import OwnerBook
from learning.records import Rating
from learning.unfinished import remove_unfinished

if TYPE_CHECKING:
    from learning.learner import Learner


@dataclass(frozen=True)
class Forgotten:
    """What was done."""

    records: int
    """Asks, lessons and titles that are gone from the journal."""
    book_lines: int
    models: tuple[str, ...]
    """Models whose weights went back to before the lessons."""
    training_lost: bool
    """Book training was among what those weights lost."""


def forget(
    home: Home,
    journal: Journal,
    doomed: Doomed,
    folders: Iterable[Path] = (),
    *,
    text: str | None = None,
    device: str = "cpu",
    learner: Learner | None = None,
) -> Forgotten:
    """Erases what is doomed everywhere. The caller holds the home's lock.

    folders: of the models whose weights may know it; none keeps all weights as they are. text:
    lines of the book with it go too, whoever wrote them. learner: that of one of these models,
    where it is at work already. Raises NotFound, with nothing erased, where a model has no weights
    left without the lessons.
    """
    went_back, training_lost = [], False
    folders = [folder for folder in folders if (folder / WEIGHTS).exists()]
    for folder in folders:  # all of them, before the first loses anything
        _check(folder, journal, doomed)
    for folder in folders:
        before = read_version(folder / WEIGHTS)
        mine = learner if learner is not None and learner.folder == folder else None
        if _take_out(home, folder, journal, doomed, device, mine):
            went_back.append(folder.name)
            now = journal.trainings_in(read_version(folder / WEIGHTS))
            training_lost = training_lost or bool(journal.trainings_in(before) - now)
        remove_unfinished(folder)  # a training that was broken off may know it
        for shot in (folder / "snapshots").glob("*.safetensors"):
            if journal.lessons_in(int(shot.stem)) & set(doomed.lessons):
                shot.unlink()
    lines = OwnerBook(home.book_path).erase(_exchanges(journal, doomed), text)
    records = erase(journal, doomed)
    if learner is not None:
        learner.forget_memory()  # what is erased is not rehearsed any more, whatever the weights know
    return Forgotten(records, lines, tuple(went_back), training_lost)


def _known(folder: Path, journal: Journal, doomed: Doomed) -> frozenset[int]:
    """What the weights know of it."""
    return journal.lessons_in(read_version(folder / WEIGHTS)) & frozenset(doomed.lessons)


def _check(folder: Path, journal: Journal, doomed: Doomed) -> None:
    """Raises NotFound where no weights without it are left."""
    known, now = _known(folder, journal, doomed), read_version(folder / WEIGHTS)
    if known and weights_without(folder, journal, now, known) is None:
        raise NotFound(
            f"{folder.name}: no weights without lesson {min(known)} are left, so nothing was erased",
            "add --keep-weights to forget it in the journal and the book only",
        )


def _take_out(
    home: Home, folder: Path, journal: Journal, doomed: Doomed, device: str, learner: Learner | None
) -> bool:
    """Whether the weights knew something of it."""
    known = _known(folder, journal, doomed)
    if not known:
        return False
    if learner is None:
        from learning.learner import Learner  # brings torch

        learner = Learner(home, folder, journal, device=device)
    learner.leave(known)
    return True


def _exchanges(journal: Journal, doomed: Doomed) -> set[tuple[str, str]]:
    """(question, answer) that the book has because of them, and of nothing that stays."""
    gone, stays = set(), set()
    for lesson in journal.lessons():
        if lesson.answer and lesson.prompt:
            pair = (lesson.prompt[-1].text, lesson.answer)
            if lesson.id in doomed.lessons:
                gone.add(pair)
            elif lesson.state != "undone":
                stays.add(pair)
    for ask in map(journal.ask, doomed.asks):
        for judged in journal.judgements(ask.id):
            if not isinstance(judged.judgement, Rating):
                gone.add((ask.turns[-1].text, judged.answer))
    return gone - stays
