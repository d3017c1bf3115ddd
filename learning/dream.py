"""Talk that the model makes up by itself, replayed so that it goes on talking as it did.

No conversation of other people has to be kept for this: text drawn from the model before a lesson
is what must not change (2605.26097). Left out: any judgement of its quality.
Such text seldom needs what was said before, so conversations that do are added.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import torch

from engine.cache import KeyValueCache
from engine.chat_format import encode_chat
from engine.model import Model
from engine.tokenizer import Tokenizer
from learning.examples import Example
from learning.synthetic import recall, sums


@torch.no_grad()
def dream(
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


def looking_back(tokenizer: Tokenizer, rows: int, length: int, seed: int = 0) -> list[Example]:
    """`rows` conversations of at most `length` ids that a program writes (learning.synthetic): two of
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
