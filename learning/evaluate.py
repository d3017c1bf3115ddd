"""Measures what a model knows, without learning: exact recall under greedy decoding and likelihood."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from engine.chat_format import encode_prompt
from engine.config import GREEDY
from engine.generate import Finished, generate
from engine.model import Model
from engine.tokenizer import Tokenizer
from learning.examples import Example, from_answer, from_turns
from learning.forward import Knowledge, knowledge, mean_loss
from personality.book import Entry

Turns = Sequence[tuple[str, str]]


def evaluate(
    model: Model,
    tokenizer: Tokenizer,
    *,
    book: Sequence[Entry] | None = None,
    lessons: Sequence[dict[str, Any]] | None = None,
    text: Sequence[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """What `vidya evaluate --json` prints; parts that were not asked for are left out."""
    result: dict[str, Any] = {}
    if book is not None:
        pairs: list[tuple[Turns, str]] = [(entry.turns[:-1], entry.answer) for entry in book]
        checked, exact = recall(model, tokenizer, pairs)
        result["book"] = {"pairs": len(pairs), "recall": share(exact), "nll": mean_loss(checked)}
    if lessons is not None:
        pairs = [
            ([("user", row["prompt"])], row.get("answer", row.get("chosen", ""))) for row in lessons
        ]
        checked, exact = recall(model, tokenizer, pairs)
        again: list[tuple[Turns, str]] = [
            ([("user", r["paraphrase"])], r["answer"]) for r in lessons if "paraphrase" in r
        ]
        result["lessons"] = {
            "recall": share(exact),
            "paraphrase_recall": share(recall(model, tokenizer, again)[1]) if again else None,
            "nll": mean_loss(checked),
        }
    if text is not None:
        result["text"] = _likelihood(model, tokenizer, text)
    return result


def recall(
    model: Model, tokenizer: Tokenizer, pairs: Sequence[tuple[Turns, str]]
) -> tuple[list[Knowledge], list[bool]]:
    """(likelihood, exactly said under greedy decoding) per (prompt, answer).

    Texts are compared folded: case, white space, spaces before punctuation. Where every token is
    the likeliest given the right ones before it, greedy decoding says the answer; the others are
    decoded, since a different spelling may fold to the same.
    """
    context = model.config.context
    checked = knowledge(model, [from_answer(tokenizer, p, a, context) for p, a in pairs])
    exact = [
        item.known or fold_answer(greedy_answer(model, tokenizer, prompt)) == fold_answer(answer)
        for item, (prompt, answer) in zip(checked, pairs, strict=True)
    ]
    return checked, exact


def greedy_answer(model: Model, tokenizer: Tokenizer, prompt: Turns) -> str:
    """The one answer of greedy decoding."""
    ids = encode_prompt(tokenizer, prompt, model.config.context, GREEDY.max_tokens)
    events = generate(model, tokenizer, ids, 1, GREEDY, generator=torch.Generator().manual_seed(0))
    return next((event.text for event in events if isinstance(event, Finished)), "")


def fold_answer(text: str) -> str:
    """Case and white space folded, no space before punctuation."""
    words = " ".join(text.casefold().split())
    for mark in ".,;:!?":
        words = words.replace(f" {mark}", mark)
    return words


def share(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags) if flags else 1.0


def _likelihood(
    model: Model, tokenizer: Tokenizer, rows: Sequence[dict[str, Any]]
) -> dict[str, float]:
    examples: list[Example] = []
    size = 0
    for row in rows:
        turns = [(t["role"], t["text"]) for t in row["turns"]] if "turns" in row else None
        if turns:
            example = from_turns(tokenizer, turns, model.config.context)
        else:
            ids = [tokenizer.end, *tokenizer.encode(row["text"])][: model.config.context]
            example = Example(tuple(ids), (False, *([True] * (len(ids) - 1))))
        examples.append(example)
        size += len(
            tokenizer.decode_bytes(i for i, t in zip(example.ids, example.target, strict=True) if t)
        )
    checked = knowledge(model, examples)
    nats = sum(item.nll for item in checked)
    return {"nll": mean_loss(checked), "bits_per_byte": nats / math.log(2) / max(1, size)}
