"""Adapters: counts, exactness, what learns, and files that peft reads."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from engine.cache import KeyValueCache
from engine.config import CONFIGS, ModelConfig
from engine.errors import CheckpointError, ConfigError
from engine.lora import PARTS, Adapters, LoraSettings, attach, load
from engine.model import Model
from engine.packed import packed
from engine.products import Linear
from engine.storage.checkpoint import load_model, save_model

TINY = CONFIGS["tiny"]
SMOL = ModelConfig(
    vocab_size=49_152, dim=576, layers=30, heads=9, kv_heads=3, hidden=1536, context=128
)
IDS = torch.arange(24).view(2, 12)


def fresh(seed: int = 0) -> Model:
    return Model(TINY, generator=torch.Generator().manual_seed(seed))


def moved(model: Model, settings: LoraSettings | None = None, size: float = 0.05) -> Adapters:
    """Adapters whose B is not 0 any more."""
    drawn = torch.Generator().manual_seed(1)
    adapters = attach(model, settings or LoraSettings(rank=4, alpha=8), drawn)
    with torch.no_grad():
        for factor in adapters.parameters():
            factor.add_(torch.randn(factor.shape, generator=drawn) * size)
    return adapters


def weights(model: Model) -> dict[str, Tensor]:
    return {name: weight.clone() for name, weight in model.state_dict().items()}


@pytest.mark.parametrize(
    ("config", "rank", "block", "blocks"),
    [(CONFIGS["10m"], 32, 217_088, 5), (SMOL, 32, 325_632, 30), (SMOL, 16, 162_816, 30)],
)
def test_counts(config: ModelConfig, rank: int, block: int, blocks: int) -> None:
    with torch.device("meta"):
        model = Model(config)
    adapters = attach(model, LoraSettings(rank=rank))
    assert adapters.count == block * blocks
    tensors = adapters.tensors()
    assert len(tensors) == 2 * len(PARTS) * blocks
    if config is SMOL and rank == 32:
        assert adapters.count == 9_768_960
    if config is CONFIGS["10m"]:
        assert adapters.count == 1_085_440
        sizes = {
            part: sum(t.numel() for n, t in tensors.items() if f"layers.0.{name}." in n)
            for part, name in {
                "q": "self_attn.q_proj",
                "k": "self_attn.k_proj",
                "v": "self_attn.v_proj",
                "out": "self_attn.o_proj",
                "gate": "mlp.gate_proj",
                "up": "mlp.up_proj",
                "down": "mlp.down_proj",
            }.items()
        }
        assert sizes == {
            "q": 24_576,
            "k": 16_384,
            "v": 16_384,
            "out": 24_576,
            "gate": 45_056,
            "up": 45_056,
        } | {"down": 45_056}


def test_fresh_adapters_change_nothing() -> None:
    model = fresh()
    before = model(IDS)
    adapters = attach(model, LoraSettings(), torch.Generator().manual_seed(3))
    assert torch.equal(model(IDS), before)
    a, *bs = adapters.parameters()[:4]
    assert not any(b.any() for b in bs)
    assert a.shape == (3 * 32, TINY.dim)
    bound = TINY.dim**-0.5  # kaiming_uniform_(a=√5) on I inputs: √(6 / (6 I))
    assert 0.9 * bound < float(a.detach().abs().max()) <= bound
    again = attach(fresh(), LoraSettings(), torch.Generator().manual_seed(3))
    assert torch.equal(again.parameters()[0], a)


def test_one_adapter_for_each_named_part() -> None:
    """An adapter of q alone adds (α/r) B A to q and leaves k and v unchanged."""
    model = fresh()
    qkv = model.blocks[0].attention.qkv
    adapters = attach(model, LoraSettings(rank=2, alpha=6), torch.Generator().manual_seed(0))
    a, b = adapters.tensors(), adapters.tensors()
    name = "base_model.model.model.layers.0.self_attn.q_proj.lora_{}.weight"
    b[name.format("B")] = torch.ones(64, 2)
    adapters.fill(b)
    added = model.blocks[0].attention.qkv.change()
    assert torch.allclose(added[:64], 3.0 * (torch.ones(64, 2) @ a[name.format("A")]), atol=1e-6)
    assert not added[64:].any()
    assert model.blocks[0].attention.qkv.weight is qkv.weight


def test_only_factors_have_gradients() -> None:
    model = fresh()
    adapters = moved(model)
    model(IDS).square().mean().backward()
    assert all(factor.grad is not None and factor.grad.any() for factor in adapters.parameters())
    assert all(p.grad is None and not p.requires_grad for p in model.parameters())
    names = {name for name, _ in model.named_parameters()}
    assert names == {name for name, _ in fresh().named_parameters()}


def test_merged_is_unmerged_and_restores_exactly() -> None:
    model = fresh()
    before, base = weights(model), model(IDS)
    adapters = moved(model)
    learned = model(IDS)
    assert (learned - base).abs().max() > 1e-3
    with adapters.merged():
        torch.testing.assert_close(model(IDS), learned, atol=1e-5, rtol=0)
        assert not torch.equal(
            model.state_dict()["blocks.0.ffn.down.weight"], before["blocks.0.ffn.down.weight"]
        )
    assert all(torch.equal(now, before[name]) for name, now in model.state_dict().items())
    with pytest.raises(KeyError), adapters.merged():
        raise KeyError
    assert all(torch.equal(now, before[name]) for name, now in model.state_dict().items())
    assert torch.equal(model(IDS), learned)
    with adapters.disabled():
        assert torch.equal(model(IDS), base)
    assert torch.equal(model(IDS), learned)


def test_packed_draws_from_what_is_merged() -> None:
    model = fresh()
    adapters = moved(model)

    def drawn() -> Tensor:
        still = packed(model)
        cache = KeyValueCache(TINY, 2, 16, torch.float32, model.device)
        return still.logits(still.hidden_states(IDS, cache=cache))

    base = drawn()
    with adapters.merged():
        learned = drawn()
    torch.testing.assert_close(learned, model(IDS).detach(), atol=2e-3, rtol=0)
    assert (learned - base).abs().max() > 1e-2
    assert torch.equal(drawn(), base)


def test_a_copy_of_the_model_is_the_base() -> None:
    model = fresh()
    base = model(IDS)
    moved(model)
    still = copy.deepcopy(model)
    assert torch.equal(still(IDS), base)
    assert all(type(layer) is not type(model.blocks[0].ffn.down) for layer in still.modules())
    assert type(still.blocks[0].ffn.down) is Linear


def test_baked_and_exported_is_what_was_learned(tmp_path: Path) -> None:
    model = fresh()
    adapters = moved(model)
    learned = model(IDS).detach()
    adapters.bake()
    assert isinstance(model.blocks[0].ffn.down, nn.Linear)
    torch.testing.assert_close(model(IDS), learned, atol=1e-5, rtol=0)
    save_model(model, tmp_path / "out", dtype=torch.float32)
    again = load_model(tmp_path / "out")
    assert torch.equal(again(IDS), model(IDS))


def test_upper_blocks_and_some_parts_alone() -> None:
    model = fresh()
    settings = LoraSettings(rank=4, alpha=8, targets=("q", "v", "up"), first_block=1)
    adapters = moved(model, settings)
    assert isinstance(model.blocks[0].attention.qkv, nn.Linear)
    assert isinstance(model.blocks[1].ffn.down, nn.Linear)
    assert len(adapters.tensors()) == 6
    learned = model(IDS)
    with adapters.merged():
        torch.testing.assert_close(model(IDS), learned, atol=1e-5, rtol=0)
    keys = model.blocks[1].attention.qkv.change()[64:96]
    assert not keys.any()


def test_dropout_only_while_it_learns() -> None:
    model = fresh()
    moved(model, LoraSettings(rank=4, alpha=8, dropout=0.5))
    with torch.no_grad():
        assert torch.equal(model(IDS), model(IDS))
    assert not torch.equal(model(IDS), model(IDS))


def test_saved_and_loaded(tmp_path: Path) -> None:
    model = fresh()
    settings = LoraSettings(rank=4, alpha=6, targets=("q", "gate", "down"), first_block=1)
    adapters = moved(model, settings)
    adapters.round(torch.float16)
    learned = model(IDS)
    adapters.save(tmp_path / "adapter", base="tiny")
    other = fresh()
    again = load(other, tmp_path / "adapter")
    assert again.settings == settings
    assert torch.equal(other(IDS), learned)
    assert not any(factor.grad is not None for factor in again.parameters())


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    adapters = moved(fresh())
    adapters.save(tmp_path)
    config = json.loads((tmp_path / "adapter_config.json").read_text())

    def refused(**changes: object) -> str:
        (tmp_path / "adapter_config.json").write_text(json.dumps(config | changes))
        model = fresh()
        with pytest.raises(CheckpointError) as error:
            load(model, tmp_path)
        assert isinstance(model.blocks[0].ffn.down, nn.Linear)
        return error.value.what

    assert "r is 0" in refused(r=0)
    assert "not [5, 64]" in refused(r=5)
    assert "use_dora" in refused(use_dora=True)
    assert "lm_head" in refused(target_modules=["lm_head"])
    assert "has no place" in refused(target_modules=["q_proj"])
    assert "other blocks" in refused(layers_to_transform=[0])
    assert "not LORA" in refused(peft_type="IA3")
    assert "cannot be read" in refused(r="many")
    (tmp_path / "adapter_config.json").unlink()
    with pytest.raises(CheckpointError, match="cannot be read"):
        load(fresh(), tmp_path)
    with pytest.raises(ConfigError, match="no block 2"):
        attach(fresh(), LoraSettings(first_block=2))
    with pytest.raises(ConfigError, match="adapters already"):
        attach(adapters.model, LoraSettings())
    with pytest.raises(ConfigError, match="no part is called lm_head"):
        LoraSettings(targets=("lm_head",))


@pytest.mark.slow
def test_peft_loads_it_and_says_the_same(tmp_path: Path) -> None:
    peft = pytest.importorskip("peft")
    transformers = pytest.importorskip("transformers")
    model = fresh()
    save_model(model, tmp_path / "base", dtype=torch.float32)
    adapters = moved(model, LoraSettings(rank=4, alpha=12, first_block=1), size=0.2)
    adapters.save(tmp_path / "adapter", dtype=torch.float32, base="tiny")
    base = transformers.LlamaForCausalLM.from_pretrained(tmp_path / "base", dtype=torch.float32)
    with torch.no_grad():
        plain = base(IDS).logits
        theirs = peft.PeftModel.from_pretrained(base, tmp_path / "adapter")(IDS).logits
        ours = model(IDS)
    assert (ours - plain).abs().max() > 0.1
    torch.testing.assert_close(theirs, ours, atol=1e-5, rtol=1e-5)
