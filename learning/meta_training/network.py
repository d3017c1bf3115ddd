"""The blocks of a model with its adapters merged in, and passes that compute the system prompt once.

The merged weights are leaves: a pass needs no products of factors, and the gradients of A and B follow
from theirs (learning.meta_training.factors). Lower and upper blocks are leaves apart, because the steps of a
lesson move the upper ones alone. Embeddings and norms are not trained. Left out: caches, losses.

Notation: P ids of the system prompt, R rows, T ids of a row, N = P + R T, D dim, H heads, K key/value heads,
E head_dim, V vocabulary, L blocks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.lora import Adapters
from engine.model import Model, apply_rope, causal_mask, fused_attention
from engine.precision import fast_dtype
from learning.lessons.recipe import TeachSettings
from learning.meta_training.factors import MATRICES, StackedFactors

BlockWeights = tuple[Tensor, ...]
"""The four matrices of a block, in the dtype of products."""


class MergedNetwork:
    """A model on a device. Weights and sums are in float32; products, and keys and values, in `dtype`."""

    def __init__(
        self,
        model: Model,
        adapters: Adapters,
        prefix: Sequence[int],
        device: torch.device,
        dtype: torch.dtype | None = None,
    ) -> None:
        """prefix: the ids before every row. dtype: None for the device's fastest."""
        config = self.config = model.config
        self.device, self.layers = device, config.layers
        self.lower = TeachSettings().trunk_layers(config)
        """Number of blocks that lessons do not train."""
        self.dtype = dtype or fast_dtype(device.type)
        self.base = [_stacked(model, name, device) for name in MATRICES]
        self._norms = [
            _stacked(model, f"{name}_norm.weight", device) for name in ("attention", "ffn")
        ]
        self._head_norms: list[Tensor] = []
        if config.qk_norm:
            names = ("attention.q_norm.weight", "attention.k_norm.weight")
            self._head_norms = [_stacked(model, name, device) for name in names]
        self._norm = model.norm.weight.detach().float().to(device)
        self._embedding = model.embedding.weight.detach().float().to(device)
        self._vocabulary = model.vocabulary.detach().to(device, self.dtype)
        self._cos = model.rope_cos.float().to(device)
        self._sin = model.rope_sin.float().to(device)
        self._prefix = torch.tensor(list(prefix), dtype=torch.long, device=device)
        self.prefix = len(prefix)
        self.factors = StackedFactors(adapters, device)
        self.under: list[Tensor] = []
        """Merged matrices [lower, O, I] of the lower blocks: leaves."""
        self.upper: list[Tensor] = []
        """Those of the upper ones [L - lower, O, I]."""
        self.merge()

    @torch.no_grad()
    def merge(self, *, bare: bool = False) -> None:
        """Makes the leaves anew from the factors, without gradients. bare: of the base alone."""
        whole = self.base if bare else self.factors.merged(self.base)
        self.under = [w[: self.lower].detach().clone().requires_grad_() for w in whole]
        self.upper = [w[self.lower :].detach().clone().requires_grad_() for w in whole]

    @property
    def leaves(self) -> list[Tensor]:
        """All merged matrices."""
        return [*self.under, *self.upper]

    def drop_gradients(self) -> None:
        """Forgets the gradients of the leaves."""
        for leaf in self.leaves:
            leaf.grad = None

    def factor_gradients(self) -> list[Tensor]:
        """Gradients of the factors (`StackedFactors.all`) from those of the leaves, of which numbers that are
        not finite count as 0 or as the largest."""
        pairs = zip(self.under, self.upper, strict=True)
        whole = [torch.cat([_gradient(under), _gradient(upper)]) for under, upper in pairs]
        return self.factors.gradients(whole)

    def block_weights(self, upper: Sequence[Tensor] | None = None) -> list[BlockWeights]:
        """The matrices of every block for `through`. upper: in place of the upper leaves."""
        lower = self.cast(self.under) if self.lower else []
        return [*lower, *self.cast(upper or self.upper)]

    def cast(self, stacked: Sequence[Tensor]) -> list[BlockWeights]:
        """Stacked matrices as those of each block, in the dtype of products."""
        return list(zip(*(w.to(self.dtype).unbind(0) for w in stacked), strict=True))

    def embed(self, ids: Tensor) -> Tensor:
        """ids [R, T] to [N, D]: the system prompt, then all rows."""
        return torch.cat([self._embedding[self._prefix], self._embedding[ids.flatten()]])

    def through(
        self,
        x: Tensor,
        rows: int,
        width: int,
        weights: Mapping[int, BlockWeights] | Sequence[BlockWeights],
        first: int,
        last: int,
    ) -> Tensor:
        """Blocks `first` to `last` (not included). x: [N, D] with R = rows, T = width. Returns [N, D]."""
        places = torch.arange(self.prefix + width, device=self.device)
        flat = torch.cat([places[: self.prefix], places[self.prefix :].repeat(rows)])
        rope = self._cos[flat].unsqueeze(1), self._sin[flat].unsqueeze(1)
        mask = causal_mask(self.prefix + width, 0, self.device).to(self.dtype)
        for layer in range(first, last):
            qkv, out, gate_up, down = weights[layer]
            y = self._normed(x, self._norms[0][layer])
            x = x + F.linear(self._attention(F.linear(y, qkv), layer, rows, rope, mask), out)
            gate, up = F.linear(self._normed(x, self._norms[1][layer]), gate_up).chunk(2, -1)
            x = x + F.linear(F.silu(gate) * up, down)
        return x

    def logits(self, x: Tensor, at: Tensor) -> Tensor:
        """Logits [M, V], in float32, of outputs x [N, D] at flat places in the rows, [M]."""
        y = self._normed(x.index_select(0, at + self.prefix), self._norm)
        return F.linear(y, self._vocabulary).float()

    def outputs(self, ids: Tensor, weights: Sequence[BlockWeights]) -> Tensor:
        """All blocks: ids [R, T] to [N, D]."""
        rows, width = ids.shape
        return self.through(self.embed(ids), rows, width, weights, 0, self.layers)

    def _normed(self, x: Tensor, weight: Tensor) -> Tensor:
        return F.rms_norm(x, weight.shape, weight, self.config.norm_eps).to(self.dtype)

    def _attention(
        self, qkv: Tensor, layer: int, rows: int, rope: tuple[Tensor, Tensor], mask: Tensor
    ) -> Tensor:
        """qkv: [N, (H + 2K) E]; mask: [1, 1, P + T, P + T]. Returns [N, H E]."""
        h, k, e, p = self.config.heads, self.config.kv_heads, self.config.head_dim, self.prefix
        turning, value = qkv.view(-1, h + 2 * k, e).split([h + k, k], 1)
        if self._head_norms:
            parts = zip(turning.split([h, k], 1), self._head_norms, strict=True)
            turning = torch.cat(
                [self._normed(part.float(), norms[layer]) for part, norms in parts], 1
            )
        query, key = apply_rope(turning, *rope).to(self.dtype).split([h, k], 1)
        both = torch.cat([key, value], 1)  # (N, 2K, E)
        head, tail = both[:p], both[p:].unflatten(0, (rows, -1))
        joined = torch.cat([head.unsqueeze(0).expand(rows, -1, -1, -1), tail], 1)
        keys, values = joined.transpose(1, 2).split([k, k], 1)  # (R, K, P + T, E)
        queries = query[p:].unflatten(0, (rows, -1)).transpose(1, 2)  # (R, H, T, E)
        mixed = fused_attention(queries, keys, values, mask[..., p:, :])
        found = mixed.transpose(1, 2).reshape(-1, h * e)
        if not p:
            return found
        own_keys, own_values = head.unsqueeze(0).transpose(1, 2).split([k, k], 1)
        first = query[:p].unsqueeze(0).transpose(1, 2)
        first = fused_attention(first, own_keys, own_values, mask[..., :p, :p])
        return torch.cat([first.transpose(1, 2).reshape(p, h * e), found])


def _stacked(model: Model, name: str, device: torch.device) -> Tensor:
    """A parameter of all blocks, [L, ...] in float32."""
    found = [block.get_parameter(name).detach().float() for block in model.blocks]
    return torch.stack(found).to(device)


def _gradient(leaf: Tensor) -> Tensor:
    found = torch.zeros_like(leaf) if leaf.grad is None else leaf.grad
    return found.nan_to_num()
