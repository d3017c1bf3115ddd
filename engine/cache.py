"""The cache of keys and values.

The prompt is prefilled with one row; `expand` copies it for the candidates; `keep` drops the rows of finished
ones. The buffer grows by CHUNK slots at a time, so that few steps copy it. Left out: paging, because contexts
are short.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.config import ModelConfig

CHUNK = 64
"""Slots by which the buffer grows."""


class KeyValueCache:
    """Per layer a buffer for keys and one for values. The first slots are filled; the others have finite
    numbers. `length` tokens are held, the first slot holds token number `_first`."""

    def __init__(
        self, config: ModelConfig, rows: int, size: int, dtype: torch.dtype, device: torch.device
    ) -> None:
        """A cache for `rows` sequences of at most `size` tokens (and at most the context)."""
        shape = (config.layers, 2, rows, config.kv_heads, 0, config.head_dim)
        self._buffer = torch.empty(shape, dtype=dtype, device=device)
        self.size = min(size, config.context)
        self.length = 0
        self._first = 0

    @property
    def rows(self) -> int:
        return self._buffer.shape[2]

    @property
    def device(self) -> torch.device:
        return self._buffer.device

    @property
    def slots(self) -> int:
        """Number of tokens for which there is memory."""
        return self._buffer.shape[4]

    def reserve(self, tokens: int) -> None:
        """Makes room for this many more tokens. Raises IndexError beyond `size`."""
        end = self.length + tokens
        if end > self.size:
            raise IndexError(f"cache holds {self.size} tokens, {end} needed")
        if (own := end - self._first) > self.slots:
            self._buffer = F.pad(self._buffer, (0, 0, 0, -(-own // CHUNK) * CHUNK - self.slots))

    def append(self, layer: int, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Stores key and value [B, K, T, E] after the filled slots (reserve them first); returns the keys and
        values in the buffer, each [B, K, S, E]."""
        start = self.length - self._first
        end = start + key.shape[2]
        keys, values = self._buffer[layer]
        keys[:, :, start:end] = key
        values[:, :, start:end] = value
        return keys[:, :, :end], values[:, :, :end]

    def attend(
        self, layer: int, query: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None
    ) -> Tensor:
        """Attention of queries [B, K, N, E], already scaled, over what `append` returned for that layer, and
        over all that the cache holds besides. mask: additive, broadcast to [B, 1, N, length + T]; None: all
        is seen. Returns [B, K, N, E]."""
        return F.scaled_dot_product_attention(query, keys, values, attn_mask=mask, scale=1.0)

    def advance(self, tokens: int) -> None:
        """Call after all layers have stored `tokens` more."""
        self.length += tokens

    def filled(self) -> Tensor:
        """The filled part of the buffer, [layers, 2, B, K, S, E]."""
        return self._buffer[..., : self.length - self._first, :]

    def expand(self, rows: int, size: int) -> KeyValueCache:
        """A new cache of `rows` copies of this cache's only row. size: its limit in tokens. Raises ValueError
        if this cache has several rows."""
        if self.rows != 1:
            raise ValueError(f"only a cache of one row can be shared, this has {self.rows}")
        other = object.__new__(KeyValueCache)
        other._buffer = self._buffer.expand(-1, -1, rows, -1, -1, -1).contiguous()
        other.size, other.length, other._first = size, self.length, 0
        return other

    def keep(self, rows: Tensor) -> None:
        """Keeps only the rows with these indices, in that order."""
        self._buffer = self._buffer.index_select(2, rows)
