"""Every architecture that can be loaded has the logits of transformers: Llama and Qwen3, heads with a size
of their own, tied and untied output layers, scaled RoPE; cached, batched, packed, taught and grown."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from engine import packed as packing
from engine.cache import CHUNK, KeyValueCache
from engine.config import CONFIGS, ModelConfig, RopeScaling
from engine.errors import ConfigError
from engine.grow import grow
from engine.model import Model
from engine.packed import HalfProduct, PackedModel, PackedProduct, Product
from engine.storage.checkpoint import load_model, save_model
from engine.storage.checkpoint_check import check_model
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.examples import from_answer
from learning.memory.prefix_cache import PrefixCache, UpperModel
from learning.objectives.forward import target_logits
from learning.objectives.supervised import likelihood_gradients

transformers = pytest.importorskip("transformers")

SIZES: dict[str, Any] = {
    "vocab_size": 384,
    "hidden_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 6,
    "num_key_value_heads": 3,
    "intermediate_size": 80,
    "max_position_embeddings": 96,
    "rms_norm_eps": 1e-5,
    "initializer_range": 0.2,
}
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 500.0,
    "factor": 4.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 24,
}
ARCHITECTURES: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("Llama", {"tie_word_embeddings": True, "rope_theta": 5000.0}),
    "llama, heads of 16": ("Llama", {"tie_word_embeddings": True, "head_dim": 16}),
    "llama, untied": ("Llama", {"tie_word_embeddings": False}),
    "llama, one head for all": ("Llama", {"tie_word_embeddings": True, "num_key_value_heads": 1}),
    "llama, linear rope": (
        "Llama",
        {
            "tie_word_embeddings": True,
            "rope_parameters": {"rope_type": "linear", "rope_theta": 1e4, "factor": 4.0},
        },
    ),
    "llama, llama3 rope": ("Llama", {"tie_word_embeddings": True, "rope_parameters": LLAMA3}),
    "qwen3": ("Qwen3", {"tie_word_embeddings": True, "head_dim": 16, "rope_theta": 1e6}),
    "qwen3, untied": ("Qwen3", {"tie_word_embeddings": False, "head_dim": 8}),
}
IDS = torch.randint(0, 384, (3, CHUNK + 8), generator=torch.Generator().manual_seed(3))
CLOSE = {"atol": 1e-4, "rtol": 1e-4}
CONTEXTS = 96


@pytest.fixture(params=ARCHITECTURES)
def theirs(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """transformers' model with norms that are not 1, and weights that float16 has; saved."""
    family, changes = ARCHITECTURES[request.param]
    torch.manual_seed(0)
    config = getattr(transformers, f"{family}Config")(**{**SIZES, **changes})
    model = getattr(transformers, f"{family}ForCausalLM")(config).eval()
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() == 1:
                weight.normal_(1.0, 0.2)
            weight.copy_(weight.half())
    model.save_pretrained(tmp_path)
    return model


@pytest.fixture
def expected(theirs: Any) -> Tensor:
    """Its logits of IDS."""
    with torch.no_grad():
        logits: Tensor = theirs(IDS).logits
        return logits


@pytest.fixture
def ours(theirs: Any, tmp_path: Path) -> Model:
    return load_model(tmp_path)


@torch.no_grad()
def test_whole_and_both_ways(ours: Model, expected: Tensor, theirs: Any, tmp_path: Path) -> None:
    torch.testing.assert_close(ours(IDS), expected, **CLOSE)
    assert ours.config.parameters == sum(p.numel() for p in ours.parameters())
    check_model(tmp_path, tmp_path / "model.safetensors")
    save_model(ours, tmp_path / "again", dtype=torch.float32)
    again = type(theirs).from_pretrained(tmp_path / "again", dtype=torch.float32)
    torch.testing.assert_close(again(IDS).logits, expected, atol=0.0, rtol=0.0)
    assert load_model(tmp_path / "again").config == ours.config


@pytest.mark.parametrize("kind", [Product, PackedProduct, HalfProduct])
@pytest.mark.parametrize("pieces", [[CHUNK + 8], [CHUNK - 1, 1, 1, 7], [20, *[1] * 12, CHUNK - 24]])
@torch.no_grad()
def test_cached_and_packed(
    ours: Model,
    expected: Tensor,
    pieces: list[int],
    kind: type[Product],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if kind is HalfProduct and not packing._can_halve():
        pytest.skip("no FBGEMM here")
    if kind is PackedProduct and not packing.can_pack(ours.device, torch.float32):
        pytest.skip("no oneDNN here")
    monkeypatch.setattr(packing, "product_for", lambda device, dtype: kind)
    for model in (ours, PackedModel(ours)):
        cache = KeyValueCache(ours.config, 3, CONTEXTS, ours.dtype, ours.device)
        parts = [model.hidden_states(part, cache=cache) for part in IDS.split(pieces, 1)]
        torch.testing.assert_close(model.logits(torch.cat(parts, 1)), expected, **CLOSE)


@torch.no_grad()
def test_rows_of_different_length(ours: Model, theirs: Any) -> None:
    """Padded on the left, each row with positions and a mask of its own."""
    positions = torch.tensor([[0, 1, 2, 3, 4, 5], [0, 0, 0, 1, 2, 3]])
    mask = torch.zeros(2, 1, 6, 6).masked_fill(torch.ones(6, 6).triu(1) > 0, -torch.inf)
    mask[1, :, 2:, :2] = -torch.inf
    alone = theirs(IDS[1:2, 2:6]).logits
    cache = KeyValueCache(ours.config, 2, 6, ours.dtype, ours.device)
    for hidden in (
        ours.hidden_states(IDS[:2, :6], positions=positions, mask=mask),
        PackedModel(ours).hidden_states(IDS[:2, :6], cache=cache, positions=positions, mask=mask),
    ):
        torch.testing.assert_close(ours.logits(hidden)[1:, 2:], alone, **CLOSE)


def test_the_same_gradients(ours: Model, theirs: Any) -> None:
    """Of a sum over all logits that has no symmetry, in weights that every path goes through."""
    scale = torch.linspace(-1.0, 1.0, 384)
    for model, logits in ((ours, ours(IDS)), (theirs, theirs(IDS).logits)):
        model.zero_grad()
        (logits.float().log_softmax(-1) * scale).sum().backward()
    block, other = ours.blocks[0], theirs.model.layers[0]
    pairs = [
        (ours.embedding.weight, theirs.model.embed_tokens.weight),
        (ours.vocabulary, theirs.lm_head.weight),
        (block.attention.out.weight, other.self_attn.o_proj.weight),
    ]
    if ours.config.qk_norm:
        pairs.append((block.attention.q_norm.weight, other.self_attn.q_norm.weight))
        pairs.append((block.attention.k_norm.weight, other.self_attn.k_norm.weight))
    for mine, their in pairs:
        close = 1e-4 * float(their.grad.abs().max())
        torch.testing.assert_close(mine.grad, their.grad, atol=close, rtol=1e-3)


def test_what_lessons_use(ours: Model, tiny_tokenizer: Tokenizer) -> None:
    """The upper blocks on kept outputs have the logits and gradients of the whole model."""
    examples = [from_answer(tiny_tokenizer, [("user", "Hi")], "Hello.", CONTEXTS)]
    upper = UpperModel(ours, PrefixCache(ours, 2))
    found = []
    for model in (ours, upper):
        ours.zero_grad()
        logits = target_logits(model, examples)[0].detach()
        likelihood_gradients(model, examples)
        found.append((logits, ours.blocks[2].attention.qkv.weight.grad.clone()))
    for mine, whole in zip(*found, strict=True):
        torch.testing.assert_close(mine, whole, atol=1e-5, rtol=1e-4)


@torch.no_grad()
def test_growing_keeps_the_logits(ours: Model, expected: Tensor) -> None:
    config = ours.config
    wider = replace(
        config, dim=96, heads=12, kv_heads=2 * config.kv_heads, head_size=config.head_dim, layers=4
    )
    large = grow(ours, wider, generator=torch.Generator().manual_seed(1))
    assert large.config.qk_norm == config.qk_norm and large.config.tied == config.tied
    torch.testing.assert_close(large(IDS), expected, atol=2e-4, rtol=1e-4)


@torch.no_grad()
def test_bfloat16_is_close(ours: Model, expected: Tensor) -> None:
    short = ours.to(torch.bfloat16)
    cache = KeyValueCache(short.config, 3, CONTEXTS, short.dtype, short.device)
    model = PackedModel(short)
    rounded = model.logits(model.hidden_states(IDS, cache=cache)).float()
    assert (rounded.log_softmax(-1) - expected.log_softmax(-1)).abs().mean() < 0.2


def test_the_published_sizes() -> None:
    """SmolLM2-135M and Qwen3-0.6B as their config.json have them."""
    smollm = {
        **{"model_type": "llama", "vocab_size": 49152, "hidden_size": 576, "head_dim": 64},
        **{"num_hidden_layers": 30, "num_attention_heads": 9, "num_key_value_heads": 3},
        **{"intermediate_size": 1536, "max_position_embeddings": 8192, "rope_theta": 100000},
        **{"rms_norm_eps": 1e-05, "tie_word_embeddings": True, "rope_scaling": None},
    }
    found = ModelConfig.from_huggingface(smollm)
    assert (found.parameters, found.head_size, found.tied) == (134_515_008, 0, True)
    qwen = {
        **{"model_type": "qwen3", "vocab_size": 151936, "hidden_size": 1024, "head_dim": 128},
        **{"num_hidden_layers": 28, "num_attention_heads": 16, "num_key_value_heads": 8},
        **{"intermediate_size": 3072, "max_position_embeddings": 40960, "rope_theta": 1000000},
        **{"rms_norm_eps": 1e-06, "tie_word_embeddings": True, "sliding_window": None},
        **{"use_sliding_window": False, "attention_bias": False, "max_window_layers": 28},
    }
    found = ModelConfig.from_huggingface(qwen)
    assert (found.parameters, found.head_dim, found.qk_norm) == (596_049_920, 128, True)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rope_parameters": {"rope_type": "yarn", "factor": 2.0}}, "yarn"),
        ({"rope_scaling": {"type": "dynamic", "factor": 2.0}}, "dynamic"),
        ({"rope_scaling": {"type": "linear"}}, "factor"),
        ({"rope_scaling": {"type": "linear", "factor": 0}}, "rope scaling"),
        ({"rope_scaling": {"type": "linear", "factor": float("nan")}}, "rope scaling"),
        ({"rope_parameters": {**LLAMA3, "low_freq_factor": 5.0}}, "low factor"),
        ({"rope_parameters": {"partial_rotary_factor": 0.5}}, "part of each head"),
        ({"layer_types": ["full_attention", "sliding_attention"]}, "sliding"),
        ({"use_sliding_window": True}, "sliding"),
        ({"model_type": "qwen2"}, "qwen2"),
        ({"head_dim": -2}, "head_size"),
    ],
)
def test_what_is_not_done_is_said(change: dict[str, Any], words: str) -> None:
    raw = CONFIGS["tiny"].to_huggingface() | {"rope_parameters": None} | change
    with pytest.raises(ConfigError, match=words):
        ModelConfig.from_huggingface(raw)


def test_a_scaling_is_kept_by_both_spellings() -> None:
    config = replace(CONFIGS["tiny"], rope_scaling=RopeScaling("llama3", 8.0))
    raw = config.to_huggingface()
    assert ModelConfig.from_huggingface(raw) == config
    assert ModelConfig.from_huggingface({**raw, "rope_parameters": None}) == config
