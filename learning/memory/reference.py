"""The reference of the anchor: how the model talked when all of its weights were last trained.

Lessons are held close to it by a KL term on the model's own talk. The final hidden states at the targets
of that talk are kept beside the weights, from lesson to lesson. With the weights before each lesson as
reference, talk drifted a little with every lesson, without end; a fixed reference pulls it back. The matrices
that lessons move are kept too, as they were: so talk that is drawn later has the same reference
(learning.memory.own_talk.renewed_talk). Lessons do not move embeddings, final norm and lower blocks: a hash
of these tells whether what is kept belongs to the weights.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from torch import Tensor

from engine.errors import CheckpointError
from engine.lora import Adapters
from engine.model import Model
from engine.packed import replaced
from engine.precision import autocast
from learning.data.examples import Example, micro_batches
from learning.memory.packed_rows import upper_model
from learning.memory.prefix_cache import PrefixCache
from learning.memory.reference_file import ReferenceFile, ReferenceWeights, RowKey, row_key
from learning.models.trainable import upper_matrices

CAPTURE_TOKENS = 2048
"""Padded tokens in one pass."""
UNWRITTEN = 0.5
"""Largest share of rows whose states are not in the file; they are captured again at the next start."""


class AnchorReference:
    """Final hidden states at the targets of talk rows, and the output layer that makes logits of them."""

    def __init__(self, model: Model, hidden: dict[RowKey, Tensor]) -> None:
        """hidden: for the `row_key` of each row, its states [targets, D]. In bfloat16 they give the same
        logits where products are taken in bfloat16 anyway."""
        self._model, self._hidden = model, hidden

    @property
    def device(self) -> torch.device:
        return self._model.device

    def at_targets(self, examples: Sequence[Example]) -> Tensor:
        """[N, D], of all examples in order."""
        return torch.cat([self._hidden[row_key(e)] for e in examples]).float()

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
            hidden[row_key(example)] = part.to(trunk.kind, copy=True)
    return AnchorReference(model, hidden)


class _FrozenReference(AnchorReference):
    """The reference of a model that does not change; each row is captured when it is first needed."""

    def __init__(self, still: Model, pause: Callable[[], None]) -> None:
        super().__init__(still, {})
        self._still, self._pause = still, pause

    def at_targets(self, examples: Sequence[Example]) -> Tensor:
        new = [e for e in examples if row_key(e) not in self._hidden]
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
        if new := [e for e in examples if row_key(e) not in self._hidden]:
            with self._adapters.disabled():
                captured = capture_reference(self._model, self._trunk, new, pause=self._pause)
            self._hidden |= captured._hidden
        return super().at_targets(examples)


def base_reference(
    adapters: Adapters, trunk: PrefixCache, *, pause: Callable[[], None] = lambda: None
) -> AnchorReference:
    """How the model talks without its adapters. trunk: of blocks below these."""
    return _BaseReference(adapters, trunk, pause)


class KeptReference(AnchorReference):
    """The reference that a file beside the weights keeps. Its rows can be replaced."""

    def __init__(
        self, model: Model, trunk: PrefixCache, file: ReferenceFile, kept: dict[RowKey, Tensor]
    ) -> None:
        """trunk: of the blocks that lessons do not move. kept: the states that the file has."""
        super().__init__(model, kept)
        self._trunk, self._file, self._written = trunk, file, set(kept)
        self._unwritten_weights: ReferenceWeights | None = None

    def weights(self) -> ReferenceWeights | None:
        """The matrices that lessons move, as they were at the first capture. None if the file has none: it is
        damaged, or an earlier version of vidya wrote it."""
        return self._unwritten_weights or self._file.weights()

    def has(self, example: Example) -> bool:
        """Whether the row is one of the reference's."""
        return row_key(example) in self._hidden

    def follow(
        self,
        talk: Sequence[Example],
        weights: ReferenceWeights | None,
        *,
        pause: Callable[[], None] = lambda: None,
    ) -> bool:
        """Makes `talk` the reference's rows: new ones are captured from the model as it was, and left out if
        `weights` is None. Writes the file when it lacks more than UNWRITTEN of the rows, and returns whether
        it did. `pause` is called before every pass."""
        hidden, missing = self._hidden, [e for e in talk if not self.has(e)]
        if weights and missing:
            then = replaced(self._model, weights.cast(self._model))
            hidden = hidden | capture_reference(then, self._trunk, missing, pause=pause)._hidden
        self._hidden = {row_key(e): hidden[row_key(e)] for e in talk if row_key(e) in hidden}
        due = len(self._hidden.keys() - self._written) > UNWRITTEN * len(self._hidden)
        if not due or weights is None:
            return False
        try:
            self._file.write(self._hidden, weights, self._trunk.kind)
        except CheckpointError:  # a full disk: written at the next call
            self._unwritten_weights = weights
            return False
        self._written, self._unwritten_weights = set(self._hidden), None
        return True


def open_reference(
    model: Model,
    trunk: PrefixCache,
    talk: Sequence[Example],
    folder: Path,
    version: int | None = None,
    *,
    pause: Callable[[], None] = lambda: None,
) -> KeptReference:
    """Opens the folder's reference. If its file belongs to these weights, the file is read. Rows that it
    lacks are captured with the file's matrices; without matrices they are left out. If the file belongs to
    other weights or is missing, all rows are captured from the present model, and the file is written.

    version: of the present weights, if all rows were sampled from them or from weights that they were trained
    from (ReferenceWeights.version); 0 if nothing was ever taught to them; None if that is not known.
    """
    moved = upper_matrices(model, trunk.layers)
    file = ReferenceFile(folder, weights_mark(model, trunk), moved)

    def earlier() -> str:
        targets = hashlib.blake2b(repr([e.target for e in talk]).encode(), digest_size=16)
        return f"{weights_mark(model, trunk, talk)} {targets.hexdigest()}"

    kept = file.states(talk, model.config.dim, earlier)
    untaught = version == 0  # a file of an earlier version can be completed
    complete = len(kept) == len({row_key(e) for e in talk})
    weights = None if complete and not untaught else file.weights()
    if weights is None and (untaught or not kept):
        kept, weights = {}, ReferenceWeights(version, moved.state())
    kept = {key: x.to(model.device, trunk.kind, copy=True) for key, x in kept.items()}
    reference = KeptReference(model, trunk, file, kept)
    reference.follow(talk, weights, pause=pause)
    return reference


def weights_mark(model: Model, trunk: PrefixCache, talk: Sequence[Example] = ()) -> str:
    """Hash of the rows and of all weights that lessons do not move."""
    digest = hashlib.blake2b(repr([e.ids for e in talk]).encode(), digest_size=16)
    output = [] if model.output is None else [model.output]
    for part in (model.embedding, model.norm, *output, *model.blocks[: trunk.layers]):
        for weight in part.parameters():
            digest.update(weight.detach().float().cpu().reshape(-1).numpy())  # no copy of it
    return digest.hexdigest()
