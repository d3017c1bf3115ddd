"""A larger sentence encoder, whose vectors ours learns to give: all-MiniLM-L6-v2 and its like.

    teacher = SentenceTeacher.read(folder)
    vectors = kept_vectors(teacher, texts, out / "teacher.safetensors", say)  # [N, S]

Needs the package transformers, which vidya itself does not. The vectors are computed once and kept in a
file, because they take a quarter of an hour. Left out: pooling other than the mean over tokens.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.errors import CheckpointError, ConfigError, reason
from engine.precision import autocast
from engine.storage.checkpoint import load_tensors, save_tensors

MOST_TOKENS = 64
PASS, PART = 128, 8_192
"""Texts of one pass, and of one report."""


class SentenceTeacher:
    """A transformers model; a text's vector is the mean over its tokens' states."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        self._model, self._tokenizer = model.eval(), tokenizer

    @classmethod
    def read(cls, folder: Path) -> SentenceTeacher:
        """Reads a folder of transformers without asking the network. Raises ConfigError without the package,
        CheckpointError for anything but such a folder."""
        try:
            from transformers import AutoModel, AutoTokenizer
        except ImportError as error:
            raise ConfigError(
                "the teacher needs the package transformers", "pip install '.[bench]'"
            ) from error
        try:
            tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
            return cls(AutoModel.from_pretrained(folder, local_files_only=True), tokenizer)
        except (OSError, ValueError) as error:
            raise CheckpointError(
                f"{folder}: is no model of transformers ({reason(error)})",
                "give the folder of a sentence encoder, with config.json and model.safetensors",
            ) from error

    @torch.inference_mode()
    def encode(self, texts: Sequence[str]) -> Tensor:
        """Unit vectors [N, S] in float32."""
        order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        found = torch.empty(len(texts), self._model.config.hidden_size)
        for begin in range(0, len(order), PASS):
            piece = order[begin : begin + PASS]
            batch = self._tokenizer(
                [texts[at] for at in piece],
                padding=True,
                truncation=True,
                max_length=MOST_TOKENS,
                return_tensors="pt",
            )
            with autocast(torch.device("cpu")):
                states = self._model(**batch).last_hidden_state.float()
            there = batch["attention_mask"][..., None]
            found[torch.tensor(piece)] = F.normalize((states * there).sum(1) / there.sum(1), dim=-1)
        return found


def digest_of(texts: Sequence[str]) -> str:
    """The same for the same texts in the same order."""
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def kept_vectors(
    teacher: Callable[[], SentenceTeacher],
    texts: Sequence[str],
    path: Path,
    say: Callable[[str], None],
    source: str = "",
) -> Tensor:
    """The teacher's vectors of the texts, [N, S] in float16. If the file at `path` has vectors of the same
    texts by the same teacher, they are read; otherwise they are computed and written there. teacher: a
    function that loads the teacher. source: identifies the teacher. Raises CheckpointError, and what
    `teacher` raises."""
    digest = digest_of([source, *texts])
    if path.exists():
        found, kept = load_tensors(path)
        if kept.get("texts") == digest:
            return found["vectors"]
    chosen, parts = teacher(), list[Tensor]()
    for begin in range(0, len(texts), PART):
        parts.append(chosen.encode(texts[begin : begin + PART]).half())
        say(f"the teacher has placed {min(len(texts), begin + PART):,} of {len(texts):,} sentences")
    save_tensors({"vectors": torch.cat(parts)}, path, {"texts": digest})
    return torch.cat(parts)
