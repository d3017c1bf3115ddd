"""Ids that the training text hardly had are told apart, so that they can be taught.

Whatever never comes is pushed the same way in every step of pre-training: the embeddings of such ids end
up nearly equal (cosine 0.999 among the bytes of other scripts in a model of English), and since the
vocabulary's product shares them, no state of the blocks can say one of them and not the others. Lessons
move the blocks alone, so a name with a rare letter, an address with an @ or an emoji was never learned.
Each of them gets a random part of its own here, small beside what they share: that keeps them as unlikely
as they were.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.model import Model
from engine.tokenizers.ranks import RESERVED, SPECIALS

NEAR = 0.9
"""Cosine to another id from which two cannot be told apart. In the shipped base 250 of 6,144 ids had
such a neighbour, none of which came more than a hundred times; without training none has."""
APART = 0.4
"""Length of the random part, as a share of the embedding's. Two that were equal have a cosine of 0.86
then, so that doing it again changes nothing. With 0.6 they begin to be said where they do not belong."""
_ROWS = 1024


@torch.no_grad()
def indistinct(embedding: Tensor) -> Tensor:
    """The ids [N] that have a neighbour nearer than NEAR in embedding [V, D], special tokens, which are
    the highest, left aside."""
    texts = embedding[: len(embedding) - len(SPECIALS) - RESERVED]
    units = F.normalize(texts.detach().float(), dim=1)
    nearest = []
    for rows in torch.arange(len(units), device=units.device).split(_ROWS):
        cosines = units[rows] @ units.T
        cosines[rows - rows[0], rows] = -1.0  # to itself
        nearest.append(cosines.amax(1))
    return (torch.cat(nearest) > NEAR).nonzero()[:, 0]


@torch.no_grad()
def tell_apart(embedding: Tensor) -> int:
    """Adds the random parts to embedding [V, D] in place; always the same ones. Returns how many ids
    were not to be told apart."""
    ids = indistinct(embedding)
    if not len(ids):
        return 0
    rows = embedding[ids].float()
    shared = F.normalize(rows.mean(0), dim=0)
    own = torch.randn(rows.shape, generator=torch.Generator().manual_seed(0)).to(rows.device)
    own -= torch.outer(own @ shared, shared)
    # at right angles to each other too, as far as there is room
    room = max(1, rows.shape[1] - 1)
    own = torch.cat([torch.linalg.qr(part.T).Q.T for part in own.split(room)])
    embedding[ids] = (rows + APART * rows.norm(dim=1, keepdim=True) * own).to(embedding.dtype)
    return len(ids)


@contextmanager
def told_apart(model: Model) -> Iterator[None]:
    """The model with its ids told apart; afterwards it is, to the bit, as it was."""
    weight = model.embedding.weight.detach()
    kept = weight.clone()
    tell_apart(weight)
    try:
        yield
    finally:
        weight.copy_(kept)
