"""What is needed to repeat a run of practice: seed, settings, data, weights, versions. Loads no torch."""

from __future__ import annotations

import hashlib
import importlib.metadata
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.processor import processor
from learning.practice.options import practice_options
from learning.protocol.requests import Practise

if TYPE_CHECKING:
    from torch import Tensor

    from engine.model import Model
    from learning.journal.practices import PracticeEntry

PACKAGES = ("vidya", "torch", "numpy", "tiktoken", "tokenizers", "reasoning-gym", "math-verify")
"""Packages on which the figures of a run depend."""


@dataclass(frozen=True)
class PracticeRecord:
    """Everything that a run depends on."""

    seed: int
    warm_up: bool | None
    """As requested; true where the run goes on with an interrupted warm-up."""
    settings: tuple[str, ...]
    """Of the task, NAME=VALUE."""
    arms: tuple[str, ...]
    """Where several are practised: each task with its settings; else empty."""
    curriculum: Mapping[str, Any]
    """What the curriculum knew at the start."""
    options: Mapping[str, str]
    """Every option of practice with its value."""
    data: str | None
    """Path of the problems; None: the task's own."""
    data_mark: str
    """Hash of that file, or of the names and sizes in that folder; "" without data."""
    model: str
    """Name of the model's folder."""
    version: int
    """Of the weights that it began with."""
    weights: str
    """Hash of those weights."""
    threads: int
    """Of torch; sums depend on it in the last bit."""
    machine: str
    """Processor and system."""
    device: str
    """`cpu` or `cuda`."""
    packages: Mapping[str, str]
    """Version by name."""
    processes: int = 1
    """Number of processes that shared the work; each draws with a seed of its own."""
    own_arms: int = 1
    """How many arms, from the first on, together got the share `curriculum.first`."""
    climbs: bool = False
    """As requested."""
    value: str = ""
    """Hash of the critic's value that it began with; "" where none was learned before."""


def repetition(entry: PracticeEntry) -> Practise:
    """The request that repeats a run, without the options that this version does not have."""
    record = entry.record
    known = {option.name for option in practice_options()}
    words = [f"{name}={value}" for name, value in record["options"].items() if name in known]
    return Practise(
        entry.task,
        data=record["data"],
        warm_up=record["warm_up"],
        settings=tuple(record["settings"]),
        arms=tuple(record.get("arms", ())),
        own_arms=record.get("own_arms", 1),
        climbs=record.get("climbs", False),
        options=tuple(words),
        seed=record["seed"],
        again=entry.id,
    )


def data_mark(path: Path | None) -> str:
    """Hash of a file, or of the names and sizes of a folder's files; "" for None or what cannot be read."""
    if path is None:
        return ""
    digest = hashlib.blake2b(digest_size=16)
    try:
        if path.is_dir():
            for file in sorted(path.rglob("*")):
                digest.update(f"{file.relative_to(path)} {file.stat().st_size}\n".encode())
        else:
            with path.open("rb") as file_:
                while piece := file_.read(1 << 20):
                    digest.update(piece)
    except OSError:
        return ""
    return digest.hexdigest()


def versions(names: Iterable[str] = PACKAGES) -> dict[str, str]:
    """Version of Python and of these packages; those that are not installed are left out."""
    found = {"python": platform.python_version()}
    for name in names:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def machine() -> str:
    """Processor and system, in words."""
    return f"{processor()}, {platform.machine()} {platform.system()}"


def differences(then: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """What a repetition does not share with the run that it repeats, in words; `then` and `now`: records as
    the journal keeps them."""
    found = []
    if then["weights"] != now["weights"]:
        found.append(
            f"it began with other weights (version {then['version']} of {then['model']}); "
            "/undo or `vidya model rollback` brings them back"
        )
    if then["data_mark"] != now["data_mark"]:
        found.append("the data has changed")
    if then.get("value", "") != now["value"]:
        found.append("its critic began with another value of states, or with none")
    for name in ("threads", "machine", "device", "processes"):
        was, is_ = (one.get(name) for one in (then, now))
        if None not in (was, is_) and was != is_:  # an older record lacks some
            found.append(f"{name}: {was} then, {is_} now")
    for name, value in then["options"].items():
        if name not in now["options"]:
            found.append(f"this version has no option {name} ({value} then)")
    for name, value in now["options"].items():
        if name not in then["options"]:
            found.append(f"the version of then had no option {name} ({value} now)")
    names = sorted({*then["packages"], *now["packages"]})
    for name in names:
        was, is_ = (part["packages"].get(name, "none") for part in (then, now))
        if was != is_:
            found.append(f"{name}: {was} then, {is_} now")
    return found


def all_weights_mark(model: Model) -> str:
    """Hash of all weights."""
    return tensors_mark(model.state_dict().values())


def tensors_mark(tensors: Iterable[Tensor]) -> str:
    """Hash of some tensors."""
    digest = hashlib.blake2b(digest_size=16)
    for value in tensors:
        digest.update(value.detach().float().cpu().contiguous().numpy().data)
    return digest.hexdigest()
