"""Llama and Qwen3 models in GGUF files: sizes and weights under transformers' names, both ways.

llama.cpp rotates neighbouring numbers of a Llama's heads where transformers rotates halves, so the rows of
q and k stand in another order in a file; a Qwen3's do not. Left out: the bytes (engine.storage.gguf_file),
the vocabulary (engine.tokenizers.gguf).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from engine.config import FAMILIES, ModelConfig, RopeScaling
from engine.errors import CheckpointError, ConfigError
from engine.model import rope_frequencies
from engine.storage.checkpoint import compact
from engine.storage.disk import unwritable
from engine.storage.files import replacing
from engine.storage.gguf_file import Array, GgufFile
from engine.storage.reading import shown

KINDS = ("f16", "q8_0", "bf16", "f32")
"""What matrices can be written as."""
LARGEST_HALF = 65_504.0
"""The largest number of float16."""
_FLOATS = (0, 1, 30)
"""Kinds of tensors that are not quantised: float32, float16, bfloat16."""
_OUTER = {
    "model.embed_tokens.weight": "token_embd.weight",
    "model.norm.weight": "output_norm.weight",
    "lm_head.weight": "output.weight",
}
_INNER = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
}
_ROPE_FACTORS = "rope_freqs.weight"
"""A divisor for each frequency: how llama3's scaling is kept in a file."""


def config_of(file: GgufFile) -> ModelConfig:
    """Sizes out of the metadata. Raises ConfigError for what this engine does not do."""
    said = file.metadata
    family = said.get("general.architecture")
    if family not in FAMILIES:
        raise ConfigError(
            f"{file.path}: its architecture is {shown(family)}",
            f"models of these can be loaded: {', '.join(FAMILIES)}",
        )

    def number(key: str, default: float | None = None) -> float:
        value = said.get(f"{family}.{key}", default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ConfigError(
                f"{file.path}: {family}.{key} is {shown(value)}", "it must be one number"
            )
        return value

    scaling = said.get(f"{family}.rope.scaling.type", "none")
    if scaling not in ("none", "linear"):
        raise ConfigError(
            f"{file.path}: rope scaling {shown(scaling)}", "only none and linear are supported"
        )
    heads, dim = int(number("attention.head_count")), int(number("embedding_length"))
    even = dim // heads if heads > 0 else 0
    size = int(number("attention.key_length", number("rope.dimension_count", even)))
    for key in ("attention.value_length", "rope.dimension_count"):
        if number(key, size) != size:
            raise ConfigError(
                f"{file.path}: {family}.{key} is {number(key)}, heads have {size}",
                "choose a model whose heads are turned whole and have one size",
            )
    if number("expert_count", 0):
        raise ConfigError(f"{file.path}: is a mixture of experts", "choose a model without")
    embedding = file.tensors.get("token_embd.weight")
    if embedding is None or len(embedding.shape) != 2:
        raise ConfigError(f"{file.path}: has no embedding", "choose the file of a whole model")
    config = ModelConfig(
        vocab_size=embedding.shape[0],
        dim=dim,
        layers=int(number("block_count")),
        heads=heads,
        kv_heads=int(number("attention.head_count_kv", heads)),
        hidden=int(number("feed_forward_length")),
        context=int(number("context_length")),
        rope_theta=_short(number("rope.freq_base", 10_000.0)),
        norm_eps=_short(number("attention.layer_norm_rms_epsilon", 1e-5)),
        head_size=0 if size * heads == dim else size,
        qk_norm=family == "qwen3",
        tied="output.weight" not in file.tensors,
        rope_scaling=RopeScaling("linear", number("rope.scaling.factor"))
        if scaling == "linear"
        else None,
    )
    if _ROPE_FACTORS in file.tensors and not np.allclose(file.array(_ROPE_FACTORS), 1.0):
        raise ConfigError(
            f"{file.path}: its frequencies are scaled one by one",
            "import the model's folder as Hugging Face has it",
        )
    return config


def weights_of(file: GgufFile, config: ModelConfig) -> dict[str, Tensor]:
    """All weights under transformers' names, in the precision that `_stored` says. Raises
    CheckpointError where one is missing."""
    found: dict[str, Tensor] = {}
    for name in _names(config):
        entry = file.tensors.get(_in_file(name))
        if entry is None:
            raise CheckpointError(
                f"{file.path}: has no {_in_file(name)}", "choose the file of a whole model"
            )
        rows = file.array(_in_file(name))
        if heads := _turned(name, config):
            if rows.size != heads * config.head_dim * config.dim:
                raise CheckpointError(
                    f"{file.path}: {_in_file(name)} has the shape {entry.shape}",
                    "choose the file of a whole model",
                )
            rows = _swapped(rows, heads, config.head_dim // 2, 2)
        found[name] = _stored(torch.from_numpy(np.array(rows)), entry.kind)
    return found


def _stored(tensor: Tensor, kind: int) -> Tensor:
    """A tensor of a file as it is kept: floats exactly, quantised ones in float16, whose rounding is a
    sixteenth of the quantisation's at most."""
    short = compact(tensor)
    quantised = kind not in _FLOATS and short.dtype == torch.float32
    return tensor.half() if quantised and tensor.abs().max() < LARGEST_HALF else short


def write_gguf(
    path: Path,
    config: ModelConfig,
    tensors: Mapping[str, Tensor],
    kind: str,
    metadata: Mapping[str, Any],
) -> None:
    """Writes a whole model, or nothing. tensors: under transformers' names. kind: of KINDS, for the
    matrices; one whose rows do not divide into its blocks is written as f16. metadata: besides sizes.
    Raises CheckpointError where it cannot be written."""
    from gguf import GGMLQuantizationType, GGUFWriter
    from gguf.quants import QuantError, quantize

    try:
        with replacing(path) as new:
            writer = GGUFWriter(new, "qwen3" if config.qk_norm else "llama")
            try:
                _describe(writer, config, kind)
                for key, value in metadata.items():
                    _add(writer, key, value)
                for name, rows in _rows(config, tensors):
                    target = GGMLQuantizationType[kind.upper()]
                    if rows.ndim == 1 or kind == "f32":
                        writer.add_tensor(name, np.ascontiguousarray(rows, np.float32))
                        continue
                    try:
                        blocks = quantize(rows, target)
                    except QuantError:
                        target = GGMLQuantizationType.F16
                        blocks = quantize(rows, target)
                    writer.add_tensor(name, blocks, raw_dtype=target)
                writer.write_header_to_file()
                writer.write_kv_data_to_file()
                writer.write_tensors_to_file()
            finally:
                writer.close()
    except OSError as error:
        needed = sum(tensor.numel() for tensor in tensors.values()) * 2
        raise CheckpointError(*unwritable(path, error, "choose another file", needed)) from error


def _rows(config: ModelConfig, tensors: Mapping[str, Tensor]) -> Iterator[tuple[str, Array]]:
    """Names and numbers as a file has them."""
    if config.rope_scaling is not None and config.rope_scaling.kind == "llama3":
        plain = rope_frequencies(ModelConfig(**{**vars(config), "rope_scaling": None}))
        yield _ROPE_FACTORS, (plain / rope_frequencies(config)).numpy()
    for name in _names(config):
        rows = tensors[name].float().numpy()
        if heads := _turned(name, config):
            rows = _swapped(rows, heads, 2, config.head_dim // 2)
        yield _in_file(name), rows


def _describe(writer: Any, config: ModelConfig, kind: str) -> None:
    from gguf import LlamaFileType, RopeScalingType

    types = {"f32": "ALL_F32", "f16": "MOSTLY_F16", "bf16": "MOSTLY_BF16", "q8_0": "MOSTLY_Q8_0"}
    writer.add_type("model")
    writer.add_file_type(LlamaFileType[types[kind]])
    writer.add_quantization_version(2)
    writer.add_context_length(config.context)
    writer.add_embedding_length(config.dim)
    writer.add_block_count(config.layers)
    writer.add_feed_forward_length(config.hidden)
    writer.add_head_count(config.heads)
    writer.add_head_count_kv(config.kv_heads)
    writer.add_key_length(config.head_dim)
    writer.add_value_length(config.head_dim)
    writer.add_rope_dimension_count(config.head_dim)
    writer.add_rope_freq_base(config.rope_theta)
    writer.add_layer_norm_rms_eps(config.norm_eps)
    writer.add_vocab_size(config.vocab_size)
    if config.rope_scaling is not None and config.rope_scaling.kind == "linear":
        writer.add_rope_scaling_type(RopeScalingType.LINEAR)
        writer.add_rope_scaling_factor(config.rope_scaling.factor)


def _add(writer: Any, key: str, value: Any) -> None:
    """A pair of metadata, by the value's own type."""
    if isinstance(value, bool):
        writer.add_bool(key, value)
    elif isinstance(value, int):
        writer.add_uint32(key, value)
    elif isinstance(value, str):
        writer.add_string(key, value)
    else:
        writer.add_array(key, list(value))


def _names(config: ModelConfig) -> Iterator[str]:
    """transformers' names of all weights."""
    yield from (name for name in _OUTER if config.tied is False or name != "lm_head.weight")
    for layer in range(config.layers):
        for part in _INNER:
            if config.qk_norm or part not in ("self_attn.q_norm", "self_attn.k_norm"):
                yield f"model.layers.{layer}.{part}.weight"


def _in_file(theirs: str) -> str:
    """transformers' name -> the file's."""
    if theirs in _OUTER:
        return _OUTER[theirs]
    _, _, layer, rest = theirs.split(".", 3)
    return f"blk.{layer}.{_INNER[rest.removesuffix('.weight')]}.weight"


def _turned(theirs: str, config: ModelConfig) -> int:
    """Heads in a weight whose rows stand in another order in a file; 0 for any other."""
    if config.qk_norm:
        return 0
    if theirs.endswith("q_proj.weight"):
        return config.heads
    return config.kv_heads if theirs.endswith("k_proj.weight") else 0


def _swapped(rows: Array, heads: int, first: int, second: int) -> Array:
    """Rows [heads * first * second, I] with the two inner orders exchanged."""
    parts = rows.reshape(heads, first, second, -1)
    return np.ascontiguousarray(parts.swapaxes(1, 2).reshape(rows.shape))


def _short(number: float) -> float:
    """A float32 of a file as the decimal number that was meant: 1e-05, not 9.99999974e-06."""
    return (
        float(np.format_float_scientific(np.float32(number))) if math.isfinite(number) else number
    )
