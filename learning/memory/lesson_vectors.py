"""What is taught as vectors of the sentence encoder, so that questions in other words are near to it.

    known = [KnownAnswer("What is my sister called?", "Your sister is called Ingrid.")]
    likeness = encoder.encode(["What name does my sister have?"]) @ lesson_vectors(encoder, known).T

A lesson's vector is the mean of its question's vector and of the vector of question and answer together.
Rewordings are near the first, questions that need the answer are near the second. Left out: choosing the
lessons (learning.teacher.recall).
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.encoder import SentenceEncoder, shipped_encoder, shipped_encoder_mark
from engine.errors import CheckpointError
from engine.storage.checkpoint import load_tensors, save_tensors
from learning.text.context import question_and_answer


@dataclass(frozen=True)
class KnownAnswer:
    """A question and the answer that is known to it."""

    question: str
    answer: str

    @property
    def text(self) -> str:
        return question_and_answer(self.question, self.answer)


def lesson_vectors(encoder: SentenceEncoder, known: Sequence[KnownAnswer]) -> Tensor:
    """Unit vectors [N, S], in the order of `known`: the mean of the question's and of the whole's."""
    texts = [*(one.question for one in known), *(one.text for one in known)]
    questions, whole = encoder.encode(texts).view(2, len(known), encoder.size)
    return F.normalize(questions + whole, dim=-1)


def keep_vectors(path: Path, vectors: Mapping[KnownAnswer, Tensor]) -> None:
    """Writes vectors of the shipped encoder, for `kept_vectors`. Does nothing if they cannot be written."""
    record = {"encoder": shipped_encoder_mark(), "lines": " ".join(map(_mark, vectors))}
    with contextlib.suppress(CheckpointError):
        save_tensors({"vectors": torch.stack([*vectors.values()])}, path, record)


def kept_vectors(path: Path, known: Sequence[KnownAnswer]) -> dict[KnownAnswer, Tensor]:
    """Reads the vectors of these answers that the file has. Empty if there is no such file, or if it is
    damaged or was written with another encoder."""
    try:
        tensors, record = load_tensors(path)
        if record.get("encoder") != shipped_encoder_mark() or "vectors" not in tensors:
            return {}
    except CheckpointError:
        return {}
    vectors = tensors["vectors"]
    if vectors.shape[1:] != (shipped_encoder().size,) or not bool(vectors.isfinite().all()):
        return {}
    there = dict(zip(record.get("lines", "").split(), vectors, strict=False))
    return {one: there[mark] for one in known if (mark := _mark(one)) in there}


def _mark(known: KnownAnswer) -> str:
    return hashlib.blake2b(repr(known).encode(), digest_size=12).hexdigest()
