"""Checks a home: opens and reads every file, and reports each fault with its remedy.

A check is a function that yields the faults of one thing. Checks change nothing, except that a damaged
full-text index is rebuilt. Left out: settings, which the interface checks, and printing.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from engine.encoder import SHIPPED_ENCODER, load_encoder
from engine.errors import VidyaError, reason
from engine.storage.adapter_files import ADAPTER_CONFIG, read_adapter
from engine.storage.checkpoint import load_config, load_model, load_tensors
from engine.storage.checkpoint_files import WEIGHTS
from engine.storage.disk import free_bytes, size
from engine.storage.reading import open_regular, read_json
from engine.storage.weight_files import current_files
from engine.tokenizers.load import load_tokenizer
from learning.home import Home
from learning.journal.database import ROOM
from learning.journal.journal import Journal
from learning.journal.migrations import backups
from learning.memory.caches import TRUNK, WATCH
from learning.memory.margins import WATCH_BYTES
from learning.models.files import PRACTICE_ANCHOR, PRACTICE_BEST, REFERENCE, TALK, TALK_BYTES
from learning.models.home_files import Fault, named_files, problems
from learning.models.snapshots import SHIPPED, broken_snapshots, snapshots_of
from learning.models.unfinished_training import RECORD, TRAINED
from personality.book import BookError, EmptyBookError, read_book

_AGAIN = "remove it, it is made anew"


def check_home(home: Home) -> list[Fault]:
    """All faults of the home except those of its settings."""
    found = list(check_files(home))
    for path, check in ((home.journal_path, check_journal), (home.book_path, check_book)):
        if path.exists() and not any(str(path) in problem.what for problem in found):
            found += check(path)
    found += check_models(home)
    told = {problem.what.split(": ")[0] for problem in found}
    found += [stray for stray in problems(home) if stray.what.split(": ")[0] not in told]
    return [*found, *check_room(home)]


def check_files(home: Home) -> Iterator[Fault]:
    """Faults of the well-known files: not a file, not readable, or a dead link."""
    for path in named_files(home):
        if not os.path.lexists(path):
            continue
        if dead := _dead_link(path):
            yield dead
            continue
        try:
            open_regular(path).close()
        except (ValueError, IsADirectoryError):
            yield Fault(f"{path}: is no file", "move it away, or restore it from a copy")
        except OSError as error:
            yield Fault(f"{path}: cannot be read ({error.strerror})", "mend its permissions")
    if dead := _dead_link(home.models_path):
        yield dead


def check_journal(path: Path) -> Iterator[Fault]:
    """Faults of the journal: checks its size, its integrity, and reads every row."""
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
    """A fault if the file ends within a page, with the table that was there."""
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        return  # the page may be in the log, from which SQLite restores it
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
    """Name of the table or index that owns the page; empty if this SQLite cannot tell."""
    try:
        with closing(
            sqlite3.connect(f"file:{quote(os.fsencode(path))}?mode=ro&immutable=1", uri=True)
        ) as connection:
            row = connection.execute("SELECT name FROM dbstat WHERE pageno = ?", (page,)).fetchone()
    except sqlite3.Error:
        return ""
    return str(row[0]) if row else ""


def check_book(path: Path) -> Iterator[Fault]:
    """Faults in the owner's book that keep it from being read, and so every lesson from being learned."""
    try:
        read_book(path)
    except EmptyBookError:
        return
    except BookError as error:
        for line, what, remedy in error.problems:
            yield Fault(f"{path}{f':{line}' if line else ''}: {what}", remedy)


def check_models(home: Home) -> Iterator[Fault]:
    """Faults of the models in the home and of the shipped ones."""
    if home.models_path.exists() and not home.models_path.is_dir():
        yield Fault(f"{home.models_path}: is no folder", "move it away")
        return
    for folder in _folders(home.models_path):
        yield from check_model(folder)
    for folder in _folders(SHIPPED):
        adapter = (folder / ADAPTER_CONFIG).exists()
        for problem in _unreadable(read_adapter, folder) if adapter else check_model(folder):
            yield Fault(problem.what, "install vidya again")
    yield from _unreadable(load_encoder, SHIPPED_ENCODER)


def _unreadable(read: Callable[[Path], object], folder: Path) -> Iterator[Fault]:
    try:
        read(folder)
    except VidyaError as error:
        yield Fault(error.what, error.next_step)


def check_model(folder: Path) -> Iterator[Fault]:
    """Faults of a model: config, weights, tokenizer, snapshots, and caches."""
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
        ids = load_tokenizer(folder).vocab_size
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
    for why in broken_snapshots(folder).values():
        yield Fault(why.what, why.next_step)
    for old in snapshots_of(folder):  # whole by their heads: read to the last byte
        try:
            load_model(folder, weights=old.path)
        except VidyaError as error:
            yield Fault(error.what, "remove it: nothing can go back to it")


def _check_kept(folder: Path) -> Iterator[Fault]:
    """Faults of the files beside the weights that can be rebuilt or, if lost, cost only time."""
    begin = f"remove {RECORD} and {TRAINED}: the training begins anew"
    kept: dict[str, tuple[Callable[[Path], object], str]] = {
        TALK: (lambda path: read_json(path, TALK_BYTES), _AGAIN),
        WATCH: (lambda path: read_json(path, WATCH_BYTES), _AGAIN),
        REFERENCE: (load_tensors, _AGAIN),
        TRUNK: (load_tensors, _AGAIN),
        PRACTICE_ANCHOR: (load_tensors, _AGAIN),
        PRACTICE_BEST: (read_json, _AGAIN),
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
    """A fault if the disk has no room for the next lesson: journal, weights and a snapshot."""
    sizes = [0]
    for folder in _folders(home.models_path):
        with contextlib.suppress(VidyaError, OSError):
            sizes.append(current_files(folder).bytes)
    needed, free = ROOM + 2 * max(sizes), free_bytes(home.path)
    if free is not None and free < needed:
        yield Fault(
            f"{home.path}: its disk is full ({size(free)} free)",
            f"free {size(needed)} there; until then what you say may not be kept",
        )


def _other_weights(folder: Path, broken: list[Fault]) -> str:
    """Advice on weights that can replace unreadable ones: the newest good snapshot, or the shipped
    model; empty if there are none."""
    told = "".join(problem.what for problem in broken)
    whole = [old.version for old in snapshots_of(folder) if str(old.path) not in told]
    if whole:
        newest = max(whole)
        return f"go back: `vidya model rollback {newest} --model {folder.name}`"
    return _from_shipped(folder, WEIGHTS)


def _from_shipped(folder: Path, name: str) -> str:
    """Advice to copy a file from the shipped model of the same name; empty if there is none."""
    shipped = SHIPPED / folder.name
    if not (shipped / WEIGHTS).exists() or folder.parent == SHIPPED:
        return ""
    return f"copy {shipped / name} there, or move the folder away: lessons are learned again"


def _folders(parent: Path) -> list[Path]:
    """Folders of models under `parent`, including incomplete ones and links; sorted."""
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
