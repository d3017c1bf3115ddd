"""What happens to the journal when the machine, the disk or another program is against it."""

from __future__ import annotations

import os
import random
import select
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from engine.config import Sampling
from engine.errors import JournalError
from learning.journal.journal import Journal
from learning.protocol.records import Lesson, Pick, Turn

ROOT = Path(__file__).parents[3]
PROMPT = (Turn("user", "hello"),)
JUDGE = """
import os, sys
from pathlib import Path
from engine.config import Sampling
from learning.journal.journal import Journal
from learning.protocol.records import Correction, Lesson, Turn
journal = Journal(Path(sys.argv[1]))
turns = (Turn("user", "hello"),)
ask = journal.latest_ask() or journal.add_ask(journal.new_conversation(), turns, Sampling())
print("open", flush=True)
sys.stdin.readline()
while True:
    text = os.urandom(6).hex()
    lesson = Lesson("correction", turns, text, ("x" * 500,))
    number = journal.judge(Correction(ask.id, text), text, [lesson])
    os.write(1, f"{number} {text}\\n".encode())  # confirmed: as the screen would show it
    if len(sys.argv) > 2 and number >= int(sys.argv[2]):
        break
"""


def start(path: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """A process that, after a line on stdin, records judgements as fast as it can and prints each."""
    judge = subprocess.Popen(
        [sys.executable, "-c", JUDGE, str(path), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
    )
    assert judge.stdout is not None
    assert judge.stdout.readline() == b"open\n"
    return judge


def confirmed(output: bytes) -> dict[int, str]:
    """{judgement: text} of the whole lines."""
    lines = output.decode("ascii").split("\n")[:-1]
    return {int(line.split()[0]): line.split()[1] for line in lines}


@pytest.mark.slow
def test_no_confirmed_judgement_is_lost_by_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    chance = random.Random(7)
    taken: dict[int, str] = {}
    for _ in range(12):
        judge = start(path)
        assert judge.stdin is not None
        assert judge.stdout is not None
        judge.stdin.write(b"go\n")
        judge.stdin.flush()
        # an odd number of milliseconds after its first word: somewhere in the next transactions
        assert select.select([judge.stdout], [], [], 20)[0], "it never judged"
        time.sleep(chance.uniform(0.0, 0.05))
        judge.send_signal(signal.SIGKILL)
        taken |= confirmed(judge.stdout.read())
        judge.wait()
        judge.stdin.close()
        judge.stdout.close()

        journal = Journal(path)  # the next start works at once
        assert journal.integrity() == "ok"
        kept = {row[0]: row[1] for row in journal.rows("SELECT id, answer FROM judgements")}
        assert taken.items() <= kept.items()
        assert {one.judgement: one.answer for one in journal.waiting()} == kept
        assert journal.answer(1) == kept[max(kept)]
        journal.close()
    assert len(taken) > 12


def test_what_no_test_can_pull_the_plug_for_is_switched_on(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.sqlite3")
    assert journal.row("PRAGMA synchronous") == (2,)  # FULL: a commit waits for the disk
    assert journal.row("PRAGMA journal_mode") == ("wal",)
    assert journal.row("PRAGMA foreign_keys") == (1,)
    assert journal.row("PRAGMA secure_delete") == (1,)
    assert journal.row("PRAGMA temp_store") == (2,)  # in memory
    journal.close()


@pytest.mark.slow
def test_two_programs_may_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    Journal(path).close()
    both = [start(path, "200"), start(path, "200")]
    for judge in both:
        assert judge.stdin is not None
        judge.stdin.write(b"go\n")
        judge.stdin.flush()
    outputs = [judge.communicate(timeout=60)[0] for judge in both]
    assert [judge.returncode for judge in both] == [0, 0]
    first, second = (confirmed(output) for output in outputs)
    assert first
    assert second
    assert not first.keys() & second.keys()
    journal = Journal(path)
    assert journal.integrity() == "ok"
    kept = {row[0]: row[1] for row in journal.rows("SELECT id, answer FROM judgements")}
    assert kept == first | second
    journal.close()


def fill(journal: Journal) -> int:
    """Judges until the disk is full; the last judgement that was confirmed."""
    ask = journal.latest_ask()
    assert ask is not None
    last = 0
    with pytest.raises(JournalError) as caught:
        for _ in range(10_000):
            last = journal.judge(Pick(ask.id, 1), "x" * 4000, [Lesson("pick", PROMPT, "x" * 4000)])
    assert f"{journal.path}: the disk is full (" in caught.value.what
    assert "what was taken before is safe" in caught.value.next_step
    return last


def test_a_full_disk_is_said_and_loses_nothing(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.sqlite3")
    journal.add_ask(journal.new_conversation(), PROMPT, Sampling())
    with journal.reading() as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + 20}")
    last = fill(journal)
    assert last > 0
    assert [judged.id for judged in journal.judgements(1)] == list(range(1, last + 1))
    assert len(journal.waiting()) == last
    assert journal.integrity() == "ok"
    with journal.reading() as connection:  # room again: the same journal goes on
        connection.execute("PRAGMA max_page_count = 1000000")
    assert journal.judge(Pick(1, 1), "more") > last
    journal.close()


def test_a_really_full_disk_is_said_and_loses_nothing(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("this machine lets nobody mount a small disk")
    try:
        journal = Journal(disk / "journal.sqlite3")
        journal.add_ask(journal.new_conversation(), PROMPT, Sampling())
        last = fill(journal)
        assert len(journal.judgements(1)) == last > 0
        journal.close()
        journal = Journal(disk / "journal.sqlite3")  # opens on the full disk, to be read
        assert len(journal.judgements(1)) == last
        assert journal.integrity() == "ok"
        journal.close()
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


@pytest.mark.parametrize("content", [b"hello, I am a letter\n" * 100, b"SQLite format 3\x00junk"])
def test_a_file_that_is_no_database_is_refused_and_kept(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "journal.sqlite3"
    path.write_bytes(content)
    with pytest.raises(JournalError) as caught:
        Journal(path)
    assert str(path) in caught.value.what
    assert "not a journal" in caught.value.what
    assert caught.value.next_step == "move it away, or name another home with --home"
    assert path.read_bytes() == content


def damage(path: Path, share: float) -> bytes:
    """Overwrites the last part of a journal with many judgements; what the file is then."""
    journal = Journal(path)
    ask = journal.add_ask(journal.new_conversation(), PROMPT, Sampling())
    for _ in range(200):
        journal.judge(Pick(ask.id, 1), "x" * 1000)
    journal.close()
    data = path.read_bytes()
    good = int(len(data) * (1 - share)) // 4096 * 4096
    path.write_bytes(data[:good] + b"\xa5" * (len(data) - good))
    return path.read_bytes()


def test_a_journal_damaged_from_its_second_page_on_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    data = damage(path, 0.99)
    with pytest.raises(JournalError) as caught:
        Journal(path)
    assert "damaged" in caught.value.what
    assert "copy it to a safe place" in caught.value.next_step
    assert path.read_bytes() == data


def test_damage_further_on_is_said_when_it_is_met(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    data = damage(path, 0.5)
    journal = Journal(path)
    with pytest.raises(JournalError, match="damaged"):
        journal.judgements(1)
    assert journal.integrity() != "ok"
    journal.close()
    assert path.read_bytes() == data


def test_rows_that_point_nowhere_are_found(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.sqlite3")
    ask = journal.add_ask(journal.new_conversation(), PROMPT, Sampling())
    journal.judge(Pick(ask.id, 1), "x")
    journal.close()
    connection = sqlite3.connect(tmp_path / "journal.sqlite3")
    connection.execute("DELETE FROM asks")
    connection.commit()
    connection.close()
    journal = Journal(tmp_path / "journal.sqlite3")
    assert "point at rows that are gone" in journal.integrity()
    journal.close()


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="cannot be opened") as caught:
        Journal(tmp_path / "nowhere" / "journal.sqlite3")
    assert "--home" in caught.value.next_step
    folder = tmp_path / "journal.sqlite3"
    folder.mkdir()
    with pytest.raises(JournalError, match="cannot be opened"):
        Journal(folder)


@pytest.mark.skipif(os.geteuid() == 0, reason="permissions do not stop root")
def test_a_journal_that_may_only_be_read_is_said(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    Journal(path).close()
    path.chmod(0o400)
    with pytest.raises(JournalError, match="cannot be written"):
        Journal(path).new_conversation()


def test_a_journal_that_turns_read_only_is_said(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.sqlite3")
    with journal.reading() as connection:
        connection.execute("PRAGMA query_only = ON")
    with pytest.raises(JournalError, match="cannot be written"):
        journal.new_conversation()
    journal.close()


def test_a_program_that_holds_the_journal_too_long_is_said(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.sqlite3")
    with journal.reading() as connection:
        connection.execute("PRAGMA busy_timeout = 50")
    other = sqlite3.connect(tmp_path / "journal.sqlite3", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(JournalError) as caught:
        journal.new_conversation()
    assert "another program is writing to it" in caught.value.what
    other.execute("ROLLBACK")
    assert journal.new_conversation() == 1
    other.close()
    journal.close()
