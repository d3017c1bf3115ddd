"""The targets of a student at each token of an answer: the teacher's distribution where tokens of both cover
the same bytes, otherwise the token itself.

The two need not have one vocabulary: tokens are matched by their bytes (maths.distil.spans).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.model import Model
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.examples import Example, from_answer, micro_batches
from learning.distillation.answers import TeacherAnswer
from learning.maths.distil import spans
from learning.objectives.forward import CHECK_TOKENS, target_logits

KEPT = 16
"""Likeliest tokens of the teacher that are kept at each position; the others are one class."""


@dataclass(frozen=True)
class SoftExample:
    """An answer in the student's tokens with what to predict at each of its targets."""

    example: Example
    ids: Tensor
    """[targets, K] ids of the student; -1 fills rows with fewer than K."""
    probabilities: Tensor
    """[targets, K], float32; the rest of a row's mass belongs to all other tokens."""


def hard_targets(
    tokenizer: Tokenizer, rows: Sequence[TeacherAnswer], context: int
) -> list[SoftExample]:
    """Every target is the token itself, with probability 1: sequence-level distillation (1606.07947)."""
    found = []
    for row in rows:
        example = _example(tokenizer, row, context)
        ids = torch.tensor(example.answer)[:, None]
        found.append(SoftExample(example, ids, torch.ones(ids.shape)))
    return found


class Matching:
    """The student's ids for a teacher's."""

    def __init__(self, teacher: Tokenizer, student: Tokenizer) -> None:
        own = {student.decode_bytes([i]): i for i in range(student.vocab_size)}
        own.pop(b"", None)  # special ids have no bytes
        self._teacher, self._student = teacher, student
        ids = [own.get(teacher.decode_bytes([i]), -1) for i in range(teacher.vocab_size)]
        ids[teacher.chat.end] = student.chat.end
        self.ids = torch.tensor(ids)
        """[teacher's vocabulary] student's id with the same bytes, or -1."""

    def pairs(self, teacher: Sequence[int], student: Sequence[int]) -> list[tuple[int, int]]:
        """(teacher's place, student's place) of tokens that stand for the same bytes of an answer; none
        where one of the two was cut to its context."""
        lengths = self._lengths(self._teacher, teacher), self._lengths(self._student, student)
        if sum(lengths[0]) != sum(lengths[1]):
            return []
        found = spans(*lengths)
        return [(one[0], other[0]) for one, other in found if len(one) == len(other) == 1]

    @staticmethod
    def _lengths(tokenizer: Tokenizer, ids: Sequence[int]) -> list[int]:
        """Bytes of each token of an answer; the end token counts as one."""
        return [1 if i == tokenizer.chat.end else len(tokenizer.decode_bytes([i])) for i in ids]


@torch.no_grad()
def soft_targets(
    teacher: Model,
    teacher_tokenizer: Tokenizer,
    tokenizer: Tokenizer,
    rows: Sequence[TeacherAnswer],
    context: int,
    *,
    temperature: float = 1.0,
    pause: Callable[[], None] = lambda: None,
) -> list[SoftExample]:
    """The teacher reads each answer once. context: the student's. temperature: of both sides' softmax
    in the loss. `pause` is called between forward passes."""
    matching = Matching(teacher_tokenizer, tokenizer)
    hard = hard_targets(tokenizer, rows, context)
    read = [_example(teacher_tokenizer, row, teacher.config.context) for row in rows]
    found: list[SoftExample | None] = [None] * len(rows)
    for group in micro_batches(read, CHECK_TOKENS):
        pause()
        logits, _, places = target_logits(teacher, [read[i] for i in group])
        top = (logits / temperature).softmax(-1).topk(KEPT)
        for place, index in enumerate(group):
            own = places == place
            found[index] = _softened(
                hard[index], read[index], top.values[own], top.indices[own], matching
            )
    return [item for item in found if item is not None]


def _softened(
    hard: SoftExample, read: Example, likely: Tensor, ids: Tensor, matching: Matching
) -> SoftExample:
    """likely, ids: [teacher's targets, KEPT]."""
    answer = hard.example.answer
    mapped = matching.ids[ids.cpu()]
    new_ids = torch.full((len(answer), KEPT), -1)
    new_ids[:, :1] = hard.ids
    probabilities = torch.zeros(len(answer), KEPT)
    probabilities[:, 0] = 1.0
    for theirs, ours in matching.pairs(read.answer, answer):
        new_ids[ours] = mapped[theirs]
        probabilities[ours] = likely[theirs].cpu().masked_fill(mapped[theirs] < 0, 0.0)
    return SoftExample(hard.example, new_ids, probabilities)


def _example(tokenizer: Tokenizer, row: TeacherAnswer, context: int) -> Example:
    return from_answer(tokenizer, [("user", row.opening)], row.answer, context)
