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
from engine.storage.files import remove
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


class VectorFile:
    """A file with the vectors of answers that are known, made by the shipped encoder. It holds no text, but
    hashes of the texts. A file that is missing, damaged or of another encoder counts as empty."""

    def __init__(self, path: Path, spare: int = 0) -> None:
        """spare: number of new vectors that are not worth writing the file again."""
        self._path, self._spare = path, spare
        self._there = frozenset[str]()
        """Marks of what the file is known to hold."""

    def read(self, known: Sequence[KnownAnswer]) -> dict[KnownAnswer, Tensor]:
        """The vectors, [S], of these answers that the file has."""
        there = self._whole()
        self._there = frozenset(there)
        return {one: there[mark] for one in known if (mark := _mark(one)) in there}

    def keep(self, vectors: Mapping[KnownAnswer, Tensor]) -> None:
        """Writes these vectors, [S] each, and no others, if the file holds another one or lacks more than
        `spare` of them. Does nothing if the file cannot be written."""
        marks = {_mark(one): vector for one, vector in vectors.items()}
        if self._there <= marks.keys() and len(marks) - len(self._there) <= self._spare:
            return
        with contextlib.suppress(CheckpointError, OSError):
            if marks:
                record = {"encoder": shipped_encoder_mark(), "lines": " ".join(marks)}
                save_tensors({"vectors": torch.stack([*marks.values()])}, self._path, record)
            else:
                remove(self._path)
            self._there = frozenset(marks)

    def _whole(self) -> dict[str, Tensor]:
        """{mark: [S]} of all that the file has."""
        try:
            tensors, record = load_tensors(self._path)
            if record.get("encoder") != shipped_encoder_mark() or "vectors" not in tensors:
                return {}
            size = shipped_encoder().size
        except CheckpointError:
            return {}
        vectors = tensors["vectors"]
        if vectors.shape[1:] != (size,) or not bool(vectors.isfinite().all()):
            return {}
        return dict(zip(record.get("lines", "").split(), vectors, strict=False))


def _mark(known: KnownAnswer) -> str:
    return hashlib.blake2b(repr(known).encode(), digest_size=12).hexdigest()
