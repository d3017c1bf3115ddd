"""The decoder of the Llama family (2302.13971): RMSNorm, RoPE, SwiGLU, grouped-query attention. With
RMSNorm on queries and keys it is Qwen3's (2505.09388).

One fused projection computes q, k and v, another gate and up, because a CPU is faster with fewer, larger
products. engine.storage.checkpoint splits them for Hugging Face's layout. Left out: biases, and dropout
(rollouts, reference and training must compute the same probabilities).

Notation: B batch, T tokens, D dim, H heads, K key/value heads, G = H / K, E head_dim, V vocabulary.
"""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from engine.cache import KeyValueCache
from engine.config import ModelConfig
from engine.passes import RMSNorm
from engine.products import Linear, product, shortened

FUSED = 512
"""Tokens of a row from which its attention is fused on a CPU. For shorter rows the fused kernel's backward
pass is slow; for longer ones the separate products need memory for T² numbers a head."""

SHORT = 128
"""Tokens of a row up to which attention is computed in float32 on a CPU. For such rows float32 is as fast as
bfloat16, and in bfloat16 oneDNN would compile new kernels for almost every batch (engine.products)."""


class Attention(nn.Module):
    """Causal grouped-query attention (2305.13245)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.heads, self.kv_heads, self.head_dim = config.heads, config.kv_heads, config.head_dim
        self.qkv = Linear(config.dim, (config.heads + 2 * config.kv_heads) * config.head_dim)
        self.out = Linear(config.heads * config.head_dim, config.dim)
        self.q_norm = self.k_norm = None
        if config.qk_norm:
            self.q_norm = RMSNorm(config.head_dim, config.norm_eps)
            self.k_norm = RMSNorm(config.head_dim, config.norm_eps)

    def forward(
        self,
        x: Tensor,
        rope: tuple[Tensor, Tensor],
        mask: Tensor | None,
        cache: KeyValueCache | None,
        layer: int,
        wanted: Tensor | None = None,
    ) -> Tensor:
        """x: [B, T, D]; mask: additive, broadcast to [B, 1, T, S]; None: causal, S = T, and fused. Returns
        [B, T, D]; with `wanted` (see `at`) [N, D]."""
        b, t, _ = x.shape
        h, k, e = self.heads, self.kv_heads, self.head_dim
        qkv = self.qkv(x).view(b, t, h + 2 * k, e).transpose(1, 2)  # (B, H+2K, T, E)
        turning, value = qkv.split([h + k, k], 1)
        if self.q_norm is not None and self.k_norm is not None:
            query, key = turning.split([h, k], 1)
            turning = torch.cat([self.q_norm(query), self.k_norm(key)], 1)
        query, key = apply_rope(turning, *rope).split([h, k], 1)
        if cache is not None:
            key, value = cache.append(layer, key, value)  # (B, K, S, E)
        if mask is None or t >= FUSED or (x.is_cuda and cache is None):
            mixed = fused_attention(query, key, value, mask)
        elif cache is None and t <= SHORT:
            with torch.autocast("cpu", enabled=False):
                mixed = _attention(query.float(), key.float(), value.float(), mask).to(value.dtype)
        else:
            mixed = _attention(query, key, value, mask)
        return self.out(at(mixed.transpose(1, 2).reshape(b, t, h * e), wanted))


class FeedForward(nn.Module):
    """SwiGLU (2002.05202)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.gate_up = Linear(config.dim, 2 * config.hidden)
        self.down = Linear(config.hidden, config.dim)

    def forward(self, x: Tensor) -> Tensor:
        """x: [..., D]. Returns [..., D]."""
        gate, up = self.gate_up(x).chunk(2, -1)
        return self.down(F.silu(gate) * up)


class Block(nn.Module):
    """A pre-norm block: x + attention(norm(x)), then x + ffn(norm(x))."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.attention_norm = RMSNorm(config.dim, config.norm_eps)
        self.attention = Attention(config)
        self.ffn_norm = RMSNorm(config.dim, config.norm_eps)
        self.ffn = FeedForward(config)

    def forward(
        self,
        x: Tensor,
        rope: tuple[Tensor, Tensor],
        mask: Tensor | None,
        cache: KeyValueCache | None,
        layer: int,
        wanted: Tensor | None = None,
    ) -> Tensor:
        """Arguments and result as of Attention."""
        mixed = self.attention(self.attention_norm(x), rope, mask, cache, layer, wanted)
        x = at(x, wanted) + mixed
        return x + self.ffn(self.ffn_norm(x))


class Model(nn.Module):
    """The whole decoder, from ids to logits. Weights are in transformers' shapes except for the fused
    projections."""

    rope_cos: Tensor
    rope_sin: Tensor

    def __init__(self, config: ModelConfig, *, generator: torch.Generator | None = None) -> None:
        """Initialises matrices from N(0, 0.02²); those that write to the residual stream (out, down) are
        scaled by 1/√(2 layers). generator: for these numbers. On the meta device no weights are set."""
        super().__init__()
        self.config = config
        self.packed: Any = None
        empty = torch.empty(config.vocab_size, config.dim)
        self.embedding = nn.Embedding(config.vocab_size, config.dim, _weight=empty)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.norm = RMSNorm(config.dim, config.norm_eps)
        self.output = None if config.tied else Linear(config.dim, config.vocab_size)
        # on the meta device, torch would import its compiler for these operations, which takes seconds
        meta = self.device.type == "meta"
        with torch.device("cpu"):
            cos, sin = rope_tables(config)
        self.register_buffer("rope_cos", cos if meta else cos.to(self.device), persistent=False)
        self.register_buffer("rope_sin", sin if meta else sin.to(self.device), persistent=False)
        if meta:
            return
        with torch.no_grad():
            for name, weight in self.named_parameters():
                if weight.dim() == 2:
                    residual = name.endswith(("out.weight", "down.weight"))
                    std = 0.02 / math.sqrt(2 * config.layers) if residual else 0.02
                    weight.normal_(0.0, std, generator=generator)

    def __getstate__(self) -> dict[str, Any]:
        """Copies and pickles carry no packed weights; a copy packs its own (engine.packed)."""
        return {**self.__dict__, "packed": None}

    @property
    def device(self) -> torch.device:
        return self.embedding.weight.device

    @property
    def dtype(self) -> torch.dtype:
        return self.embedding.weight.dtype

    @property
    def vocabulary(self) -> Tensor:
        """The output layer's weight [V, D], which is the embedding's if they are tied."""
        return self.embedding.weight if self.output is None else self.output.weight

    def hidden_states(
        self,
        ids: Tensor,
        *,
        positions: Tensor | None = None,
        mask: Tensor | None = None,
        cache: KeyValueCache | None = None,
        wanted: Tensor | None = None,
    ) -> Tensor:
        """Hidden states after the final norm, [B, T, D].

        ids: [B, T]. positions: [T] or [B, T]; by default they continue from the cache's length. mask:
        additive, [B, 1, T, S] or [1, 1, T, S], causal by default; S = length of the cache + T. cache: holds
        the keys and values of earlier tokens; those of ids are appended. wanted: as of `at`; then only those
        states are returned, [N, D], and the last block applies its output projection and feed-forward part to
        them alone. Raises IndexError if the cache has no room for ids.
        """
        start = cache.length if cache is not None else 0
        t = ids.shape[1]
        if positions is None:
            positions = torch.arange(start, start + t, device=ids.device)
        if mask is None:
            mask = self._causal(t, start)
        if cache is not None:
            cache.reserve(t)
        x = self.embedding(ids)
        rope = self._rope(positions, x.dtype)
        x = self._through(x, 0, len(self.blocks), rope, mask, cache, wanted)
        if cache is not None:
            cache.advance(t)
        return self.norm(x)

    def trunk(
        self,
        ids: Tensor,
        layers: int,
        *,
        positions: Tensor | None = None,
        mask: Tensor | None = None,
    ) -> Tensor:
        """Hidden states [B, T, D] of ids [B, T] after the first `layers` blocks, without a cache; positions
        and mask as in `hidden_states`."""
        return self._blocks(self.embedding(ids), 0, layers, positions, mask)

    def above(
        self,
        x: Tensor,
        layers: int,
        *,
        positions: Tensor | None = None,
        mask: Tensor | None = None,
        wanted: Tensor | None = None,
    ) -> Tensor:
        """`hidden_states` from what `trunk` gave: the other blocks and the norm, [B, T, D] or [N, D]."""
        return self.norm(self._blocks(x, layers, len(self.blocks), positions, mask, wanted))

    def _blocks(
        self,
        x: Tensor,
        first: int,
        last: int,
        positions: Tensor | None = None,
        mask: Tensor | None = None,
        wanted: Tensor | None = None,
    ) -> Tensor:
        """Without a cache; positions, mask and wanted as in `hidden_states`: causal, from position 0, all
        states by default."""
        t = x.shape[1]
        if positions is None:
            positions = torch.arange(t, device=self.device)
        rope = self._rope(positions, x.dtype)
        mask = self._causal(t, 0) if mask is None else mask
        return self._through(x, first, last, rope, mask, None, wanted)

    def _causal(self, t: int, start: int) -> Tensor | None:
        """As `causal_mask`. None for long rows on a CPU, whose kernel leaves out by itself what no query
        sees: at 2,048 tokens that takes half the time, with the same numbers."""
        if start == 0 and t >= FUSED and self.device.type == "cpu":
            return None
        return causal_mask(t, start, self.device)

    def _rope(self, positions: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        """cos and sin at positions [T] or [B, T], as `apply_rope` takes them."""
        cos, sin = self.rope_cos[positions].to(dtype), self.rope_sin[positions].to(dtype)
        return (cos.unsqueeze(1), sin.unsqueeze(1)) if positions.dim() == 2 else (cos, sin)

    def _through(
        self,
        x: Tensor,
        first: int,
        last: int,
        rope: tuple[Tensor, Tensor],
        mask: Tensor | None,
        cache: KeyValueCache | None,
        wanted: Tensor | None,
    ) -> Tensor:
        if first == last:
            return at(x, wanted)
        for layer in range(first, last - 1):
            x = self.blocks[layer](x, rope, mask, cache, layer)
        out: Tensor = self.blocks[last - 1](x, rope, mask, cache, last - 1, wanted)
        return out

    def logits(self, hidden: Tensor) -> Tensor:
        """Hidden states [..., D] to logits [..., V]."""
        return product(hidden, shortened(self.vocabulary))

    def forward(
        self, ids: Tensor, *, mask: Tensor | None = None, positions: Tensor | None = None
    ) -> Tensor:
        """ids [B, T] to logits [B, T, V], without a cache."""
        return self.logits(self.hidden_states(ids, mask=mask, positions=positions))


def at(x: Tensor, wanted: Tensor | None) -> Tensor:
    """The states [N, D] of x [B, T, D] at `wanted` [N], numbers of positions in x flattened to [B · T, D].
    None: x."""
    return x if wanted is None else x.flatten(0, 1).index_select(0, wanted)


def rope_tables(config: ModelConfig) -> tuple[Tensor, Tensor]:
    """(cos, sin) for all positions, [context, E] each (2104.09864). The second half repeats the first, as in
    transformers; the first half of the sines is negated, as `apply_rope` needs it."""
    frequency = rope_frequencies(config)
    angles = torch.outer(torch.arange(config.context).float(), frequency)
    return torch.cat([angles, angles], -1).cos(), torch.cat([-angles, angles], -1).sin()


def rope_frequencies(config: ModelConfig) -> Tensor:
    """Angles in radians per position, [E / 2], scaled according to `config.rope_scaling`."""
    frequency = config.rope_theta ** (
        -torch.arange(0, config.head_dim, 2).float() / config.head_dim
    )
    scaling = config.rope_scaling
    if scaling is None:
        return frequency
    if scaling.kind == "linear":
        return frequency / scaling.factor
    turns = scaling.original * frequency / (2.0 * math.pi)
    fast = ((turns - scaling.low) / (scaling.high - scaling.low)).clamp(0.0, 1.0)
    return frequency * (fast + (1.0 - fast) / scaling.factor)


def apply_rope(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotates x [B, H, T, E]. cos, sin: from `rope_tables`, [T, E] or broadcastable to x."""
    return torch.addcmul(x * cos, x.roll(x.shape[-1] // 2, -1), sin)


def _attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    """Attention as separate products; arguments and result as of `fused_attention`. The G query heads of one
    key/value head form one matrix, so keys and values need no copies."""
    b, h, t, e = query.shape
    k = key.shape[1]
    query = (query * (1.0 / math.sqrt(e))).reshape(b, k, (h // k) * t, e)
    scores = (query @ key.transpose(-1, -2)).view(b, k, h // k, t, -1)  # (B, K, G, T, S)
    scores = scores.add_(mask.unsqueeze(2))
    weights = torch.softmax(scores, -1).to(value.dtype).view(b, k, (h // k) * t, -1)
    return (weights @ value).view(b, h, t, e)


def fused_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
    """Attention as one kernel: on a GPU, and for long rows on a CPU (see FUSED).

    query: [B, H, T, E]; key, value: [B, K, S, E]; mask: additive, broadcast to [B, 1, T, S]; None: causal,
    S = T, which leaves out the half that a mask would hide. Returns [B, H, T, E]. Kernels that accept a mask
    need a key for each query head, so keys are repeated.
    """
    repeats = query.shape[1] // key.shape[1]
    key, value = key.repeat_interleave(repeats, 1), value.repeat_interleave(repeats, 1)
    kind = value.dtype  # under autocast, apply_rope returned query and key in float32
    return F.scaled_dot_product_attention(
        query.to(kind),
        key.to(kind),
        value,
        attn_mask=None if mask is None else mask.to(kind),
        is_causal=mask is None,
    )


def causal_mask(t: int, start: int, device: torch.device) -> Tensor:
    """Additive mask [1, 1, T, start + T]: query i sees keys up to start + i."""
    mask = torch.full((t, start + t), float("-inf"), device=device)
    return torch.triu(mask, start + 1)[None, None] if t > 1 else mask.zero_()[None, None]


def document_mask(documents: Tensor) -> Tensor:
    """Additive mask [B, 1, T, T] for packed rows: causal, and only within the same document.

    documents: [B, T], the number of each token's document.
    """
    t = documents.shape[1]
    same = documents[:, :, None] == documents[:, None, :]
    causal = torch.ones(t, t, dtype=torch.bool, device=documents.device).tril()
    mask = torch.zeros(same.shape, device=documents.device)
    return mask.masked_fill_(~(same & causal), float("-inf")).unsqueeze(1)
