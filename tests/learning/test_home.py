"""learning.home: the folder's path, folders that are refused, and the locks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from learning.home import Home, HomeError

ROOT = Path(__file__).parents[2]
PARENT = """
import subprocess, sys, time
from pathlib import Path
from learning.home import Home
with Home(Path(sys.argv[1])).lock():
    sleep = [sys.executable, "-c", "import time; time.sleep(60)"]
    child = subprocess.Popen(sleep, stdout=subprocess.DEVNULL, close_fds=False)
    print(child.pid, flush=True)
    time.sleep(60)
"""
HOLDER = """
import sys, time
from pathlib import Path
from learning.home import Home
with Home(Path(sys.argv[1])).lock():
    print("held", flush=True)
    time.sleep(60)
"""


def test_the_named_folder_is_made_private_with_its_parents(tmp_path: Path) -> None:
    home = Home(tmp_path / "a" / "b")
    assert home.path == (tmp_path / "a" / "b").resolve()
    assert home.path.stat().st_mode & 0o777 == 0o700
    assert home.journal_path == home.path / "journal.sqlite3"
    assert home.book_path == home.path / "book.txt"
    assert home.models_path == home.path / "models"
    assert home.settings_path == home.path / "settings.toml"
    assert home.log_path == home.path / "vidya.log"


def test_the_environment_names_it_where_nothing_else_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIDYA_HOME", str(tmp_path / "env"))
    assert Home().path == (tmp_path / "env").resolve()
    assert Home(tmp_path / "named").path == (tmp_path / "named").resolve()


def test_without_either_it_is_the_platforms_data_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VIDYA_HOME", raising=False)
    monkeypatch.setattr("platformdirs.user_data_dir", lambda name: str(tmp_path / name))
    assert Home().path == (tmp_path / "vidya").resolve()


@pytest.mark.parametrize("name", ["file", "file/below"])
def test_a_file_in_its_place_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(HomeError) as caught:
        Home(tmp_path / name)
    assert "cannot be made" in caught.value.what
    assert "--home" in caught.value.next_step
    assert (tmp_path / "file").read_text() == "not a folder"


def test_a_name_that_is_no_text_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(HomeError) as caught:
        Home(tmp_path / "caf\udce9")  # as Python reads a byte of another encoding
    assert "UTF-8" in caught.value.what
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.geteuid() == 0:  # permissions do not stop root: ask as the others would be answered
        monkeypatch.setattr("os.access", lambda _, mode: not mode & os.W_OK)
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(HomeError, match="cannot be written"):
            Home(tmp_path)
    finally:
        tmp_path.chmod(0o700)


def test_a_second_holder_is_told_who_has_it(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with home.lock(), pytest.raises(HomeError) as caught, home.lock():
        pass
    assert f"in use by another vidya (process {os.getpid()})" in caught.value.what
    assert caught.value.next_step == "close it, or use --home for a second one"
    with home.lock():  # given back
        pass


def test_a_killed_holder_leaves_no_lock_behind(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(HomeError, match=f"process {holder.pid}"), Home(tmp_path).lock():
            pass
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        with Home(tmp_path).lock():
            pass


def test_a_child_of_a_killed_holder_does_not_keep_the_lock(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path)], stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as holder:
        assert holder.stdout is not None
        child = int(holder.stdout.readline())
        try:
            holder.send_signal(signal.SIGKILL)
            holder.wait()
            os.kill(child, 0)  # it still runs
            with Home(tmp_path).lock():
                pass
        finally:
            os.kill(child, signal.SIGKILL)
