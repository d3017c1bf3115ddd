"""Divergences between a teacher's and a student's distributions, and the alignment of two tokenizations.

Left out: where logits come from (learning.distillation).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.errors import ShapeError
from learning.maths.kl import kl_divergence
from learning.maths.shapes import same_shape

LEAST = 1e-6
"""The smallest probability of a class in `top_jsd`."""


def jsd(student_logits: Tensor, teacher_logits: Tensor, beta: float) -> Tensor:
    """Generalised Jensen-Shannon divergence of each position, in nats, with gradient in the student.

    With the mixture M = β T + (1 - β) S:  β KL(T || M) + (1 - β) KL(S || M).  Its limits are used for
    β = 0: KL(T || S), forward KL, and β = 1: KL(S || T), reverse KL. student_logits, teacher_logits:
    [..., V]; the teacher has no gradient. Returns [...], >= 0 up to rounding. 2306.13649, eq. 1.
    Raises ShapeError where shapes differ, ValueError for a beta outside 0 to 1.
    """
    same_shape(student_logits=student_logits, teacher_logits=teacher_logits)
    if not 0.0 <= beta <= 1.0:
        raise ValueError(f"beta is {beta}, it must be from 0 to 1")
    teacher_logits = teacher_logits.detach()
    if beta == 0.0:
        return kl_divergence(teacher_logits, student_logits)
    teacher = F.log_softmax(teacher_logits.float(), -1)
    student = F.log_softmax(student_logits.float(), -1)
    if beta == 1.0:
        return (student.exp() * (student - teacher)).sum(-1)
    weights = torch.tensor([beta, 1.0 - beta], device=student.device).log()
    mixture = torch.logsumexp(torch.stack([teacher + weights[0], student + weights[1]]), 0)
    forward = (teacher.exp() * (teacher - mixture)).sum(-1)
    reverse = (student.exp() * (student - mixture)).sum(-1)
    return beta * forward + (1.0 - beta) * reverse


def top_cross_entropy(logits: Tensor, ids: Tensor, probabilities: Tensor) -> Tensor:
    """-Σ_k p_k log q(id_k) - rest · log(1 - Σ_k q(id_k))  of each position, in nats.

    The cross-entropy between a teacher of whom only the likeliest tokens were kept and a student,
    with all other tokens as one class; up to the teacher's entropy it is KL(T || S) over these
    classes. logits: [N, V], with gradient. ids: [N, K], different in each row; -1 where the row has
    fewer. probabilities: [N, K], >= 0, 0 where the id is -1; they sum to at most 1. Returns [N].
    Raises ShapeError.
    """
    same_shape(ids=ids, probabilities=probabilities)
    if logits.dim() != 2 or ids.dim() != 2 or len(ids) != len(logits):
        raise ShapeError(
            f"logits has shape {tuple(logits.shape)}, ids {tuple(ids.shape)}; "
            "[positions, vocabulary] and [positions, kept] are needed"
        )
    log_q = F.log_softmax(logits.float(), -1)
    there = ids >= 0
    kept = log_q.gather(1, ids.clamp(min=0)).masked_fill(~there, float("-inf"))
    likely = torch.where(there, probabilities, 0.0)
    own = -(likely * kept.masked_fill(~there, 0.0)).sum(-1)
    rest = (1.0 - likely.sum(-1)).clamp(min=0.0)
    # log(1 - Σ q) from the logarithm of Σ q; at Σ q = 1 it would be minus infinity
    inside = torch.logsumexp(kept, -1).clamp(max=-1e-6)
    return own - rest * torch.log(-torch.expm1(inside))


def top_jsd(logits: Tensor, ids: Tensor, probabilities: Tensor, beta: float) -> Tensor:
    """`jsd` of each position between a teacher of whom only the likeliest tokens were kept and a student.

    The classes are those of `top_cross_entropy`: each kept token, and all others together. A class that one
    side holds for impossible counts as LEAST, so that the reverse divergence is finite. Arguments as there;
    beta: 0 to 1. Returns [N]. Raises ShapeError, ValueError.
    """
    same_shape(ids=ids, probabilities=probabilities)
    there, least = ids >= 0, math.log(LEAST)
    kept = F.log_softmax(logits.float(), -1).gather(1, ids.clamp(min=0))
    inside = torch.logsumexp(kept.masked_fill(~there, float("-inf")), -1, keepdim=True)
    rest = torch.log(-torch.expm1(inside.clamp(max=-LEAST)))
    student = torch.cat([kept.masked_fill(~there, least), rest], -1)
    likely = torch.where(there, probabilities, 0.0)
    teacher = torch.cat([likely, 1.0 - likely.sum(-1, keepdim=True)], -1).clamp(min=LEAST)
    return jsd(student, teacher.log(), beta)


def spans(first: Sequence[int], second: Sequence[int]) -> list[tuple[range, range]]:
    """The finest pairs of token ranges that cover the same bytes in two tokenizations of one text.

    first, second: lengths of the tokens in bytes, each >= 0; the sums must agree. A token of length 0
    belongs to the span in which it stands. Example: [3, 2, 4] and [3, 6] give
    [(0:1, 0:1), (1:3, 1:2)]. Raises ShapeError where the lengths do not add up to the same.
    """
    ends, others = list(accumulate(first)), list(accumulate(second))
    if (ends[-1:] or [0]) != (others[-1:] or [0]):
        raise ShapeError(
            f"the tokens cover {sum(first)} and {sum(second)} bytes; both must cover the same text"
        )
    found: list[tuple[range, range]] = []
    start = other_start = 0
    for end in sorted({*ends} & {*others}):
        stop, other_stop = _behind(ends, end, start), _behind(others, end, other_start)
        if stop > start and other_stop > other_start:
            found.append((range(start, stop), range(other_start, other_stop)))
            start, other_start = stop, other_stop
    return found


def _behind(ends: Sequence[int], end: int, start: int) -> int:
    """The place behind the last token, from `start` on, that ends at this byte."""
    place = start
    while place < len(ends) and ends[place] <= end:
        place += 1
    return place
