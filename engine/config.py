"""Shapes of models and settings of sampling. Frozen dataclasses; imports no torch."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

from engine.errors import ConfigError
from engine.storage.reading import shown

LONGEST = 1 << 20
"""The longest context; tables of that many rows are made when a model is loaded."""
LARGEST_TABLE = 1 << 28
"""Numbers in such a table, context times head_dim."""


@dataclass(frozen=True)
class ModelConfig:
    """A Llama-architecture decoder: RMSNorm, RoPE, SwiGLU, grouped-query attention, tied embeddings."""

    vocab_size: int = 6144
    """Number of token ids, special tokens included."""
    dim: int = 384
    """Width of the residual stream."""
    layers: int = 5
    heads: int = 6
    """Query heads; dim == heads * head_dim."""
    kv_heads: int = 2
    """Key/value heads; divides heads."""
    hidden: int = 1024
    """Width of the SwiGLU's inner layer."""
    context: int = 512
    """Longest sequence in tokens, prompt and answer together."""
    rope_theta: float = 10_000.0
    norm_eps: float = 1e-5

    def __post_init__(self) -> None:
        for name in ("vocab_size", "dim", "layers", "heads", "kv_heads", "hidden", "context"):
            if getattr(self, name) < 1:
                raise ConfigError(
                    f"model config: {name} is {getattr(self, name)}",
                    "it must be a positive number",
                )
        if self.context > LONGEST:
            raise ConfigError(
                f"model config: context is {self.context}", f"it can be {LONGEST} at most"
            )
        if not (0.0 < self.rope_theta < math.inf and 0.0 <= self.norm_eps < 1.0):
            raise ConfigError(
                f"model config: rope_theta {self.rope_theta}, norm_eps {self.norm_eps}",
                "rope_theta must be above 0, norm_eps from 0 to below 1",
            )
        if self.dim % self.heads or self.heads % self.kv_heads or self.head_dim % 2:
            raise ConfigError(
                f"model config: dim {self.dim}, heads {self.heads}, kv_heads {self.kv_heads} "
                "do not divide",
                "dim must be a multiple of 2 * heads, and heads a multiple of kv_heads",
            )

        if self.context * self.head_dim > LARGEST_TABLE:
            raise ConfigError(
                f"model config: context {self.context} times head_dim {self.head_dim} is too large",
                f"it can be {LARGEST_TABLE} at most",
            )

    @property
    def head_dim(self) -> int:
        return self.dim // self.heads

    @property
    def parameters(self) -> int:
        """Number of weights; the tied embedding counts once."""
        attention = self.dim * self.head_dim * (2 * self.heads + 2 * self.kv_heads)
        block = attention + 3 * self.dim * self.hidden + 2 * self.dim
        return self.vocab_size * self.dim + self.layers * block + self.dim

    def to_huggingface(self) -> dict[str, Any]:
        """The `config.json` that transformers' LlamaForCausalLM reads."""
        return {
            "architectures": ["LlamaForCausalLM"],
            "model_type": "llama",
            "vocab_size": self.vocab_size,
            "hidden_size": self.dim,
            "num_hidden_layers": self.layers,
            "num_attention_heads": self.heads,
            "num_key_value_heads": self.kv_heads,
            "head_dim": self.head_dim,
            "intermediate_size": self.hidden,
            "max_position_embeddings": self.context,
            "rope_theta": self.rope_theta,
            "rope_parameters": {"rope_type": "default", "rope_theta": self.rope_theta},
            "rms_norm_eps": self.norm_eps,
            "tie_word_embeddings": True,
            "hidden_act": "silu",
            "attention_bias": False,
            "mlp_bias": False,
        }

    @classmethod
    def from_huggingface(cls, raw: dict[str, Any]) -> ModelConfig:
        """Reads a Llama `config.json`. Raises ConfigError for what this engine does not do."""
        try:
            if raw.get("model_type") != "llama":
                raise ConfigError(
                    f"config.json: model_type is {shown(raw.get('model_type'))}",
                    "only Llama-architecture models can be loaded",
                )
            for key in ("attention_bias", "mlp_bias"):
                if raw.get(key):
                    raise ConfigError(f"config.json: {key} is set", "biases are not supported")
            rope = raw.get("rope_parameters") or raw.get("rope_scaling") or {}
            kind = rope.get("rope_type", rope.get("type", "default"))
            if kind != "default":
                raise ConfigError(
                    f"config.json: rope type {shown(kind)}", "only plain RoPE is supported"
                )
            if raw.get("hidden_act", "silu") != "silu":
                raise ConfigError(
                    f"config.json: hidden_act {shown(raw['hidden_act'])}", "only silu is supported"
                )
            heads = int(raw["num_attention_heads"])
            config = cls(
                vocab_size=int(raw["vocab_size"]),
                dim=int(raw["hidden_size"]),
                layers=int(raw["num_hidden_layers"]),
                heads=heads,
                kv_heads=int(raw.get("num_key_value_heads") or heads),
                hidden=int(raw["intermediate_size"]),
                context=int(raw.get("max_position_embeddings", 512)),
                rope_theta=float(rope.get("rope_theta", raw.get("rope_theta", 10_000.0))),
                norm_eps=float(raw.get("rms_norm_eps", 1e-5)),
            )
            if raw.get("head_dim") not in (None, config.head_dim):
                raise ConfigError(
                    f"config.json: head_dim {shown(raw['head_dim'])} is not hidden_size / heads",
                    "this engine needs head_dim * heads == hidden_size",
                )
            return config
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise ConfigError(
                f"config.json: {type(error).__name__}: {error}",
                "it must be the config of a Llama model",
            ) from error


CONFIGS: dict[str, ModelConfig] = {
    "tiny": ModelConfig(
        vocab_size=512, dim=64, layers=2, heads=4, kv_heads=2, hidden=128, context=128
    ),
    "10m": ModelConfig(),
    "49m": ModelConfig(dim=768, layers=7, heads=12, kv_heads=4, hidden=2048, context=1024),
}
"""`10m`: 10.2M weights, `49m`: 48.8M weights, `tiny`: for tests."""


@dataclass(frozen=True)
class Sampling:
    """How the next token is drawn. The defaults are those of the app."""

    temperature: float = 0.8
    """>= 0; 0 is greedy decoding."""
    top_k: int = 0
    """Keep the k likeliest tokens; 0 keeps all."""
    top_p: float = 0.95
    """Nucleus: the smallest set whose probability reaches p, in (0, 1]."""
    min_p: float = 0.0
    """Drop tokens below min_p times the likeliest one's probability, in [0, 1)."""
    repetition_penalty: float = 1.1
    """>= 1; 1 is none (1909.05858). Counts the tokens of the answer so far."""
    max_tokens: int = 64
    """Longest answer in tokens."""

    def __post_init__(self) -> None:
        bounds = {
            "temperature": 0.0 <= self.temperature <= 10.0,
            "top_k": self.top_k >= 0,
            "top_p": 0.0 < self.top_p <= 1.0,
            "min_p": 0.0 <= self.min_p < 1.0,
            "repetition_penalty": 1.0 <= self.repetition_penalty <= 10.0,
            "max_tokens": self.max_tokens >= 1,
        }
        for name, good in bounds.items():
            if not good:
                raise ConfigError(
                    f"sampling: {name} is {getattr(self, name)}",
                    "temperature is 0 to 10, top_p above 0 and at most 1, min_p 0 to below 1, "
                    "repetition_penalty 1 to 10, top_k at least 0, max_tokens at least 1",
                )

    def with_(self, **changes: Any) -> Sampling:
        """A copy with the given fields replaced; None leaves a field as it is."""
        return replace(self, **{k: v for k, v in changes.items() if v is not None})

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


GREEDY = Sampling(temperature=0.0, top_p=1.0, repetition_penalty=1.0)
"""Greedy decoding, as recall is measured."""
