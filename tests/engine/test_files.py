"""engine.files: whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.checkpoint import save_config
from engine.files import write_atomically
from engine.model import Model
from engine.tokenizer import Tokenizer


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


def test_a_new_file_is_private_unless_it_need_not_be(tmp_path: Path) -> None:
    write_atomically(tmp_path / "words", "said")
    (tmp_path / "plain").write_text("as the process makes files")
    write_atomically(tmp_path / "config", "{}", private=False)
    modes = {file.name: file.stat().st_mode & 0o777 for file in tmp_path.iterdir()}
    assert modes["words"] == 0o600 and modes["config"] == modes["plain"]


def test_config_and_tokenizer_are_never_half_written(
    tmp_path: Path, tiny_model: Model, tiny_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_config(tiny_model.config, tmp_path)
    tiny_tokenizer.save(tmp_path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    assert Tokenizer.load(tmp_path).ranks == tiny_tokenizer.ranks

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
