"""Separates the embeddings of ids that are rare in the training text, so that lessons can teach them.

Pre-training pushes all absent ids in the same direction at every step, so their embeddings end up nearly
equal (cosine 0.999 among the bytes of other scripts in an English model). The embedding is tied to the
output, so no hidden state can then prefer one of these ids to the others. Lessons train only the blocks,
so without this step a name with a rare letter, an address with an @ or an emoji could not be learned.
Each such embedding gets a random component of its own, small compared with the shared part, so the ids
stay as unlikely as before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.model import Model
from engine.tokenizers.ranks import RESERVED, SPECIALS

NEAR = 0.9
"""Two ids with a cosine above this count as indistinct. In the shipped base 250 of 6,144 ids had such a
neighbour, each of them with at most 100 occurrences; in an untrained model none has."""
APART = 0.4
"""Length of the random component, relative to the embedding. Two equal embeddings then have a cosine of
0.86 < NEAR, so a second application changes nothing. With 0.6 these ids begin to be generated where they
do not belong."""
ROUNDS = 4
"""Most rounds of adding such components; one or two are enough for the shipped models."""
_ROWS = 1024


@torch.no_grad()
def indistinct(embedding: Tensor, special_ids: Collection[int] | None = None) -> Tensor:
    """Ids [N] with a cosine above NEAR to another id in embedding [V, D]. Ignores the special tokens.

    special_ids: those of the model's tokenizer; None: of vidya's own, where they are the highest ids."""
    if special_ids is None:
        special_ids = range(len(embedding) - len(SPECIALS) - RESERVED, len(embedding))
    texts = torch.ones(len(embedding), dtype=torch.bool, device=embedding.device)
    texts[[*special_ids]] = False
    units = F.normalize(embedding[texts].detach().float(), dim=1)
    nearest = []
    for rows in torch.arange(len(units), device=units.device).split(_ROWS):
        cosines = units[rows] @ units.T
        cosines[rows - rows[0], rows] = -1.0  # to itself
        nearest.append(cosines.amax(1))
    return texts.nonzero()[:, 0][torch.cat(nearest) > NEAR]


@torch.no_grad()
def tell_apart(embedding: Tensor, special_ids: Collection[int] | None = None) -> int:
    """Adds the random components to embedding [V, D] in place, with a fixed seed. Returns the number of
    ids that were indistinct.

    A second round follows where the first was not enough: for ids whose embeddings are near to each other
    but far from the mean of all indistinct ones."""
    found = ids = indistinct(embedding, special_ids)
    drawn = torch.Generator().manual_seed(0)
    for _ in range(ROUNDS):
        if not len(ids):
            break
        rows = embedding[ids].float()
        shared = F.normalize(rows.mean(0), dim=0)
        own = torch.randn(rows.shape, generator=drawn).to(rows.device)
        own -= torch.outer(own @ shared, shared)
        # orthogonal to each other too, as far as the dimension allows
        room = max(1, rows.shape[1] - 1)
        own = torch.cat([torch.linalg.qr(part.T).Q.T for part in own.split(room)])
        embedding[ids] = (rows + APART * rows.norm(dim=1, keepdim=True) * own).to(embedding.dtype)
        ids = indistinct(embedding, special_ids)
    return len(found)


@contextmanager
def told_apart(model: Model, special_ids: Collection[int] | None = None) -> Iterator[None]:
    """Separates the ids of the model while this is held; then restores the exact embedding."""
    weight = model.embedding.weight.detach()
    kept = weight.clone()
    tell_apart(weight, special_ids)
    try:
        yield
    finally:
        weight.copy_(kept)
