"""Measures what a model knows, without learning: exact recall under greedy decoding and likelihood."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from engine.config import GREEDY
from engine.generate import greedy
from engine.model import Model
from engine.tokenizers.chat_format import encode_prompt
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.examples import Example, excess, from_answer, from_turns
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
    """What `vidya evaluate --json` prints; parts that were not asked for are left out."""
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
    """(likelihood, exactly said under greedy decoding) per (prompt, answer).

    Texts are compared folded: case, white space, spaces before punctuation. Where every token is
    the likeliest given the right ones before it, greedy decoding says the answer; the others are
    decoded, since a different spelling may fold to the same.
    """
    context = model.config.context
    checked = knowledge(model, [from_answer(tokenizer, p, a, context) for p, a in pairs])
    exact = [
        (item.known and not excess(tokenizer, answer, context))
        or fold_answer(greedy_answer(model, tokenizer, prompt)) == fold_answer(answer)
        for item, (prompt, answer) in zip(checked, pairs, strict=True)
    ]
    return checked, exact


def greedy_answer(model: Model, tokenizer: Tokenizer, prompt: Turns) -> str:
    """The one answer of greedy decoding."""
    ids = encode_prompt(tokenizer, prompt, model.config.context, GREEDY.max_tokens)
    return greedy(model, tokenizer, ids).text


def share(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags) if flags else 1.0


def _pair(row: dict[str, Any]) -> tuple[Turns, str] | None:
    """A lesson as prompt and answer, as it would be taught; None for one that only says what was bad."""
    (lesson,) = to_lessons([row], "lessons")
    turns = [(turn.role, turn.text) for turn in lesson.prompt]
    return (turns, lesson.answer) if lesson.answer else None


def _likelihood(
    model: Model, tokenizer: Tokenizer, rows: Sequence[dict[str, Any]]
) -> dict[str, float]:
    """Mean nats a token and bits a byte: of turns the assistant's words, of a text all of it, in
    windows of the context that overlap by one token."""
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
