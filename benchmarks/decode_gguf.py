"""Writes our tensors in llama.cpp's file format, GGUF. Imports the `gguf` package.

llama.cpp's rotary embedding rotates neighbouring numbers, Hugging Face's rotates halves, so the rows of q
and k are permuted. Left out: a vocabulary; the benchmark uses ids.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from gguf import GGMLQuantizationType, GGUFWriter
from gguf.quants import quantize

from engine.config import ModelConfig
from engine.storage.checkpoint import load_config, load_weights
from engine.storage.weight_files import current_files

KINDS = {
    "f32": GGMLQuantizationType.F32,
    "f16": GGMLQuantizationType.F16,
    "bf16": GGMLQuantizationType.BF16,
    "q8_0": GGMLQuantizationType.Q8_0,
}
_NAMES = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
}


def write_gguf(folder: Path, path: Path, kind: str) -> None:
    """Writes the model of a folder. kind: a key of KINDS, the type of the matrices."""
    config = load_config(folder)
    tensors = load_weights(current_files(folder))
    writer = GGUFWriter(path, "llama")
    _describe(writer, config)
    for name, tensor in tensors.items():
        array = tensor.float().numpy()
        if name.endswith("q_proj.weight"):
            array = _neighbours(array, config.heads)
        elif name.endswith("k_proj.weight"):
            array = _neighbours(array, config.kv_heads)
        if array.ndim == 2 and kind != "f32":
            writer.add_tensor(_name(name), quantize(array, KINDS[kind]), raw_dtype=KINDS[kind])
        else:
            writer.add_tensor(_name(name), np.ascontiguousarray(array))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _describe(writer: Any, config: ModelConfig) -> None:
    writer.add_context_length(config.context)
    writer.add_embedding_length(config.dim)
    writer.add_block_count(config.layers)
    writer.add_feed_forward_length(config.hidden)
    writer.add_head_count(config.heads)
    writer.add_head_count_kv(config.kv_heads)
    writer.add_rope_dimension_count(config.head_dim)
    writer.add_rope_freq_base(config.rope_theta)
    writer.add_layer_norm_rms_eps(config.norm_eps)
    writer.add_vocab_size(config.vocab_size)
    writer.add_tokenizer_model("no_vocab")


def _name(theirs: str) -> str:
    if theirs == "model.embed_tokens.weight":
        return "token_embd.weight"
    if theirs == "model.norm.weight":
        return "output_norm.weight"
    _, _, layer, rest = theirs.split(".", 3)
    return f"blk.{layer}.{_NAMES[rest.removesuffix('.weight')]}.weight"


def _neighbours(rows: np.ndarray[Any, Any], heads: int) -> np.ndarray[Any, Any]:
    """Permutes rows [heads * E, I] so that the two numbers that are rotated together are neighbours."""
    halves = rows.reshape(heads, 2, -1, rows.shape[1])
    return np.ascontiguousarray(halves.swapaxes(1, 2).reshape(rows.shape))
