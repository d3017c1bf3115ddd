"""Losses on vectors of texts: which belong together, and how near a teacher says that they are.

Notation: N texts in a batch, S numbers of a vector; all vectors have length 1.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.errors import ShapeError
from learning.maths.shapes import same_shape


def info_nce(
    asked: Tensor,
    known: Tensor,
    temperature: float,
    twins: Tensor | None = None,
    strangers: tuple[Tensor, Tensor] | None = None,
) -> Tensor:
    """The mean cross-entropy, in nats, of finding each row's partner among all rows, both ways round.

    asked, known: [N, S]; row i of one belongs to row i of the other. temperature: > 0, of the cosines. twins:
    [N, N], true where another row may be as right as the partner, which then counts as neither; symmetric,
    and the diagonal is not looked at. strangers: ([M, S], [N, M]), more rows of the kind of `asked`, and for
    which rows of `known` they are wrong. InfoNCE (1807.03748), made symmetric as in CLIP (2103.00020).
    Raises ShapeError.
    """
    same_shape(asked=asked, known=known)
    scores = asked @ known.T / temperature
    if twins is not None:
        same_shape(twins=twins, scores=scores)
        own = torch.eye(len(scores), dtype=torch.bool, device=scores.device)
        scores = scores.masked_fill(twins & ~own, float("-inf"))
    back = scores.T
    if strangers is not None:
        others, wrong = strangers
        more = known @ others.T / temperature
        same_shape(wrong=wrong, scores=more)
        back = torch.cat([back, more.masked_fill(~wrong, float("-inf"))], 1)
    right = torch.arange(len(scores), device=scores.device)
    return (F.cross_entropy(scores, right) + F.cross_entropy(back, right)) / 2


def similarity_divergence(student: Tensor, teacher: Tensor, temperature: float) -> Tensor:
    """The mean over rows of KL(T || S) in nats, where T and S say which other row is how near.

    student: [N, S]; teacher: [N, S'], without gradient; N > 1. A row's distribution over the other rows is
    the softmax of the cosines divided by the temperature, > 0 (SEED, 2101.04731, with the batch in place of
    the queue). Raises ShapeError where the numbers of rows differ.
    """
    if len(student) != len(teacher):
        raise ShapeError(f"student has {len(student)} rows, teacher {len(teacher)}")
    others = ~torch.eye(len(student), dtype=torch.bool, device=student.device)
    sides = (teacher.detach(), student)
    wanted, found = (
        (side @ side.T / temperature)[others].view(len(side), -1).log_softmax(-1) for side in sides
    )
    return (wanted.exp() * (wanted - found)).sum(-1).mean()
