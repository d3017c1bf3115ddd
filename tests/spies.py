"""For tests of what is drawn: the ids that a tokenizer was given to read."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from engine.tokenizers.tokenizer import Tokenizer


def decoded(tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """Fills with all ids that the tokenizer decodes from now on."""
    read, own = set[int](), tokenizer.decode

    def decode(ids: Sequence[int]) -> str:
        read.update(ids)
        return own(ids)

    monkeypatch.setattr(tokenizer, "decode", decode)
    return read
