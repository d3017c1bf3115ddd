"""The weighted loss of a pack: likelihood of ids, and divergence from a reference.

Left out: where the weights of targets come from (learning.meta_training.rows).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from learning.meta_training.network import MergedNetwork
from learning.meta_training.packing import PackedTargets, Packer, shipped
from learning.meta_training.rows import MetaRow

ROWS = 64
"""Rows of a pass for the reference."""


def weighted_loss(
    network: MergedNetwork, x: Tensor, targets: PackedTargets, reference: Tensor
) -> Tensor:
    """The sum of weight times loss over all targets, in nats.

    x: outputs [N, D]. reference: log-probabilities [M, V], of which `held_reference` are indices; for these
    targets the loss is KL(reference || network), for the others the negative log-likelihood.
    """
    logits = network.logits(x, torch.cat([targets.at, targets.held_at]))
    told, held = logits.split([len(targets.at), len(targets.held_at)])
    total = logits.new_zeros(())
    if len(told):
        losses = F.cross_entropy(told, targets.label, reduction="none")
        total = total + (losses * targets.weight).sum()
    if len(held):
        before = reference[targets.held_reference].float()
        each = (before.exp() * (before - held.log_softmax(-1))).sum(-1)
        total = total + (each * targets.held_weight).sum()
    return total


@torch.no_grad()
def reference_of(network: MergedNetwork, rows: Sequence[MetaRow]) -> tuple[Tensor, list[MetaRow]]:
    """(log-probabilities [M, V] in float16 for all targets of the rows, the rows with their places there), of
    the network as it is."""
    packer, weights = Packer(network.prefix), network.block_weights()
    found, placed, at = list[Tensor](), list[MetaRow](), 0
    for row in rows:
        placed.append(row.held_at(at))
        at += len(row.places)
    for start in range(0, len(placed), ROWS):
        batch = shipped(packer.pack(placed[start : start + ROWS]), network.device)
        logits = network.logits(network.outputs(batch.ids, weights), batch.targets.held_at)
        found.append(logits.log_softmax(-1).half())
    empty = torch.zeros(0, network.config.vocab_size, dtype=torch.float16, device=network.device)
    return torch.cat([empty, *found]), placed
