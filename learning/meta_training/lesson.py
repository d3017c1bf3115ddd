"""The steps of a lesson inside a step of training, and the gradients at the weights that it leads to.

First-order MAML (1703.03400): the gradient at the taught weights is taken as that of the untaught ones. A
lesson takes its steps as a real one does (learning.lessons.recipe): Adam without a first moment on the upper
blocks. All rows of a lesson go through the lower blocks once.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from learning.lessons.recipe import TeachSettings
from learning.meta_training.feed import LessonBatch
from learning.meta_training.losses import weighted_loss
from learning.meta_training.network import MergedNetwork
from learning.meta_training.packing import PackedBatch
from learning.meta_training.plans import LessonPlan
from learning.objectives.stepper import BETA2, MAX_NORM


def teach(network: MergedNetwork, plan: LessonPlan) -> list[Tensor]:
    """The upper blocks' matrices after a lesson, as leaves. The network stays as it is.

    plan: on the network's device.
    """
    rows, width = plan.ids.shape
    with torch.no_grad():
        weights = network.block_weights()
        x = network.through(network.embed(plan.ids), rows, width, weights, 0, network.lower)
        top = network.through(x, rows, width, weights, network.lower, network.layers)
        reference = network.logits(top, plan.talk_at).log_softmax(-1)
        head, tail = x[: network.prefix], x[network.prefix :].view(rows, width, -1)
    moved = [w.detach().clone().requires_grad_() for w in network.upper]
    second = [torch.zeros_like(w) for w in moved]
    for step in plan.steps:
        if step.number == 0:
            second = [torch.zeros_like(w) for w in moved]
        x = torch.cat([head, tail[step.rows].flatten(0, 1)])
        upper = dict(enumerate(network.cast(moved), network.lower))
        x = network.through(x, len(step.rows), width, upper, network.lower, network.layers)
        loss = weighted_loss(network, x, step.targets, reference)
        _adam(moved, torch.autograd.grad(loss, moved), second, step.number)
    return moved


def taught_gradients(network: MergedNetwork, batch: LessonBatch, reference: Tensor) -> Tensor:
    """Adds the gradients at the weights that the lesson leads to, to those of the leaves. Returns the loss
    there, in nats, as a tensor."""
    moved = teach(network, batch.plan)
    total = torch.zeros((), device=network.device)
    for pack in batch.asked:
        total += _backward(network, pack, reference, moved)
    for leaf, taught in zip(network.upper, moved, strict=True):
        if taught.grad is not None:
            leaf.grad = taught.grad if leaf.grad is None else leaf.grad.add_(taught.grad)
    return total


def plain_gradients(
    network: MergedNetwork, packs: Sequence[PackedBatch], reference: Tensor
) -> Tensor:
    """Adds the gradients of these rows to those of the leaves. Returns their loss, in nats, as a tensor."""
    total = torch.zeros((), device=network.device)
    for pack in packs:
        total += _backward(network, pack, reference, None)
    return total


def _backward(
    network: MergedNetwork, pack: PackedBatch, reference: Tensor, upper: list[Tensor] | None
) -> Tensor:
    x = network.outputs(pack.ids, network.block_weights(upper))
    loss = weighted_loss(network, x, pack.targets, reference)
    loss.backward()  # type: ignore[no-untyped-call]
    return loss.detach()


@torch.no_grad()
def _adam(
    moved: Sequence[Tensor], gradients: Sequence[Tensor], second: Sequence[Tensor], number: int
) -> None:
    """One step. number: steps since the second moments began."""
    recipe = TeachSettings()
    norm = torch.stack([g.square().sum() for g in gradients]).sum().sqrt()
    factor = (MAX_NORM / (norm + 1e-6)).clamp(max=1.0)
    rate = recipe.lr * max(0.1, 1.0 - 0.9 * number / recipe.steps)
    for weight, gradient, v in zip(moved, gradients, second, strict=True):
        g = gradient * factor
        v.mul_(BETA2).addcmul_(g, g, value=1.0 - BETA2)
        scale = (v / (1.0 - BETA2 ** (number + 1))).sqrt_().add_(1e-8)
        weight.addcdiv_(g, scale, value=-rate)
