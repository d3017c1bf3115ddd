"""Function-preserving growth: a larger model that computes exactly the function of a smaller one.

Like Net2Net and bert2BERT (arXiv 1511.05641, 2110.07143), in width, depth, heads, hidden size and context,
but new width starts at zero instead of as a copy. Weights that read the new dimensions are random, weights
that write them are zero, so the function is unchanged, no two dimensions are equal, and training can use
them. A new block adds nothing at first, because its two projections into the residual stream are zero.
RMSNorm over m times the width sees 1/m of the mean square; weights / √m and eps / m compensate for this.
Left out: shrinking, another vocabulary, another head size.
"""

from __future__ import annotations

import math
from dataclasses import replace

import torch
from torch import Tensor

from engine.config import ModelConfig
from engine.errors import ConfigError
from engine.model import Attention, Block, FeedForward, Model

_GROWS = ("dim", "layers", "heads", "kv_heads", "hidden", "context")


def grow(model: Model, target: ModelConfig, *, generator: torch.Generator) -> Model:
    """A model with the sizes of `target` and the same logits, up to rounding; float32 weights.

    The vocabulary, RoPE, norms and output layer are those of the small model, whatever target says.
    Raises ConfigError if target is smaller in any size, or has another head size.
    """
    old = model.config
    for name in _GROWS:
        if getattr(target, name) < getattr(old, name):
            raise ConfigError(
                f"cannot grow: {name} would fall from {getattr(old, name)} to "
                f"{getattr(target, name)}",
                "choose a configuration that is larger in everything",
            )
    if target.head_dim != old.head_dim:
        raise ConfigError(
            f"cannot grow: heads of {old.head_dim} would become heads of {target.head_dim}",
            "choose a configuration with the same dim / heads",
        )
    if target.heads // target.kv_heads < old.heads // old.kv_heads:
        raise ConfigError(
            "cannot grow: fewer query heads would share a key/value head",
            "choose a configuration with at least as many heads for each key/value head",
        )
    widening = target.dim / old.dim
    config = replace(
        target,
        vocab_size=old.vocab_size,
        rope_theta=old.rope_theta,
        norm_eps=old.norm_eps / widening,
        qk_norm=old.qk_norm,
        tied=old.tied,
        rope_scaling=old.rope_scaling,
    )
    large = Model(config, generator=generator).to(model.device)
    with torch.no_grad():
        large.embedding.weight.zero_()
        large.embedding.weight[:, : old.dim] = model.embedding.weight
        _grow_norm(large.norm.weight, model.norm.weight)
        if large.output is not None and model.output is not None:
            _like(large.output.weight, model.output.weight, generator)
            large.output.weight[:, : old.dim] = model.output.weight
        places = block_places(old.layers, config.layers)
        for place, block in enumerate(large.blocks):
            assert isinstance(block, Block)
            if place in places:
                small = model.blocks[places.index(place)]
                assert isinstance(small, Block)
                _grow_block(block, small, generator)
            else:
                _silence(block, math.sqrt(widening))
    return large


def block_places(old: int, new: int) -> list[int]:
    """Indices in the `new` blocks at which the `old` ones are placed, in order. New blocks are spread between
    them: never first, and last only if there is one old block."""
    return [i + (i * (new - old)) // max(1, old - 1) for i in range(old)]


def _grow_block(large: Block, small: Block, generator: torch.Generator) -> None:
    _grow_norm(large.attention_norm.weight, small.attention_norm.weight)
    _grow_norm(large.ffn_norm.weight, small.ffn_norm.weight)
    _grow_attention(large.attention, small.attention, generator)
    _grow_feed_forward(large.ffn, small.ffn, generator)


def _grow_attention(large: Attention, small: Attention, generator: torch.Generator) -> None:
    e, dim = small.head_dim, small.out.weight.shape[0]
    per, per_large = small.heads // small.kv_heads, large.heads // large.kv_heads
    query = [head // per * per_large + head % per for head in range(small.heads)]
    shared = list(range(small.kv_heads))
    heads = [
        *query,
        *(large.heads + i for i in shared),
        *(large.heads + large.kv_heads + i for i in shared),
    ]
    rows = _rows(heads, e)
    _like(large.qkv.weight, small.qkv.weight, generator)
    large.qkv.weight[rows, :dim] = small.qkv.weight
    if small.q_norm is not None and small.k_norm is not None:
        assert large.q_norm is not None and large.k_norm is not None
        large.q_norm.weight.copy_(small.q_norm.weight)
        large.k_norm.weight.copy_(small.k_norm.weight)
        # norm_eps shrank by the ratio of the widths; q and k shrink with it, so their norms stay the same
        turned = (small.heads + small.kv_heads) * e
        large.qkv.weight[rows[:turned]] *= math.sqrt(dim / large.out.weight.shape[0])
    large.out.weight.zero_()
    large.out.weight[:dim, _rows(query, e)] = small.out.weight


def _grow_feed_forward(large: FeedForward, small: FeedForward, generator: torch.Generator) -> None:
    dim, hidden = small.down.weight.shape
    hidden_large = large.down.weight.shape[1]
    _like(large.gate_up.weight, small.gate_up.weight, generator)
    large.gate_up.weight[:hidden, :dim] = small.gate_up.weight[:hidden]
    large.gate_up.weight[hidden_large : hidden_large + hidden, :dim] = small.gate_up.weight[hidden:]
    large.down.weight.zero_()
    large.down.weight[:dim, :hidden] = small.down.weight


def _silence(block: Block, root: float) -> None:
    """Makes a new block contribute nothing: its output projections become zero; scales its norms."""
    block.attention_norm.weight.fill_(1.0 / root)
    block.ffn_norm.weight.fill_(1.0 / root)
    block.attention.out.weight.zero_()
    block.ffn.down.weight.zero_()


def _grow_norm(large: Tensor, small: Tensor) -> None:
    root = math.sqrt(len(large) / len(small))
    large.fill_(float(small.float().mean()) / root)
    large[: len(small)] = small / root


def _like(large: Tensor, small: Tensor, generator: torch.Generator) -> None:
    """Fills `large` with random numbers that have the standard deviation of `small`."""
    noise = torch.randn(large.shape, generator=generator)
    large.copy_(noise * float(small.float().std()))


def _rows(heads: list[int], size: int) -> Tensor:
    return torch.cat([torch.arange(head * size, (head + 1) * size) for head in heads])
