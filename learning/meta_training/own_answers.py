"""Short answers of the base itself to everyday openings, near which the adapter is held."""

from __future__ import annotations

import re

from learning.meta_training.network import MergedNetwork
from learning.meta_training.reading import greedy
from learning.meta_training.rows import MetaRow, RowWriter
from learning.text.openings import openings

OPENINGS = 1_000
"""How many it is asked; the measure asks others."""
LONGEST = 32
"""Ids of an answer."""
_SENTENCE = re.compile(r"[.!?](?=\s|$)")
_ABOUT_ITSELF = re.compile(r"\b(sorry|AI|language model|chatbot|I|I'm|my|me|we|our)\b")


def more_own_answers(network: MergedNetwork, writer: RowWriter) -> list[MetaRow]:
    """Rows of openings with the first sentence of the network's answer, without the id that ends it; those
    whose answer speaks of itself, or is no short sentence, are left out. Call it with the base's weights."""
    texts = openings()[:OPENINGS]
    said = greedy(network, [writer.prompt(text) for text in texts], writer.end, LONGEST)
    found = []
    for text, ids in zip(texts, said, strict=True):
        short = first_sentence(writer.tokenizer.decode(ids))
        if 8 <= len(short) <= 140 and "\n" not in short and not _ABOUT_ITSELF.search(short):
            found.append(writer.row(text, short).without_end())
    return found


def first_sentence(answer: str) -> str:
    """The answer up to the end of its first sentence; "" if it has none."""
    stop = _SENTENCE.search(answer)
    return answer[: stop.end()].strip() if stop else ""
