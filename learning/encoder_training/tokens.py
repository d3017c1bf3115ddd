"""A vocabulary of whole words for the encoder.

    tokenizer = word_tokenizer(texts, 24_576)
    token_texts(tokenizer)[300]  # "sister"

Most words of everyday language are one token. A token's first vector is the one that the teacher gives to
the word alone (as in model2vec). So the encoder knows words before its blocks have learned anything.
Left out: the teacher (teacher.py).
"""

from __future__ import annotations

from collections.abc import Iterable

from engine.tokenizers.ranks import RankTokenizer, train_tokenizer


def word_tokenizer(texts: Iterable[str], vocab_size: int) -> RankTokenizer:
    """A byte-level BPE of the texts as SentenceEncoder.ids reads them: in small letters and after a space.
    Raises ConfigError if rustbpe is not installed."""
    return train_tokenizer((f" {text.lower()}" for text in texts), vocab_size)


def token_texts(tokenizer: RankTokenizer) -> dict[int, str]:
    """The texts of the tokens that have a letter or a digit."""
    texts = (
        tokenizer.decode_bytes([at]).decode("utf-8", "replace")
        for at in range(tokenizer.vocab_size)
    )
    return {at: text.strip() for at, text in enumerate(texts) if any(map(str.isalnum, text))}
