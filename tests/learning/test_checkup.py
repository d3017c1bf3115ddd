"""learning.checkup: every kind of damage to a home, and its message."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine.config import Sampling
from engine.encoder import ENCODER, SHIPPED_ENCODER
from engine.lora import LoraSettings, attach
from engine.storage.checkpoint import load_model
from learning import checkup
from learning.checkup import check_home
from learning.home import Home
from learning.journal.journal import Journal
from learning.protocol.records import Turn

if TYPE_CHECKING:
    from engine.tokenizers.tokenizer import Tokenizer

MODEL = "models/tiny"
WEIGHTS = f"{MODEL}/model.safetensors"
RANKS = f"{MODEL}/tokenizer.tiktoken"
TOKENIZER = f"{MODEL}/tokenizer_config.json"
JOURNAL = "journal.sqlite3"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, tiny_tokenizer: Tokenizer) -> Path:
    """A home with nothing wrong: a model with an earlier version, a journal, a book, settings."""
    import torch

    from engine.config import CONFIGS
    from engine.model import Model
    from engine.storage.checkpoint import load_tensors, save_model, save_tensors

    home = Home(tmp_path_factory.mktemp("whole") / "home")
    folder = home.models_path / "tiny"
    shape = CONFIGS["tiny"]
    config = type(shape)(**{**vars(shape), "vocab_size": tiny_tokenizer.vocab_size})
    save_model(Model(config, generator=torch.Generator().manual_seed(0)), folder)
    tiny_tokenizer.save(folder)
    (folder / "snapshots").mkdir()
    tensors, record = load_tensors(folder / "model.safetensors")
    snapshot = folder / "snapshots" / "00000003.safetensors"
    save_tensors(tensors, snapshot, record | {"version": "3"})
    journal = Journal(home.journal_path)
    talk = journal.new_conversation()
    for number in range(3):
        said = f"message {number} of many, number {number * 7}"
        journal.add_ask(talk, (Turn("user", said),), Sampling())
    journal.close()
    home.book_path.write_text("<|user|> hello <|assistant|> Hello.\n")
    home.settings_path.write_text('model = "tiny"\n')
    return home.path


@pytest.fixture
def home(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A copy of it, to be damaged; no model comes with the program."""
    monkeypatch.setattr(checkup, "SHIPPED", tmp_path / "none")
    return Home(shutil.copytree(whole, tmp_path / "home"))


def cut(name: str, keep: Callable[[int], int]) -> Callable[[Path], None]:
    def damage(home: Path) -> None:
        data = (home / name).read_bytes()
        (home / name).write_bytes(data[: keep(len(data))])

    return damage


def overwrite(name: str, text: bytes) -> Callable[[Path], None]:
    return lambda home: (home / name).write_bytes(text) and None  # type: ignore[func-returns-value]


def zero(name: str, start: int = 0, end: int | None = None) -> Callable[[Path], None]:
    def damage(home: Path) -> None:
        data = bytearray((home / name).read_bytes())
        data[start:end] = bytes(len(data[start:end]))
        (home / name).write_bytes(data)

    return damage


def remove(name: str) -> Callable[[Path], None]:
    return lambda home: (home / name).unlink()


def dangle(name: str) -> Callable[[Path], None]:
    def damage(home: Path) -> None:
        path = home / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        path.symlink_to(home / "gone" / "away")

    return damage


def folder(name: str) -> Callable[[Path], None]:
    def damage(home: Path) -> None:
        (home / name).unlink(missing_ok=True)
        (home / name).mkdir()

    return damage


def pipe(name: str) -> Callable[[Path], None]:
    def damage(home: Path) -> None:
        (home / name).unlink(missing_ok=True)
        os.mkfifo(home / name)

    return damage


def one_line_less(home: Path) -> None:
    """Truncated at the end of a line, so that every remaining line is valid."""
    lines = (home / RANKS).read_bytes().splitlines(keepends=True)
    (home / RANKS).write_bytes(b"".join(lines[:-1]))


def page_of(table: str) -> Callable[[Path], None]:
    """Overwrites the pages of a table."""

    def damage(home: Path) -> None:
        path = home / JOURNAL
        connection = sqlite3.connect(path)
        found = connection.execute("SELECT pageno FROM dbstat WHERE name = ?", (table,)).fetchall()
        size = connection.execute("PRAGMA page_size").fetchone()[0]
        connection.close()
        data = bytearray(path.read_bytes())
        for (number,) in found:
            data[(number - 1) * size : number * size] = b"\x55" * size
        path.write_bytes(data)

    return damage


def cut_in_the_talk(home: Path) -> None:
    """One byte short, in the part that holds the last message."""
    journal = Journal(home / JOURNAL)
    talk = journal.new_conversation()
    for _ in range(300):
        journal.add_ask(talk, (Turn("user", "something " * 20),), Sampling())
    journal.close()
    cut(JOURNAL, lambda length: length - 1)(home)


def cut_in_the_index(home: Path) -> None:
    """One byte short, in the part that holds the search index: messages are added until it has the last
    page."""
    last = "SELECT name FROM dbstat ORDER BY pageno DESC LIMIT 1"
    for number in range(500):
        journal = Journal(home / JOURNAL)
        said = " ".join(f"word{number}x{place}" for place in range(60))
        journal.add_ask(journal.new_conversation(), (Turn("user", said),), Sampling())
        journal.close()
        with contextlib.closing(sqlite3.connect(home / JOURNAL)) as connection:
            (name,) = connection.execute(last).fetchone()
        if name.startswith("said"):
            break
    else:
        raise AssertionError("the search index never has the last page")
    cut(JOURNAL, lambda length: length - 1)(home)


def huge(home: Path) -> None:
    (home / WEIGHTS).unlink()
    (home / f"{MODEL}/config.json").write_text(
        '{"model_type": "llama", "hidden_size": 99999999999}'
    )


def rename_snapshot(name: str) -> Callable[[Path], None]:
    def damage(home: Path) -> None:
        place = home / MODEL / "snapshots"
        shutil.copy(place / "00000003.safetensors", place / name)

    return damage


SNAPSHOT = f"{MODEL}/snapshots/00000003.safetensors"
DAMAGES: dict[str, tuple[Callable[[Path], None], str, str]] = {
    # name: (damage, what is said, the remedy)
    "weights deleted": (remove(WEIGHTS), "model.safetensors: does not exist", "rollback 3"),
    "weights cut in half": (cut(WEIGHTS, lambda n: n // 2), "no whole safetensors", "rollback 3"),
    "weights cut by a byte": (cut(WEIGHTS, lambda n: n - 1), "no whole safetensors", "rollback 3"),
    "weights empty": (overwrite(WEIGHTS, b""), "no whole safetensors", "rollback 3"),
    "weights zeroed": (zero(WEIGHTS), "no whole safetensors", "rollback 3"),
    "weights not finite": (
        lambda home: zero(WEIGHTS, -4096, None)(home) or overfill(home),  # type: ignore[func-returns-value]
        "not finite",
        "rollback 3",
    ),
    "weights a pipe": (pipe(WEIGHTS), "no regular file", "rollback 3"),
    "weights a dead link": (dangle(WEIGHTS), "does not exist", "rollback 3"),
    "config deleted": (
        remove(f"{MODEL}/config.json"),
        "config.json: cannot be read",
        "config.json",
    ),
    "config nested": (overwrite(f"{MODEL}/config.json", b"[" * 99999), "too deeply", "config.json"),
    "config of nothing": (huge, "config.json: KeyError", "Llama"),
    "tokenizer deleted": (remove(RANKS), "tokenizer.tiktoken: cannot be read", "restore"),
    "tokenizer empty": (overwrite(RANKS, b""), "single byte is missing", "restore"),
    "tokenizer cut": (cut(RANKS, lambda n: n // 2), "tokenizer.tiktoken", "restore"),
    "tokenizer cut at a line": (one_line_less, "tokenizer.tiktoken", "restore"),
    "tokenizer zeroed": (zero(RANKS), "tokenizer.tiktoken", "restore"),
    "tokenizer config deleted": (remove(TOKENIZER), "tokenizer_config.json", "restore"),
    "tokenizer config zeroed": (zero(TOKENIZER), "tokenizer_config.json", "restore"),
    "tokenizer a pipe": (pipe(RANKS), "no regular file", "restore"),
    "journal one byte short": (
        cut_in_the_index,
        "its end is cut off, 1 byte short",
        "nothing is lost",
    ),
    "journal one byte short in a table": (cut_in_the_talk, "1 byte short in asks", "from a copy"),
    "journal cut in half": (cut(JOURNAL, lambda n: n // 8192 * 4096), "damaged", "copy"),
    "journal header zeroed": (zero(JOURNAL, 0, 100), "beginning is overwritten", "from a copy"),
    "journal empty": (overwrite(JOURNAL, b""), "is empty", "from a copy"),
    "journal's talk overwritten": (page_of("asks"), "damaged", "from a copy"),
    "journal a dead link": (dangle(JOURNAL), "where nothing is", "connect the disk"),
    "journal a pipe": (pipe(JOURNAL), "is no file", "move it away"),
    "models a dead link": (dangle("models"), "where nothing is", "connect the disk"),
    "model a dead link": (dangle(MODEL), "where nothing is", "connect the disk"),
    "snapshot without a number": (rename_snapshot("mine.safetensors"), "mine.safetensors", "away"),
    "snapshot left by a kill": (rename_snapshot("00000004.new"), "00000004.new", "clears it away"),
    "snapshot empty": (overwrite(SNAPSHOT, b""), "no whole safetensors", "remove it"),
    "snapshot cut": (cut(SNAPSHOT, lambda n: n // 2), "no whole safetensors", "remove it"),
    "book no text": (overwrite("book.txt", b"\xff\xfe\x00"), "book.txt", ""),
    "book no entry": (overwrite("book.txt", b"no entry at all\n"), "book.txt:1:", "<|user|>"),
    "book a pipe": (pipe("book.txt"), "is no file", "move it away"),
    "book a dead link": (dangle("book.txt"), "where nothing is", "connect the disk"),
    "settings a folder": (folder("settings.toml"), "is no file", "move it away"),
    "settings a pipe": (pipe("settings.toml"), "is no file", "move it away"),
    "unsent a dead link": (dangle("unsent.txt"), "where nothing is", "remove the link"),
    "talk damaged": (overwrite(f"{MODEL}/talk.json", b"["), "talk.json", "made anew"),
    "margins damaged": (overwrite(f"{MODEL}/watch.json", b"[" * 9999), "watch.json", "made anew"),
    "voice damaged": (overwrite(f"{MODEL}/voice.safetensors", b"x"), "voice", "made anew"),
    "training damaged": (overwrite(f"{MODEL}/training.json", b"{"), "training", "begins anew"),
}


def overfill(home: Path) -> None:
    """The last numbers of the file become infinite, in bfloat16."""
    data = bytearray((home / WEIGHTS).read_bytes())
    data[-64:] = b"\x80\x7f" * 32
    (home / WEIGHTS).write_bytes(data)


def test_nothing_is_wrong_with_a_whole_home(home: Home) -> None:
    assert check_home(home) == []


@pytest.mark.parametrize("name", DAMAGES)
def test_each_damage_is_told_with_its_remedy(home: Home, name: str) -> None:
    damage, what, remedy = DAMAGES[name]
    damage(home.path)
    found = check_home(home)
    fitting = [problem for problem in found if what in problem.what]
    assert len(fitting) == 1, found
    assert remedy in fitting[0].remedy
    assert str(home.path) in fitting[0].what, "it says where"
    assert len(found) == 1, "one fault is one problem"


@pytest.mark.parametrize("table", ["said_config", "said_data", "said_idx"])
def test_a_damaged_search_index_is_made_anew_and_not_told(home: Home, table: str) -> None:
    page_of(table)(home.path)
    assert check_home(home) == []
    journal = Journal(home.journal_path)
    assert len(journal.search("message 2")) == 1
    journal.close()


def test_what_was_cut_from_the_search_index_is_whole_after_it_was_told(home: Home) -> None:
    cut_in_the_index(home.path)
    assert len(check_home(home)) == 1
    assert check_home(home) == []


def test_a_disk_without_room_for_a_lesson_is_told(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkup, "free_bytes", lambda path: 4096)
    (problem,) = check_home(home)
    assert "its disk is full (4 kB free)" in problem.what
    assert "free 1" in problem.remedy and "MB there" in problem.remedy


def test_the_model_that_came_with_vidya_mends_the_homes_own(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(home.models_path / "tiny", tmp_path / "came" / "tiny")
    monkeypatch.setattr(checkup, "SHIPPED", tmp_path / "came")
    (home.path / RANKS).unlink()
    (problem,) = check_home(home)
    assert f"copy {tmp_path / 'came' / 'tiny'}" in problem.remedy


def test_a_model_that_came_with_vidya_and_is_damaged(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    came = Path(shutil.copytree(home.models_path / "tiny", tmp_path / "came" / "tiny"))
    (came / "model.safetensors").unlink()
    monkeypatch.setattr(checkup, "SHIPPED", tmp_path / "came")
    (problem,) = check_home(home)
    assert str(came) in problem.what and problem.remedy == "install vidya again"


def test_an_adapter_that_came_with_vidya_is_no_broken_model(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = load_model(home.models_path / "tiny")
    came = tmp_path / "came" / "tiny"
    attach(model, LoraSettings(rank=2)).save(came)
    monkeypatch.setattr(checkup, "SHIPPED", tmp_path / "came")
    assert list(check_home(home)) == []
    (home.models_path / "tiny" / "config.json").unlink()
    assert not any(str(came) in problem.remedy for problem in check_home(home))
    (came / "adapter_model.safetensors").write_bytes(b"no")
    assert [problem.remedy for problem in check_home(home) if str(came) in problem.what] == [
        "install vidya again"
    ]


def test_a_sentence_encoder_that_is_damaged_or_missing(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert list(check_home(home)) == []
    came = Path(shutil.copytree(SHIPPED_ENCODER, tmp_path / "encoder"))
    monkeypatch.setattr(checkup, "SHIPPED_ENCODER", came)
    assert list(check_home(home)) == []
    (came / ENCODER).write_bytes(b"cut")
    (problem,) = check_home(home)
    assert str(came) in problem.what
    shutil.rmtree(came)
    (problem,) = check_home(home)
    assert str(came) in problem.what
