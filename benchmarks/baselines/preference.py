"""Attempt 6: the wanted answer against the model's own, by DPO with a bug, or by a contrastive loss with the
elastic pull.

The hope: training on a preference is gentler than training on a text. A lesson without rejected answers uses
the model's own answer as the rejected one.

DPO fails because of its reference, which is taken from the current weights before each step: its margin is
always 0 and its loss ln 2, so the gradient never weakens, however far apart the answers are; nothing signals
that a lesson is learned, and nothing protects other knowledge.
The contrastive loss has no reference and uses the elastic pull instead. It lowers the unwanted answer as
much as it raises the wanted one, and the pull fails as in attempt 5.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from benchmarks.baselines.common import LR, Anchor, fresh_adam, step
from engine.model import Model
from learning.data.examples import Example
from learning.maths.preference import bradley_terry_loss, dpo_loss
from learning.memory.tasks import LessonTask
from learning.objectives.preference import log_probabilities

BETA = 0.1
REPEATS = 4
PULL = 0.02
LONGEST = 32
"""Longest own answer of the model, in tokens."""


class MovingReferenceDPO:
    """REPEATS steps of DPO whose reference is the model itself before each step."""

    def __init__(self, model: Model, lr: float = LR) -> None:
        self._model, self._lr = model, lr

    def learn(self, lesson: LessonTask) -> float:
        pair = against(self._model, lesson)
        if not pair:
            return 0.0
        optimizer, loss = fresh_adam(self._model, self._lr), 0.0
        for _ in range(REPEATS):
            loss = step(optimizer, lambda: backward(self._loss(pair)))
        return loss

    def _loss(self, pair: Sequence[Example]) -> Tensor:
        policy = log_probabilities(self._model, pair)
        reference = policy.detach()  # the bug: this should be from before the lesson
        chosen, rejected = policy[:1].expand(len(pair) - 1), policy[1:]
        return dpo_loss(
            chosen, rejected, reference[:1].expand_as(chosen), reference[1:], BETA
        ).mean()


class ContrastiveElastic:
    """REPEATS steps of the contrastive loss, each followed by the pull to the book's weights."""

    def __init__(self, model: Model, pull: float = PULL, lr: float = LR) -> None:
        self._model, self._pull, self._lr = model, pull, lr
        self._anchor = Anchor(model)

    def learn(self, lesson: LessonTask) -> float:
        pair = against(self._model, lesson)
        if not pair:
            return 0.0
        optimizer, loss = fresh_adam(self._model, self._lr), 0.0
        for _ in range(REPEATS):
            loss = step(optimizer, lambda: backward(contrast(self._model, pair)))
            self._anchor.pull(self._model, self._pull)
        return loss


def backward(loss: Tensor) -> float:
    """Adds the gradients of a loss; returns it."""
    loss.backward()  # type: ignore[no-untyped-call]
    return float(loss.detach())


def contrast(model: Model, pair: Sequence[Example]) -> Tensor:
    """-log σ(chosen - rejected) of the mean log-probabilities per token of the first example and each other,
    with gradient."""
    lengths = torch.tensor([float(e.targets) for e in pair], device=model.device)
    mean = log_probabilities(model, pair) / lengths
    return bradley_terry_loss(mean[:1].expand(len(pair) - 1), mean[1:]).mean()


def against(model: Model, lesson: LessonTask) -> list[Example]:
    """The wanted answer, then the rejected ones; empty if there is nothing to prefer."""
    if lesson.answer is None:
        return []
    others = lesson.rejected or (own_answer(model, lesson.answer),)
    rejected = [e for e in others if e.ids != lesson.answer.ids]
    return [lesson.answer, *rejected] if rejected else []


@torch.no_grad()
def own_answer(model: Model, example: Example) -> Example:
    """The greedy answer to the example's prompt, followed by the example's last id."""
    first = example.target.index(True)
    ids, end = list(example.ids[:first]), example.ids[-1]
    for _ in range(min(LONGEST, model.config.context - first)):
        hidden = model.hidden_states(torch.tensor([ids], device=model.device))
        ids.append(int(model.logits(hidden[0, -1]).argmax()))
        if ids[-1] == end:
            break
    target = [False] * first + [True] * (len(ids) - first)
    return Example(tuple(ids), tuple(target), example.prompt)
