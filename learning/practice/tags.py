"""Teaches a model the tags of an answer as single ids (engine.tokenizers.tags).

A model that has never seen the tags' ids cannot tell them apart: training pushes the rows of all ids that
never occur to one and the same place. So warm-up, which teaches the answer format, first puts each tag where
the mean of its words is. Whether a model has learned them stands in its tokenizer's files; a model that
learned the tags as ordinary text goes on with these.
"""

from __future__ import annotations

from pathlib import Path

import torch
import torch.nn.functional as F

from engine.errors import CheckpointError, reason
from engine.model import Model
from engine.tokenizers.ranks import RankTokenizer
from engine.tokenizers.tags import GIVEN
from engine.tokenizers.tokenizer import Tokenizer

NEVER_SEEN = 0.9
"""Cosine between the row of a tag and that of a reserved id above which the tag was never learned. It is 1.00
in the 10M model that comes with vidya."""


@torch.no_grad()
def introduce_tags(model: Model, tokenizer: Tokenizer) -> bool:
    """Gives the tags that the model has never seen the mean of the rows of their words, in embedding and
    output layer. Returns whether there were any."""
    if not isinstance(tokenizer, RankTokenizer):
        return False
    spare = tokenizer.vocab_size - 1  # a reserved id that means nothing
    rows = model.embedding.weight
    unseen = {
        tag: i
        for tag, i in tokenizer.tags.items()
        if F.cosine_similarity(rows[i], rows[spare], dim=0) > NEVER_SEEN
    }
    for table in {id(t): t for t in (rows, model.vocabulary)}.values():  # one if they are tied
        for tag, i in unseen.items():
            table[i] = table[tokenizer.encode(f"<{tag}>")].mean(0)
    return bool(unseen)


def with_tags(tokenizer: Tokenizer) -> Tokenizer:
    """The tokenizer of a model that has learned the tags; the same if it has no ids for them."""
    if not isinstance(tokenizer, RankTokenizer) or tokenizer.says_tags:
        return tokenizer
    return tokenizer.with_tags()


def name_tags(tokenizer: Tokenizer, folder: Path) -> Tokenizer:
    """The tokenizer of a model that has learned the tags, written into the model's folder. Call it before
    such weights are published: names without the weights do no harm. Raises CheckpointError."""
    named = with_tags(tokenizer)
    if named is tokenizer:
        return tokenizer
    try:
        named.save(folder)
    except OSError as error:
        raise CheckpointError(
            f"{folder}: the tokenizer cannot be written ({reason(error)})",
            "free some space, or choose another --home; then practise again",
        ) from error
    return named


def as_tokens(tokenizer: Tokenizer, answer: str) -> list[int]:
    """Ids of a worked answer, with its tags as single ids if the tokenizer has some."""
    return tokenizer.encode_tagged(answer)


def as_text(tokenizer: Tokenizer, answer: str) -> list[int]:
    """Ids of a worked answer, with its tags as ordinary text."""
    return tokenizer.encode(answer)


def result_ids(tokenizer: Tokenizer, text: str, *, tagged: bool) -> list[int]:
    """Ids of a tool's result. The text is ordinary text, whatever it holds. tagged: whether the tag is a
    single id."""
    if tagged and tokenizer.tags:
        return [tokenizer.tags[GIVEN], *tokenizer.encode(f" {text}")]
    return tokenizer.encode(f"<{GIVEN}>{text}</{GIVEN}>")
