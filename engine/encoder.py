"""A sentence encoder: texts as vectors, so that texts that mean the same lie near each other.

    encoder = load_encoder(SHIPPED_ENCODER)
    vectors = encoder.encode(["What is my sister called?", "my sister, what's her name"])  # [2, S]
    likeness = vectors @ vectors.T

A few blocks of engine.model, in which every token sees every other one of its text, the mean over a text's
tokens, and a linear map (as Sentence-BERT, 1908.10084). The encoder is not the model that talks: no lesson
moves it, so a vector stays right as long as its text does. Left out: training
(learning.encoder_training).

Notation: N texts, T tokens of the longest one, S numbers of a vector.
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
_HEAD = "head"
_PASS_TOKENS = 4096
"""Padded tokens per forward pass of `encode`."""


class SentenceEncoder(nn.Module):
    """Texts to unit vectors."""

    def __init__(self, model: Model, tokenizer: Tokenizer, head: Tensor) -> None:
        """model: its output layer is not used. head: the linear map, [S, dim of the model]."""
        super().__init__()
        self.model, self.tokenizer = model, tokenizer
        self.head = nn.Parameter(head)

    @property
    def size(self) -> int:
        """Numbers of a vector, S."""
        return len(self.head)

    def ids(self, text: str) -> list[int]:
        """The ids of a text, at least one."""
        return self.tokenizer.encode(text)[-MOST_TOKENS:] or [self.tokenizer.chat.end]

    def forward(self, rows: Sequence[Sequence[int]]) -> Tensor:
        """Ids of N texts, none of them empty, to unit vectors [N, S] in float32."""
        width = max(map(len, rows))
        ids = torch.zeros(len(rows), width, dtype=torch.long)
        there = torch.zeros(len(rows), width)
        for at, row in enumerate(rows):
            ids[at, : len(row)] = torch.tensor(row)
            there[at, : len(row)] = 1.0
        mask = torch.zeros_like(there).masked_fill(there == 0.0, float("-inf"))
        with autocast(self.model.device):
            states = self.model.hidden_states(ids, mask=mask[:, None, None])
        mean = (states.float() * there[..., None]).sum(1) / there.sum(1, keepdim=True)
        return F.normalize(F.linear(mean, self.head), dim=-1)

    @torch.inference_mode()
    def encode(self, texts: Sequence[str]) -> Tensor:
        """Unit vectors [N, S] of texts, in their order. Their products are cosines, -1 to 1. A text in
        capitals is read as if it were in small letters."""
        rows = [self.ids(text.lower() if text.isupper() else text) for text in texts]
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
    save_int8(weights | {_HEAD: encoder.head}, folder / ENCODER)


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
        head = tensors.pop(_HEAD)
        if head.dim() != 2 or head.shape[1] != config.dim:
            raise KeyError(f"{_HEAD} has shape {tuple(head.shape)}")
        with torch.device("meta"):
            model = Model(config)
        model.load_state_dict(from_huggingface(tensors, config), assign=True)
    except (KeyError, RuntimeError) as error:
        raise CheckpointError(
            f"{folder / ENCODER}: does not fit its config.json ({str(error).splitlines()[0]})",
            "install vidya again",
        ) from error
    return SentenceEncoder(model, tokenizer, head).requires_grad_(False)
