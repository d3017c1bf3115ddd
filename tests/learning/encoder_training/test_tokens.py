"""The vocabulary of the encoder."""

from __future__ import annotations

import pytest

from learning.encoder_training.tokens import token_texts, word_tokenizer


def test_common_words_are_one_token_in_any_place_and_have_a_text() -> None:
    pytest.importorskip("rustbpe")
    tokenizer = word_tokenizer(["Sister of my sister", "my SISTER!", "7 of my"] * 9, 290)
    assert len(tokenizer.encode(" sister")) == 1
    texts = token_texts(tokenizer)
    assert texts[tokenizer.encode(" sister")[0]] == "sister" and "7" in texts.values()
    assert all(any(map(str.isalnum, text)) and text == text.strip() for text in texts.values())
    assert tokenizer.encode("!")[0] not in texts and not texts.keys() & tokenizer.special_ids
