"""Which tokenizer a model's folder has."""

from __future__ import annotations

from pathlib import Path

from engine.tokenizers.ranks import RankTokenizer
from engine.tokenizers.tokenizer import Tokenizer


def load_tokenizer(folder: Path) -> Tokenizer:
    """The tokenizer of a model's folder, by the files that it has. Raises CheckpointError."""
    return RankTokenizer.read(folder)
