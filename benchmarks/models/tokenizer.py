"""Compares vocabulary sizes: bytes per token on held-out text against the cost of the embedding.

Trains one tokenizer of 16,384 ids; smaller ones are its first merges, because byte-pair merges are chosen
greedily. The 10M model's blocks stay the same and only the embedding changes. Left out: training a model
with each, which would take hours; compute per byte is reported instead.
"""

from __future__ import annotations

import importlib.metadata
import time
from collections.abc import Iterator
from typing import Any

from benchmarks import BenchOptions
from benchmarks.common.corpus import corpus_documents
from benchmarks.common.report import machine, table, write
from engine.config import CONFIGS
from engine.tokenizers.ranks import PATTERN, RESERVED, SPECIALS, RankTokenizer, train_tokenizer
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.corpus import Document

SIZES = (2048, 4096, 6144, 8192, 16384)
SPECIAL_IDS = len(SPECIALS) + RESERVED
NUMBERS = ("7 + 5 = 12", "12345", "3.14", "1,000")
GROUPED = PATTERN.replace(r"\p{N}|", r"\p{N}{1,3}|")
"""The same pattern, but with digits in groups of three, as in larger models."""


def run(options: BenchOptions) -> dict[str, Any]:
    """Trains and measures the tokenizers."""
    result: dict[str, Any] = {"machine": machine()}
    documents = corpus_documents()
    every = 40 if options.quick else 4
    started = time.perf_counter()
    seen = [d for d in documents if not d.held_out][::every]
    held = _by_kind([d for d in documents if d.held_out])
    options.say(f"training on {len(seen)} documents")
    largest = train_tokenizer(_texts(seen), SIZES[-1])
    result["training"] = {
        "documents": len(seen),
        "bytes": sum(d.bytes for d in seen),
        "share_of_documents": 1 / every,
        "seconds": round(time.perf_counter() - started, 1),
        "rustbpe": importlib.metadata.version("rustbpe"),
        "pattern": PATTERN,
    }
    result["held_out_bytes"] = {kind: sum(map(_size, texts)) for kind, texts in held.items()}
    result["sizes"] = [_measure(_first(largest, size), held) for size in SIZES]
    options.say("training on digits in threes")
    result["digits"] = _digits(_first(largest, 6144), _grouped(seen), held)
    if options.out:
        _write(options, result)
    return result


def _texts(documents: list[Document]) -> Iterator[str]:
    for document in documents:
        yield from filter(None, [document.text, *(text for _, text in document.turns)])


def _by_kind(documents: list[Document]) -> dict[str, list[str]]:
    """Texts by kind: conversations, plain documents, and texts with arithmetic."""
    talk = [d for d in documents if d.turns]
    plain = [d for d in documents if not d.turns]
    reckoning = [d for d in documents if "gsm8k" in d.source or "generated" in d.source]
    kinds = {"talk": talk, "text": plain, "numbers": reckoning, "all": documents}
    return {kind: list(_texts(members)) for kind, members in kinds.items()}


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _first(tokenizer: RankTokenizer, size: int) -> RankTokenizer:
    """The tokenizer with the first `size` ids, an intermediate state of the training."""
    ranks = {token: rank for token, rank in tokenizer.ranks.items() if rank < size - SPECIAL_IDS}
    return RankTokenizer(ranks, tokenizer.pattern)


def _bytes_per_token(tokenizer: Tokenizer, texts: list[str]) -> float:
    return sum(map(_size, texts)) / max(1, sum(len(tokenizer.encode(text)) for text in texts))


def _measure(tokenizer: Tokenizer, held: dict[str, list[str]]) -> dict[str, Any]:
    config = CONFIGS["10m"]
    blocks = config.parameters - config.vocab_size * config.dim
    embedding = tokenizer.vocab_size * config.dim
    each = {kind: _bytes_per_token(tokenizer, texts) for kind, texts in held.items()}
    return {
        "vocabulary": tokenizer.vocab_size,
        "bytes_per_token": each,
        "embedding_parameters": embedding,
        "embedding_share": embedding / (embedding + blocks),
        # two operations per weight and token; the tied embedding is multiplied once, at the output
        "mflop_per_byte": 2 * (blocks + embedding) / each["all"] / 1e6,
        "context_bytes": config.context * each["talk"],
    }


def _grouped(documents: list[Document]) -> RankTokenizer:
    """A tokenizer of 6,144 ids whose tokens may contain up to three digits."""
    import rustbpe

    trainer = rustbpe.Tokenizer()
    trainer.train_from_iterator(_texts(documents), 6144 - SPECIAL_IDS, pattern=GROUPED)
    return RankTokenizer({bytes(t): rank for t, rank in trainer.get_mergeable_ranks()}, GROUPED)


def _digits(
    single: RankTokenizer, grouped: RankTokenizer, held: dict[str, list[str]]
) -> dict[str, Any]:
    """Cost of single digits compared with groups of three."""
    return {
        name: {
            "pieces": {text: [with_.decode([i]) for i in with_.encode(text)] for text in NUMBERS},
            "bytes_per_token": {
                kind: _bytes_per_token(with_, texts) for kind, texts in held.items()
            },
            "ids_of_digits": sum(token.strip().isdigit() for token in with_.ranks),
        }
        for name, with_ in (("single", single), ("in threes", grouped))
    }


def _write(options: BenchOptions, result: dict[str, Any]) -> None:
    assert options.out is not None
    sizes = table(
        [
            "vocabulary",
            "bytes/token",
            "talk",
            "text",
            "numbers",
            "embedding",
            "share",
            "MFLOP/byte",
        ],
        [
            [
                f"{row['vocabulary']:,}",
                *(
                    f"{row['bytes_per_token'][kind]:.2f}"
                    for kind in ("all", "talk", "text", "numbers")
                ),
                f"{row['embedding_parameters'] / 1e6:.1f}M",
                f"{row['embedding_share']:.0%}",
                f"{row['mflop_per_byte']:.2f}",
            ]
            for row in result["sizes"]
        ],
    )
    split = table(
        ["digits", *NUMBERS, "ids spent on digits", "bytes/token, numbers", "all"],
        [
            [
                name,
                *("\u00b7".join(row["pieces"][text]) for text in NUMBERS),
                row["ids_of_digits"],
                f"{row['bytes_per_token']['numbers']:.2f}",
                f"{row['bytes_per_token']['all']:.2f}",
            ]
            for name, row in result["digits"].items()
        ],
    )
    training = result["training"]
    write(
        options.out,
        "tokenizer",
        "How large a vocabulary",
        options.command("tokenizer", variables=["VIDYA_CORPUS"]),
        [
            f"Trained with rustbpe {training['rustbpe']} on every "
            f"{round(1 / training['share_of_documents'])}th document that is not held out "
            f"({training['bytes'] / 1e6:.0f} MB, {training['seconds']:.0f} s), measured on "
            f"{result['held_out_bytes']['all'] / 1e6:.2f} MB held out (one document in 200). The blocks "
            "are those of the 10M model; share is that of the embedding in all weights; MFLOP/byte is one "
            "forward pass (blocks and output) per byte of text.",
            sizes,
            "Digits, at 6,144 ids. With single digits, each place of a number always uses the same ids, and "
            "no token for 12 has to be learned in addition to 1 and 2:",
            split,
        ],
        result,
    )
