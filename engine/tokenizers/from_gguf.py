"""Converts the tokenizer of a GGUF file to the files of a Hugging Face folder.

Refuses tokenizers other than byte-level BPE, and pre-tokenizers (`tokenizer.ggml.pre`) not listed in SPLITS.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from engine.errors import CheckpointError
from engine.storage.reading import shown
from engine.tokenizers.byte_level import TOKENIZER_JSON
from engine.tokenizers.patterns import LLAMA_3, QWEN_2
from engine.tokenizers.ranks import TOKENIZER_CONFIG

_COPY = "copy the file again, or choose another"
_PREFIX = "tokenizer.ggml."
_NORMAL, _USER_DEFINED = 1, 4
"""Values of `tokenizer.ggml.token_type`. The others are control tokens, unknown tokens and single bytes."""
_BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
_GPT_2 = [{**_BYTE_LEVEL, "use_regex": True}]
_DIGITS = [{"type": "Digits", "individual_digits": True}, *_GPT_2]


def split_by(pattern: str) -> list[dict[str, Any]]:
    """Pre-tokenizers of the `tokenizers` library that split by a regular expression."""
    split = {
        "type": "Split",
        "pattern": {"Regex": pattern},
        "behavior": "Isolated",
        "invert": False,
    }
    return [split, {**_BYTE_LEVEL, "use_regex": False}]


SPLITS = {
    **dict.fromkeys(("gpt-2", "gpt2", "default"), _GPT_2),
    **dict.fromkeys(("smollm", "starcoder", "refact", "command-r", "codeshell"), _DIGITS),
    **dict.fromkeys(("qwen2", "deepseek-r1-qwen"), split_by(QWEN_2)),
    **dict.fromkeys(("llama-bpe", "llama3", "llama-v3"), split_by(LLAMA_3)),
}
"""Name of a pre-tokenizer in llama.cpp -> equivalent pre-tokenizers of the `tokenizers` library."""


def bpe_json(
    vocab: Mapping[str, int],
    merges: Sequence[Any],
    added: Mapping[str, tuple[int, bool]],
    splits: Sequence[Mapping[str, Any]],
    *,
    normalizer: Mapping[str, Any] | None = None,
    ignore_merges: bool = False,
) -> dict[str, Any]:
    """The content of a `tokenizer.json` of a byte-level BPE.

    vocab: token in the byte-level alphabet -> id. merges: as pairs, or as texts with a space between.
    added: token that stands beside the BPE -> (id, whether it is special). splits: pre-tokenizers.
    """
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": i, "content": token, "special": special, **flags}
            for token, (i, special) in added.items()
        ],
        "normalizer": normalizer,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": list(splits)},
        "post_processor": None,
        "decoder": {**_BYTE_LEVEL, "use_regex": True},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": ignore_merges,
            "vocab": dict(vocab),
            "merges": list(merges),
        },
    }


def tokenizer_files(metadata: Mapping[str, Any]) -> dict[str, str]:
    """Name -> contents of the files that engine.tokenizers.byte_level reads.

    metadata: the GGUF file's keys and values; only those starting with `tokenizer.` are used. Raises
    CheckpointError if the tokenizer is of another kind or inconsistent.
    """
    kind, split = metadata.get(_PREFIX + "model"), metadata.get(_PREFIX + "pre", "default")
    if kind != "gpt2":
        raise CheckpointError(
            f"its tokenizer is no byte-level BPE (it is {shown(kind)})",
            "choose a model with such a one, as SmolLM2, Qwen and Llama 3 have",
        )
    if not isinstance(split, str) or split not in SPLITS:
        raise CheckpointError(
            f"its tokenizer splits text as {shown(split)}, which is not known here",
            "import the model's Hugging Face folder instead, whose tokenizer.json says how",
        )
    tokens: Sequence[str] = metadata.get(_PREFIX + "tokens") or []
    kinds: Sequence[int] = metadata.get(_PREFIX + "token_type") or [_NORMAL] * len(tokens)
    merges: Sequence[str] = metadata.get(_PREFIX + "merges") or []
    if not tokens or not merges:
        raise CheckpointError("its tokenizer lacks tokens or merges", _COPY)
    if len(kinds) != len(tokens):
        raise CheckpointError("its tokenizer's tokens and their kinds do not agree", _COPY)
    added = {
        token: (i, kind != _USER_DEFINED)
        for i, (token, kind) in enumerate(zip(tokens, kinds, strict=True))
        if kind != _NORMAL
    }
    tokenizer = bpe_json(
        {token: i for i, token in enumerate(tokens)},
        list(merges),
        added,
        SPLITS[split],
        normalizer={"type": "NFC"} if split == "qwen2" else None,
        ignore_merges=split == "llama-bpe",
    )
    config: dict[str, Any] = {"tokenizer_class": "PreTrainedTokenizerFast"}
    for name in ("bos", "eos"):
        number = metadata.get(f"{_PREFIX}{name}_token_id")
        if isinstance(number, int) and 0 <= number < len(tokens):
            config[f"{name}_token"] = tokens[number]
    if template := metadata.get("tokenizer.chat_template"):
        config["chat_template"] = template
    return {
        TOKENIZER_JSON: json.dumps(tokenizer, ensure_ascii=False) + "\n",
        TOKENIZER_CONFIG: json.dumps(config, indent=1, ensure_ascii=False) + "\n",
    }
