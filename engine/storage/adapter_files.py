"""Reads and writes adapters in PEFT's layout: `adapter_config.json` and `adapter_model.safetensors`.

Only plain LoRA is supported; other kinds of adapters are refused. Left out: applying adapters (engine.lora).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.errors import CheckpointError, reason
from engine.storage.checkpoint import load_tensors, save_tensors
from engine.storage.disk import unwritable
from engine.storage.files import make_private_folder, write_atomically
from engine.storage.reading import read_json

ADAPTER_CONFIG, ADAPTER = "adapter_config.json", "adapter_model.safetensors"

_MODULES = {
    "q": "self_attn.q_proj",
    "k": "self_attn.k_proj",
    "v": "self_attn.v_proj",
    "out": "self_attn.o_proj",
    "gate": "mlp.gate_proj",
    "up": "mlp.up_proj",
    "down": "mlp.down_proj",
}
_PREFIX = "base_model.model.model.layers."
_NAME = re.compile(re.escape(_PREFIX) + r"(\d{1,4})\.([a-z_.]+)\.lora_[AB]\.weight")
_OTHER_KINDS = (
    "use_dora",
    "use_rslora",
    "rank_pattern",
    "alpha_pattern",
    "modules_to_save",
    "fan_in_fan_out",
)
"""Settings that are refused, because they change the meaning of A and B or add other tensors."""


@dataclass(frozen=True)
class AdapterShape:
    """The contents of `adapter_config.json`."""

    rank: int
    alpha: float
    dropout: float
    targets: tuple[str, ...]
    """Parts of a block, by engine.lora's names."""
    blocks: tuple[int, ...]
    """Indices of the blocks with adapters, in order; empty: all blocks."""


def model_name(block: int, part: str) -> str:
    """Hugging Face's name of a part's weight."""
    return f"model.layers.{block}.{_MODULES[part]}.weight"


def a_name(block: int, part: str) -> str:
    """PEFT's name of a part's A."""
    return f"{_PREFIX}{block}.{_MODULES[part]}.lora_A.weight"


def b_name(block: int, part: str) -> str:
    """PEFT's name of a part's B."""
    return f"{_PREFIX}{block}.{_MODULES[part]}.lora_B.weight"


def write_adapter(
    folder: Path, shape: AdapterShape, tensors: Mapping[str, Tensor], base: str
) -> None:
    """Writes an adapter. base: the name of the model that it is for. Raises CheckpointError."""
    config = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": base or None,
        "inference_mode": True,
        "r": shape.rank,
        "lora_alpha": shape.alpha,
        "lora_dropout": shape.dropout,
        "target_modules": [_MODULES[part].split(".")[1] for part in shape.targets],
        "layers_to_transform": list(shape.blocks),
        "bias": "none",
    }
    try:
        make_private_folder(folder)
        write_atomically(folder / ADAPTER_CONFIG, json.dumps(config, indent=1) + "\n")
    except OSError as error:
        raise CheckpointError(*unwritable(folder, error, "choose another folder")) from error
    save_tensors(tensors, folder / ADAPTER)


def read_adapter(folder: Path) -> tuple[AdapterShape, dict[str, Tensor]]:
    """(shape, tensors under PEFT's names) of an adapter. Raises CheckpointError unless it is a complete
    plain LoRA with finite numbers."""
    path = folder / ADAPTER_CONFIG
    try:
        raw = read_json(path)
        shape = _shape(raw)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        why = reason(error) if isinstance(error, OSError) else error
        raise CheckpointError(
            f"{path}: cannot be read ({why})", "it must be the config of a LoRA adapter of peft"
        ) from error
    tensors, _ = load_tensors(folder / ADAPTER)
    if not all(bool(torch.isfinite(tensor).all()) for tensor in tensors.values()):
        raise CheckpointError(
            f"{folder / ADAPTER}: holds numbers that are not finite", "copy the adapter again"
        )
    if not shape.blocks:
        places = {int(match[1]) for name in tensors if (match := _NAME.fullmatch(name))}
        shape = AdapterShape(
            shape.rank, shape.alpha, shape.dropout, shape.targets, tuple(sorted(places))
        )
    return shape, tensors


def _shape(raw: dict[str, Any]) -> AdapterShape:
    if raw.get("peft_type") != "LORA":
        raise ValueError(f"peft_type is {str(raw.get('peft_type'))[:40]!r}, not LORA")
    for key in _OTHER_KINDS:
        if raw.get(key):
            raise ValueError(f"{key} is set, which is not supported")
    if raw.get("bias", "none") != "none":
        raise ValueError("bias is set, which is not supported")
    modules = raw["target_modules"]
    if modules == "all-linear":
        modules = [name.split(".")[1] for name in _MODULES.values()]
    named = {name.split(".")[1]: part for part, name in _MODULES.items()}
    if not isinstance(modules, list) or not set(modules) <= set(named):
        raise ValueError(f"target_modules are {str(modules)[:80]}")
    blocks = raw.get("layers_to_transform")
    blocks = [] if blocks is None else [blocks] if isinstance(blocks, int) else blocks
    rank, alpha = int(raw["r"]), float(raw["lora_alpha"])
    dropout = float(raw.get("lora_dropout") or 0.0)
    if rank < 1 or not 0.0 < alpha < math.inf or not 0.0 <= dropout < 1.0:
        raise ValueError(f"r is {rank}, lora_alpha {alpha}, lora_dropout {dropout}")
    targets = tuple(part for name, part in named.items() if name in modules)
    return AdapterShape(rank, alpha, dropout, targets, tuple(sorted(int(b) for b in blocks)))
