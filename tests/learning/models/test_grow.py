"""learning.models.grow: a taught model goes on as a larger one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from engine.config import CONFIGS
from engine.errors import CheckpointError, ConfigError
from engine.model import Model
from engine.storage.checkpoint import load_model, save_model
from engine.storage.checkpoint_files import WEIGHTS, read_version
from engine.tokenizers.load import load_tokenizer
from engine.tokenizers.tokenizer import Tokenizer
from learning.book_training.resume import Stopped
from learning.home import Home
from learning.journal.journal import Journal
from learning.models.grow import grow_model
from learning.models.snapshots import keep_snapshot
from learning.models.store import ModelStore


@pytest.fixture
def store(
    tmp_path: Path, tiny_model: Model, tiny_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> ModelStore:
    large = replace(tiny_model.config, layers=3, hidden=256, vocab_size=9999)
    monkeypatch.setitem(CONFIGS, "larger", large)
    home = Home(tmp_path / "home")
    folder = home.models_path / "mine"
    save_model(tiny_model, folder, dtype=torch.float32, metadata={"version": "7"})
    tiny_tokenizer.save(folder)
    (folder / "talk.json").write_text("[[1, 2, 3]]")
    return ModelStore(home)


def test_grown_with_tokenizer_talk_and_version(store: ModelStore, tiny_model: Model) -> None:
    info = grow_model(store, "mine", "larger")
    assert (info.name, info.version, info.shipped) == ("larger", 7, False)
    assert info.parameters > tiny_model.config.parameters
    large = load_model(info.path)
    ids = torch.tensor([[1, 50, 7, 300]])
    with torch.no_grad():
        torch.testing.assert_close(
            large(ids), load_model(store.place("mine"))(ids), atol=1e-5, rtol=0
        )
    assert load_tokenizer(info.path).vocab_size == large.config.vocab_size
    assert (info.path / "talk.json").read_text() == "[[1, 2, 3]]"
    assert grow_model(store, "mine", "larger", "second").name == "second"


def test_only_what_is_larger_is_offered(store: ModelStore) -> None:
    for source, offered in (("mine", True), (grow_model(store, "mine", "larger").name, False)):
        with pytest.raises(ConfigError) as none:
            grow_model(store, source, "99m")
        assert ("larger" in (none.value.next_step or "")) == offered


def test_clear_errors_and_nothing_left_behind(store: ModelStore) -> None:
    with pytest.raises(ConfigError, match="config '99m' does not exist"):
        grow_model(store, "mine", "99m")
    with pytest.raises(CheckpointError, match="a model 'mine' already"):
        grow_model(store, "mine", "larger", "mine")
    with pytest.raises(CheckpointError, match="is no name"):
        grow_model(store, "mine", "larger", "../x")
    with pytest.raises(ConfigError, match="cannot grow: heads of 16"):
        grow_model(store, "mine", "10m", "big")
    with pytest.raises(ConfigError, match="cannot grow: mine has the sizes of tiny already"):
        grow_model(store, "mine", "tiny", "big")
    assert [p.name for p in store.place("mine").parent.iterdir()] == ["mine"]


def test_the_first_weights_of_a_grown_model_are_kept(store: ModelStore) -> None:
    folder = grow_model(store, "mine", "larger").path
    model = load_model(folder)
    journal = Journal(folder.parent.parent / "journal.sqlite3")
    for version in range(8, 16):
        keep_snapshot(folder, journal)
        save_model(model, folder, metadata={"version": str(version)})
    journal.close()
    kept = sorted(int(p.stem) for p in (folder / "snapshots").iterdir())
    assert kept == [7, 11, 12, 13, 14]
    assert read_version(folder / WEIGHTS) == 15


@pytest.mark.parametrize("after", [0, 1, 2, 3])
def test_a_growing_that_is_broken_off_leaves_nothing_behind(store: ModelStore, after: int) -> None:
    """As when the program closes, before any part of the work."""
    left = iter(range(after))

    def pause() -> None:
        if next(left, None) is None:
            raise Stopped

    with pytest.raises(Stopped):
        grow_model(store, "mine", "larger", pause=pause)
    assert [p.name for p in store.place("mine").parent.iterdir()] == ["mine"]
    assert grow_model(store, "mine", "larger").name == "larger"
