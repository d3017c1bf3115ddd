"""learning.models.adapters: an adapter is merged completely or not at all; lessons are exported as one."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from engine.config import ModelConfig, Sampling
from engine.errors import CheckpointError
from engine.lora import PARTS, LoraSettings, attach, load
from engine.model import Model
from engine.storage.checkpoint import load_model, load_tensors, save_model
from engine.storage.checkpoint_files import WEIGHTS, read_version
from engine.storage.generation_file import Generation, write_generation
from engine.tokenizers.tokenizer import Tokenizer
from learning.home import Home
from learning.models import adapters
from learning.models.adapters import apply_adapter, export_adapter, shipped_adapter
from learning.models.import_export import import_model
from learning.models.store import ModelStore

IDS = torch.arange(20).view(2, 10)


def taught(model: Model, rank: int = 3) -> Model:
    """The model, changed in its upper block by matrices of that rank."""
    drawn = torch.Generator().manual_seed(1)
    found = attach(model, LoraSettings(rank=rank, alpha=rank, first_block=1), drawn)
    with torch.no_grad():
        for factor in found.parameters():
            factor.add_(torch.randn(factor.shape, generator=drawn) * 0.1)
    found.bake()
    return model


@pytest.fixture
def source(tmp_path: Path, tiny_model: Model, tiny_tokenizer: Tokenizer) -> Path:
    """A model from another program."""
    save_model(tiny_model, tmp_path / "source", dtype=torch.float32)
    tiny_tokenizer.save(tmp_path / "source")
    (tmp_path / "source" / "CARD.md").write_text("# The base\n")
    return tmp_path / "source"


@pytest.fixture
def adapter(tmp_path: Path, source: Path) -> Path:
    model = load_model(source)
    found = attach(model, LoraSettings(rank=2, alpha=4), torch.Generator().manual_seed(2))
    with torch.no_grad():
        for factor in found.parameters():
            factor.add_(0.05)
    found.save(tmp_path / "adapter")
    (tmp_path / "adapter" / "CARD.md").write_text("# Her character\n")
    return tmp_path / "adapter"


def test_an_adapter_is_merged_while_a_model_is_brought_in(
    tmp_path: Path, source: Path, adapter: Path
) -> None:
    store = ModelStore(Home(tmp_path / "home"))
    info = import_model(store, source, "m", finish=lambda folder: apply_adapter(folder, adapter))
    expected = load_model(source)
    load(expected, adapter).bake()
    assert torch.equal(load_model(info.path)(IDS), expected(IDS))
    assert read_version(info.path / WEIGHTS) == 0
    assert (info.path / "CARD.md").read_text() == "# Her character\n\n# The base\n"


def test_only_what_the_adapter_changes_is_written_in_long_numbers(
    tmp_path: Path, tiny_model: Model, tiny_tokenizer: Tokenizer, adapter: Path
) -> None:
    folder = tmp_path / "short"
    save_model(tiny_model, folder, dtype=torch.bfloat16)
    tiny_tokenizer.save(folder)
    apply_adapter(folder, adapter)
    tensors, _ = load_tensors(folder / WEIGHTS)
    assert tensors["model.embed_tokens.weight"].dtype == torch.bfloat16
    assert tensors["model.layers.0.self_attn.q_proj.weight"].dtype == torch.float32


def test_one_that_does_not_fit_leaves_no_model(tmp_path: Path, source: Path, adapter: Path) -> None:
    (adapter / "adapter_config.json").write_text("{}")
    store = ModelStore(Home(tmp_path / "home"))
    with pytest.raises(CheckpointError, match="not LORA"):
        import_model(store, source, "m", finish=lambda folder: apply_adapter(folder, adapter))
    assert "m" not in store.names()


def test_what_was_taught_is_written_exactly_where_its_rank_suffices(
    tmp_path: Path, source: Path
) -> None:
    home = Home(tmp_path / "home")
    store = ModelStore(home)
    import_model(store, source, "base")
    model = taught(load_model(source))
    save_model(model, home.models_path / "taught", dtype=torch.float32)
    made = export_adapter(store, "taught", tmp_path / "out", rank=3, base="base")
    assert made.error < 1e-3
    again = load_model(source)
    load(again, made.folder).bake()
    torch.testing.assert_close(again(IDS), model(IDS), atol=2e-3, rtol=2e-3)
    short = export_adapter(store, "taught", tmp_path / "short", rank=1, base="base")
    assert 0.1 < short.error < 1.0
    wide = export_adapter(store, "taught", tmp_path / "wide", rank=200, base="base")
    assert wide.error < 1e-3


def test_changes_of_embeddings_count_as_left_out(tmp_path: Path, source: Path) -> None:
    home = Home(tmp_path / "home")
    store = ModelStore(home)
    import_model(store, source, "base")
    model = load_model(source)
    with torch.no_grad():
        model.embedding.weight.add_(0.1)
    save_model(model, home.models_path / "taught", dtype=torch.float32)
    made = export_adapter(store, "taught", tmp_path / "out", base="base")
    assert made.error == pytest.approx(1.0)


def test_without_a_base_or_a_difference_nothing_is_written(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = ModelStore(Home(tmp_path / "home"))
    import_model(store, source, "base")
    monkeypatch.setattr(adapters, "SHIPPED", tmp_path / "none")
    with pytest.raises(CheckpointError, match="not kept") as error:
        export_adapter(store, "base", tmp_path / "out")
    assert "--base" in error.value.next_step
    with pytest.raises(CheckpointError, match="the same as base"):
        export_adapter(store, "base", tmp_path / "out", base="base")
    assert not (tmp_path / "out").exists()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a").touch()
    with pytest.raises(CheckpointError, match="not empty"):
        export_adapter(store, "base", tmp_path / "out", base="base")


def test_an_adapter_alone_is_no_model(
    tmp_path: Path, adapter: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = adapter.parent / "shipped"
    shipped.mkdir()
    adapter.rename(shipped / "big")
    monkeypatch.setattr(adapters, "SHIPPED", shipped)
    assert shipped_adapter("big") == shipped / "big"
    assert shipped_adapter("other") is None
    assert "big" not in ModelStore(Home(tmp_path / "home"), shipped).names()


def test_the_adapter_that_comes_with_vidya_fits_its_model() -> None:
    folder = shipped_adapter("smollm2-135m")
    assert folder is not None and (folder / "CARD.md").exists()
    assert sum(file.stat().st_size for file in folder.iterdir()) < 12_000_000
    config = ModelConfig(
        vocab_size=49_152, dim=576, layers=30, heads=9, kv_heads=3, hidden=1536, context=64
    )
    with torch.device("meta"):
        model = Model(config)
    found = load(model, folder)
    assert found.settings.targets == PARTS
    assert "smollm2-135m" not in [model.name for model in ModelStore(Home(folder)).list()]


def test_how_answers_are_drawn_comes_with_the_adapter(
    tmp_path: Path, source: Path, adapter: Path
) -> None:
    said = Generation(Sampling(temperature=0.4, repetition_penalty=1.0), 0.3)
    write_generation(said, adapter)
    store = ModelStore(Home(tmp_path / "home"))
    import_model(store, source, "m", finish=lambda folder: apply_adapter(folder, adapter))
    assert store.generation("m") == said
    assert store.generation("10m") == store.generation("none of that name") == Generation()
