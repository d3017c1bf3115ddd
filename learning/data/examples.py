"""Examples: token ids with a mask of the positions to predict, made of conversations; and padded batches of
them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from engine.tokenizers.chat_format import encode_chat, encode_prompt
from engine.tokenizers.tokenizer import Tokenizer
from learning.text.normalise import fold_prompt

TALK = 512
"""Most ids that stand before the message of an answer that is learned. With more, lessons in a long
conversation, and each later look at them, would take minutes and gigabytes in a model with a context of
thousands."""


@dataclass(frozen=True)
class Example:
    """One conversation as token ids, to train on or to measure."""

    ids: tuple[int, ...]
    target: tuple[bool, ...]
    """Same length as ids: True where the id is to be predicted."""
    prompt: str = ""
    """The folded turns before the answer. Two examples with equal prompts ask the same question."""
    start: int = 0
    """Number of ids before the first turn (system prompt), the same in all conversations of a model."""
    joint: tuple[int, ...] = ()
    """Ids between the end of the last answer and a following turn."""
    question: str = field(default="", compare=False)
    """The last message of the user; "" if there is none."""
    said: str = field(default="", compare=False)
    """The last answer as text."""
    cut: int = field(default=0, compare=False)
    """Number of ids by which the answer was too long, and which were cut off its end."""
    kept: int = field(default=0, compare=False)
    """Number of ids of the answer before those to predict, where only a part of it is to blame (`blamed`)."""
    instead: tuple[int, ...] = field(default=(), compare=False)
    """Ids that may follow them in place of that part: the end of the answer."""

    @property
    def targets(self) -> int:
        """Number of ids to predict."""
        return sum(self.target)

    @property
    def places(self) -> list[int]:
        """Positions whose output predicts a target: each is one before an id to predict."""
        return [i for i, wanted in enumerate(self.target[1:]) if wanted]

    @property
    def answer(self) -> tuple[int, ...]:
        """The ids to predict."""
        return tuple(i for i, wanted in zip(self.ids, self.target, strict=True) if wanted)


def excess(tokenizer: Tokenizer, answer: str, context: int) -> int:
    """Number of tokens by which an answer exceeds half of the context, the most that can be learned; 0 if
    it fits."""
    return max(0, len(tokenizer.encode(answer)) - context // 2)


def as_turns(pairs: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """(message, answer) pairs as turns of (role, text)."""
    return tuple(turn for said, answer in pairs for turn in (("user", said), ("assistant", answer)))


def too_long(example: Example) -> str:
    """A message for the owner that the answer is too long to be learned; "" if it fits."""
    if not example.cut:
        return ""
    kept = len(example.answer) - 1  # without `<|end|>`
    share = kept / (kept + example.cut)
    return (
        f"the answer is too long for this model, about {share:.0%} of it would fit; "
        "shorten it, or divide it among several questions"
    )


def from_turns(tokenizer: Tokenizer, turns: Sequence[tuple[str, str]], context: int) -> Example:
    """An example that predicts all assistant turns of a conversation, cut to `context` ids.

    turns: (role, text), ending with the answer.
    """
    encoded = encode_chat(tokenizer, turns)
    question, said = ("", *(text for _, text in turns))[-2:]
    row = conversation(tokenizer, encoded.ids[:context], encoded.target[:context])
    return replace(row, prompt=fold_prompt(turns[:-1]), question=question, said=said)


def conversation(tokenizer: Tokenizer, ids: Sequence[int], target: Sequence[bool]) -> Example:
    """An example of ids that the tokenizer's chat template wrote. target: same length as ids."""
    chat = tokenizer.chat
    return Example(tuple(ids), tuple(target), start=len(chat.start), joint=chat.assistant_tail[1:])


def from_answer(
    tokenizer: Tokenizer,
    prompt: Sequence[tuple[str, str]],
    answer: str,
    context: int,
    *,
    encode: Callable[[str], list[int]] | None = None,
    talk: int | None = None,
    longest: int | None = None,
) -> Example:
    """An example that predicts only the answer to a prompt.

    prompt: (role, text), ending with the user. The oldest turns are dropped if it does not fit in `context`
    ids, or if those before the last message have more than `talk` ids, by default TALK. An answer of more
    than `longest` ids, by default half of the context, loses its end (`cut`). encode: in place of the
    tokenizer's, for what a program wrote (Tokenizer.encode_tagged).
    """
    ids = (encode or tokenizer.encode)(answer)
    most = context // 2 if longest is None else longest
    body = (*ids[:most], tokenizer.chat.end)
    cut = max(0, len(ids) - most)
    whole = Example(body, (True,) * len(body), said=answer, cut=cut)
    return _answered(tokenizer, prompt, whole, context, TALK if talk is None else talk)


def after_question(tokenizer: Tokenizer, question: str, answer: Example, context: int) -> Example:
    """An example with the answer of another one to `question`. The answer is not encoded again."""
    return _answered(tokenizer, [("user", question)], answer, context, TALK)


def _answered(
    tokenizer: Tokenizer,
    prompt: Sequence[tuple[str, str]],
    answer: Example,
    context: int,
    talk: int,
) -> Example:
    body = answer.answer
    head = encode_prompt(tokenizer, prompt, context, len(body))
    if len(head) > talk and len(prompt) > 1:
        message = encode_prompt(tokenizer, prompt[-1:], context, len(body))
        room = min(context, len(message) + talk + len(body))
        head = encode_prompt(tokenizer, prompt, room, len(body))
    row = conversation(tokenizer, (*head, *body), (False,) * len(head) + (True,) * len(body))
    return replace(
        row,
        prompt=fold_prompt(prompt),
        question=prompt[-1][1] if prompt else "",
        said=answer.said,
        cut=answer.cut,
    )


def asked(example: Example) -> tuple[int, ...]:
    """The ids before the last answer."""
    length = len(example.ids)
    while length and example.target[length - 1]:
        length -= 1
    return example.ids[:length]


def answered_by(example: Example, answer: Sequence[int], said: str) -> Example:
    """The example with another last answer. answer: its ids, including the end token. said: its text."""
    head = asked(example)
    target = (False,) * len(head) + (True,) * len(answer)
    return replace(example, ids=(*head, *answer), target=target, said=said, cut=0)


def after(talk: Example, example: Example, context: int) -> Example:
    """The example with the conversation `talk` before it. Returns `example` unchanged if the two together
    are longer than `context` ids, or if `talk` does not end with an answer."""
    before = (*talk.ids, *talk.joint)
    ids = (*before, *example.ids[example.start :])
    if len(ids) > context or not talk.target[-1]:
        return example
    target = (*(False for _ in before), *example.target[example.start :])
    return replace(example, ids=ids, target=target, prompt=f"{talk.prompt} / {example.prompt}")


def blamed(
    example: Example, first: int, last: int, said: str, instead: tuple[int, ...] = ()
) -> Example:
    """The example with ids `first` to `last` (not included) of its answer alone to be predicted, and nothing
    behind them. said: their text; instead: see Example."""
    head = len(asked(example))
    ids = example.ids[: head + last]
    target = (*[False] * (head + first), *[True] * (len(ids) - head - first))
    return replace(example, ids=ids, target=target, said=said, cut=0, kept=first, instead=instead)


def beginning(part: Example, *, ended: bool = False) -> Example | None:
    """What stands in the answer before the part that is to blame, as an example; None if nothing does.
    ended: where the answer may end there, its end is to be predicted too."""
    first, more = len(asked(part)), part.instead if ended else ()
    if not part.kept:
        return None
    target = (*[False] * (first - part.kept), *[True] * (part.kept + len(more)))
    return replace(part, ids=(*part.ids[:first], *more), target=target, said="", kept=0, instead=())


def gives(example: Example, bad: Example) -> bool:
    """Whether the example teaches what is to be avoided: the same answer to the same question, or one that
    begins with the same words up to the end of the blamed part."""
    if example.prompt != bad.prompt:
        return False
    unwanted = bad.ids[len(bad.ids) - bad.targets - bad.kept :]  # a whole answer has its end too
    return example.answer[: len(unwanted)] == unwanted


@dataclass(frozen=True)
class Batch:
    """Rows padded on the right."""

    ids: Tensor
    """[B, T] input ids, 0 in the padding."""
    places: Tensor
    """[N] positions whose output predicts a target, in the rows flattened to [B · T] (engine.model.at)."""
    labels: Tensor
    """[N] the ids to predict there."""


def collate(examples: Sequence[Example]) -> Batch:
    """Pads examples to the longest. Attention is causal, so no position sees the padding to its right.

    examples: at least one.
    """
    width = max(len(e.ids) for e in examples) - 1
    ids = torch.zeros(len(examples), width, dtype=torch.long)
    for row, example in enumerate(examples):
        ids[row, : len(example.ids) - 1] = torch.tensor(example.ids[:-1], dtype=torch.long)
    places = [row * width + i for row, e in enumerate(examples) for i in e.places]
    labels = [e.ids[i + 1] for e in examples for i in e.places]
    return Batch(
        ids, torch.tensor(places, dtype=torch.long), torch.tensor(labels, dtype=torch.long)
    )


def micro_batches(examples: Sequence[Example], tokens: int) -> list[list[int]]:
    """Groups the indices of examples of similar length. The padded size of a group is at most `tokens` ids;
    a longer example is a group of its own."""
    groups: list[list[int]] = []
    for index in sorted(range(len(examples)), key=lambda i: len(examples[i].ids)):
        if groups and (len(groups[-1]) + 1) * len(examples[index].ids) <= tokens:
            groups[-1].append(index)
        else:
            groups.append([index])
    return groups
