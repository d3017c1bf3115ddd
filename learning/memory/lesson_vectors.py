"""What is taught as vectors of the sentence encoder, so that questions in other words are near to it.

    known = [KnownAnswer("What is my sister called?", "Your sister is called Ingrid.")]
    likeness = encoder.encode(["What name does my sister have?"]) @ lesson_vectors(encoder, known).T

A lesson's vector is the mean of its question's vector and of the vector of question and answer together.
Rewordings are near the first, questions that need the answer are near the second. Left out: choosing the
lessons (learning.teacher.recall).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch.nn.functional as F
from torch import Tensor

from engine.encoder import SentenceEncoder
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
