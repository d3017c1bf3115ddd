"""The model's own talk: conversations that it generates, replayed so that lessons do not change how it
talks.

Decodes from ids to ids: the text of a conversation is never decoded and encoded again.
"""

from __future__ import annotations

import contextlib
import copy
import json
import random
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import torch

from engine.cache import KeyValueCache
from engine.generate import prefill
from engine.model import Model
from engine.precision import fast_dtype
from engine.storage.files import write_atomically
from engine.storage.reading import read_json
from engine.tokenizers.chat_format import encode_chat
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.examples import Example, conversation
from learning.memory.prefix_cache import LARGE
from learning.models.files import REFERENCE, TALK, TALK_BYTES
from learning.text.synthetic import recall, sums

TALK_ROWS = 768
"""Most rows of own talk. With a quarter as many, a 10M model memorises them, and its other talk drifts
further (benchmarks/results/recipe.md)."""


FEWEST_ROWS = 192
"""Fewest rows of own talk of a small model."""


WEIGHTS_A_ROW = 10_000
"""Weights for each row of own talk: with too many rows a small model can no longer learn anything."""


MOST_WEIGHTS = 40_000_000_000
"""Most rows times weights, half a minute of sampling on two cores: a large model has fewer rows."""


FEWEST_OF_LARGE = 96
"""Fewest rows of own talk of a large model."""


TALK_LENGTH = 48
"""Length of a row in ids. Rows twice as long protect the talk no better and cost twice as much."""


LOOK_BACK = 4
"""There is one conversation whose answer needs earlier turns for every this many rows of own talk."""


LOOK_BACK_LENGTH = 128
"""Most ids of such a row, without the system prompt."""


LONGEST_MESSAGE = 20
"""Ids of the owner's first message in a row, where messages end with ids of their own: there it is ended.
Instruction models write messages of a paragraph, and a row without an answer anchors nothing."""


RENEWED = 24
"""Rows of own talk that are dreamt anew at a time: with their capture 0.7 s at 10M and 7 s at 135M, on one
thread. A quarter as many take nearly as long."""


CACHE_BYTES = 1 << 30
"""Most bytes of keys and values of the rows that are sampled at a time."""


def talk_rows(model: Model) -> int:
    """Number of rows of own talk for a model of this size."""
    weights = model.config.parameters
    wanted = min(TALK_ROWS, max(FEWEST_ROWS, weights // WEIGHTS_A_ROW))
    return min(wanted, max(FEWEST_OF_LARGE, MOST_WEIGHTS // weights))


def own_talk(model: Model, tokenizer: Tokenizer, folder: Path) -> list[Example]:
    """The model's own talk, sampled once and kept beside the weights, and conversations whose answers
    need earlier turns: these are rare in own talk, and lessons would make the model forget how to use
    them."""
    path, longest = folder / TALK, LOOK_BACK_LENGTH + len(tokenizer.chat.start)
    try:
        rows = read_json(path, TALK_BYTES)
        if all(
            isinstance(i, int) and 0 <= i < model.config.vocab_size for row in rows for i in row
        ):
            return _with_targets(talk_example(tokenizer, row[:longest]) for row in rows)
    except (OSError, ValueError, TypeError):
        pass  # not there yet, or not whole: it is dreamt anew
    with contextlib.suppress(OSError):  # by weights that may have been taught since that was kept
        (folder / REFERENCE).unlink(missing_ok=True)
    rows = talk_rows(model)
    drawing = model
    if model.config.parameters > LARGE:  # in the numbers that answer fastest, four times as fast
        drawing = copy.deepcopy(model).to(fast_dtype(model.device.type)).requires_grad_(False)
    talk = _new_talk(drawing, tokenizer, rows, 0)
    write_talk(talk, folder)
    return _with_targets(talk)


def renewed_talk(
    model: Model,
    tokenizer: Tokenizer,
    talk: Sequence[Example],
    rng: random.Random,
    *,
    pause: Callable[[], None] = lambda: None,
) -> list[Example]:
    """As many rows as `talk`, RENEWED of them sampled anew, with conversations that look back, in place of
    rows drawn at random. `pause` is called before every token."""
    new = _with_targets(_new_talk(model, tokenizer, RENEWED, rng.getrandbits(32), pause))
    return [*rng.sample(talk, max(0, len(talk) - len(new))), *new]


def write_talk(talk: Sequence[Example], folder: Path) -> None:
    """Writes the rows beside the weights. Writes nothing if the model may only be read or the disk is
    full."""
    with contextlib.suppress(OSError):
        write_atomically(folder / TALK, json.dumps([e.ids for e in talk]))


def _new_talk(
    model: Model,
    tokenizer: Tokenizer,
    rows: int,
    seed: int,
    pause: Callable[[], None] = lambda: None,
) -> list[Example]:
    generator = torch.Generator().manual_seed(seed)
    talk = generate_talk(model, tokenizer, rows, TALK_LENGTH, generator, pause=pause)
    length = min(LOOK_BACK_LENGTH, model.config.context)
    return talk + recall_talk(tokenizer, rows // LOOK_BACK, length, seed)


def _with_targets(examples: Iterable[Example]) -> list[Example]:
    return [example for example in examples if example.targets]


@torch.no_grad()
def generate_talk(
    model: Model,
    tokenizer: Tokenizer,
    rows: int,
    length: int,
    generator: torch.Generator,
    *,
    pause: Callable[[], None] = lambda: None,
) -> list[Example]:
    """Samples `rows` conversations of `length` ids, without the system prompt, at temperature 1,
    beginning with the owner's first word. The part after the third answer is cut off. `pause` is called
    before every token."""
    examples: list[Example] = []
    size = length + len(tokenizer.chat.start)
    numbers = 2 * model.config.layers * model.config.kv_heads * model.config.head_dim * size
    most = max(1, CACHE_BYTES // (numbers * model.dtype.itemsize))
    while len(examples) < rows:
        count = min(most, rows - len(examples))
        for row in _dreams(model, tokenizer, count, length, generator, pause):
            ends = _ends(tokenizer, row)
            examples.append(talk_example(tokenizer, row[: ends[2]] if len(ends) > 2 else row))
    return examples


def _dreams(
    model: Model,
    tokenizer: Tokenizer,
    rows: int,
    length: int,
    generator: torch.Generator,
    pause: Callable[[], None],
) -> list[list[int]]:
    """Samples rows of `length` ids, without the system prompt, that begin with the owner's first
    words."""
    chat = tokenizer.chat
    length = min(length + len(chat.start), model.config.context)
    ids = torch.tensor([[*chat.start, *chat.user_head]] * rows)
    never = _outside_of_talk(tokenizer, model.config.vocab_size)
    if chat.start:  # read once for all rows
        cache = prefill(model, list(chat.start), 0)[0].expand(rows, length)
    else:
        cache = KeyValueCache(model.config, rows, length, model.dtype, model.device)
    token, first = ids[:, len(chat.start) :], ids.shape[1]
    answering = (*chat.user_tail, *chat.assistant_head)
    for step in range(length - first):
        pause()
        hidden = model.hidden_states(token.to(model.device), cache=cache)
        logits = model.logits(hidden[:, -1]).float()
        logits[:, never] = float("-inf")
        token = torch.multinomial(logits.softmax(-1).cpu(), 1, generator=generator)
        if chat.user_tail and 0 <= (place := step - LONGEST_MESSAGE) < len(answering):
            still = ~(ids[:, first : first + LONGEST_MESSAGE] == chat.user_tail[0]).any(1)
            token[still] = answering[place]
        ids = torch.cat([ids, token], 1)
    return ids.tolist()


def _outside_of_talk(tokenizer: Tokenizer, vocab_size: int) -> list[int]:
    """Ids that have no text and occur in no conversation."""
    chat = tokenizer.chat
    around = {*chat.user_head, *chat.user_tail, *chat.assistant_head, *chat.assistant_tail}
    return sorted(set(tokenizer.not_text(vocab_size)) - around)


def _ends(tokenizer: Tokenizer, ids: Sequence[int]) -> list[int]:
    """Places behind the ids that end an answer; behind an end in the owner's words too, where these do
    not end so themselves."""
    chat = tokenizer.chat
    said = chat.spoken(ids)
    anywhere = chat.end not in chat.user_tail
    return [i + 1 for i, one in enumerate(ids) if one == chat.end and (said[i] or anywhere)]


def recall_talk(tokenizer: Tokenizer, rows: int, length: int, seed: int = 0) -> list[Example]:
    """`rows` conversations of at most `length` ids that a program writes (learning.text.synthetic): two of
    three ask for facts told before, the others for sums. What the model would say there, right or
    wrong, is what must not change."""
    rng, examples = random.Random(seed), list[Example]()
    while len(examples) < rows:
        row = (sums if len(examples) % 3 == 2 else recall)(rng)
        ids = encode_chat(tokenizer, [(turn["role"], turn["text"]) for turn in row["turns"]]).ids
        ids = ids[: length + len(tokenizer.chat.start)]
        ends = _ends(tokenizer, ids)
        examples.append(talk_example(tokenizer, ids[: ends[-1]] if ends else ids))
    return examples


def talk_example(tokenizer: Tokenizer, ids: Sequence[int]) -> Example:
    """A row of talk. Targets are what the model itself says in it, the id that ends it included: how
    the owner might go on is not what lessons change, and would take half of the anchor's weight."""
    return conversation(tokenizer, ids, tokenizer.chat.spoken(ids))
