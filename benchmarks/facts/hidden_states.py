"""Questions as vectors of a model's own hidden states, and the known questions nearest to one.

Two questions that mean the same lie near each other after whitening, however they are worded, as far as the
model has learned to see it: the ceiling of what teaching can carry from one wording to another, measured by
`vidya bench features`. Nothing is trained, and the weights are only read. (The app finds lessons by
learning.memory.lesson_vectors instead.)

    vectors = layer_features(model, tokenizer, [*prompts, asked], [8])["mean", 8]
    found = QuestionSpace.of(vectors[:-1]).nearest(vectors[-1:], count=3)
    found.places[0], found.likeness[0]  # indices into prompts, nearest first; cosines

Left out: vectors that follow the weights while lessons move them. The blocks below those that lessons train
do not move, so the vectors of their layers stay right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.model import Model
from engine.precision import autocast
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.examples import Example, micro_batches

POOLINGS = ("mean", "last")
SHRINKAGE = 0.1
"""Share of the mean variance that is added to each direction before whitening, so that a few hundred
questions are enough for the covariance of as many dimensions."""
_PASS_TOKENS = 2048
"""Padded tokens per forward pass."""


@torch.no_grad()
def layer_features(
    model: Model, tokenizer: Tokenizer, questions: Sequence[str], layers: Sequence[int]
) -> dict[tuple[str, int], Tensor]:
    """Vectors of several layers from one pass: {(pooling, layer): [N, D] in float32 on the CPU}.

    Layer 0 is the embedding, layer k the output of block k (before the final norm), k in [0, number of
    blocks]. Pooling "mean" is the mean over the question's own tokens, as they stand in the chat template;
    "last" is the state at the prompt's end, from which the answer's first token is predicted. Of a question
    longer than the context the end counts. Raises ValueError for a layer that the model lacks.
    """
    if wrong := [layer for layer in layers if not 0 <= layer <= len(model.blocks)]:
        raise ValueError(f"a model of {len(model.blocks)} blocks has no layer {wrong[0]}")
    prompts = [_prompt(tokenizer, text, model.config.context) for text in questions]
    rows: dict[tuple[str, int], list[Tensor]] = {
        (pooling, layer): [torch.empty(0)] * len(prompts)
        for pooling in POOLINGS
        for layer in layers
    }
    examples = [Example(ids, (False,) * len(ids)) for ids, _ in prompts]
    for group in micro_batches(examples, _PASS_TOKENS):
        ids = torch.nn.utils.rnn.pad_sequence(
            [torch.tensor(prompts[i][0]) for i in group], batch_first=True
        )
        for layer, states in _states(model, ids.to(model.device), layers).items():
            for index, row in zip(group, states.float().cpu(), strict=True):
                whole, own = prompts[index]
                rows["mean", layer][index] = row[own].mean(0)
                rows["last", layer][index] = row[len(whole) - 1].clone()
    empty = torch.empty(0, model.config.dim)
    return {place: torch.stack(found) if found else empty for place, found in rows.items()}


@dataclass(frozen=True)
class Whitening:
    """x -> (x - mean) @ matrix, which gives the vectors it was made from the same spread in all directions.

    mean: [D]; matrix: [D, D].
    """

    mean: Tensor
    matrix: Tensor

    def __call__(self, vectors: Tensor) -> Tensor:
        """[N, D] -> [N, D] of unit length."""
        return F.normalize((vectors - self.mean) @ self.matrix, dim=-1)


def whitening(vectors: Tensor, shrinkage: float = SHRINKAGE) -> Whitening:
    """The whitening of vectors [N, D]: C^(-1/2) for C = covariance + shrinkage · (mean variance) · I.

    shrinkage > 0; larger keeps more of the directions' differences. One vector alone is only centred.
    """
    vectors = vectors.double()
    mean = vectors.mean(0)
    centred = vectors - mean
    covariance = centred.T @ centred / max(1, len(vectors) - 1)
    variance = covariance.diagonal().mean().clamp_min(1e-12)
    values, directions = torch.linalg.eigh(covariance)
    scales = (values.clamp_min(0.0) + shrinkage * variance).rsqrt()
    return Whitening(mean.float(), ((directions * scales) @ directions.T).float())


def centring(vectors: Tensor) -> Whitening:
    """Subtracts the mean of vectors [N, D] and leaves the directions as they are."""
    return Whitening(vectors.mean(0), torch.eye(vectors.shape[1]))


@dataclass(frozen=True)
class Nearest:
    """The nearest known questions of each asked one, nearest first."""

    places: list[list[int]]
    """Indices of known questions."""
    likeness: list[list[float]]
    """Their cosines, -1 to 1."""


@dataclass(frozen=True)
class QuestionSpace:
    """Known questions as unit vectors, [N, D], in a whitened space."""

    whitened: Whitening
    known: Tensor

    @classmethod
    def of(cls, known: Tensor, whitened: Whitening | None = None) -> QuestionSpace:
        """known: features [N, D]; whitened: by default the whitening of these."""
        whitened = whitening(known) if whitened is None else whitened
        return cls(whitened, whitened(known))

    def nearest(self, asked: Tensor, count: int) -> Nearest:
        """asked: features [M, D]; at most `count` neighbours of each."""
        cosines = self.whitened(asked) @ self.known.T
        found = cosines.topk(min(count, len(self.known)), dim=-1)
        return Nearest(found.indices.tolist(), found.values.tolist())


def _prompt(tokenizer: Tokenizer, question: str, context: int) -> tuple[tuple[int, ...], slice]:
    """(ids of the prompt, which of them are the question's own)."""
    chat = tokenizer.chat
    before, after = [*chat.start, *chat.user_head], [*chat.user_tail, *chat.assistant_head]
    body = tokenizer.encode(question)[-max(1, context - len(before) - len(after)) :]
    own = slice(len(before), len(before) + len(body))
    return (*before, *body, *after), own


def _states(model: Model, ids: Tensor, layers: Sequence[int]) -> dict[int, Tensor]:
    """{layer: [B, T, D]} of ids [B, T] from one pass."""
    found: dict[int, Tensor] = {}

    def keep(layer: int, output: Tensor) -> None:
        found[layer] = output

    hooks = [
        model.blocks[layer - 1].register_forward_hook(
            lambda _, __, output, layer=layer: keep(layer, output)
        )
        for layer in layers
        if layer > 0
    ]
    try:
        with autocast(model.device):
            model.trunk(ids, max(layers, default=0))
            if 0 in layers:
                found[0] = model.embedding(ids)
    finally:
        for hook in hooks:
            hook.remove()
    return found
