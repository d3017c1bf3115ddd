"""Low-rank adapters (LoRA): merges shipped ones into downloaded models, and exports what was taught as one.

`engine/base` holds adapters with Vidya's character for models that are not shipped. Such a folder contains
no model weights, so it is not listed as a model. Left out: training adapters (learning.book_training).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from engine.errors import CheckpointError
from engine.lora import LoraSettings, attach, load
from engine.storage.adapter_files import ADAPTER_CONFIG, a_name, b_name, model_name
from engine.storage.checkpoint import compact, load_model, save_tensors, to_huggingface
from engine.storage.checkpoint_files import WEIGHTS, read_metadata
from engine.storage.disk import unwritable
from engine.storage.generation_file import GENERATION, read_generation, write_generation
from learning.models.import_export import CARD
from learning.models.snapshots import SHIPPED, snapshots_of
from learning.models.store import ModelStore

RANK = 32
"""Default rank of an exported adapter."""


def shipped_adapter(name: str) -> Path | None:
    """The folder of the shipped adapter for the model `name`; None if there is none."""
    folder = SHIPPED / name
    return folder if (folder / ADAPTER_CONFIG).exists() else None


def apply_adapter(folder: Path, adapter: Path) -> None:
    """Merges an adapter into the weights of a model's folder, and puts its card before the model's own. The
    adapter's generation settings, if it has any, replace the model's.


    Each tensor is saved in the shortest dtype that holds it exactly. Raises CheckpointError and leaves the
    weights unchanged if the adapter does not fit the model or the weights cannot be written.
    """
    model = load_model(folder)
    load(model, adapter).bake()
    state = {name: tensor.detach() for name, tensor in model.state_dict().items()}
    tensors = to_huggingface(state, model.config)
    exact = {name: compact(tensor) for name, tensor in tensors.items()}
    save_tensors(exact, folder / WEIGHTS, read_metadata(folder / WEIGHTS))
    cards = [path.read_text("utf-8") for path in (adapter / CARD, folder / CARD) if path.exists()]
    try:
        (folder / CARD).write_text("\n".join(cards), "utf-8")
        if (adapter / GENERATION).exists():
            write_generation(read_generation(adapter), folder)
    except OSError as error:
        raise CheckpointError(*unwritable(folder, error, "choose another --home")) from error


@dataclass(frozen=True)
class TaughtAdapter:
    """An exported adapter: a low-rank approximation of the difference between two models."""

    folder: Path
    rank: int
    base: str
    error: float
    """Relative approximation error, 0 to 1: the norm of the difference that the adapter does not cover
    (higher ranks, embeddings, norm weights), divided by the norm of the whole difference."""


def export_adapter(
    store: ModelStore, name: str, target: Path, *, rank: int = RANK, base: str | None = None
) -> TaughtAdapter:
    """Exports what model `name` was taught as an adapter of the given rank. Each matrix of the adapter is the
    best approximation (truncated singular value decomposition) of the difference between model and base.

    target: a new or empty folder. base: the name of a model; None: version 0 of the same model. Raises
    NotFound for unknown models, and CheckpointError if there is no base, if the two models have different
    shapes, or if they are equal.
    """
    source, target = store.info(name).path, target.expanduser()
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise CheckpointError(f"{target}: is not empty", "name a new folder")
    if base:
        model, called = load_model(store.info(base).path), base
    else:
        model, called = load_model(source, weights=_as_it_came(source)), f"{name} as it came"
    taught = load_model(source)
    if model.config != taught.config:
        raise CheckpointError(f"{name} and {called} are of different shapes", "name its own base")
    old = to_huggingface(model.state_dict(), model.config)
    new = to_huggingface(taught.state_dict(), model.config)
    moved = {k: new[k] - old[k] for k in old if not torch.equal(new[k], old[k])}
    if not moved:
        raise CheckpointError(f"{name} is the same as {called}", "teach it something first")
    blocks = [i for i in range(model.config.layers) if any(f".{i}." in k for k in moved)]
    settings = LoraSettings(rank, float(rank), first_block=blocks[0] if blocks else 0)
    adapters = attach(model, settings, torch.Generator().manual_seed(0))
    factors, left = dict[str, Tensor](), 0.0
    for number in range(settings.first_block, model.config.layers):
        for part in settings.targets:
            where = model_name(number, part)
            change = moved.pop(where, torch.zeros_like(old[where]))
            a, b = _low_rank(change, rank)
            left += float((change - b @ a).square().sum())
            factors[a_name(number, part)], factors[b_name(number, part)] = a, b
    left += sum(float(change.square().sum()) for change in moved.values())
    whole = sum(float((new[k] - old[k]).square().sum()) for k in old)
    adapters.fill(factors)
    adapters.save(target, base=called)
    return TaughtAdapter(target, rank, called, math.sqrt(left / whole))


def _low_rank(change: Tensor, rank: int) -> tuple[Tensor, Tensor]:
    """A [r, I] and B [O, r] such that BA is the closest matrix of rank r to `change` [O, I] in the
    Frobenius norm (Eckart and Young 1936)."""
    a, b = torch.zeros(rank, change.shape[1]), torch.zeros(change.shape[0], rank)
    if not change.any():
        return a, b
    u, s, v = torch.linalg.svd(change, full_matrices=False)
    most = min(rank, len(s))
    root = s[:most].sqrt()
    a[:most], b[:, :most] = root[:, None] * v[:most], u[:, :most] * root
    return a, b


def _as_it_came(folder: Path) -> Path:
    """The file with the weights of version 0. Raises CheckpointError if it was not kept."""
    first = next((old.path for old in snapshots_of(folder) if old.version == 0), None)
    for path in (first, SHIPPED / folder.name / WEIGHTS):
        if path and path.exists():
            return path
    raise CheckpointError(
        f"{folder.name}: its weights as they came are not kept", "name a model with --base"
    )
