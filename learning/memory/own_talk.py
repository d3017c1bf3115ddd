"""The model's own talk: conversations that it generates, replayed so that lessons do not change how it
talks.

Decodes from ids to ids: the text of a conversation is never decoded and encoded again.
"""

from __future__ import annotations

import contextlib
import json
import random
from collections.abc import Iterable, Sequence
from pathlib import Path

import torch

from engine.cache import KeyValueCache
from engine.chat_format import encode_chat
from engine.model import Model
from engine.storage.files import write_atomically
from engine.storage.reading import read_json
from engine.tokenizer import Tokenizer
from learning.data.examples import Example
from learning.models.files import TALK, TALK_BYTES
from learning.text.synthetic import recall, sums

TALK_ROWS = 768
"""Of own talk at most; a quarter as many are learned by heart: other talk of a model of 10M weights
then drifts further (benchmarks/results/recipe.md)."""


FEWEST_ROWS = 192
"""Of own talk at least."""


WEIGHTS_A_ROW = 10_000
"""A model that has few of them learns nothing any more where it must not change at all."""


TALK_LENGTH = 48
"""Ids of each row that are replayed; longer rows hold talk no better and cost twice as much."""


LOOK_BACK = 4
"""For so many rows of own talk there is one of a conversation that needs what was said before."""


LOOK_BACK_LENGTH = 128
"""Most ids of such a row."""


def talk_rows(model: Model) -> int:
    """How many rows of own talk are dreamt, for a model of that size."""
    return min(TALK_ROWS, max(FEWEST_ROWS, model.config.parameters // WEIGHTS_A_ROW))


def own_talk(model: Model, tokenizer: Tokenizer, folder: Path) -> list[Example]:
    """The model's own talk, dreamt once and kept beside the weights; with it conversations in which it
    has to look back, which dreams seldom hold and lessons would make it forget."""
    path = folder / TALK
    try:
        rows = read_json(path, TALK_BYTES)
        if all(
            isinstance(i, int) and 0 <= i < model.config.vocab_size for row in rows for i in row
        ):
            return _with_targets(talk_example(tokenizer, row[:LOOK_BACK_LENGTH]) for row in rows)
    except (OSError, ValueError, TypeError):
        pass  # not there yet, or not whole: it is dreamt anew
    rows = talk_rows(model)
    talk = generate_talk(model, tokenizer, rows, TALK_LENGTH, torch.Generator().manual_seed(0))
    length = min(LOOK_BACK_LENGTH, model.config.context)
    talk += recall_talk(tokenizer, rows // LOOK_BACK, length)
    with contextlib.suppress(
        OSError
    ):  # a model that may only be read, a full disk: again next time
        write_atomically(path, json.dumps([e.ids for e in talk]))
    return _with_targets(talk)


def _with_targets(examples: Iterable[Example]) -> list[Example]:
    return [example for example in examples if example.targets]


@torch.no_grad()
def generate_talk(
    model: Model, tokenizer: Tokenizer, rows: int, length: int, generator: torch.Generator
) -> list[Example]:
    """`rows` conversations of `length` ids, sampled at temperature 1 from `<|user|>` on; what follows
    the third end token is cut off."""
    length = min(length, model.config.context)
    ids = torch.full((rows, 1), tokenizer.user)
    cache = KeyValueCache(model.config, rows, length, model.dtype, model.device)
    token = ids
    for _ in range(length - 1):
        hidden = model.hidden_states(token.to(model.device), cache=cache)
        logits = model.logits(hidden[:, -1]).float()
        logits[:, tokenizer.end + 1 :] = float("-inf")
        token = torch.multinomial(logits.softmax(-1).cpu(), 1, generator=generator)
        ids = torch.cat([ids, token], 1)
    examples = []
    for row in ids.tolist():
        ends = [i for i, token_id in enumerate(row) if token_id == tokenizer.end]
        kept = row[: ends[2] + 1] if len(ends) > 2 else row
        examples.append(talk_example(tokenizer, kept))
    return examples


def recall_talk(tokenizer: Tokenizer, rows: int, length: int, seed: int = 0) -> list[Example]:
    """`rows` conversations of at most `length` ids that a program writes (learning.text.synthetic): two of
    three ask for facts told before, the others for sums. What the model would say there, right or
    wrong, is what must not change."""
    rng, examples = random.Random(seed), list[Example]()
    while len(examples) < rows:
        row = (sums if len(examples) % 3 == 2 else recall)(rng)
        ids = encode_chat(tokenizer, [(turn["role"], turn["text"]) for turn in row["turns"]]).ids
        ends = [i + 1 for i, token in enumerate(ids[:length]) if token == tokenizer.end]
        examples.append(talk_example(tokenizer, ids[: ends[-1] if ends else length]))
    return examples


def talk_example(tokenizer: Tokenizer, ids: Sequence[int]) -> Example:
    """A row of talk. Targets are what the model itself says in it, `<|end|>` included: how the owner
    might go on is not what lessons change, and would take half of the anchor's weight."""
    target, speaking = list[bool](), False
    for token in ids:
        target.append(speaking and token != tokenizer.user)
        if token in (tokenizer.user, tokenizer.end):
            speaking = False
        elif token == tokenizer.assistant:
            speaking = True
    return Example(tuple(ids), tuple(target))
