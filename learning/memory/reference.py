"""The reference of the anchor: how the model talked when all of its weights were last trained.

Lessons are held close to it by a KL term on the model's own talk. The final hidden states at the targets
of that talk are kept beside the weights, from lesson to lesson. With the weights before each lesson as
reference, talk drifted a little with every lesson, without end; a fixed reference pulls it back. Lessons
do not move embeddings, final norm and lower blocks: a hash of these tells whether kept states belong to
the weights.
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
from collections.abc import Callable, Sequence
from itertools import accumulate
from pathlib import Path

import torch
from torch import Tensor

from engine.errors import CheckpointError
from engine.lora import Adapters
from engine.model import Model
from engine.precision import autocast
from engine.storage.checkpoint import load_tensors, save_tensors
from learning.data.examples import Example, micro_batches
from learning.memory.packed_rows import upper_model
from learning.memory.prefix_cache import PrefixCache

REFERENCE = "voice.safetensors"
CAPTURE_TOKENS = 2048
"""Padded tokens in one pass."""


class AnchorReference:
    """Final hidden states at the targets of talk rows, and the output layer that makes logits of them."""

    def __init__(self, model: Model, hidden: dict[tuple[object, ...], Tensor]) -> None:
        """hidden: for the `_key` of each row, those states [its targets, D]. In bfloat16 they give the same
        logits where products are taken in bfloat16 anyway."""
        self._model, self._hidden = model, hidden

    @property
    def device(self) -> torch.device:
        return self._model.device

    def at_targets(self, examples: Sequence[Example]) -> Tensor:
        """[N, D], of all examples in order."""
        return torch.cat([self._hidden[_key(e)] for e in examples]).float()

    def logits(self, hidden: Tensor) -> Tensor:
        return self._model.logits(hidden)


@torch.no_grad()
def capture_reference(
    model: Model,
    trunk: PrefixCache,
    talk: Sequence[Example],
    *,
    pause: Callable[[], None] = lambda: None,
) -> AnchorReference:
    """Captures how the model talks now. `pause` is called before every pass."""
    upper, hidden = upper_model(model, trunk, talk[0].start if talk else 0), {}
    for group in micro_batches(talk, CAPTURE_TOKENS):
        pause()
        members = [talk[i] for i in group]
        with autocast(model.device):
            states = upper.at_targets(members)
        parts = states.split([len(e.places) for e in members])
        for example, part in zip(members, parts, strict=True):
            hidden[_key(example)] = part.to(trunk.kind, copy=True)
    return AnchorReference(model, hidden)


class _FrozenReference(AnchorReference):
    """The reference of a model that does not change; each row is captured when it is first needed."""

    def __init__(self, still: Model, pause: Callable[[], None]) -> None:
        super().__init__(still, {})
        self._still, self._pause = still, pause

    def at_targets(self, examples: Sequence[Example]) -> Tensor:
        new = [e for e in examples if _key(e) not in self._hidden]
        if new:
            cache = PrefixCache(self._still, 0)
            captured = capture_reference(self._still, cache, new, pause=self._pause)
            self._hidden |= captured._hidden
        return super().at_targets(examples)


def frozen_reference(model: Model, *, pause: Callable[[], None] = lambda: None) -> AnchorReference:
    """How the model talks now, for training that moves all weights: the model is copied."""
    return _FrozenReference(copy.deepcopy(model).requires_grad_(False), pause)


def reference_of(still: Model, *, pause: Callable[[], None] = lambda: None) -> AnchorReference:
    """How a model talks that is not trained."""
    return _FrozenReference(still, pause)


class _BaseReference(AnchorReference):
    """The reference of a model with adapters: itself without them; each row is captured when it is first
    needed."""

    def __init__(self, adapters: Adapters, trunk: PrefixCache, pause: Callable[[], None]) -> None:
        super().__init__(adapters.model, {})
        self._adapters, self._trunk, self._pause = adapters, trunk, pause

    def at_targets(self, examples: Sequence[Example]) -> Tensor:
        if new := [e for e in examples if _key(e) not in self._hidden]:
            with self._adapters.disabled():
                captured = capture_reference(self._model, self._trunk, new, pause=self._pause)
            self._hidden |= captured._hidden
        return super().at_targets(examples)


def base_reference(
    adapters: Adapters, trunk: PrefixCache, *, pause: Callable[[], None] = lambda: None
) -> AnchorReference:
    """How the model talks without its adapters. trunk: of blocks below these."""
    return _BaseReference(adapters, trunk, pause)


def open_reference(
    model: Model,
    trunk: PrefixCache,
    talk: Sequence[Example],
    folder: Path,
    *,
    pause: Callable[[], None] = lambda: None,
) -> AnchorReference:
    """Reads the folder's reference if it belongs to these weights and rows; otherwise captures one and
    writes it."""
    path, earlier = folder / REFERENCE, weights_mark(model, trunk, talk)
    targets = repr([e.target for e in talk]).encode()
    mark = f"{earlier} {hashlib.blake2b(targets, digest_size=16).hexdigest()}"
    kept = _read(path, mark, earlier, talk, model.config.dim)
    if kept is not None:
        rows = kept.to(model.device, trunk.kind).split([len(e.places) for e in talk])
        return AnchorReference(model, dict(zip(map(_key, talk), rows, strict=True)))
    reference = capture_reference(model, trunk, talk, pause=pause)
    if talk:
        kept = reference.at_targets(talk).to("cpu", trunk.kind)
        with contextlib.suppress(CheckpointError):  # a full disk: written next time
            save_tensors({"hidden": kept}, path, {"mark": mark})
    return reference


def _read(path: Path, mark: str, earlier: str, talk: Sequence[Example], dim: int) -> Tensor | None:
    """The states [N, dim] of a file with this mark; None where there is none, or it is damaged. earlier: the
    mark of earlier versions, whose files have the states of all positions."""
    try:
        tensors, record = load_tensors(path)
    except CheckpointError:
        return None
    kept, found = tensors.get("hidden"), record.get("mark")
    if kept is None or found not in (mark, earlier):
        return None
    lengths = [len(e.places) if found == mark else len(e.ids) - 1 for e in talk]
    if kept.shape != (sum(lengths), dim):
        return None
    if found == mark:
        return kept
    starts = list(accumulate(lengths, initial=0))[:-1]
    return kept[[start + i for start, e in zip(starts, talk, strict=True) for i in e.places]]


def _key(example: Example) -> tuple[object, ...]:
    """What the states of a row depend on."""
    return example.ids, example.target


def weights_mark(model: Model, trunk: PrefixCache, talk: Sequence[Example] = ()) -> str:
    """Hash of the rows and of all weights that lessons do not move."""
    digest = hashlib.blake2b(repr([e.ids for e in talk]).encode(), digest_size=16)
    output = [] if model.output is None else [model.output]
    for part in (model.embedding, model.norm, *output, *model.blocks[: trunk.layers]):
        for weight in part.parameters():
            digest.update(weight.detach().float().cpu().reshape(-1).numpy())  # no copy of it
    return digest.hexdigest()
