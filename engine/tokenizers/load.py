"""Loads the tokenizer of a model's folder, of whichever kind it is."""

from __future__ import annotations

from pathlib import Path

from engine.tokenizers.byte_level import TOKENIZER_JSON, ByteLevelTokenizer
from engine.tokenizers.ranks import RANKS, RankTokenizer
from engine.tokenizers.tokenizer import Tokenizer


def load_tokenizer(folder: Path) -> Tokenizer:
    """Reads vidya's own tokenizer if the folder has a rank file or no `tokenizer.json`, otherwise the Hugging
    Face tokenizer. Raises CheckpointError."""
    if not (folder / RANKS).exists() and (folder / TOKENIZER_JSON).exists():
        return ByteLevelTokenizer.read(folder)
    return RankTokenizer.read(folder)
