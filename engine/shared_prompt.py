"""Rows that continue one long prompt: its keys and values are held once, not once for each row.

Attention over the prompt is one product for all rows, and attention over a row's own tokens another; both
together are exact (Hydragen, arXiv 2402.05099). With weights p and q that sum to 1 over the prompt's and the
row's own keys, and l and m the logarithms of the sums of exponentials by which they were divided,

    attention = σ(l - m) p V_prompt + (1 - σ(l - m)) q V_own.

Left out: other devices than the CPU, where rows get copies of the prompt (KeyValueCache.expand).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from engine.cache import KeyValueCache

LONG = 384
"""Tokens of a prompt from which it is shared; with fewer, two products take as long as one, or longer."""
_ATTENTION: Any = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
"""What F.scaled_dot_product_attention calls; it also returns the logarithm of the sum of exponentials."""


def continued(prompt: KeyValueCache, rows: int, size: int) -> KeyValueCache:
    """A cache of `rows` continuations of a prompt, a cache of one row, for engine.packed. size: tokens of the
    longest row, the prompt included. It shares a long prompt and copies a short one."""
    if prompt.length < LONG or prompt.device.type != "cpu":
        return prompt.expand(rows, size)
    return SharedPromptCache(prompt, rows, size)


class SharedPromptCache(KeyValueCache):
    """A cache whose buffer holds only what comes after a prompt. `append` returns that alone, so only
    PackedModel can use it, which attends by `attend`."""

    def __init__(self, prompt: KeyValueCache, rows: int, size: int) -> None:
        self._prompt = prompt.filled()
        layers, two, _, heads, _, width = self._prompt.shape
        self._buffer = self._prompt.new_empty((layers, two, rows, heads, 0, width))
        self.size, self.length, self._first = size, prompt.length, prompt.length

    def attend(
        self, layer: int, query: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None
    ) -> Tensor:
        b, k, n, e = query.shape
        shared_keys, shared_values = self._prompt[layer]
        together = query.transpose(0, 1).reshape(1, k, b * n, e)
        shared, shared_sum = _ATTENTION(together, shared_keys, shared_values, scale=1.0)
        if mask is not None:
            mask = mask[..., self._first :]
        own, own_sum = _ATTENTION(query, keys, values, attn_mask=mask, scale=1.0)
        shared, shared_sum = (
            found.view(k, b, n, *found.shape[3:]).transpose(0, 1) for found in (shared, shared_sum)
        )
        share = torch.sigmoid(shared_sum - own_sum).unsqueeze(-1)
        return torch.lerp(own, shared, share.to(own.dtype))
