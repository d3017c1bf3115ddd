"""Keys and values of the tokens so far.

The prompt is prefilled with one row; `expand` shares it among the candidates; `keep` drops the
rows of those that ended. Memory grows by CHUNK slots at a time, and attention always goes over all
of it, with what is not filled masked: then nothing has to be copied together at each step, and products
have the same shape for CHUNK steps, which a library that prepares each shape is much faster with.
Left out: paging, since contexts here are short.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.config import ModelConfig

CHUNK = 64
"""Slots by which memory grows."""


class KeyValueCache:
    """Per layer a buffer [B, K, S, E] for keys and one for values; `length` tokens are filled, the
    other slots are finite."""

    def __init__(
        self, config: ModelConfig, rows: int, size: int, dtype: torch.dtype, device: torch.device
    ) -> None:
        """For at most `size` tokens, and the config's context, in each of `rows` sequences."""
        shape = (config.layers, 2, rows, config.kv_heads, 0, config.head_dim)
        self._buffer = torch.empty(shape, dtype=dtype, device=device)
        self.size = min(size, config.context)
        self.length = 0

    @property
    def rows(self) -> int:
        return self._buffer.shape[2]

    @property
    def slots(self) -> int:
        """S: what attention goes over."""
        return self._buffer.shape[4]

    def reserve(self, tokens: int) -> int:
        """Makes room for so many more, and says S. Raises IndexError for more than `size`."""
        end = self.length + tokens
        if end > self.size:
            raise IndexError(f"cache holds {self.size} tokens, {end} needed")
        if end > self.slots:
            self._buffer = F.pad(self._buffer, (0, 0, 0, -(-end // CHUNK) * CHUNK - self.slots))
        return self.slots

    def append(self, layer: int, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Stores key and value [B, K, T, E] behind what is there, in what was reserved; returns all,
        [B, K, S, E]."""
        end = self.length + key.shape[2]
        keys, values = self._buffer[layer]
        keys[:, :, self.length : end] = key
        values[:, :, self.length : end] = value
        return keys, values

    def advance(self, tokens: int) -> None:
        """All layers have stored `tokens` more."""
        self.length += tokens

    def filled(self) -> Tensor:
        """What is stored so far, [layers, 2, B, K, length, E]."""
        return self._buffer[..., : self.length, :]

    def expand(self, rows: int, size: int | None = None) -> KeyValueCache:
        """A new cache in which each of `rows` sequences begins with this cache's only row."""
        if self.rows != 1:
            raise ValueError(f"only a cache of one row can be shared, this has {self.rows}")
        other = object.__new__(KeyValueCache)
        other._buffer = self._buffer.expand(-1, -1, rows, -1, -1, -1).contiguous()
        other.size, other.length = size or self.size, self.length
        return other

    def keep(self, rows: Tensor) -> None:
        """Keeps only the given rows (indices), in that order."""
        self._buffer = self._buffer.index_select(2, rows)
