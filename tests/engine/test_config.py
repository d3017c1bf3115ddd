"""engine.config: accepted and refused configs, and the sizes of the shipped shapes."""

from __future__ import annotations

from typing import Any

import pytest

from engine.config import CONFIGS, GREEDY, ModelConfig, Sampling
from engine.errors import ConfigError


@pytest.mark.parametrize(("name", "millions"), [("10m", 10.0), ("49m", 49.0)])
def test_named_sizes_hold(name: str, millions: float) -> None:
    assert CONFIGS[name].parameters / 1e6 == pytest.approx(millions, rel=0.1)


@pytest.mark.parametrize("name", sorted(CONFIGS))
def test_huggingface_round_trip(name: str) -> None:
    assert ModelConfig.from_huggingface(CONFIGS[name].to_huggingface()) == CONFIGS[name]


@pytest.mark.parametrize(
    "fields",
    [{"dim": 100}, {"heads": 6, "kv_heads": 4}, {"layers": 0}, {"dim": 6, "heads": 2}],
)
def test_impossible_shapes_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        ModelConfig(**fields)


@pytest.mark.parametrize(
    "change",
    [
        {"model_type": "gpt2"},
        {"attention_bias": True},
        {"rope_parameters": {"rope_type": "llama3", "rope_theta": 1e4}},
        {"hidden_act": "gelu"},
        {"head_dim": 7},
        {"hidden_size": "wide"},
        {"num_attention_heads": None},
    ],
)
def test_foreign_configs_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        ModelConfig.from_huggingface(CONFIGS["tiny"].to_huggingface() | change)


@pytest.mark.parametrize("key", ["vocab_size", "hidden_size", "num_hidden_layers"])
def test_missing_key_is_named(key: str) -> None:
    raw = CONFIGS["tiny"].to_huggingface()
    del raw[key]
    with pytest.raises(ConfigError, match=key):
        ModelConfig.from_huggingface(raw)


def test_old_style_rope_theta_is_read() -> None:
    raw = CONFIGS["tiny"].to_huggingface() | {"rope_theta": 5000.0}
    del raw["rope_parameters"]
    assert ModelConfig.from_huggingface(raw).rope_theta == 5000.0


@pytest.mark.parametrize(
    "fields",
    [
        {"temperature": -0.1},
        {"temperature": float("nan")},
        {"top_k": -1},
        {"top_p": 0.0},
        {"top_p": 1.1},
        {"min_p": 1.0},
        {"repetition_penalty": 0.9},
        {"max_tokens": 0},
    ],
)
def test_sampling_bounds(fields: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(fields))):
        Sampling(**fields)


def test_with_leaves_none_alone() -> None:
    changed = Sampling(top_k=7).with_(temperature=0.0, top_k=None)
    assert (changed.temperature, changed.top_k) == (0.0, 7)
    assert Sampling(**GREEDY.to_dict()) == GREEDY
