"""Reads and writes model folders in Hugging Face's layout: `config.json` and safetensors weights.

Writing splits the fused projections into Llama's weights; reading joins them. Reads only safetensors, never
pickle files. Writing is atomic: a crash leaves the old file or the new one. Left out: the tokenizer's files
(engine.tokenizers).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from engine.config import ModelConfig
from engine.errors import CheckpointError, reason
from engine.model import Model
from engine.storage.checkpoint_files import WEIGHTS
from engine.storage.disk import unwritable
from engine.storage.files import make_private_folder, replacing, write_atomically
from engine.storage.reading import open_regular, read_json
from engine.storage.weight_files import (
    INDEX,
    WeightFiles,
    check_base,
    current_files,
    files_at,
)

_PICKLES = ("pytorch_model.bin", "model.pt", "model.pth", "consolidated.00.pth")


_OURS = {
    "embedding.weight": "model.embed_tokens.weight",
    "norm.weight": "model.norm.weight",
    "output.weight": "lm_head.weight",
    "attention.q_norm.weight": "self_attn.q_norm.weight",
    "attention.k_norm.weight": "self_attn.k_norm.weight",
    "attention.out.weight": "self_attn.o_proj.weight",
    "ffn.down.weight": "mlp.down_proj.weight",
    "attention_norm.weight": "input_layernorm.weight",
    "ffn_norm.weight": "post_attention_layernorm.weight",
}
_FUSED = {
    "attention.qkv.weight": [f"self_attn.{name}_proj.weight" for name in "qkv"],
    "ffn.gate_up.weight": ["mlp.gate_proj.weight", "mlp.up_proj.weight"],
}


def to_huggingface(state: Mapping[str, Tensor], config: ModelConfig) -> dict[str, Tensor]:
    """A state dict of Model, or a part of it, under transformers' names. A tied lm_head is left out."""
    out = dict[str, Tensor]()
    heads = [config.heads, config.kv_heads, config.kv_heads]
    for name, tensor in state.items():
        names = huggingface_names(name)
        if name.endswith("qkv.weight"):
            parts = tensor.split([count * config.head_dim for count in heads])
        else:
            parts = tensor.chunk(len(names))
        out |= zip(names, parts, strict=True)
    return out


def huggingface_names(name: str) -> list[str]:
    """The names in transformers of a weight of Model; several for a fused weight."""
    block, layer, rest = name.split(".", 2) if name.startswith("blocks.") else ("", "", name)
    before = f"model.layers.{layer}." if block else ""
    return [before + theirs for theirs in _FUSED.get(rest) or [_OURS[rest]]]


def from_huggingface(tensors: Mapping[str, Tensor], config: ModelConfig) -> dict[str, Tensor]:
    """The inverse of `to_huggingface`, for all weights. Raises KeyError if one is missing."""
    out = {
        "embedding.weight": tensors["model.embed_tokens.weight"],
        "norm.weight": tensors["model.norm.weight"],
    }
    if not config.tied:
        out["output.weight"] = tensors["lm_head.weight"]
    for i in range(config.layers):
        ours, theirs = f"blocks.{i}.", f"model.layers.{i}."
        attention, mlp = theirs + "self_attn.", theirs + "mlp."
        out |= {
            ours + "attention.qkv.weight": torch.cat(
                [tensors[f"{attention}{name}_proj.weight"] for name in "qkv"]
            ),
            ours + "attention.out.weight": tensors[attention + "o_proj.weight"],
            ours + "ffn.gate_up.weight": torch.cat(
                [tensors[mlp + "gate_proj.weight"], tensors[mlp + "up_proj.weight"]]
            ),
            ours + "ffn.down.weight": tensors[mlp + "down_proj.weight"],
            ours + "attention_norm.weight": tensors[theirs + "input_layernorm.weight"],
            ours + "ffn_norm.weight": tensors[theirs + "post_attention_layernorm.weight"],
        }
        for norm in _head_norms(config):
            out[f"{ours}attention.{norm}"] = tensors[attention + norm]
    return out


def _head_norms(config: ModelConfig) -> tuple[str, ...]:
    """The weights of a block's attention that Qwen3 has in addition to Llama's."""
    return ("q_norm.weight", "k_norm.weight") if config.qk_norm else ()


def compact(tensor: Tensor) -> Tensor:
    """A float32 tensor as bfloat16 or float16 if that represents every number exactly; otherwise the tensor
    itself."""
    for short in (torch.bfloat16, torch.float16):
        if tensor.dtype == torch.float32 and torch.equal(tensor.to(short).float(), tensor):
            return tensor.to(short)
    return tensor


def save_tensors(
    tensors: Mapping[str, Tensor], path: Path, metadata: Mapping[str, str] | None = None
) -> None:
    """Writes a safetensors file durably and atomically. Raises CheckpointError if it cannot be written (full
    disk, no permission)."""
    try:
        with replacing(path) as new:
            save_file(
                {k: v.contiguous() for k, v in tensors.items()},
                new,
                {"format": "pt", **(metadata or {})},
            )
    except (OSError, SafetensorError) as error:
        needed = sum(tensor.nbytes for tensor in tensors.values())
        raise CheckpointError(*unwritable(path, error, "choose another --home", needed)) from error


def load_tensors(
    path: Path, without: Collection[str] = ()
) -> tuple[dict[str, Tensor], dict[str, str]]:
    """(tensors, metadata) of a safetensors file. without: names of tensors to skip. Raises
    CheckpointError."""
    try:
        open_regular(path).close()  # safetensors would block on a pipe
        with safe_open(path, framework="pt") as file:
            names = [key for key in file.keys() if key not in without]  # noqa: SIM118
            return {key: file.get_tensor(key) for key in names}, file.metadata() or {}
    except (OSError, ValueError, SafetensorError) as error:
        raise CheckpointError(
            f"{path}: is no whole safetensors file ({reason(error)})",
            "it may be cut short: roll back with `vidya model rollback`, or copy it again",
        ) from error


def load_weights(files: WeightFiles) -> dict[str, Tensor]:
    """All tensors of a version; those of the delta replace those of its base. Raises CheckpointError, also if
    the delta belongs to another base."""
    if files.delta is None:
        return load_tensors(files.whole)[0]
    check_base(files)
    moved, _ = load_tensors(files.delta)
    return load_tensors(files.whole, without=moved)[0] | moved


def save_config(config: ModelConfig, folder: Path) -> None:
    """Writes config.json. Raises OSError."""
    text = json.dumps(config.to_huggingface(), indent=1) + "\n"
    write_atomically(folder / "config.json", text)


def load_config(folder: Path) -> ModelConfig:
    """Reads config.json. Raises CheckpointError or ConfigError."""
    path = folder / "config.json"
    try:
        raw = read_json(path)
    except (OSError, ValueError) as error:
        raise CheckpointError(
            f"{path}: cannot be read ({reason(error)})",
            "a model folder needs the config.json of a Llama or Qwen3 model",
        ) from error
    if not isinstance(raw, dict):
        raise CheckpointError(
            f"{path}: is not an object", "it must be the config of a Llama or Qwen3 model"
        )
    return ModelConfig.from_huggingface(raw)


def save_model(
    model: Model,
    folder: Path,
    *,
    dtype: torch.dtype = torch.bfloat16,
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Writes config and weights. The tokenizer saves itself. Raises CheckpointError."""
    try:
        make_private_folder(folder)
        save_config(model.config, folder)
    except OSError as error:
        raise CheckpointError(*unwritable(folder, error, "choose another --home")) from error
    state = {k: v.detach().to("cpu", dtype) for k, v in model.state_dict().items()}
    save_tensors(to_huggingface(state, model.config), folder / WEIGHTS, metadata)


def _read(folder: Path, weights: Path | None) -> tuple[WeightFiles, dict[str, Tensor]]:
    """The folder's current weights, or those at `weights`. Raises CheckpointError."""
    files = files_at(folder, weights) if weights else current_files(folder)
    try:
        return files, load_weights(files)
    except CheckpointError:
        # another program may have published in this moment
        if weights or (newer := current_files(folder)) == files:
            raise
        return newer, load_weights(newer)


def load_model(
    folder: Path,
    *,
    dtype: torch.dtype = torch.float32,
    device: str | torch.device = "cpu",
    weights: Path | None = None,
) -> Model:
    """Loads the model of a folder. weights: a file to load instead of the folder's current weights, such as a
    snapshot; it may be a delta.

    Raises CheckpointError unless the files are a complete safetensors checkpoint of the folder's config.
    """
    path = weights or folder / WEIGHTS
    config = load_config(folder)
    if not path.exists() and (weights or not (folder / INDEX).exists()):
        pickled = [name for name in _PICKLES if (folder / name).exists()]
        if pickled:
            raise CheckpointError(
                f"{folder / pickled[0]}: is a pickled checkpoint, which can run code when loaded",
                "convert it to safetensors with the program that wrote it",
            )
        raise CheckpointError(f"{path}: does not exist", "choose another model with --model")
    files, tensors = _read(folder, weights)
    path = files.newest
    if (
        config.tied
        and "lm_head.weight" in tensors
        and not torch.equal(
            tensors["lm_head.weight"],
            tensors.get("model.embed_tokens.weight", tensors["lm_head.weight"]),
        )
    ):
        raise CheckpointError(
            f"{path}: has an output layer of its own, and its config.json says that it has none",
            "restore the folder from a whole copy",
        )
    try:
        state = from_huggingface(tensors, config)
        with torch.device("meta"):
            model = Model(config)
        # copies: as long as one tensor is the file's own memory, all pages that were read of it stay resident
        own = {k: state.pop(k).to(device, dtype, copy=True) for k in list(state)}
        model.load_state_dict(own, assign=True)
    except (KeyError, RuntimeError) as error:
        raise CheckpointError(
            f"{path}: does not fit its config.json ({str(error).splitlines()[0]})",
            "restore the folder from a whole copy",
        ) from error
    model.rope_cos, model.rope_sin = model.rope_cos.to(device), model.rope_sin.to(device)
    for parameter in model.parameters():
        parameter.requires_grad_(True)
    if not all(torch.isfinite(p).all() for p in model.parameters()):
        raise CheckpointError(
            f"{path}: holds numbers that are not finite", "roll back to a snapshot"
        )
    return model
