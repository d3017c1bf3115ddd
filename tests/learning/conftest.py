"""A home with a tiny model, for tests of what learns in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
import torch

from engine.model import Model
from engine.storage.checkpoint import save_model
from engine.tokenizers.tokenizer import Tokenizer
from learning.book_training.trainer import BookTrainer
from learning.home import Home
from learning.journal.journal import Journal
from learning.lessons.learner import Learner

Place = tuple[Home, Path, Journal]
"""A home, the folder of its model, its journal."""


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    """A new journal."""
    journal = Journal(tmp_path / "journal.sqlite3")
    yield journal
    journal.close()


def book_trainer(learner: Learner) -> BookTrainer:
    """What trains the learner's model on books."""
    return BookTrainer(learner.transaction, learner.tokenizer)


@contextmanager
def made_place(path: Path, model: Model, tokenizer: Tokenizer) -> Iterator[Place]:
    """A home in this folder, and in it the model with the name tiny."""
    home = Home(path / "home")
    folder = home.models_path / "tiny"
    save_model(model, folder, dtype=torch.float32)
    tokenizer.save(folder)
    with closing(Journal(home.journal_path)) as journal:
        yield home, folder, journal


@pytest.fixture
def tiny_place(tmp_path: Path, tiny_model: Model, tiny_tokenizer: Tokenizer) -> Iterator[Place]:
    """With the shipped book in mind, unless a test puts something else in its place."""
    with made_place(tmp_path, tiny_model, tiny_tokenizer) as place:
        yield place
