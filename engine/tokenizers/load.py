"""Which tokenizer a model's folder has."""

from __future__ import annotations

from pathlib import Path

from engine.tokenizers.byte_level import TOKENIZER_JSON, ByteLevelTokenizer
from engine.tokenizers.ranks import RANKS, RankTokenizer
from engine.tokenizers.tokenizer import Tokenizer


def load_tokenizer(folder: Path) -> Tokenizer:
    """The tokenizer of a model's folder, by the files that it has: vidya's own, or else that of Hugging
    Face. Raises CheckpointError."""
    if not (folder / RANKS).exists() and (folder / TOKENIZER_JSON).exists():
        return ByteLevelTokenizer.read(folder)
    return RankTokenizer.read(folder)
