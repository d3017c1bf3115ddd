"""Measures what a model knows: exact recall under greedy decoding, recall by key, and likelihood.

Answers are always greedy and free-running: the model reads the prompt and its own words, never the right
answer's. Changes nothing; nothing but the weights answers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.config import GREEDY
from engine.generate import greedy
from engine.model import Model
from engine.storage.checkpoint import load_model
from engine.tokenizers.chat_format import encode_prompt
from engine.tokenizers.load import load_tokenizer
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.examples import Example, from_answer, from_turns
from learning.data.lesson_file import Measured, measured, to_lessons
from learning.objectives.forward import Knowledge, knowledge, mean_loss
from learning.text.key import holds
from learning.text.normalise import fold_answer
from personality.book import BookEntry, read_book, shipped_book_path

Turns = Sequence[tuple[str, str]]
Pair = tuple[Turns, str]
"""A prompt and its answer."""
_Keyed = tuple[Turns, str, Measured]
KINDS = ("recall", "rewordings", "paraphrases")
"""What is asked of lessons with a key: the taught words, other words."""
BOOK_LINES = 20
"""Lines of Vidya's book that a model is asked after it was downloaded."""
FEW_LINES = 16
"""Fewer known lines than this are too few. For a model that knows 95 % of the book this happens in 0.3 % of
cases; for one that knows 60 %, in 95 % (binomial). The shipped models know all of it."""


def evaluate(
    model: Model,
    tokenizer: Tokenizer,
    *,
    book: Sequence[BookEntry] | None = None,
    lessons: Sequence[dict[str, Any]] | None = None,
    text: Sequence[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """The measurements that `vidya evaluate --json` prints; parts whose argument is None are left out.

    recall, paraphrase_recall: 0 to 1; nll: nats per token; bits_per_byte: of text; by_key: see `_by_key`.
    """
    result: dict[str, Any] = {}
    if book is not None:
        pairs: list[Pair] = [(entry.turns[:-1], entry.answer) for entry in book]
        checked, exact = recall(model, tokenizer, pairs)
        result["book"] = {"pairs": len(pairs), "recall": share(exact), "nll": mean_loss(checked)}
    if lessons is not None:
        result["lessons"] = _lessons(model, tokenizer, lessons)
    if text is not None:
        result["text"] = _likelihood(model, tokenizer, text)
    return result


def _lessons(model: Model, tokenizer: Tokenizer, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What `evaluate` gives as "lessons"."""
    pairs: list[Pair] = []
    again: list[Pair] = []
    keyed: dict[str, list[_Keyed]] = {kind: [] for kind in KINDS}
    for row in rows:
        if (pair := _pair(row)) is None:
            continue
        pairs.append(pair)
        more = measured(row)
        if "paraphrase" in row:
            again.append(([("user", row["paraphrase"].strip())], pair[1]))
        if more.key:
            asked = {"rewordings": more.rewordings, "paraphrases": more.paraphrases}
            keyed["recall"].append((*pair, more))
            for kind, texts in asked.items():
                keyed[kind] += [([("user", text)], pair[1], more) for text in texts]
    checked, exact = recall(model, tokenizer, pairs)
    result: dict[str, Any] = {
        "recall": share(exact) if pairs else None,
        "paraphrase_recall": share(recall(model, tokenizer, again)[1]) if again else None,
        "nll": mean_loss(checked) if pairs else None,
    }
    if keyed["recall"]:
        result["by_key"] = _by_key(model, tokenizer, keyed)
    return result


def _by_key(
    model: Model, tokenizer: Tokenizer, keyed: Mapping[str, Sequence[_Keyed]]
) -> dict[str, Any]:
    """Of the lessons that have a key, for each of KINDS: {"asked": number of questions, "exact", "key"}; None
    where nothing is asked. exact, key: shares, 0 to 1, of greedy answers that are the taught one, and that
    hold the key."""
    result: dict[str, Any] = {}
    for kind, cases in keyed.items():
        exact, said = greedy_answers(model, tokenizer, [(turns, text) for turns, text, _ in cases])
        right = [
            holds(text, more.key, more.without)
            for text, (_, _, more) in zip(said, cases, strict=True)
        ]
        found = {"asked": len(cases), "exact": share(exact), "key": share(right)}
        result[kind] = found if cases else None
    return result


@dataclass(frozen=True)
class BookSample:
    """What a model knows of lines of Vidya's book, spread evenly over it."""

    known: int
    """Lines whose answer greedy decoding gives."""
    asked: int

    @property
    def too_few(self) -> bool:
        """Whether the model does not know the book as a model with Vidya's character should."""
        return self.known * BOOK_LINES < FEW_LINES * self.asked

    def told(self, name: str) -> str:
        """One line for the owner about the model `name`."""
        found = f"lines of Vidya's book that {name} knows: {self.known} of {self.asked}"
        if not self.too_few:
            return found
        return f"{found}, which is too few; `vidya train --model {name}` teaches it the book"


def ask_book(folder: Path) -> BookSample:
    """Asks the model in `folder` BOOK_LINES lines of the shipped book. Raises CheckpointError."""
    book = read_book(shipped_book_path())
    lines = [book[len(book) * number // BOOK_LINES] for number in range(BOOK_LINES)]
    pairs: list[Pair] = [(line.turns[:-1], line.answer) for line in lines]
    exact = recall(load_model(folder), load_tokenizer(folder), pairs)[1]
    return BookSample(sum(exact), len(exact))


def recall(
    model: Model, tokenizer: Tokenizer, pairs: Sequence[Pair]
) -> tuple[list[Knowledge], list[bool]]:
    """(likelihood, whether greedy decoding gives the answer) per (prompt, answer).

    Texts are compared folded: case, white space, spaces before punctuation.
    """
    checked, exact, _ = _answered(model, tokenizer, pairs)
    return checked, exact


def greedy_answers(
    model: Model, tokenizer: Tokenizer, pairs: Sequence[Pair]
) -> tuple[list[bool], list[str]]:
    """(whether it is the right one, the answer of greedy decoding) per (prompt, right answer)."""
    return _answered(model, tokenizer, pairs)[1:]


def _answered(
    model: Model, tokenizer: Tokenizer, pairs: Sequence[Pair]
) -> tuple[list[Knowledge], list[bool], list[str]]:
    """If every token is the likeliest given the right ones before it, greedy decoding gives the answer; the
    other prompts are decoded, because a different spelling may fold to the same text. Both see all of the
    talk that fits, as answers do."""
    context = model.config.context
    examples = [
        from_answer(tokenizer, prompt, answer, context, talk=context) for prompt, answer in pairs
    ]
    checked = knowledge(model, examples)
    said = [
        example.said if item.known and not example.cut else greedy_answer(model, tokenizer, prompt)
        for item, example, (prompt, _) in zip(checked, examples, pairs, strict=True)
    ]
    exact = [
        fold_answer(text) == fold_answer(example.said)
        for text, example in zip(said, examples, strict=True)
    ]
    return checked, exact, said


def greedy_answer(model: Model, tokenizer: Tokenizer, prompt: Turns) -> str:
    """The answer of greedy decoding."""
    ids = encode_prompt(tokenizer, prompt, model.config.context, GREEDY.max_tokens)
    return greedy(model, tokenizer, ids).text


def share(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags) if flags else 1.0


def _pair(row: dict[str, Any]) -> Pair | None:
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
