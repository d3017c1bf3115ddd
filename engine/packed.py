"""Weights packed for fast decoding, and the forward pass of a decoding step.

A step of five rows is bound by reading the weights and by the number of operations, not by arithmetic. On a
CPU, oneDNN's layout is read two to three times as fast as row-major matrices, residuals and SwiGLU's gate
are fused into the products, and attention is one fused operation. On a CPU on which float32 is the fastest
format, weights are stored as float16 in FBGEMM's layout: half the bytes, sums in float32, up to twice as fast
again. Queries, keys and values of a key/value head are adjacent, so that attention needs no copies. Each
weight is packed once: a publication reuses the packed weights that it did not change. On other devices
ordinary products are used. Results equal those of engine.model up to rounding (tests/engine/test_packed.py;
float16 changes a weight by at most 1 part in 2,048). Left out: gradients; quantisation, so that answers come
from the trained weights.

Notation as in engine.model; G = H / K query heads share a key/value head, R rows = B T.
"""

from __future__ import annotations

import copy
import functools
import math
from collections.abc import Callable, Mapping
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.cache import KeyValueCache
from engine.model import Model, causal_mask

ROWS = 16
"""Number of rows for which oneDNN chooses the layout; from 1 to 256 it chooses the same one."""
ROPE_ROWS = 1024
"""Positions whose RoPE factors are prepared at once; more if a conversation is longer. All 40,960 of a
Qwen3 would take 170 MB."""
HALF_MOST = torch.finfo(torch.float16).max
"""A matrix with larger numbers or NaN, as a broken model has, is not packed in float16: FBGEMM would put this
number in their place."""
_OPS: Any = torch.ops.mkldnn
"""The operations that torch.compile uses for packing; not public, so `can_pack` tests them."""


class Product:
    """x [R, I] times a weight [O, I], optionally fused with another operation on the result."""

    def __init__(self, weight: Tensor) -> None:
        self._weight = weight.contiguous()

    def __call__(self, x: Tensor) -> Tensor:
        """The product, [R, O]."""
        return F.linear(x, self._weight)

    def silu(self, x: Tensor) -> Tensor:
        """silu of the product."""
        return F.silu(self(x), inplace=True)

    def plus(self, x: Tensor, other: Tensor) -> Tensor:
        """The product and other [R, O] added."""
        return self(x).add_(other)

    def times(self, x: Tensor, other: Tensor) -> Tensor:
        """The product and other [R, O] multiplied."""
        return self(x).mul_(other)


class PackedProduct(Product):
    """The same in oneDNN's layout; each method is one fused operation."""

    def __init__(self, weight: Tensor) -> None:
        self._weight = _OPS._reorder_linear_weight(weight.detach().contiguous(), ROWS)

    def __call__(self, x: Tensor) -> Tensor:
        return _OPS._linear_pointwise(x, self._weight, None, "none", [], "")

    def silu(self, x: Tensor) -> Tensor:
        return _OPS._linear_pointwise(x, self._weight, None, "swish", [], "")

    def plus(self, x: Tensor, other: Tensor) -> Tensor:
        return _OPS._linear_pointwise.binary(x, other, self._weight, None, "add")

    def times(self, x: Tensor, other: Tensor) -> Tensor:
        return _OPS._linear_pointwise.binary(x, other, self._weight, None, "mul")


class HalfProduct(Product):
    """x in float32 times the weight in float16, in FBGEMM's layout."""

    def __init__(self, weight: Tensor) -> None:
        self._weight = torch.ops.quantized.linear_prepack_fp16(weight.detach().contiguous(), None)
        self._times: Any = torch.ops.quantized.linear_dynamic_fp16

    def __call__(self, x: Tensor) -> Tensor:
        out: Tensor = self._times(x, self._weight)
        return out


Packed = dict[Any, tuple[Tensor, Product]]
"""Key of a weight -> (its tensor, packed product). Keeping the tensor prevents reuse of its address."""


class _Packer:
    """Packs each weight once; reuses products in `before` of tensors that have not changed."""

    def __init__(self, product: type[Product], before: Packed) -> None:
        self._product, self._before = product, before
        self.done: Packed = {}

    def __call__(
        self, weight: Tensor, arrange: Callable[[Tensor], Tensor] = lambda weight: weight
    ) -> Product:
        """The packed product of a weight. arrange: permutes its rows before packing."""
        key = self._product, weight.data_ptr(), weight.shape, weight._version
        self.done[key] = self._before.get(key) or (weight.detach(), self._packed(arrange(weight)))
        return self.done[key][1]

    def _packed(self, weight: Tensor) -> Product:
        if self._product is HalfProduct:
            low, high = weight.detach().aminmax()  # NaN if one number is
            if not (low >= -HALF_MOST and high <= HALF_MOST):
                return PackedProduct(weight)
        return self._product(weight)


class PackedBlock:
    """The packed weights of one block."""

    def __init__(self, block: Any, product: _Packer) -> None:
        attention, ffn = block.attention, block.ffn
        h, k, e = attention.heads, attention.kv_heads, attention.head_dim

        def grouped(weight: Tensor) -> Tensor:
            q, key, value = weight.view(h + 2 * k, e, -1).split([h, k, k])
            heads = torch.cat([q.view(k, h // k, e, -1), key[:, None], value[:, None]], 1)
            return heads.flatten(0, 2)

        gate, up = ffn.gate_up.weight.chunk(2)
        self.attention_norm = block.attention_norm.weight.detach()
        self.ffn_norm = block.ffn_norm.weight.detach()
        self.qkv, self.out = product(attention.qkv.weight, grouped), product(attention.out.weight)
        self.gate, self.up, self.down = product(gate), product(up), product(ffn.down.weight)
        self.qk_norm: Tensor | None = None
        if attention.q_norm is not None:  # (G + 1, E): for a group's G queries and its key
            norms = [attention.q_norm.weight] * (h // k) + [attention.k_norm.weight]
            self.qk_norm = torch.stack(norms).detach()


class PackedModel:
    """The model for decoding. Shares embedding and norms with the original."""

    @torch.no_grad()
    def __init__(self, model: Model, before: PackedModel | None = None) -> None:
        """before: an earlier packed model that shares some tensors with this one (see `share`)."""
        self.config = config = model.config
        self.device, self.dtype = model.device, model.dtype
        kind = product_for(self.device, self.dtype)
        product = _Packer(kind, before._done if before else {})
        self._embedding = model.embedding.weight.detach()
        self._vocabulary = product(model.vocabulary)
        self._norm = model.norm.weight.detach()
        self._blocks = [PackedBlock(block, product) for block in model.blocks]
        self._eps = torch.full((1, 1), config.norm_eps, device=self.device)
        self._rope = model.rope_cos, model.rope_sin
        self._turned = self._rope_tables(min(config.context, ROPE_ROWS))
        self._done: Packed = product.done

    def _rope_tables(self, rows: int) -> tuple[Tensor, Tensor]:
        """Cosine and sine tables, each [rows, G + 2, E], for the G queries, key and value of a group:
        queries are also scaled by 1/√E, values are unchanged."""
        group = self.config.heads // self.config.kv_heads
        scale = 1.0 / math.sqrt(self.config.head_dim)
        cos, sin = (table[:rows, None] for table in self._rope)
        cos = torch.cat([*[cos * scale] * group, cos, torch.ones_like(cos)], 1)
        sin = torch.cat([*[sin * scale] * group, sin, torch.zeros_like(sin)], 1)
        return cos.to(self.dtype), sin.to(self.dtype)

    @torch.no_grad()
    def hidden_states(
        self,
        ids: Tensor,
        *,
        cache: KeyValueCache,
        positions: Tensor | None = None,
        mask: Tensor | None = None,
    ) -> Tensor:
        """Like Model.hidden_states, but always with a cache and without gradients. Returns [B, T, D]."""
        b, t = ids.shape
        start = cache.length
        k, e = self.config.kv_heads, self.config.head_dim
        group = self.config.heads // k
        tables = self._turned
        if cache.size > len(tables[0]):
            tables = self._turned = self._rope_tables(min(2 * cache.size, self.config.context))
        if positions is None:
            cos, sin = (table[start : start + t, None] for table in tables)
        else:
            cos, sin = (table[positions].unsqueeze(-3) for table in tables)
        cache.reserve(t)
        if mask is None and t > 1:
            mask = causal_mask(t, start, self.device)
        if mask is not None:
            mask = mask.to(self.dtype)
            if mask.shape[2] > 1:  # a group's G queries of a token are adjacent: (B or 1, 1, TG, S)
                mask = mask.repeat_interleave(group, 2)
        x = F.embedding(ids, self._embedding).view(b * t, -1)
        for layer, block in enumerate(self._blocks):
            heads = block.qkv(self._normed(x, block.attention_norm)).view(b, t, k, group + 2, e)
            if block.qk_norm is not None:
                turning = heads[..., :-1, :]
                turning.copy_(self._normed(turning, block.qk_norm))
            heads = torch.addcmul(heads * cos, heads.roll(e // 2, -1), sin).transpose(1, 2)
            query, key, value = heads.split([group, 1, 1], 3)  # (B, K, T, G or 1, E)
            keys, values = cache.append(layer, key.squeeze(3), value.squeeze(3))  # (B, K, S, E)
            query = query.reshape(b, k, t * group, e)
            mixed = cache.attend(layer, query, keys, values, mask).reshape(b, k, t, group * e)
            x = block.out.plus(mixed.transpose(1, 2).reshape(b * t, -1), x)
            normed = self._normed(x, block.ffn_norm)
            x = block.down.plus(block.up.times(normed, block.gate.silu(normed)), x)
        cache.advance(t)
        return self._normed(x, self._norm).view(b, t, -1)

    @torch.no_grad()
    def logits(self, hidden: Tensor) -> Tensor:
        """Hidden states [..., D] -> logits [..., V]."""
        return self._vocabulary(hidden.reshape(-1, hidden.shape[-1])).view(*hidden.shape[:-1], -1)

    def _normed(self, x: Tensor, weight: Tensor) -> Tensor:
        """RMSNorm of x [..., D] (arXiv 1910.07467) in float32; F.rms_norm takes twice as long on a CPU.
        weight: [D], or broadcast to x."""
        if x.is_cuda and weight.dim() == 1:
            return F.rms_norm(x, (x.shape[-1],), weight, self.config.norm_eps)
        norm = torch.linalg.vector_norm(x, 2, -1, True, dtype=torch.float32)
        scale = torch.addcmul(self._eps, norm, norm, value=1.0 / x.shape[-1]).rsqrt_()
        return (x * scale).mul_(weight).to(x.dtype)


def packed(model: Model) -> PackedModel:
    """The packed form of the model's present weights. Cached for a model with frozen weights until they are
    replaced. Built again each time for a model in training, because fused optimizers do not update a
    tensor's version."""
    if any(p.requires_grad for p in model.parameters()):
        return PackedModel(model)
    stamp = [(p.data_ptr(), p.dtype, p._version) for p in model.parameters()]
    if model.packed is None or model.packed[0] != stamp:
        before = model.packed[1] if model.packed else None
        model.packed = stamp, PackedModel(model, before)
    return model.packed[1]


@torch.no_grad()
def replaced(before: Model, tensors: Mapping[str, Tensor]) -> Model:
    """A frozen model with some parameters replaced. It shares all other parameters, and their packed form,
    with `before`, which must be frozen too. tensors: name of the parameter -> new value."""
    kept = [*before.parameters(), *before.buffers()]
    model = copy.deepcopy(before, {id(tensor): tensor for tensor in kept})
    for name, tensor in tensors.items():
        module, _, own = name.rpartition(".")
        parameter = torch.nn.Parameter(tensor, requires_grad=False)
        setattr(model.get_submodule(module), own, parameter)
    model.packed = before.packed
    return model


@torch.no_grad()
def share(model: Model, before: Model) -> None:
    """Makes `model` use the tensors of `before` that equal its own, with their packed form, so that only the
    others need memory and packing. Both must be frozen and have the same config."""
    for module, old in zip(model.modules(), before.modules(), strict=True):
        for name, weight in list(module.named_parameters(recurse=False)):
            kept = getattr(old, name)
            if weight.dtype == kept.dtype and torch.equal(weight, kept):
                setattr(module, name, kept)
    model.packed = before.packed


def product_for(device: torch.device, dtype: torch.dtype) -> type[Product]:
    """The fastest Product class for this dtype on this device."""
    if not can_pack(device, dtype):
        return Product
    return HalfProduct if dtype == torch.float32 and _can_halve() else PackedProduct


def can_pack(device: torch.device, dtype: torch.dtype) -> bool:
    """True if oneDNN is available and supports this dtype on this device."""
    if device.type != "cpu" or not torch.backends.mkldnn.is_available():
        return False
    try:
        PackedProduct(torch.zeros(32, 32, dtype=dtype))(torch.zeros(2, 32, dtype=dtype))
    except (RuntimeError, AttributeError):
        return False
    return True


@functools.cache
@torch.no_grad()
def _can_halve() -> bool:
    """True if FBGEMM is available and has kernels for this CPU."""
    weight, x = torch.ones(32, 32), torch.ones(2, 32)
    try:
        return torch.equal(HalfProduct(weight)(x), x @ weight.T)
    except (RuntimeError, AttributeError):
        return False
