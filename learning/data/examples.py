"""Examples: ids with the positions to learn, from books, lessons and talk; and padded batches of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from engine.tokenizers.chat_format import encode_chat, encode_prompt
from engine.tokenizers.tokenizer import Tokenizer
from learning.text.normalise import fold_prompt


@dataclass(frozen=True)
class Example:
    """One row to learn or to check."""

    ids: tuple[int, ...]
    target: tuple[bool, ...]
    """Same length as ids: True where the id is to be predicted."""
    prompt: str = ""
    """The folded question; equal prompts ask the same."""
    start: int = 0
    """Ids before its first turn, the same in all conversations of a model."""
    joint: tuple[int, ...] = ()
    """Ids that stand between its last answer and what is said after it."""
    question: str = field(default="", compare=False)
    """What the owner said last, as text; empty in what has no owner."""
    said: str = field(default="", compare=False)
    """The last answer as text."""
    cut: int = field(default=0, compare=False)
    """Ids by which the answer was too long to be learned whole, and which were left out."""

    @property
    def targets(self) -> int:
        return sum(self.target)

    @property
    def answer(self) -> tuple[int, ...]:
        """The ids that are to be predicted."""
        return tuple(i for i, wanted in zip(self.ids, self.target, strict=True) if wanted)


def excess(tokenizer: Tokenizer, answer: str, context: int) -> int:
    """Tokens by which an answer is too long to be learned whole: more than half of the context; 0
    where it fits."""
    return max(0, len(tokenizer.encode(answer)) - context // 2)


def too_long(example: Example) -> str:
    """Why an answer cannot be learned, and what to do, for the owner; empty where it fits."""
    if not example.cut:
        return ""
    kept = len(example.answer) - 1  # without `<|end|>`
    share = kept / (kept + example.cut)
    return (
        f"the answer is too long for this model, about {share:.0%} of it would fit; "
        "shorten it, or divide it among several questions"
    )


def from_turns(tokenizer: Tokenizer, turns: Sequence[tuple[str, str]], context: int) -> Example:
    """All of the assistant's words in the conversation are learned; cut to the context."""
    encoded = encode_chat(tokenizer, turns)
    question, said = ("", *(text for _, text in turns))[-2:]
    row = conversation(tokenizer, encoded.ids[:context], encoded.target[:context])
    return replace(row, prompt=fold_prompt(turns[:-1]), question=question, said=said)


def conversation(tokenizer: Tokenizer, ids: Sequence[int], target: Sequence[bool]) -> Example:
    """A row that is a conversation as the tokenizer's chat template writes it."""
    chat = tokenizer.chat
    return Example(tuple(ids), tuple(target), start=len(chat.start), joint=chat.assistant_tail[1:])


def from_answer(
    tokenizer: Tokenizer, prompt: Sequence[tuple[str, str]], answer: str, context: int
) -> Example:
    """Only the answer after the prompt is learned; old turns are dropped where the context is short,
    and of an answer that is `too_long`, the end."""
    ids = tokenizer.encode(answer)
    body = (*ids[: context // 2], tokenizer.chat.end)
    cut = max(0, len(ids) - context // 2)
    return _answered(
        tokenizer, prompt, Example(body, (True,) * len(body), said=answer, cut=cut), context
    )


def after_question(tokenizer: Tokenizer, question: str, answer: Example, context: int) -> Example:
    """The answer of an example after another question; it is not encoded again."""
    return _answered(tokenizer, [("user", question)], answer, context)


def _answered(
    tokenizer: Tokenizer, prompt: Sequence[tuple[str, str]], answer: Example, context: int
) -> Example:
    body = answer.answer
    head = encode_prompt(tokenizer, prompt, context, len(body))
    row = conversation(tokenizer, (*head, *body), (False,) * len(head) + (True,) * len(body))
    return replace(
        row,
        prompt=fold_prompt(prompt),
        question=prompt[-1][1] if prompt else "",
        said=answer.said,
        cut=answer.cut,
    )


def asked(example: Example) -> tuple[int, ...]:
    """The ids before its last answer."""
    length = len(example.ids)
    while length and example.target[length - 1]:
        length -= 1
    return example.ids[:length]


def answered_by(example: Example, answer: Sequence[int], said: str) -> Example:
    """The same question with these ids, the one that ends an answer among them, and their text for its last
    answer."""
    head = asked(example)
    target = (False,) * len(head) + (True,) * len(answer)
    return replace(example, ids=(*head, *answer), target=target, said=said, cut=0)


def after(talk: Example, example: Example, context: int) -> Example:
    """The example asked when `talk` was said before it; by itself where the two are too long, or
    where the talk does not end with an answer."""
    before = (*talk.ids, *talk.joint)
    ids = (*before, *example.ids[example.start :])
    if len(ids) > context or not talk.target[-1]:
        return example
    target = (*(False for _ in before), *example.target[example.start :])
    return replace(example, ids=ids, target=target, prompt=f"{talk.prompt} / {example.prompt}")


@dataclass(frozen=True)
class Batch:
    """Rows padded on the right. Position i predicts label i."""

    ids: Tensor
    """[B, T] inputs."""
    labels: Tensor
    """[B, T] the next id where it is to be learned, else -1."""

    @property
    def rows(self) -> int:
        return self.ids.shape[0]


def collate(examples: Sequence[Example]) -> Batch:
    """Pads to the longest. Causality keeps padding on the right from being seen."""
    width = max(len(e.ids) for e in examples) - 1
    ids = torch.zeros(len(examples), width, dtype=torch.long)
    labels = torch.full((len(examples), width), -1)
    for row, example in enumerate(examples):
        length = len(example.ids)
        tensor = torch.tensor(example.ids)
        ids[row, : length - 1] = tensor[:-1]
        wanted = torch.tensor(example.target[1:])
        labels[row, : length - 1] = torch.where(wanted, tensor[1:], -1)
    return Batch(ids, labels)


def micro_batches(examples: Sequence[Example], tokens: int) -> list[list[int]]:
    """Indices of the examples in groups of similar length whose padded size is at most `tokens`."""
    groups: list[list[int]] = []
    for index in sorted(range(len(examples)), key=lambda i: len(examples[i].ids)):
        if groups and (len(groups[-1]) + 1) * len(examples[index].ids) <= tokens:
            groups[-1].append(index)
        else:
            groups.append([index])
    return groups
