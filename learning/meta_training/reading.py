"""Greedy reading of a network: whether it gives a row's answer, and what it answers."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from learning.meta_training.network import MergedNetwork
from learning.meta_training.packing import Packer, shipped
from learning.meta_training.rows import MetaRow

MOST_OF_ROWS, MOST_OF_ANSWERS = 16_000, 24_000
"""Most ids of a pass."""
LOGITS = 2_000
"""Places of which the logits are there at once."""
LOOK = 4
"""Ids between two looks whether all answers have ended."""


@torch.no_grad()
def margins(
    network: MergedNetwork, rows: Sequence[MetaRow], upper: Sequence[Tensor] | None = None
) -> list[float]:
    """For each row the least lead of a target over the next best id, in logits: above 0 where greedy decoding
    gives the answer. upper: matrices of the upper blocks in place of the network's."""
    weights, packer = network.block_weights(upper), Packer(network.prefix)
    order = sorted(range(len(rows)), key=lambda i: len(rows[i].ids))
    found, at = [0.0] * len(rows), 0
    while at < len(order):
        size = 1
        while (
            at + size < len(order) and (size + 1) * len(rows[order[at + size]].ids) <= MOST_OF_ROWS
        ):
            size += 1
        part = order[at : at + size]
        batch = shipped(packer.pack([rows[i].held_at(-1) for i in part]), network.device)
        x = network.outputs(batch.ids, weights)
        targets, lead = batch.targets, list[Tensor]()
        for places, labels in zip(
            targets.at.split(LOGITS), targets.label.split(LOGITS), strict=True
        ):
            logits = network.logits(x, places)
            own = logits.gather(1, labels[:, None])[:, 0]
            logits.scatter_(1, labels[:, None], float("-inf"))
            lead.append(own - logits.amax(1))
        least = torch.full((size,), float("inf"), device=network.device)
        least.scatter_reduce_(0, targets.row, torch.cat(lead), "amin")
        for i, margin in zip(part, least.tolist(), strict=True):
            found[i] = margin
        at += size
    return found


@torch.no_grad()
def greedy(
    network: MergedNetwork, prompts: Sequence[tuple[int, ...]], end: int, longest: int
) -> list[list[int]]:
    """The ids that greedy decoding gives after each prompt, at most `longest`, without the id that ends an
    answer. Each id is a whole pass: for hundreds of short answers at once."""
    weights, packer = network.block_weights(), Packer(network.prefix)
    answers: list[list[int]] = [[] for _ in prompts]
    order = sorted(range(len(prompts)), key=lambda i: len(prompts[i]))
    size = max(1, MOST_OF_ANSWERS // (max(map(len, prompts), default=0) + longest))
    for start in range(0, len(order), size):
        part = [prompts[i] for i in order[start : start + size]]
        width = packer.padded(max(map(len, part)) + longest)
        ids = torch.zeros(len(part), width, dtype=torch.long)
        for row, prompt in enumerate(part):
            ids[row, : len(prompt)] = torch.tensor(prompt)
        ids = ids.to(network.device)
        _continue(network, ids, part, end, longest, weights)
        for row, i in zip(ids.tolist(), order[start : start + size], strict=True):
            said = row[len(prompts[i]) : len(prompts[i]) + longest]
            answers[i] = said[: said.index(end)] if end in said else said
    return answers


def _continue(
    network: MergedNetwork,
    ids: Tensor,
    prompts: Sequence[tuple[int, ...]],
    end: int,
    longest: int,
    weights: list[tuple[Tensor, ...]],
) -> None:
    """Writes the answers into ids [R, T] behind the prompts."""
    count, width = ids.shape
    length = torch.tensor([len(prompt) for prompt in prompts], device=network.device)
    rows = torch.arange(count, device=network.device)
    ended = torch.zeros(count, dtype=torch.bool, device=network.device)
    for number in range(longest):
        x = network.outputs(ids, weights)
        best = network.logits(x, rows * width + length - 1).argmax(-1)
        best = torch.where(ended, end, best)
        ids[rows, length] = best
        length = length + 1
        ended |= best == end
        if number % LOOK == LOOK - 1 and bool(ended.all()):
            return
