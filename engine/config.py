"""Configs of models and settings of sampling, as frozen dataclasses. Imports no torch."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from engine.errors import ConfigError
from engine.storage.reading import shown

LONGEST = 1 << 20
"""Limit of the context in tokens. Loading a model allocates RoPE tables with a row per position."""
LARGEST_TABLE = 1 << 28
"""Limit of the numbers in such a table, context times head_dim."""
FAMILIES = ("llama", "qwen3")
"""Values of `model_type`, and of GGUF's `general.architecture`, that can be loaded."""


@dataclass(frozen=True)
class RopeScaling:
    """How a model that was trained with a shorter context scales its RoPE frequencies."""

    kind: Literal["linear", "llama3"]
    """linear: divides all frequencies by `factor` (2306.15595). llama3: divides the slow ones, keeps the fast
    ones and interpolates between (2407.21783, as in transformers)."""
    factor: float
    """> 0."""
    low: float = 1.0
    high: float = 4.0
    """llama3: a frequency is slow with fewer than `low` turns in `original` positions, fast with more than
    `high`."""
    original: int = 8192
    """llama3: the context, in tokens, of the training before scaling."""

    def __post_init__(self) -> None:
        sizes = (self.factor, self.low, self.high, float(self.original))
        if not all(0.0 < size < math.inf for size in sizes) or self.low >= self.high:
            raise ConfigError(
                f"model config: rope scaling {self.kind} has the numbers {sizes}",
                "they must be above 0, and the low factor below the high one",
            )

    def to_huggingface(self) -> dict[str, Any]:
        """The entries of `rope_parameters` in config.json, without theta."""
        said: dict[str, Any] = {"rope_type": self.kind, "factor": self.factor}
        if self.kind == "llama3":
            said |= {"low_freq_factor": self.low, "high_freq_factor": self.high}
            said |= {"original_max_position_embeddings": self.original}
        return said

    @classmethod
    def from_huggingface(cls, rope: dict[str, Any]) -> RopeScaling | None:
        """Reads `rope_parameters`; None for plain RoPE. Raises ConfigError if the kind is unknown; KeyError,
        ValueError or TypeError if a number is missing or malformed."""
        kind = rope.get("rope_type", rope.get("type", "default"))
        if float(rope.get("partial_rotary_factor") or 1.0) != 1.0:
            raise ConfigError(
                "config.json: RoPE rotates only a part of each head", "it must rotate all of it"
            )
        if kind == "default":
            return None
        if kind == "linear":
            return cls("linear", float(rope["factor"]))
        if kind == "llama3":
            return cls(
                "llama3",
                float(rope["factor"]),
                float(rope["low_freq_factor"]),
                float(rope["high_freq_factor"]),
                int(rope["original_max_position_embeddings"]),
            )
        raise ConfigError(
            f"config.json: rope type {shown(kind)}", "default, linear and llama3 are supported"
        )


@dataclass(frozen=True)
class ModelConfig:
    """A decoder of the Llama family: RMSNorm, RoPE, SwiGLU, grouped-query attention, optionally Qwen3's norms
    on queries and keys."""

    vocab_size: int = 6144
    """Number of token ids, including special tokens."""
    dim: int = 384
    """Width of the residual stream."""
    layers: int = 5
    heads: int = 6
    """Query heads."""
    kv_heads: int = 2
    """Key/value heads. Must divide `heads`."""
    hidden: int = 1024
    """Width of the SwiGLU's inner layer."""
    context: int = 512
    """Longest sequence in tokens, prompt and answer together."""
    rope_theta: float = 10_000.0
    norm_eps: float = 1e-5
    head_size: int = 0
    """Width of a head if it is not dim / heads; otherwise 0."""
    qk_norm: bool = False
    """Applies RMSNorm to each head's queries and keys before RoPE (Qwen3)."""
    tied: bool = True
    """The output layer uses the embedding's weight."""
    rope_scaling: RopeScaling | None = None

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
        if self.head_size < 0 or (self.head_size == 0 and self.dim % self.heads):
            raise ConfigError(
                f"model config: dim {self.dim}, heads {self.heads}, head_size {self.head_size}",
                "dim must be a multiple of heads if head_size is 0",
            )
        if self.heads % self.kv_heads or self.head_dim % 2:
            raise ConfigError(
                f"model config: heads {self.heads}, kv_heads {self.kv_heads}, head_dim {self.head_dim}",
                "heads must be a multiple of kv_heads, and head_dim must be even",
            )
        if self.context * self.head_dim > LARGEST_TABLE:
            raise ConfigError(
                f"model config: context {self.context} times head_dim {self.head_dim} is too large",
                f"it can be {LARGEST_TABLE} at most",
            )

    @property
    def head_dim(self) -> int:
        """Width of a head."""
        return self.head_size or self.dim // self.heads

    @property
    def parameters(self) -> int:
        """Number of weights. A tied embedding counts once."""
        norms = 2 * self.dim + 2 * self.head_dim * self.qk_norm
        blocks = self.layers * (self.block_parameters + norms)
        return self.vocab_size * self.dim * (1 if self.tied else 2) + blocks + self.dim

    @property
    def block_parameters(self) -> int:
        """Number of weights in the matrices of one block."""
        attention = self.dim * self.head_dim * (2 * self.heads + 2 * self.kv_heads)
        return attention + 3 * self.dim * self.hidden

    def to_huggingface(self) -> dict[str, Any]:
        """The contents of `config.json` for LlamaForCausalLM or Qwen3ForCausalLM of transformers."""
        scaling = self.rope_scaling.to_huggingface() if self.rope_scaling else {}
        return {
            "architectures": ["Qwen3ForCausalLM" if self.qk_norm else "LlamaForCausalLM"],
            "model_type": "qwen3" if self.qk_norm else "llama",
            "vocab_size": self.vocab_size,
            "hidden_size": self.dim,
            "num_hidden_layers": self.layers,
            "num_attention_heads": self.heads,
            "num_key_value_heads": self.kv_heads,
            "head_dim": self.head_dim,
            "intermediate_size": self.hidden,
            "max_position_embeddings": self.context,
            "rope_theta": self.rope_theta,
            "rope_parameters": {"rope_type": "default", "rope_theta": self.rope_theta} | scaling,
            "rms_norm_eps": self.norm_eps,
            "tie_word_embeddings": self.tied,
            "hidden_act": "silu",
            "attention_bias": False,
            "mlp_bias": False,
        } | ({"rope_scaling": scaling} if scaling else {})  # transformers before 5 reads this key

    @classmethod
    def from_huggingface(cls, raw: dict[str, Any]) -> ModelConfig:
        """Reads the contents of the `config.json` of a Llama or Qwen3. Raises ConfigError if this engine does
        not support the model. As in transformers, the default is an untied output layer."""
        try:
            kind = raw.get("model_type")
            if kind not in FAMILIES:
                raise ConfigError(
                    f"config.json: model_type is {shown(kind)}",
                    f"models of these types can be loaded: {', '.join(FAMILIES)}",
                )
            for key in ("attention_bias", "mlp_bias"):
                if raw.get(key):
                    raise ConfigError(f"config.json: {key} is set", "biases are not supported")
            slides = any(one != "full_attention" for one in raw.get("layer_types") or ())
            if raw.get("use_sliding_window") or slides:
                raise ConfigError(
                    "config.json: attention goes over a sliding window",
                    "only attention over the whole context is supported",
                )
            rope = raw.get("rope_parameters") or raw.get("rope_scaling") or {}
            if raw.get("hidden_act", "silu") != "silu":
                raise ConfigError(
                    f"config.json: hidden_act {shown(raw['hidden_act'])}", "only silu is supported"
                )
            heads, dim = int(raw["num_attention_heads"]), int(raw["hidden_size"])
            head_dim = raw.get("head_dim") or (128 if kind == "qwen3" else 0)
            if not isinstance(head_dim, int):
                raise ConfigError(
                    f"config.json: head_dim is {shown(head_dim)}", "it must be a positive number"
                )
            return cls(
                vocab_size=int(raw["vocab_size"]),
                dim=dim,
                layers=int(raw["num_hidden_layers"]),
                heads=heads,
                kv_heads=int(raw.get("num_key_value_heads") or heads),
                hidden=int(raw["intermediate_size"]),
                context=int(raw.get("max_position_embeddings", 512)),
                rope_theta=float(rope.get("rope_theta", raw.get("rope_theta", 10_000.0))),
                norm_eps=float(raw.get("rms_norm_eps", 1e-5)),
                head_size=0 if head_dim * heads == dim else head_dim,
                qk_norm=kind == "qwen3",
                tied=bool(raw.get("tie_word_embeddings", False)),
                rope_scaling=RopeScaling.from_huggingface(rope),
            )
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise ConfigError(
                f"config.json: {type(error).__name__}: {error}",
                "it must be the config of a Llama or Qwen3 model",
            ) from error


CONFIGS: dict[str, ModelConfig] = {
    "tiny": ModelConfig(
        vocab_size=512, dim=64, layers=2, heads=4, kv_heads=2, hidden=128, context=128
    ),
    "10m": ModelConfig(),
    "49m": ModelConfig(dim=768, layers=7, heads=12, kv_heads=4, hidden=2048, context=1024),
}
"""Shapes of new models. `10m`: 10.2M weights; `49m`: 48.8M weights; `tiny`: for tests."""


@dataclass(frozen=True)
class Sampling:
    """How the next token is sampled. The defaults are those of the app."""

    temperature: float = 0.8
    """0 to 10; 0 is greedy decoding."""
    top_k: int = 0
    """Keep the k most probable tokens; 0 keeps all."""
    top_p: float = 0.95
    """Nucleus sampling (1904.09751): keep the smallest set of tokens with total probability p. In (0, 1]."""
    min_p: float = 0.0
    """Drop tokens below min_p times the highest probability (2407.01082). In [0, 1)."""
    repetition_penalty: float = 1.1
    """1 to 10; 1 is none (1909.05858). Applies to the tokens of the answer so far."""
    max_tokens: int = 64
    """Longest answer in tokens, at least 1."""

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
        """A copy with the given fields replaced. A value of None keeps the field."""
        return replace(self, **{k: v for k, v in changes.items() if v is not None})

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


GREEDY = Sampling(temperature=0.0, top_p=1.0, repetition_penalty=1.0)
"""Greedy decoding, used to measure recall."""
