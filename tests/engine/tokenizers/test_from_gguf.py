"""Tokenizers of GGUF files: written as a folder's files they give the ids that they gave before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from made_tokenizers import CHATML, MARKERS, texts, trained, write

from engine.errors import CheckpointError
from engine.tokenizers.from_gguf import tokenizer_files
from engine.tokenizers.load import load_tokenizer
from engine.tokenizers.tokenizer import Tokenizer


def metadata(raw: dict[str, Any], pre: str, **changes: Any) -> dict[str, Any]:
    """As llama.cpp's converter writes it."""
    vocab = raw["model"]["vocab"] | {one["content"]: one["id"] for one in raw["added_tokens"]}
    tokens = sorted(vocab, key=lambda token: vocab[token])
    merges = raw["model"]["merges"]
    return {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": pre,
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": [3 if token in MARKERS else 1 for token in tokens],
        "tokenizer.ggml.merges": [m if isinstance(m, str) else " ".join(m) for m in merges],
        "tokenizer.ggml.bos_token_id": vocab["<|im_start|>"],
        "tokenizer.ggml.eos_token_id": vocab["<|im_end|>"],
        "tokenizer.chat_template": CHATML,
        **changes,
    }


def written(folder: Path, found: dict[str, Any]) -> Tokenizer:
    folder.mkdir()
    for name, text in tokenizer_files(found).items():
        (folder / name).write_text(text, "utf-8")
    return load_tokenizer(folder)


@pytest.mark.parametrize(
    ("split", "pre", "last"), [("smollm", "smollm", False), ("qwen", "qwen2", True)]
)
def test_ids_are_those_of_the_file_it_was_made_of(
    split: str, pre: str, last: bool, tmp_path: Path
) -> None:
    raw = trained(split=split, last=last)
    before = load_tokenizer(write(tmp_path, raw))
    after = written(tmp_path / "gguf", metadata(raw, pre))
    for text in texts(500):
        assert after.encode(text) == before.encode(text), repr(text)
    assert after.chat == before.chat and after.never_ids == before.never_ids


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"tokenizer.ggml.model": "llama"}, "no byte-level BPE"),
        ({"tokenizer.ggml.pre": "of tomorrow"}, "'of tomorrow', which is not known here"),
        ({"tokenizer.ggml.tokens": None}, "lacks tokens"),
        ({"tokenizer.ggml.token_type": [1]}, "do not agree"),
    ],
)
def test_what_is_not_known_is_refused(changes: dict[str, Any], why: str) -> None:
    found = {k: v for k, v in metadata(trained(), "smollm", **changes).items() if v is not None}
    with pytest.raises(CheckpointError, match=why):
        tokenizer_files(found)
