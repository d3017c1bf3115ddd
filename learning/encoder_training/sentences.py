"""What the teacher places: sentences of conversations and books, what is said and asked about invented lives,
and single words.

    found = sentences(data_files([Path("corpus")]), most=70_000, rng=random.Random(0))
    found += of_lives(3_000, most=120_000, rng=random.Random(0)) + words(found)

Short ones only: the encoder is asked about questions and lessons. Left out: reading files
(learning.data.corpus), and the teacher's vectors (teacher.py).
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from learning.data.corpus import Document, read_documents
from learning.text.flaws import sentences_of
from learning.text.lives import LifeFact, lives

WORDS = range(2, 29)
"""Words of a sentence that is taken."""
MOST_CHARACTERS = 160
LEAST_OF_WORD = 4
"""How often a word must come to be taken alone."""
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")


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


def of_lives(count: int, most: int, rng: random.Random) -> list[str]:
    """Different questions, answers and statements about `count` invented lives; at most `most`."""
    found = set[str]()
    for life in lives(count, rng):
        found.update(life.unknown)
        for fact in life.facts:
            found.update(_of_fact(fact))
    return rng.sample(sorted(found), min(most, len(found)))


def _of_fact(fact: LifeFact) -> Iterator[str]:
    yield from (fact.question, fact.answer, f"{fact.question} {fact.answer}")
    yield from (*fact.rewordings, *fact.paraphrases, *fact.statements, *fact.neighbours)
    yield from (one.question for one in (*fact.follows, *fact.right))


def words(texts: Iterable[str]) -> list[str]:
    """The words of the texts that come LEAST_OF_WORD times or more, in small letters, the commonest first."""
    found = Counter(
        word for text in texts for word in _WORD.findall(text.lower().replace("\u2019", "'"))
    )
    return [word for word, count in found.most_common() if count >= LEAST_OF_WORD]


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
