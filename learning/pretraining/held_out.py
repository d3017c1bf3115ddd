"""Measures a base model: held-out bits per byte, by source."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.model import Model, document_mask
from engine.precision import autocast, fast_dtype
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.corpus import Document
from learning.data.tokens import encode


def bits_per_byte(
    model: Model,
    tokenizer: Tokenizer,
    documents: Sequence[Document],
    *,
    row: int = 256,
    limit: int = 60_000,
) -> dict[str, float]:
    """Like `bits_of_tokens`, for documents that are not tokenised yet."""
    by_source: dict[str, list[list[int]]] = {}
    for document in documents:
        by_source.setdefault(document.source, []).append(encode(document, tokenizer))
    return bits_of_tokens(model, tokenizer, by_source, row=row, limit=limit)


@torch.no_grad()
def bits_of_tokens(
    model: Model,
    tokenizer: Tokenizer,
    by_source: Mapping[str, Iterable[list[int]]],
    *,
    row: int = 256,
    limit: int = 60_000,
) -> dict[str, float]:
    """Bits per byte of text by source, and over all sources as "all".

    Reads at most `limit` tokens per source, and of each document the first `row` ids. Only the text's
    bytes are counted, but the bits of special tokens are included.
    """
    result, all_bits, all_bytes = {}, 0.0, 0
    training = model.training
    model.eval()
    for source, documents in sorted(by_source.items()):
        bits, size = 0.0, 0
        for ids, owners, bytes_read in _eval_rows(documents, tokenizer, row, limit):
            bits += _bits(model, ids.to(model.device), owners.to(model.device))
            size += bytes_read
        if size:
            result[source] = bits / size
            all_bits, all_bytes = all_bits + bits, all_bytes + size
    if all_bytes:
        result["all"] = all_bits / all_bytes
    model.train(training)
    return result


def _bits(model: Model, ids: Tensor, owners: Tensor) -> float:
    with autocast(ids.device):
        mask = document_mask(owners).to(fast_dtype(ids.device.type))
        logits = model.logits(model.hidden_states(ids, mask=mask)[:, :-1])
    nats = F.cross_entropy(logits.float().flatten(0, 1), ids[:, 1:].flatten(), reduction="none")
    return float(nats[owners[:, 1:].flatten() >= 0].sum()) / math.log(2)


def _eval_rows(
    documents: Iterable[list[int]], tokenizer: Tokenizer, row: int, limit: int
) -> Iterator[tuple[Tensor, Tensor, int]]:
    """Yields (ids [B, T], document numbers [B, T], bytes of text) for batches of up to 16 documents, one
    per row. Padding has document number -1."""
    batch: list[list[int]] = []
    size = used = 0
    for document in documents:
        ids = document[:row]
        batch.append(ids)
        size += len(tokenizer.decode_bytes(ids))
        used += len(ids)
        if len(batch) == 16 or used >= limit:
            yield (*_pad(batch), size)
            batch, size = [], 0
        if used >= limit:
            return
    if batch:
        yield (*_pad(batch), size)


def _pad(rows: list[list[int]]) -> tuple[Tensor, Tensor]:
    width = max(2, max(map(len, rows)))
    ids = torch.zeros(len(rows), width, dtype=torch.long)
    owners = torch.full((len(rows), width), -1)
    for i, row in enumerate(rows):
        ids[i, : len(row)] = torch.tensor(row)
        owners[i, : len(row)] = i
    return ids, owners
