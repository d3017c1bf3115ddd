"""Models of a home: what came with the program is never written to, a new one is whole or not there."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from engine.errors import CheckpointError
from engine.model import Model
from engine.storage.checkpoint import save_model
from engine.tokenizers.tokenizer import Tokenizer
from learning.home import Home
from learning.models.store import ModelStore


@pytest.fixture
def shipped(tmp_path: Path, tiny_model: Model, tiny_tokenizer: Tokenizer) -> Path:
    folder = tmp_path / "shipped" / "tiny"
    save_model(tiny_model, folder, dtype=torch.float32)
    tiny_tokenizer.save(folder)
    return folder


def test_what_came_with_the_program_is_copied_also_where_its_path_is_given(
    tmp_path: Path, shipped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = ModelStore(Home(tmp_path / "home"), shipped.parent)
    own = tmp_path / "home" / "models" / "tiny"
    assert store.resolve(str(shipped)) == own
    monkeypatch.chdir(shipped.parent)
    assert store.resolve("./tiny") == own
    assert store.resolve("tiny") == own


def test_a_folder_elsewhere_is_used_where_it_is(tmp_path: Path, shipped: Path) -> None:
    store = ModelStore(Home(tmp_path / "home"), tmp_path / "none")
    assert store.resolve(str(shipped)) == shipped


def test_a_new_model_is_whole_or_not_there(tmp_path: Path) -> None:
    store = ModelStore(Home(tmp_path / "home"), tmp_path / "none")
    with pytest.raises(CheckpointError, match="cannot be written"), store.new_model("x") as folder:
        (folder / "part").write_text("half")
        raise OSError("full")
    with pytest.raises(KeyboardInterrupt), store.new_model("x") as folder:
        (folder / "part").write_text("half")
        raise KeyboardInterrupt
    assert list((tmp_path / "home" / "models").iterdir()) == []
    with store.new_model("x") as folder:
        (folder / "part").write_text("all")
    assert (store.place("x") / "part").read_text() == "all"


def test_why_a_model_cannot_be_copied_is_told_once(
    tmp_path: Path, shipped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(source: str, target: str, **_: object) -> None:
        raise OSError(28, "No space left on device", source)

    monkeypatch.setattr("shutil.copyfile", full)
    store = ModelStore(Home(tmp_path / "home"), shipped.parent)
    with pytest.raises(CheckpointError, match=r"tiny: the disk is full") as caught:
        store.resolve("tiny")
    assert caught.value.what.count("the disk is full") == 1
    assert list((tmp_path / "home" / "models").iterdir()) == []
