"""The tiny model that tests learn with."""

from __future__ import annotations

from dataclasses import replace

import torch

from engine.config import CONFIGS
from engine.model import Model
from engine.tokenizers.tokenizer import Tokenizer


def random_model(tokenizer: Tokenizer) -> Model:
    """A new model with random weights, the same each time."""
    config = replace(CONFIGS["tiny"], vocab_size=tokenizer.vocab_size)
    return Model(config, generator=torch.Generator().manual_seed(0))
