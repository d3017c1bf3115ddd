"""A sentence encoder: texts as vectors, so that texts that mean the same lie near each other.

    encoder = load_encoder(SHIPPED_ENCODER)
    vectors = encoder.encode(["What is my sister called?", "my sister, what's her name"])  # [2, S]
    likeness = vectors @ vectors.T

A few blocks of engine.model, in which every token sees every other one of its text, a weighted mean over a
text's tokens, and a linear map (as Sentence-BERT, 1908.10084, but for the weights, which one learned query
gives as in attention). Capitals do not count. The encoder is not the model that talks: no lesson moves it, so
a vector stays right as long as its text does. Left out: training (learning.encoder_training).

Notation: N texts, T tokens of the longest one, S numbers of a vector, D numbers of a state.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from engine.errors import CheckpointError, ConfigError
from engine.model import Model
from engine.precision import autocast
from engine.storage.checkpoint import from_huggingface, load_config, save_config, to_huggingface
from engine.storage.disk import unwritable
from engine.storage.files import make_private_folder
from engine.storage.int8_file import load_int8, save_int8
from engine.tokenizers.load import load_tokenizer
from engine.tokenizers.tokenizer import Tokenizer

SHIPPED_ENCODER = Path(__file__).resolve().with_name("encoder_weights")
ENCODER = "encoder.safetensors"
MOST_TOKENS = 96
"""Of a longer text the end counts."""
_HEAD, _QUERY = "head", "query"
_PASS_TOKENS = 4096
"""Padded tokens per forward pass of `encode`."""


class SentenceEncoder(nn.Module):
    """Texts to unit vectors."""

    def __init__(self, model: Model, tokenizer: Tokenizer, head: Tensor, query: Tensor) -> None:
        """model: its output layer is not used. head: the linear map, [S, D]. query: the product with a
        token's state is the logarithm of the token's weight in the mean, [D]."""
        super().__init__()
        self.model, self.tokenizer = model, tokenizer
        self.head, self.query = nn.Parameter(head), nn.Parameter(query)

    @property
    def size(self) -> int:
        """Numbers of a vector, S."""
        return len(self.head)

    def ids(self, text: str) -> list[int]:
        """The ids of a text, at least one. Its first word is read as every other one: after a space, and in
        small letters."""
        return self.tokenizer.encode(f" {text.strip().lower()}")[-MOST_TOKENS:]

    def forward(self, rows: Sequence[Sequence[int]]) -> Tensor:
        """Ids of N texts, none of them empty, to unit vectors [N, S] in float32."""
        width = max(map(len, rows))
        ids = torch.zeros(len(rows), width, dtype=torch.long)
        mask = torch.full((len(rows), width), float("-inf"))
        for at, row in enumerate(rows):
            ids[at, : len(row)] = torch.tensor(row)
            mask[at, : len(row)] = 0.0
        with autocast(self.model.device):
            states = self.model.hidden_states(ids, mask=mask[:, None, None]).float()
        weights = (states @ self.query + mask).softmax(-1)
        return F.normalize(F.linear((weights[..., None] * states).sum(1), self.head), dim=-1)

    @torch.inference_mode()
    def encode(self, texts: Sequence[str]) -> Tensor:
        """Unit vectors [N, S] of texts, in their order. Their products are cosines, -1 to 1."""
        rows = [*map(self.ids, texts)]
        found = torch.empty(len(rows), self.size)
        order = sorted(range(len(rows)), key=lambda at: len(rows[at]))
        while order:
            most = max(1, _PASS_TOKENS // len(rows[order[-1]]))
            order, piece = order[:-most], order[-most:]
            found[torch.tensor(piece)] = self([rows[at] for at in piece])
        return found


def save_encoder(encoder: SentenceEncoder, folder: Path) -> None:
    """Writes config, weights and tokenizer. Raises CheckpointError."""
    config = encoder.model.config
    try:
        make_private_folder(folder)
        save_config(config, folder)
        encoder.tokenizer.save(folder)
    except OSError as error:
        raise CheckpointError(*unwritable(folder, error, "choose another folder")) from error
    weights = to_huggingface(encoder.model.state_dict(), config)
    save_int8(weights | {_HEAD: encoder.head, _QUERY: encoder.query}, folder / ENCODER)


@functools.cache
def shipped_encoder() -> SentenceEncoder:
    """The encoder that comes with vidya, read once per process. Raises CheckpointError."""
    return load_encoder(SHIPPED_ENCODER)


@functools.cache
def shipped_encoder_mark() -> str:
    """A hash of its file, to know vectors of an earlier encoder. Raises CheckpointError."""
    file = SHIPPED_ENCODER / ENCODER
    try:
        return hashlib.blake2b(file.read_bytes(), digest_size=16).hexdigest()
    except OSError as error:
        what = f"{file}: cannot be read ({error.strerror})"
        raise CheckpointError(what, "install vidya again") from error


@torch.inference_mode(False)
def load_encoder(folder: Path) -> SentenceEncoder:
    """Raises CheckpointError unless the folder holds a whole encoder. Its weights are ordinary tensors also
    where it is first needed while an answer is made: inference tensors have no version, by which
    `engine.products` knows what it has cast."""
    try:
        config, tokenizer = load_config(folder), load_tokenizer(folder)
    except ConfigError as error:
        raise CheckpointError(error.what, error.next_step) from error
    tensors = load_int8(folder / ENCODER)
    try:
        head, query = tensors.pop(_HEAD), tensors.pop(_QUERY)
        for name, found, dims in ((_HEAD, head, 2), (_QUERY, query, 1)):
            if found.dim() != dims or found.shape[-1] != config.dim:
                raise KeyError(f"{name} has shape {tuple(found.shape)}")
        with torch.device("meta"):
            model = Model(config)
        model.load_state_dict(from_huggingface(tensors, config), assign=True)
    except (KeyError, RuntimeError) as error:
        raise CheckpointError(
            f"{folder / ENCODER}: does not fit its config.json ({str(error).splitlines()[0]})",
            "install vidya again",
        ) from error
    return SentenceEncoder(model, tokenizer, head, query).requires_grad_(False)
