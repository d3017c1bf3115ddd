"""A teacher with a tokenizer of its own, beside the tiny model of all tests."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from engine.config import CONFIGS
from engine.model import Model
from engine.tokenizers.ranks import train_tokenizer
from engine.tokenizers.tokenizer import Tokenizer

OTHER = ("A teacher has other words, and other ids for them.", "The sea, the river, the moon.")


@pytest.fixture(scope="session")
def teacher_tokenizer() -> Tokenizer:
    """Of 320 ids, most of them other than those of the student."""
    return train_tokenizer(iter(OTHER * 8), 320)


@pytest.fixture
def teacher(teacher_tokenizer: Tokenizer) -> Model:
    """A random model, the same for every test."""
    config = replace(CONFIGS["tiny"], vocab_size=teacher_tokenizer.vocab_size, layers=3)
    return Model(config, generator=torch.Generator().manual_seed(1))
