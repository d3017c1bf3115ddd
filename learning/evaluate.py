"""Measures what a model knows: exact recall under greedy decoding, and likelihood. Changes nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from engine.config import GREEDY
from engine.generate import greedy
from engine.model import Model
from engine.tokenizers.chat_format import encode_prompt
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.examples import Example, from_answer, from_turns
from learning.data.lesson_file import to_lessons
from learning.objectives.forward import Knowledge, knowledge, mean_loss
from learning.text.normalise import fold_answer
from personality.book import BookEntry

Turns = Sequence[tuple[str, str]]


def evaluate(
    model: Model,
    tokenizer: Tokenizer,
    *,
    book: Sequence[BookEntry] | None = None,
    lessons: Sequence[dict[str, Any]] | None = None,
    text: Sequence[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """The measurements that `vidya evaluate --json` prints; parts whose argument is None are left out.

    recall, paraphrase_recall: 0 to 1; nll: nats per token; bits_per_byte: of text.
    """
    result: dict[str, Any] = {}
    if book is not None:
        pairs: list[tuple[Turns, str]] = [(entry.turns[:-1], entry.answer) for entry in book]
        checked, exact = recall(model, tokenizer, pairs)
        result["book"] = {"pairs": len(pairs), "recall": share(exact), "nll": mean_loss(checked)}
    if lessons is not None:
        pairs = [pair for row in lessons if (pair := _pair(row))]
        checked, exact = recall(model, tokenizer, pairs)
        again: list[tuple[Turns, str]] = [
            ([("user", row["paraphrase"].strip())], pair[1])
            for row in lessons
            if "paraphrase" in row and (pair := _pair(row))
        ]
        result["lessons"] = {
            "recall": share(exact) if pairs else None,
            "paraphrase_recall": share(recall(model, tokenizer, again)[1]) if again else None,
            "nll": mean_loss(checked) if pairs else None,
        }
    if text is not None:
        result["text"] = _likelihood(model, tokenizer, text)
    return result


def recall(
    model: Model, tokenizer: Tokenizer, pairs: Sequence[tuple[Turns, str]]
) -> tuple[list[Knowledge], list[bool]]:
    """(likelihood, whether greedy decoding gives the answer) per (prompt, answer).

    Texts are compared folded: case, white space, spaces before punctuation. If every token is the likeliest
    given the right ones before it, greedy decoding gives the answer; the other prompts are decoded, because
    a different spelling may fold to the same text.
    """
    context = model.config.context
    examples = [from_answer(tokenizer, prompt, answer, context) for prompt, answer in pairs]
    checked = knowledge(model, examples)
    exact = [
        (item.known and not example.cut)
        or fold_answer(greedy_answer(model, tokenizer, prompt)) == fold_answer(example.said)
        for item, example, (prompt, _) in zip(checked, examples, pairs, strict=True)
    ]
    return checked, exact


def greedy_answer(model: Model, tokenizer: Tokenizer, prompt: Turns) -> str:
    """The answer of greedy decoding."""
    ids = encode_prompt(tokenizer, prompt, model.config.context, GREEDY.max_tokens)
    return greedy(model, tokenizer, ids).text


def share(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags) if flags else 1.0


def _pair(row: dict[str, Any]) -> tuple[Turns, str] | None:
    """A lesson as (prompt, answer); None for one that only rejects an answer."""
    (lesson,) = to_lessons([row], "lessons")
    return (lesson.prompt, lesson.answer) if lesson.answer else None


def _likelihood(
    model: Model, tokenizer: Tokenizer, rows: Sequence[dict[str, Any]]
) -> dict[str, float]:
    """Mean loss in nats per token and bits per byte. Counts the assistant's words of conversations, and
    all of a text, in windows of the context that overlap by one token."""
    examples: list[Example] = []
    context = model.config.context
    for row in rows:
        if "turns" in row:
            turns = [(t["role"], t["text"]) for t in row["turns"]]
            examples.append(from_turns(tokenizer, turns, context))
            continue
        head = tokenizer.chat.document_head
        ids = [*head, *tokenizer.encode(row["text"])]
        for start in range(0, len(ids) - 1, context - 1):
            window = ids[start : start + context]
            examples.append(Example(tuple(window), (False, *([True] * (len(window) - 1)))))
    size = sum(
        len(tokenizer.decode_bytes(i for i, t in zip(e.ids, e.target, strict=True) if t))
        for e in examples
    )
    checked = knowledge(model, examples)
    nats = sum(item.nll for item in checked)
    return {"nll": mean_loss(checked), "bits_per_byte": nats / math.log(2) / max(1, size)}
