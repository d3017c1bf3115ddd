"""A tiny model with the chat format of another program, and rows for it."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from engine.config import CONFIGS
from engine.lora import Adapters
from engine.model import Model
from engine.storage.checkpoint import load_model, save_model
from engine.tokenizers.load import load_tokenizer
from engine.tokenizers.tokenizer import Tokenizer
from learning.meta_training.factors import start_adapters
from learning.meta_training.kept_rows import KeptRows
from learning.meta_training.kinds import trained_kinds
from learning.meta_training.network import MergedNetwork
from learning.meta_training.step_rows import RowSource
from learning.text.lives import lives
from learning.text.openings import openings
from tests import made_tokenizers
from tests.made_tokenizers import trained, write

CONFIG = replace(
    CONFIGS["tiny"], vocab_size=900, context=1024, dim=32, heads=2, kv_heads=1, hidden=48
)
CPU = torch.device("cpu")


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model's folder, as an import leaves it."""
    folder = tmp_path_factory.mktemp("base")
    save_model(
        Model(CONFIG, generator=torch.Generator().manual_seed(0)), folder, dtype=torch.float32
    )
    told = [
        text
        for life in lives(40, random.Random(0))
        for fact in life.facts
        for text in (fact.question, fact.answer, *fact.paraphrases)
    ]
    with pytest.MonkeyPatch.context() as patch:  # rows of few ids
        patch.setattr(made_tokenizers, "SENTENCES", (*told, *openings()))
        load_tokenizer(write(folder, trained(size=CONFIG.vocab_size))).save(folder)
    return folder


@pytest.fixture(scope="session")
def chat(base: Path) -> Tokenizer:
    return load_tokenizer(base)


@pytest.fixture(scope="session")
def all_kept(chat: Tokenizer) -> KeptRows:
    return KeptRows.of(chat, CONFIG.context, None)


@pytest.fixture
def kept(all_kept: KeptRows) -> KeptRows:
    """A few of all rows, and some as the base's own words."""
    kept = replace(all_kept, book=all_kept.book[:30], everyday=all_kept.everyday[:40])
    kept.own = [row.without_end() for row in all_kept.everyday[40:44]]
    return kept


@pytest.fixture
def source(kept: KeptRows) -> RowSource:
    return RowSource(kept, trained_kinds(), lessons=1, small=True)


def drawn_adapters(model: Model) -> Adapters:
    """Adapters that change the model."""
    adapters = start_adapters(model, None, 0)
    drawn = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for factor in adapters.parameters():
            factor.add_(torch.randn(factor.shape, generator=drawn) * 0.05)
    return adapters


def made_network(model: Model, prefix: tuple[int, ...]) -> MergedNetwork:
    """In float32, with adapters that change the model."""
    return MergedNetwork(model, drawn_adapters(model), prefix, CPU, torch.float32)


@pytest.fixture
def network(base: Path, chat: Tokenizer) -> MergedNetwork:
    return made_network(load_model(base).requires_grad_(False), chat.chat.start)
