"""Keys and values of the tokens so far, in memory that is allocated once.

The prompt is prefilled with one row; `expand` shares it among the candidates; `keep` drops the
rows of those that ended. Left out: paging, since contexts here are short.
"""

from __future__ import annotations

import torch
from torch import Tensor

from engine.config import ModelConfig


class KeyValueCache:
    """Per layer a buffer [B, K, S, E] for keys and one for values; `length` tokens are filled."""

    def __init__(
        self, config: ModelConfig, rows: int, size: int, dtype: torch.dtype, device: torch.device
    ) -> None:
        """Room for `size` tokens in each of `rows` sequences, at most the config's context."""
        shape = (
            config.layers,
            2,
            rows,
            config.kv_heads,
            min(size, config.context),
            config.head_dim,
        )
        self._buffer = torch.empty(shape, dtype=dtype, device=device)
        self.length = 0

    @property
    def rows(self) -> int:
        return self._buffer.shape[2]

    @property
    def size(self) -> int:
        return self._buffer.shape[4]

    def append(self, layer: int, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Stores key and value [B, K, T, E] behind what is there; returns all of it, [B, K, S, E]."""
        end = self.length + key.shape[2]
        if end > self.size:
            raise IndexError(f"cache holds {self.size} tokens, {end} needed")
        keys, values = self._buffer[layer]
        keys[:, :, self.length : end] = key
        values[:, :, self.length : end] = value
        return keys[:, :, :end], values[:, :, :end]

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
        layers, two, _, heads, _, width = self._buffer.shape
        shape = (layers, two, rows, heads, size or self.size, width)
        other._buffer = torch.empty(shape, dtype=self._buffer.dtype, device=self._buffer.device)
        other._buffer[..., : self.length, :] = self._buffer[..., : self.length, :]
        other.length = self.length
        return other

    def keep(self, rows: Tensor) -> None:
        """Keeps only the given rows (indices), in that order."""
        self._buffer = self._buffer.index_select(2, rows)
