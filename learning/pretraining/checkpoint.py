"""The files of a pre-training run: its checkpoint, and the record beside the weights.

`training.safetensors` holds weights, optimizer state and progress in one file, so that they always
agree. `record.json` tells people what the weights were trained on and how the run went. An interrupted
run resumes only with the same data, mixture, seed, row size and batch size, which decide the data order.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import functools
import hashlib
import importlib.metadata
import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from engine.errors import CheckpointError, ConfigError
from engine.model import Model
from engine.storage.checkpoint import load_tensors, save_model, save_tensors
from engine.storage.checkpoint_files import read_metadata
from engine.storage.disk import unwritable
from engine.storage.files import make_private_folder, remove_leftovers, write_atomically
from engine.storage.reading import read_json
from engine.storage.weight_files import current_version, has_weights
from learning.maths.optim import Optimizers
from learning.models.plain_text import RECORD
from learning.pretraining.rare_tokens import told_apart
from learning.pretraining.settings import Mean, PretrainSettings, Progress
from learning.pretraining.spikes import Running, Spikes

TRAINING = "training.safetensors"


def save_run(
    model: Model,
    optimizer: Optimizers,
    progress: Progress,
    spikes: Spikes,
    identity: Mapping[str, Any],
    folder: Path,
    special_ids: Collection[int] | None = None,
) -> None:
    """Writes the checkpoint, then the model. In the model, the embeddings of rare ids are separated
    (rare_tokens.py). special_ids: see rare_tokens.indistinct. Raises CheckpointError; ConfigError if the
    folder's model has learned lessons since, in which case the checkpoint is complete and the model
    untouched."""
    tensors = {f"model/{k}": v for k, v in model.state_dict().items()}
    tensors |= {f"optimizer/{k}": v for k, v in optimizer.tensors()}
    state = {
        "progress": json.dumps(dataclasses.asdict(progress)),
        "spikes": json.dumps(dataclasses.asdict(spikes)),
        "identity": json.dumps(identity),
    }
    try:
        make_private_folder(folder)
    except OSError as error:
        advice = "choose another folder with --out"
        raise CheckpointError(*unwritable(folder, error, advice)) from error
    save_tensors(tensors, folder / TRAINING, state)
    refuse_taught(folder)
    with told_apart(model, special_ids):
        save_model(model, folder)


def refuse_taught(folder: Path) -> None:
    """Raises ConfigError if the folder's model has learned lessons, which the run would overwrite."""
    version = 0
    with contextlib.suppress(CheckpointError):  # damaged weights may be overwritten
        version = current_version(folder) if has_weights(folder) else 0
    if version:
        raise ConfigError(
            f"{folder}: this model was taught since, and would lose its lessons",
            f"go on from it with --from {folder} and another --out, or move its weights away",
        )


def resume_run(
    model: Model,
    optimizer: Optimizers,
    spikes: Spikes,
    identity: Mapping[str, Any],
    folder: Path | None,
) -> Progress:
    """Restores model, optimizer and spike statistics from the last checkpoint and returns its progress;
    a new Progress if there is no checkpoint.

    Raises ConfigError if the run was started with other data, settings or model shape, CheckpointError
    for a damaged file.
    """
    path = folder / TRAINING if folder else None
    if path is None or not path.exists():
        return Progress()
    try:
        tensors, state = load_tensors(path)
    except CheckpointError as error:
        raise CheckpointError(
            error.what, "remove its folder to begin anew, or choose another --out"
        ) from error
    try:
        begun = _identity(state)
        raw = json.loads(state["progress"])
        judged = json.loads(state["spikes"])
        progress = Progress(**{**raw, "since": Mean(**raw["since"])})
        progress.curve = [(e[0], e[1], e[2], e[3]) for e in progress.curve]
        running = {name: Running(**judged.pop(name)) for name in ("loss", "norm")}
        refused, broken = judged["refused"], judged["broken"]
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise CheckpointError(
            f"{path}: is no checkpoint of this program ({error})", "choose another --out"
        ) from error
    _refuse_other(path, begun, identity)
    try:
        model.load_state_dict(_under("model/", tensors))
    except RuntimeError as error:
        raise ConfigError(
            f"{path}: this run was begun with a model of another shape",
            "give the same --config or --from as then, or choose another --out",
        ) from error
    optimizer.restore(_under("optimizer/", tensors))
    spikes.refused, spikes.broken = refused, broken
    spikes.loss, spikes.norm = running["loss"], running["norm"]
    return progress


def check_order(folder: Path, order: Mapping[str, Any]) -> None:
    """Raises ConfigError as `resume_run` does if the folder's run was begun with other settings; reads no
    weights. order: what is known of the identity before the data is read."""
    path = folder / TRAINING
    # what is wrong with the file itself is told by resume_run
    with contextlib.suppress(CheckpointError, KeyError, ValueError):
        begun = _identity(read_metadata(path))
        _refuse_other(path, begun, {"data": begun.get("data"), **order})


def _identity(state: Mapping[str, str]) -> dict[str, Any]:
    """What the run was begun with, from a checkpoint's metadata. Raises KeyError, ValueError."""
    found = json.loads(state["identity"])
    if not isinstance(found, dict):
        raise ValueError("its identity is no JSON object")
    return found


def _refuse_other(path: Path, begun: Mapping[str, Any], identity: Mapping[str, Any]) -> None:
    other = [key for key in {**identity, **begun} if begun.get(key) != identity.get(key)]
    if other:
        raise ConfigError(
            f"{path}: this run was begun with other {', '.join(other)}",
            "give the same as then, or choose another --out",
        )


def _under(prefix: str, tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}


@contextmanager
def run_folder(folder: Path) -> Iterator[None]:
    """Locks the folder for one run and removes partial files of a killed run.

    If the run fails before it writes anything, the folders that it created are removed again. Raises
    CheckpointError if another run holds the lock or the folder cannot be written.
    """
    made = [place for place in (folder, *folder.parents) if not place.exists()]
    if folder.is_dir() and [left.name for left in folder.iterdir()] == [".lock"]:
        made = [folder]  # left by a failed run of an earlier version
    try:
        make_private_folder(folder)
        handle = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        advice = "choose another folder with --out"
        raise CheckpointError(*unwritable(folder, error, advice)) from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise CheckpointError(
                f"{folder}: another run is writing there", "wait for it, or choose another --out"
            ) from error
        for part in (folder, folder / "cache"):
            remove_leftovers(part, untouched=0.0)
        yield
        made = []
    finally:
        if made:
            _remove_empty(folder, made)
        os.close(handle)


def _remove_empty(folder: Path, made: Sequence[Path]) -> None:
    """Removes the folders `made` (innermost first) of a run that failed before it wrote anything."""
    with contextlib.suppress(OSError):  # not empty
        (folder / "cache").rmdir()
    if not [left for left in folder.iterdir() if left.name != ".lock"]:
        (folder / ".lock").unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            for place in made:
                place.rmdir()


def write_record(
    folder: Path,
    told: Mapping[str, Any],
    model: Model,
    settings: PretrainSettings,
    progress: Progress,
) -> None:
    """Writes `record.json`: `told` (the caller's facts on data and measurements), code version, device,
    model config, settings, progress and the loss curve. Raises CheckpointError."""
    record = {
        **told,
        "code": code_version(),
        "torch": torch.__version__,
        "device": _device_name(model.device),
        "config": model.config.to_huggingface(),
        "parameters": model.config.parameters,
        "settings": dataclasses.asdict(settings),
        "steps": progress.step,
        "steps_skipped": progress.skipped,
        "tokens": progress.tokens,
        "seconds": round(progress.seconds, 1),
        "done": round(min(1.0, progress.done(settings)), 4),
        **({"curriculum": progress.curriculum} if progress.curriculum else {}),
        "curve_columns": ["tokens", "loss", "rate", "tokens_per_second"],
    }
    # one line per row of the curve, so that a thousand rows stay readable
    rows = ",\n".join("  " + json.dumps(_rounded(entry)) for entry in progress.curve)
    head = json.dumps(record, indent=1, ensure_ascii=False).removesuffix("\n}")
    try:
        write_atomically(folder / RECORD, f'{head},\n "curve": [\n{rows}\n ]\n}}\n')
    except OSError as error:
        raise CheckpointError(
            *unwritable(folder / RECORD, error, "mend its permissions")
        ) from error


def read_record(folder: Path) -> dict[str, Any]:
    """The record of an earlier run in the folder; empty if it is missing or unreadable."""
    try:
        found = read_json(folder / RECORD, 1 << 28)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


@functools.cache
def code_version() -> str:
    """The program's version and a hash of the sources of engine/ and learning/; needs no git."""
    root = Path(__file__).resolve().parents[2]
    state = hashlib.blake2b(digest_size=8)
    for file in sorted([*(root / "engine").rglob("*.py"), *(root / "learning").rglob("*.py")]):
        state.update(file.relative_to(root).as_posix().encode() + b"\0" + file.read_bytes())
    try:
        version = importlib.metadata.version("vidya")
    except importlib.metadata.PackageNotFoundError:
        version = "0"
    return f"{version}+{state.hexdigest()}"


def _device_name(device: torch.device) -> str:
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"{device.type}, {torch.get_num_threads()} threads"


def _rounded(entry: tuple[int, float, float, float]) -> list[float | None]:
    tokens, loss, rate, speed = entry
    return [tokens, round(loss, 4) if loss == loss else None, round(rate, 4), round(speed)]
