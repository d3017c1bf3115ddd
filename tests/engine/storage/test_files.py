"""engine.storage.files: whole or not at all."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
import torch

from engine.model import Model
from engine.storage.checkpoint import load_model, save_config, save_model, save_tensors
from engine.storage.checkpoint_files import WEIGHTS
from engine.storage.files import (
    absolute,
    copy_atomically,
    is_leftover,
    new_folder,
    remove_leftovers,
    write_atomically,
)
from engine.tokenizers.load import load_tokenizer
from engine.tokenizers.tokenizer import Tokenizer
from personality.book import append_entry


def test_a_path_from_the_root_has_a_name_and_keeps_its_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    monkeypatch.chdir(tmp_path / "real")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert absolute(".") == tmp_path / "real" and absolute("../link/.") == tmp_path / "link"
    assert absolute("~/link") == tmp_path / "link"


def test_writing_atomically_keeps_permissions_and_links(tmp_path: Path) -> None:
    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    write_atomically(link, "new\n")
    assert real.read_text() == "new\n"
    assert real.stat().st_mode & 0o777 == 0o640
    assert link.is_symlink()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["link.txt", "real.txt"]


def test_what_is_no_file_is_written_into_and_stays_what_it_is(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_atomically(pipe, "new\n")
    assert os.read(reader, 100) == b"new\n"
    writer = os.open(pipe, os.O_WRONLY)
    write_atomically(Path(f"/dev/fd/{writer}"), "again\n")
    assert os.read(reader, 100) == b"again\n"
    os.close(writer)
    os.close(reader)
    assert pipe.is_fifo() and list(tmp_path.iterdir()) == [pipe]


def test_a_write_that_fails_leaves_the_old_file_and_no_rubbish(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file.txt"
    file.write_text("old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(file, "new")
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_whatever_is_written_is_for_its_owner_only(
    tmp_path: Path, tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    before = os.umask(0)
    try:
        write_atomically(tmp_path / "words", "said")
        append_entry(tmp_path / "book.txt", (("user", "a"), ("assistant", "b")))
        save_model(tiny_model, tmp_path / "models" / "tiny")
        tiny_tokenizer.save(tmp_path / "models" / "tiny")
        with new_folder(tmp_path / "new" / "one") as folder:
            (folder / "below").mkdir()
            (folder / "below" / "file").write_text("x")
    finally:
        os.umask(before)
    made = list(tmp_path.rglob("*"))
    assert len(made) == 12
    assert [path for path in made if path.stat().st_mode & 0o077] == []


def test_a_library_that_is_killed_while_it_writes_leaves_what_is_known_for_one(
    tmp_path: Path, tiny_model: Model
) -> None:
    """safetensors writes to a name of its own making, and renames that."""
    save_model(tiny_model, tmp_path)
    whole = sorted(tmp_path.iterdir())
    if os.fork() == 0:  # the child's file system is this one; nothing else of it is needed
        os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)  # type: ignore[assignment]
        save_tensors({"x": torch.ones(100)}, tmp_path / WEIGHTS)
        os._exit(0)
    assert os.wait()[1] == signal.SIGKILL
    (left,) = set(tmp_path.iterdir()) - set(whole)
    assert is_leftover(left) and left.stat().st_mode & 0o777 == 0o700
    load_model(tmp_path)
    remove_leftovers(tmp_path)
    assert left.exists(), "another program may be writing it"
    for path in (left, *left.rglob("*")):
        os.utime(path, (time.time() - 100,) * 2)
    remove_leftovers(tmp_path)
    assert sorted(tmp_path.iterdir()) == whole


@pytest.mark.parametrize(
    ("name", "left"),
    [
        (".tmpMetlbs", True),
        (".model.safetensors.rollback", True),
        (".book.txt.0123456789abcdef0123456789abcdef", True),
        ("00000012.new", True),
        ("models/.mine.4711", True),
        (".notes.2024", False),
        (".lock", False),
        ("model.safetensors", False),
        ("00000012.safetensors", False),
        ("models/.mine", False),
    ],
)
def test_what_earlier_programs_left_is_known_and_nothing_else(
    tmp_path: Path, name: str, left: bool
) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.mkdir() if name.startswith("models/") else path.touch()
    assert is_leftover(path) is left
    remove_leftovers(path.parent, untouched=0.0)
    assert path.exists() is not left


def test_a_copy_may_be_the_same_file_and_takes_the_place_of_another(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_text("new")
    target.write_text("old")
    copy_atomically(source, target)
    assert target.read_text() == "new" and not source.samefile(target)
    copy_atomically(source, target, link=True)
    copy_atomically(source, target, link=True)
    assert source.samefile(target) and len(list(tmp_path.iterdir())) == 2
    write_atomically(source, "newer")
    assert target.read_text() == "new"


def test_config_and_tokenizer_are_never_half_written(
    tmp_path: Path, tiny_model: Model, tiny_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_config(tiny_model.config, tmp_path)
    tiny_tokenizer.save(tmp_path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    assert load_tokenizer(tmp_path).ranks == tiny_tokenizer.ranks

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    for save in (
        lambda: save_config(tiny_model.config, tmp_path),
        lambda: tiny_tokenizer.save(tmp_path),
    ):
        with pytest.raises(OSError, match="No space left"):
            save()
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before
