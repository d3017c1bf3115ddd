"""What is wrong with a home: every file is opened and read, and each fault told with its remedy.

A check is a function of one thing that yields problems; none of them changes anything, but that a
damaged full-text index is made anew. Left out: settings, which the interface reads, and how it is told.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from engine.errors import VidyaError, reason
from engine.storage.adapter_files import ADAPTER_CONFIG, read_adapter
from engine.storage.checkpoint import load_config, load_model, load_tensors
from engine.storage.checkpoint_files import WEIGHTS
from engine.storage.disk import free_bytes, size
from engine.storage.reading import open_regular, read_json
from engine.tokenizers.tokenizer import Tokenizer
from learning.home import Home
from learning.journal.database import ROOM
from learning.journal.journal import Journal
from learning.journal.migrations import backups
from learning.memory.caches import WATCH
from learning.memory.margins import WATCH_BYTES
from learning.memory.reference import REFERENCE
from learning.models.files import TALK, TALK_BYTES
from learning.models.home_files import problems as strays
from learning.models.snapshots import SHIPPED
from learning.models.unfinished_training import RECORD, TRAINED
from personality.book import BookError, EmptyBookError, read_book

_SNAPSHOT = re.compile(r"\d+\.safetensors")
_AGAIN = "remove it, it is made anew"


@dataclass(frozen=True)
class Fault:
    """One fault."""

    what: str
    """What is wrong, and where."""
    remedy: str
    """What to do about it."""

    def __str__(self) -> str:
        return f"{self.what}; {self.remedy}"


def check_home(home: Home) -> list[Fault]:
    """All that is wrong with the home, but for its settings."""
    found = list(check_files(home))
    for path, check in ((home.journal_path, check_journal), (home.book_path, check_book)):
        if path.exists() and not any(str(path) in problem.what for problem in found):
            found += check(path)
    found += check_models(home)
    told = {problem.what.split(": ")[0] for problem in found}
    found += [stray for stray in _strays(home) if stray.what.split(": ")[0] not in told]
    return [*found, *check_room(home)]


def _strays(home: Home) -> Iterator[Fault]:
    """What a crash or a hand left in the home (learning.models.home_files)."""
    for line in strays(home):
        what, _, remedy = line.partition("; ")
        yield Fault(what, remedy or "move it out of the home")


def check_files(home: Home) -> Iterator[Fault]:
    """Whether what should be a file is one, and whether links lead anywhere."""
    for path in (
        *(home.journal_path, home.book_path, home.settings_path, home.log_path),
        *(home.unsent_path, home.welcomed_path, home.first_frame_path),
    ):
        if not os.path.lexists(path):
            continue
        if dead := _dead_link(path):
            yield dead
            continue
        try:
            open_regular(path).close()
        except OSError as error:
            yield Fault(f"{path}: cannot be read ({error.strerror})", "mend its permissions")
        except ValueError:
            yield Fault(f"{path}: is no file", "move it away, or restore it from a copy")
    if dead := _dead_link(home.models_path):
        yield dead


def check_journal(path: Path) -> Iterator[Fault]:
    """Whether it is whole, to its last byte and row."""
    copies = [str(copy) for copy in backups(path)]
    restore = (
        f"restore it from a copy (there is {copies[-1]})" if copies else "restore it from a copy"
    )
    if path.stat().st_size == 0:
        yield Fault(f"{path}: is empty", f"{restore}, or remove it to begin a new journal")
        return
    yield from _cut_short(path, restore)
    try:
        with closing(Journal(path)) as journal:
            journal.mend_index()
            if (found := journal.integrity()) != "ok":
                advice = "`vidya journal export` writes what can still be read"
                yield Fault(f"{path}: damaged ({' '.join(found.split())})", f"{restore}; {advice}")
                return
            for _ in journal.export_rows():
                pass
    except VidyaError as error:
        yield Fault(error.what, f"{error.next_step}; or {restore}")
    except (ValueError, KeyError, TypeError) as error:
        yield Fault(f"{path}: holds what cannot be read ({reason(error)})", restore)


def _cut_short(path: Path, restore: str) -> Iterator[Fault]:
    """Whether the file ends within a page, and what stood there."""
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        return  # the page may be in it, and is written again from there
    with path.open("rb") as file:
        head = file.read(18)
    page = int.from_bytes(head[16:18], "big") if head.startswith(b"SQLite format 3\0") else 0
    page = 65_536 if page == 1 else page
    if page == 0 or path.stat().st_size % page == 0:
        return
    missing = page - path.stat().st_size % page
    bytes_ = f"{missing} byte{'s' if missing > 1 else ''} short"
    table = _table_at(path, path.stat().st_size // page + 1)
    if table.startswith("said"):
        yield Fault(
            f"{path}: its end is cut off, {bytes_}",
            "nothing is lost: the search index stood there, and is made anew",
        )
    else:
        where = f" in {table}" if table else ""
        yield Fault(f"{path}: its end is cut off, {bytes_}{where}", restore)


def _table_at(path: Path, page: int) -> str:
    """The table or index that has the page; empty where this SQLite cannot tell."""
    try:
        with closing(
            sqlite3.connect(f"file:{quote(os.fsencode(path))}?mode=ro&immutable=1", uri=True)
        ) as connection:
            row = connection.execute("SELECT name FROM dbstat WHERE pageno = ?", (page,)).fetchone()
    except sqlite3.Error:
        return ""
    return str(row[0]) if row else ""


def check_book(path: Path) -> Iterator[Fault]:
    """What keeps the owner's book from being read, and with it every lesson from being learned."""
    try:
        read_book(path)
    except EmptyBookError:
        return
    except BookError as error:
        for line, what, remedy in error.problems:
            yield Fault(f"{path}{f':{line}' if line else ''}: {what}", remedy)


def check_models(home: Home) -> Iterator[Fault]:
    """Every model of the home, and those that came with the program."""
    if home.models_path.exists() and not home.models_path.is_dir():
        yield Fault(f"{home.models_path}: is no folder", "move it away")
        return
    for folder in _folders(home.models_path):
        yield from check_model(folder)
    for folder in _folders(SHIPPED):
        adapter = (folder / ADAPTER_CONFIG).exists()
        for problem in check_adapter(folder) if adapter else check_model(folder):
            yield Fault(problem.what, "install vidya again")


def check_adapter(folder: Path) -> Iterator[Fault]:
    """One that comes with the program, for a model that does not."""
    try:
        read_adapter(folder)
    except VidyaError as error:
        yield Fault(error.what, error.next_step)


def check_model(folder: Path) -> Iterator[Fault]:
    """Its config, weights, tokenizer, earlier weights, and what it keeps beside them."""
    if dead := _dead_link(folder):
        yield dead
        return
    try:
        config = load_config(folder)
    except VidyaError as error:
        what = error.what if str(folder) in error.what else f"{folder}: {error.what}"
        yield Fault(what, _from_shipped(folder, "config.json") or error.next_step)
        return
    old = list(_check_snapshots(folder))
    try:
        load_model(folder)
    except VidyaError as error:
        yield Fault(error.what, _other_weights(folder, old) or error.next_step)
    try:
        ids = Tokenizer.load(folder).vocab_size
        if ids > config.vocab_size:
            raise VidyaError(
                f"{folder}: its tokenizer has {ids} ids, its weights {config.vocab_size}"
            )
    except VidyaError as error:
        advice = "restore the tokenizer that the model was trained with"
        yield Fault(error.what, _from_shipped(folder, "tokenizer*") or advice)
    yield from old
    yield from _check_kept(folder)


def _check_snapshots(folder: Path) -> Iterator[Fault]:
    place = folder / "snapshots"
    if not place.is_dir():
        return
    for path in sorted(place.iterdir()):
        if not _SNAPSHOT.fullmatch(path.name):
            yield Fault(f"{path}: is no snapshot, whose names are numbers", "move it away")
            continue
        try:
            load_model(folder, weights=path)
        except VidyaError as error:
            yield Fault(error.what, "remove it: nothing can go back to it")


def _check_kept(folder: Path) -> Iterator[Fault]:
    """What is kept beside the weights and only costs time where it is lost."""
    begin = f"remove {RECORD} and {TRAINED}: the training begins anew"
    kept: dict[str, tuple[Callable[[Path], object], str]] = {
        TALK: (lambda path: read_json(path, TALK_BYTES), _AGAIN),
        WATCH: (lambda path: read_json(path, WATCH_BYTES), _AGAIN),
        REFERENCE: (load_tensors, _AGAIN),
        RECORD: (read_json, begin),
        TRAINED: (load_tensors, begin),
    }
    for name, (read, remedy) in kept.items():
        path = folder / name
        if not os.path.lexists(path):
            continue
        try:
            read(path)
        except VidyaError as error:
            yield Fault(error.what, remedy)
        except (OSError, ValueError) as error:
            yield Fault(f"{path}: cannot be read ({reason(error)})", remedy)


def check_room(home: Home) -> Iterator[Fault]:
    """Whether the next lesson can be written: the journal, the weights, and those before them."""
    weights = [path.stat().st_size for path in home.models_path.glob(f"*/{WEIGHTS}")]
    needed, free = ROOM + 2 * max(weights, default=0), free_bytes(home.path)
    if free is not None and free < needed:
        yield Fault(
            f"{home.path}: its disk is full ({size(free)} free)",
            f"free {size(needed)} there; until then what you say may not be kept",
        )


def _other_weights(folder: Path, broken: list[Fault]) -> str:
    """Whence weights come that can take the place of those that cannot be read."""
    shots = [
        path
        for path in (folder / "snapshots").glob("*.safetensors")
        if _SNAPSHOT.fullmatch(path.name)
    ]
    whole = [p for p in shots if not any(str(p) in problem.what for problem in broken)]
    if whole:
        newest = max(int(path.stem) for path in whole)
        return f"go back: `vidya model rollback {newest} --model {folder.name}`"
    return _from_shipped(folder, WEIGHTS)


def _from_shipped(folder: Path, name: str) -> str:
    """Where a model of that name came with the program, what is missing can be copied."""
    shipped = SHIPPED / folder.name
    if not (shipped / WEIGHTS).exists() or folder.parent == SHIPPED:
        return ""
    return f"copy {shipped / name} there, or move the folder away: lessons are learned again"


def _folders(parent: Path) -> list[Path]:
    """Folders of models, those of which a part is gone too."""
    if not parent.is_dir():
        return []
    return [
        p for p in sorted(parent.iterdir()) if p.name[0] != "." and (p.is_dir() or p.is_symlink())
    ]


def _dead_link(path: Path) -> Fault | None:
    if not path.is_symlink() or path.exists():
        return None
    return Fault(
        f"{path}: a link to {os.readlink(path)}, where nothing is",
        "connect the disk that it leads to, or remove the link",
    )
