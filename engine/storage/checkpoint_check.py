"""Whether files hold the weights of a model: whole, of its shapes, all numbers finite. No torch.

For whoever must know before anything is replaced, in a process that has no torch. Left out: loading
them (engine.storage.checkpoint), and whether they say anything sensible.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from engine.config import ModelConfig
from engine.errors import CheckpointError, reason
from engine.storage.checkpoint_files import read_header
from engine.storage.reading import read_json
from engine.storage.weight_files import WeightFiles, check_base, files_at

_FLOATS = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}
_EXPONENT = 0x7F80
"""Of a bfloat16: all its bits are set in what is not finite."""
_BLOCK = 1 << 22
"""Numbers that are looked at together."""


def check_weights(files: WeightFiles, config: ModelConfig) -> None:
    """Raises CheckpointError where a file is not whole, or they lack a weight of the config, have one of
    another shape or type, or one that is not finite, or where a delta's base is another. Reads all of it."""
    check_base(files)
    headers = {path: read_header(path) for path in files.paths}
    starts = {path: 8 + int.from_bytes(path.open("rb").read(8), "little") for path in headers}
    for name, shape in _shapes(config).items():
        path = next((one for one in reversed(files.paths) if name in headers[one]), files.newest)
        entry = headers[path].get(name)
        if entry is None or entry.get("shape") != list(shape):
            found = "is missing" if entry is None else f"has the shape {entry.get('shape')}"
            raise CheckpointError(
                f"{path}: does not fit its config.json ({name} {found})",
                "restore the folder from a whole copy",
            )
        _check_finite(path, name, entry, starts[path])


def check_model(folder: Path, weights: Path) -> None:
    """The same for a file of a model's folder. Raises CheckpointError or ConfigError."""
    path = folder / "config.json"
    try:
        config = ModelConfig.from_huggingface(read_json(path))
    except (OSError, ValueError, AttributeError) as error:
        raise CheckpointError(
            f"{path}: cannot be read ({reason(error)})", "restore the folder from a whole copy"
        ) from error
    check_weights(files_at(folder, weights), config)


def _shapes(config: ModelConfig) -> dict[str, tuple[int, ...]]:
    """Of each weight, under the names that files have."""
    d, e, h = config.dim, config.head_dim, config.hidden
    shapes: dict[str, tuple[int, ...]] = {
        "model.embed_tokens.weight": (config.vocab_size, d),
        "model.norm.weight": (d,),
    }
    if not config.tied:
        shapes["lm_head.weight"] = (config.vocab_size, d)
    for layer in range(config.layers):
        block = {
            "self_attn.q_proj": (config.heads * e, d),
            "self_attn.k_proj": (config.kv_heads * e, d),
            "self_attn.v_proj": (config.kv_heads * e, d),
            "self_attn.o_proj": (d, config.heads * e),
            **({"self_attn.q_norm": (e,), "self_attn.k_norm": (e,)} if config.qk_norm else {}),
            "mlp.gate_proj": (h, d),
            "mlp.up_proj": (h, d),
            "mlp.down_proj": (d, h),
            "input_layernorm": (d,),
            "post_attention_layernorm": (d,),
        }
        shapes |= {f"model.layers.{layer}.{name}.weight": shape for name, shape in block.items()}
    return shapes


def _check_finite(path: Path, name: str, entry: dict[str, object], start: int) -> None:
    kind, offsets = str(entry.get("dtype")), entry.get("data_offsets")
    if kind not in _FLOATS:
        raise CheckpointError(
            f"{path}: {name} is of the type {kind}", f"convert it to one of {', '.join(_FLOATS)}"
        )
    assert isinstance(offsets, list)
    dtype = np.dtype(_FLOATS[kind])
    count = (offsets[1] - offsets[0]) // dtype.itemsize
    numbers = np.memmap(path, dtype, "r", start + offsets[0], (count,))
    for first in range(0, count, _BLOCK):
        block = numbers[first : first + _BLOCK]
        whole = (block & _EXPONENT) != _EXPONENT if kind == "BF16" else np.isfinite(block)
        if not whole.all():
            raise CheckpointError(
                f"{path}: holds numbers that are not finite", "roll back to a snapshot"
            )
