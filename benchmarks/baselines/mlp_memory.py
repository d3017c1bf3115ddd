"""What editors of MLP weights share: where a fact is looked up, the key there, and the value that answers.

A block's down projection W [D, F] is read as a memory from keys k [F] to values W k [D] (2012.14913). In the
papers a fact is a token or two after a prompt that names it ("The mother tongue of X is"). Our answers are
sentences, and one value cannot bring a whole sentence into a small model: at 10M the loss stays above 2 nats
per token, whichever block is edited. So the sentence is cut where the model itself goes wrong: what it says
right before that is the prompt, the next token is the fact, and so on until the answer is whole or EDITS are
spent. The place of a fact is the last token of its prompt ("last" in ROME's code), the value is found by
descent on the likelihood (2202.05262, section 3.1, without its term on the essence of the subject).

Notation: D width of the model, F of the MLP, N number of keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from engine.model import Model
from engine.precision import autocast
from learning.data.examples import Example, after, asked, collate, micro_batches
from learning.objectives.forward import target_logits

DEPTH = 0.3
"""The edited block's place among all, as a share: 2 of 0 to 4 at 10M, 9 of 0 to 29 at 135M. The papers edit
17 of 48 in GPT2-XL and 3 to 8 of 28 in GPT-J (2202.05262, 2210.07229)."""
EDITS = 8
"""Most edits for one answer."""
STEPS, RATE = 25, 0.5
"""Steps of Adam on the value, and its rate, in standard deviations of the residual stream (2202.05262)."""
DECAY = 0.02
"""Weight of the squared length of the change, in nats at the length of the residual stream."""
LONGEST = 1.5
"""Longest change, in lengths of the residual stream; 2210.07229 clamps to 0.75 to 4 of them."""
GOAL = 0.05
"""Loss in nats at which the descent ends."""
TALKS = 4
"""Other talk before the question, over which the key is averaged."""
TOKENS = 512
"""Padded tokens of a pass without gradients."""
MOMENT_TOKENS = 20_000
"""Tokens from which the second moment of keys is estimated."""


def edited_block(model: Model) -> int:
    """Number of the block that is edited."""
    return min(len(model.blocks) - 1, round(DEPTH * len(model.blocks)))


def down(model: Model, block: int) -> nn.Linear:
    """The down projection of a block."""
    found: Any = model.blocks[block]
    projection: nn.Linear = found.ffn.down
    return projection


def places(examples: Sequence[Example]) -> Tensor:
    """Position of the last token before each example's answer, [N]."""
    return torch.tensor([len(asked(example)) - 1 for example in examples])


@torch.no_grad()
def first_wrong(model: Model, example: Example) -> Example | None:
    """The example up to the first token of its answer that is not the likeliest, which alone is to be
    predicted; None where greedy decoding gives the whole answer."""
    logits, labels, _ = target_logits(model, [example])
    wrong = (logits.argmax(-1) != labels).nonzero()
    if not len(wrong):
        return None
    targets = [place for place, wanted in enumerate(example.target) if wanted]
    end = targets[int(wrong[0])]
    return replace(example, ids=example.ids[: end + 1], target=(False,) * end + (True,))


@contextmanager
def inputs_of(module: nn.Module) -> Iterator[list[Tensor]]:
    """Collects what goes into a module, [B, T, ...] per pass."""
    seen: list[Tensor] = []
    handle = module.register_forward_pre_hook(lambda _, args: seen.append(args[0].detach()))
    try:
        yield seen
    finally:
        handle.remove()


@contextmanager
def outputs_of(
    module: nn.Module, change: Callable[[Tensor], Tensor] = lambda out: out
) -> Iterator[list[Tensor]]:
    """Collects what comes out of a module, and passes `change` of it on."""
    seen: list[Tensor] = []

    def hook(_module: nn.Module, _args: tuple[Tensor, ...], out: Tensor) -> Tensor:
        seen.append(out.detach())
        return change(out)

    handle = module.register_forward_hook(hook)
    try:
        yield seen
    finally:
        handle.remove()


@torch.no_grad()
def keys_of(model: Model, block: int, examples: Sequence[Example]) -> Tensor:
    """The key of each example, [N, F] in float32."""
    with inputs_of(down(model, block)) as seen:
        model.hidden_states(collate(examples).ids.to(model.device))
    return seen[0][torch.arange(len(examples)), places(examples)].float()


@torch.no_grad()
def second_moments(
    model: Model, blocks: Sequence[int], examples: Sequence[Example], tokens: int = MOMENT_TOKENS
) -> dict[int, Tensor]:
    """E[k kᵀ] of each block over the tokens of the examples, [F, F] in float32. tokens: about so many are
    read."""
    width = down(model, blocks[0]).weight.shape[1]
    moments = {block: torch.zeros(width, width, device=model.device) for block in blocks}
    count = 0
    chosen = list(examples[:: max(1, sum(len(e.ids) for e in examples) // tokens)])
    for group in micro_batches(chosen, TOKENS):
        rows = [chosen[i] for i in group]
        batch = collate(rows).ids.to(model.device)
        lengths = torch.tensor([len(row.ids) - 1 for row in rows])
        read = (torch.arange(batch.shape[1]) < lengths[:, None]).to(model.device)
        with ExitStack() as stack, autocast(model.device):
            seen = {b: stack.enter_context(inputs_of(down(model, b))) for b in blocks}
            model.hidden_states(batch)
        for block, (inputs,) in seen.items():
            keys = inputs[read].float()
            moments[block] += keys.T @ keys
        count += int(read.sum())
    return {block: moment / max(1, count) for block, moment in moments.items()}


def in_pieces(model: Model, answer: Example | None, edit: Callable[[Example], float]) -> float:
    """Edits the model wherever it goes wrong in the answer, from its beginning on. edit: gives the loss that
    is left. Returns that of the last edit, 0 without one."""
    loss = 0.0
    for _ in range(EDITS if answer else 0):
        assert answer is not None
        piece = first_wrong(model, answer)
        if piece is None:
            break
        loss = edit(piece)
    return loss


@dataclass(frozen=True)
class Wanted:
    """What one fact needs at its place."""

    key: Tensor
    """[F] of the prompt alone."""
    mean_key: Tensor
    """[F], the mean over the prompt alone and after other talk."""
    change: Tensor
    """[D], to be added to the block's output there."""
    state: Tensor
    """[D], the block's output there now."""
    loss: float
    """Loss in nats of the fact's token with the change."""


def wanted(model: Model, block: int, example: Example, talk: Sequence[Example]) -> Wanted:
    """Finds the change of the block's output at the fact's place with which the model gives the answer, alone
    and after other talk. example: from `first_wrong`. Changes no weight."""
    context = model.config.context
    rows = list(dict.fromkeys([example, *(after(row, example, context) for row in talk[:TALKS])]))
    keys, where = keys_of(model, block, rows), places(rows)
    model.requires_grad_(False)
    with torch.no_grad(), outputs_of(model.blocks[block]) as seen:
        model.hidden_states(collate([example]).ids.to(model.device))
    state = seen[0][0, int(where[0])].float()
    unit = state.norm() / state.numel() ** 0.5
    raw = torch.zeros_like(state, requires_grad=True)
    optimizer = torch.optim.Adam([raw], lr=RATE)
    index = torch.arange(len(rows), device=model.device)
    batch = collate(rows)
    ids, labels = batch.ids.to(model.device), batch.labels.to(model.device)  # one target a row

    def added(out: Tensor) -> Tensor:
        changed = out.clone()
        changed[index, where] += (raw * unit).to(out.dtype)
        return changed

    loss = torch.tensor(0.0)
    for step in range(STEPS + 1):
        # the states of whole rows, which `added` expects; target_logits computes those at the targets alone
        with outputs_of(model.blocks[block], added), autocast(model.device):
            logits = model.logits(model.hidden_states(ids)[index, where])
        loss = F.cross_entropy(logits.float(), labels)
        if step == STEPS or float(loss.detach()) < GOAL:
            break
        (loss + DECAY * raw.square().mean()).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        optimizer.zero_grad()
        with torch.no_grad():
            raw.mul_(min(1.0, LONGEST * raw.numel() ** 0.5 / max(1e-9, float(raw.norm()))))
    model.requires_grad_(True)
    change = (raw.detach() * unit).float()
    return Wanted(keys[0], keys.mean(0), change, state, float(loss.detach()))
