"""On a full disk the journal can still be read, and the error names the disk and the space needed."""

from __future__ import annotations

import errno
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from engine.config import Sampling
from engine.errors import CheckpointError, DataError, JournalError
from engine.storage import disk
from engine.storage.disk import full_disk, is_full, size, unwritable
from learning.journal.database import Store
from learning.journal.journal import Journal
from learning.protocol.records import Ask, Turn

if TYPE_CHECKING:
    from engine.model import Model


def say(journal: Journal, text: str) -> Ask:
    return journal.add_ask(journal.new_conversation(), (Turn("user", text),), Sampling())


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of two megabytes; skips the test if this machine does not allow mounting one."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)]
    if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this machine lets nobody mount a disk")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def fill(place: Path) -> Path:
    """Takes all the room there is; the file that has it."""
    path = place / "filler"
    with path.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 4096)
        except OSError as error:
            assert error.errno == errno.ENOSPC
    return path


def test_a_journal_is_read_on_a_full_disk_and_written_again_when_there_is_room(
    small_disk: Path,
) -> None:
    path = small_disk / "journal.sqlite3"
    journal = Journal(path)
    say(journal, "where is the swordfish")
    journal.close()
    filler = fill(small_disk)
    journal = Journal(path)
    assert journal.questions() == ["where is the swordfish"]
    assert len(journal.search("swordfish")) == 1
    assert len(list(journal.export_rows())) > 0
    with pytest.raises(JournalError) as caught:
        say(journal, "more " * 5000)
    assert f"{path}: the disk is full (0 bytes free on {small_disk})" in caught.value.what
    assert "free 10 MB there" in caught.value.next_step
    assert "what was taken before is safe" in caught.value.next_step
    assert journal.questions() == ["where is the swordfish"]
    other = Journal(path)
    assert other.questions() == ["where is the swordfish"], "nobody holds it meanwhile"
    other.close()
    filler.unlink()
    say(journal, "now it goes on")
    other = Journal(path)
    assert other.questions() == ["where is the swordfish", "now it goes on"]
    other.close()
    journal.close()


def test_what_only_the_log_holds_is_read_on_a_full_disk(small_disk: Path) -> None:
    path = small_disk / "journal.sqlite3"
    code = f"""
import os
from pathlib import Path
from tests.learning.journal.test_full_disk import Journal, say
journal = Journal(Path({str(path)!r}))
say(journal, "said before it was killed")
os.kill(os.getpid(), 9)
"""
    root = Path(__file__).parents[3]
    subprocess.run([sys.executable, "-c", code], check=False, cwd=root)
    (small_disk / "journal.sqlite3-shm").unlink(missing_ok=True)
    assert (small_disk / "journal.sqlite3-wal").stat().st_size
    fill(small_disk)
    journal = Journal(path)
    assert journal.questions() == ["said before it was killed"]
    journal.close()


def test_a_new_journal_on_a_full_disk_is_refused_with_the_reason(small_disk: Path) -> None:
    fill(small_disk)
    with pytest.raises(JournalError, match="the disk is full"):
        Journal(small_disk / "journal.sqlite3")


def test_weights_that_do_not_fit_name_what_they_need(small_disk: Path, tiny_model: Model) -> None:
    from engine.storage.checkpoint import save_model, save_tensors

    fill(small_disk)
    with pytest.raises(CheckpointError, match="the disk is full"):
        save_model(tiny_model, small_disk)
    tensors = {"x": tiny_model.embedding.weight.detach().repeat(50, 50)}
    with pytest.raises(CheckpointError) as caught:
        save_tensors(tensors, small_disk / "model.safetensors")
    assert "the disk is full (0 bytes free" in caught.value.what
    assert f"free {size(tensors['x'].nbytes)} there" in caught.value.next_step
    assert [p.name for p in small_disk.iterdir() if p.name.startswith(".model")] == []


def test_a_book_that_does_not_fit_says_so(small_disk: Path) -> None:
    from learning.book.owner_book import OwnerBook

    fill(small_disk)
    with pytest.raises(DataError) as caught:
        OwnerBook(small_disk / "book.txt").append((("user", "hello"), ("assistant", "Hello.")))
    assert "the disk is full" in caught.value.what
    assert "the journal has the answer" in caught.value.next_step


def test_where_processes_cannot_share_the_journal_it_is_read_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same without a disk to mount."""
    journal = Journal(tmp_path / "journal.sqlite3")
    say(journal, "hello")
    journal.close()
    connect, full = Store._connect, [True]

    def refuse(self: Store, *, alone: bool = False) -> sqlite3.Connection:
        if full and not alone:
            raise sqlite3.OperationalError("database or disk is full")
        return connect(self, alone=alone)

    monkeypatch.setattr(Store, "_connect", refuse)
    journal = Journal(tmp_path / "journal.sqlite3")
    other = Journal(tmp_path / "journal.sqlite3")
    assert journal.questions() == other.questions() == ["hello"]
    full.clear()
    say(journal, "again")
    assert other.questions() == ["hello", "again"]
    other.close()
    journal.close()


@pytest.mark.parametrize(
    ("error", "full"),
    [
        (OSError(errno.ENOSPC, "x"), True),
        (OSError(errno.EDQUOT, "x"), True),
        (OSError(errno.EACCES, "x"), False),
        (RuntimeError("I/O error: No space left on device (os error 28)"), True),
        (ValueError("database or disk is full"), True),
        (None, False),
    ],
)
def test_what_means_that_a_disk_is_full(error: BaseException | None, full: bool) -> None:
    assert is_full(error) is full
    outer = ValueError("it failed")
    outer.__cause__ = error
    assert is_full(outer) is full


def test_work_that_could_not_be_kept_is_not_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk.demand_room(tmp_path, 1)
    monkeypatch.setattr(disk, "free_bytes", lambda path: 4_000_000)
    disk.demand_room(tmp_path, 4_000_000)
    with pytest.raises(CheckpointError, match=r"4 MB free on .*; free 41 MB there"):
        disk.demand_room(tmp_path, 41_000_000)


def test_a_full_disk_is_told_with_place_and_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "free_bytes", lambda path: 12_345)
    what, next_step = full_disk(tmp_path / "new" / "file", 41_000_000)
    assert what.startswith(f"{tmp_path / 'new' / 'file'}: the disk is full (12 kB free on /")
    assert next_step == "free 41 MB there, then do it again"
    assert full_disk(tmp_path, 5)[1] == "free 1 MB there, then do it again", "more than a moment's"
    monkeypatch.setattr(disk, "free_bytes", lambda path: 1 << 40)
    assert "or your share of /" in full_disk(tmp_path)[0]
    denied: Any = unwritable(tmp_path, PermissionError(errno.EACCES, "Permission denied"), "x")
    assert denied == (f"{tmp_path}: cannot be written (Permission denied)", "x")
    assert [size(n) for n in (999, 9_999, 41_200_000, 2_500_000_000)] == [
        *("999 bytes", "10 kB", "41 MB", "2.5 GB")
    ]
