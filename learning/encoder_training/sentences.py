"""Sentences of everyday language out of conversations and books, for the teacher to place.

    found = sentences(data_files([Path("corpus")]), most=70_000, rng=random.Random(0))

Short ones only: the encoder is asked about questions and lessons. Left out: reading files
(learning.data.corpus), and the teacher's vectors (teacher.py).
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from learning.data.corpus import Document, read_documents
from learning.text.flaws import sentences_of

WORDS = range(2, 29)
"""Words of a sentence that is taken."""
MOST_CHARACTERS = 160


def sentences(files: Sequence[Path], most: int, rng: random.Random) -> list[str]:
    """Different sentences of all documents that are not held out, in random order; at most `most` of each
    source. Raises DataError."""
    sources: dict[str, set[str]] = {}
    for path in files:
        for document in read_documents(path):
            if not document.held_out:
                sources.setdefault(document.source, set()).update(_short(document))
    found = set[str]()
    for _, own in sorted(sources.items()):
        found.update(rng.sample(sorted(own), min(most, len(own))))
    ordered = sorted(found)
    rng.shuffle(ordered)
    return ordered


def _short(document: Document) -> Iterator[str]:
    """Single sentences, whole messages of two of them, and a question with its answer."""
    texts = [text for _, text in document.turns] or [document.text]
    if len(document.turns) == 2:
        texts.append(" ".join(texts))
    for text in texts:
        text = " ".join(text.split())
        parts = sentences_of(text)
        found = [*parts, text] if len(parts) == 2 else parts
        yield from (
            one for one in found if len(one.split()) in WORDS and len(one) <= MOST_CHARACTERS
        )
