"""The tiny model that tests learn with."""

from __future__ import annotations

from dataclasses import replace

import torch

from engine.config import CONFIGS
from engine.model import Model
from engine.tokenizers.ranks import train_tokenizer
from engine.tokenizers.tokenizer import Tokenizer

SENTENCES = (
    "The cat sat on the mat and looked at the moon.",
    "My name is Vidya, and I like to learn new words from you.",
    "What do you like to eat? I like warm bread with butter and honey.",
    "The river runs to the sea, and the sea gives rain to the river.",
    "Hello! How are you today? I am well, thank you for asking.",
    "Grüße aus Köln: ein schöner Tag, naïve café, 日本語 और हिन्दी 🙂.",
)


def small_tokenizer() -> Tokenizer:
    """A BPE of 384 ids, trained on a few sentences."""
    return train_tokenizer(iter(SENTENCES * 4), 384)


def random_model(tokenizer: Tokenizer) -> Model:
    """A new model with random weights, the same each time."""
    config = replace(CONFIGS["tiny"], vocab_size=tokenizer.vocab_size)
    return Model(config, generator=torch.Generator().manual_seed(0))


def roomy(model: Model) -> Model:
    """A tiny model with room for a conversation: its tokenizer has one id for most letters."""
    config = replace(model.config, context=512)
    return Model(config, generator=torch.Generator().manual_seed(0))
