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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.encoder import SentenceEncoder, shipped_encoder, shipped_encoder_mark
from engine.errors import CheckpointError
from engine.storage.checkpoint import load_tensors, save_tensors
from learning.protocol.records import Lesson
from learning.text.context import question_and_answer


@dataclass(frozen=True)
class KnownAnswer:
    """A question and the answer that is known to it."""

    question: str
    answer: str

    @property
    def text(self) -> str:
        return question_and_answer(self.question, self.answer)

    @classmethod
    def of(cls, lesson: Lesson) -> KnownAnswer:
        """What a lesson with a prompt teaches."""
        return cls(lesson.prompt[-1].text, lesson.answer)


def lesson_vectors(encoder: SentenceEncoder, known: Sequence[KnownAnswer]) -> Tensor:
    """Unit vectors [N, S], in the order of `known`: the mean of the question's and of the whole's."""
    texts = [*(one.question for one in known), *(one.text for one in known)]
    questions, whole = encoder.encode(texts).view(2, len(known), encoder.size)
    return F.normalize(questions + whole, dim=-1)


class VectorFile:
    """A file with the vectors of known answers, made by the shipped encoder. It holds hashes of the texts,
    not the texts. A file that is missing, damaged or of another encoder counts as empty."""

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
        there = self._there if self._path.exists() else frozenset()
        if not there <= marks.keys() or len(marks) - len(there) > self._spare:
            with contextlib.suppress(CheckpointError, OSError):
                self._write(marks)

    def drop_all_but(self, known: Iterable[KnownAnswer]) -> None:
        """Takes the vectors of all other answers out of the file, or removes it if it cannot be written.
        Raises OSError if it cannot be removed."""
        wanted = set(map(_mark, known))
        there = self._whole()
        kept = {mark: vector for mark, vector in there.items() if mark in wanted}
        if there and len(kept) == len(there):
            return
        try:
            self._write(kept)
        except CheckpointError:
            self._write({})

    def _write(self, vectors: Mapping[str, Tensor]) -> None:
        """{mark: [S]}. Raises CheckpointError, and OSError if a file without vectors cannot be removed."""
        if vectors:
            record = {"encoder": shipped_encoder_mark(), "lines": " ".join(vectors)}
            save_tensors({"vectors": torch.stack([*vectors.values()])}, self._path, record)
        elif not self._path.is_dir():  # a folder is not of this program
            self._path.unlink(missing_ok=True)
        self._there = frozenset(vectors)

    def _whole(self) -> dict[str, Tensor]:
        """{mark: [S]} of all that the file has."""
        try:
            tensors, record = load_tensors(self._path)
            if record.get("encoder") != shipped_encoder_mark() or "vectors" not in tensors:
                return {}
            size = shipped_encoder().size
        except CheckpointError:
            return {}
        marks, vectors = record.get("lines", "").split(), tensors["vectors"]
        fits = vectors.dtype == torch.float32 and vectors.shape == (len(marks), size)
        return dict(zip(marks, vectors, strict=True)) if fits and vectors.isfinite().all() else {}


def _mark(known: KnownAnswer) -> str:
    return hashlib.blake2b(repr(known).encode(), digest_size=12).hexdigest()
