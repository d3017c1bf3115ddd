"""Generates several different answers to one prompt at once, streamed and cancellable.

    prefill -> [draw a token for each row -> decode_one_token] ... -> finished -> keep, or retry in a new wave

The prompt is prefilled once and shared. One batched step on packed weights (engine.packed) serves all
candidates of a wave; finished ones leave the batch. A candidate that repeats another is sampled again in the
next wave, from another likely beginning (engine.branches), together with all others that are sampled again. A
candidate that the caller's `Standards` refuse is sampled again in the same way. Left out: the meaning of
answers; prompts of different length in one batch (engine.rollout).
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.branches import DistinctTexts, text_key
from engine.cache import KeyValueCache
from engine.config import GREEDY, Sampling
from engine.errors import PromptTooLong
from engine.model import Model
from engine.packed import PackedModel, packed
from engine.sampling import NEVER, draw, shape_logits
from engine.selection import (
    Finished,
    GenerationControl,
    Row,
    Selection,
    Standards,
    before_stop,
    temperature_of,
)
from engine.shared_prompt import continued
from engine.threads import one_core
from engine.tokenizers.tokenizer import StreamDecoder, Tokenizer

__all__ = ["GenerationControl", "Delta", "Event", "Finished", "Restart", "Standards", "generate"]

MANY = 100_000_000
"""Number of weights from which a step of a few rows uses more than one core."""
PART = 512
"""Tokens of a prompt that go through the model at once. Attention among all 8,000 of a long one would take
3 GB and half as long again."""


@dataclass(frozen=True)
class Delta:
    """New text of the candidates of a batch after one step."""

    texts: tuple[tuple[int, str], ...]
    """(number of the candidate, 1 to n; text to append, in whole characters); at least one, none empty."""


@dataclass(frozen=True)
class Restart:
    """The candidate repeated another or was refused, and is being sampled again."""

    index: int


Event = Delta | Restart | Finished


@dataclass
class _Wave:
    """Candidates that share a batch; all have the same length."""

    rows: list[Row]
    cache: KeyValueCache
    logits: Tensor
    """Logits [rows, V] of the next token."""


@torch.inference_mode()
def generate(
    model: Model,
    tokenizer: Tokenizer,
    prompt_ids: list[int],
    n: int,
    sampling: Sampling,
    *,
    generator: torch.Generator,
    control: GenerationControl | None = None,
    distinct: bool = True,
    likeliest: bool = True,
    standards: Standards | None = None,
    stops: tuple[str, ...] = (),
    seen: Collection[str] = (),
) -> Iterator[Event]:
    """Streams n answers to the prompt. Every candidate ends with one Finished event.

    With temperature 0 the first candidate is greedy and the others are sampled at 0.7; their Finished events
    come after the greedy one's, which is never retried. distinct: retry repeated answers. likeliest: of
    several distinct candidates the first is decoded greedily at any temperature, without repetition penalty,
    so an answer that was taught is always among them. standards: None accepts everything. stops: an
    answer ends before the first of these texts, none of which is empty; its Delta events may have a part of
    it, its Finished event has not. seen: texts that a distinct answer does not repeat either, so that one
    candidate is retried too. Raises PromptTooLong.
    """
    limit = min(sampling.max_tokens, model.config.context - len(prompt_ids))
    if limit < 1:
        raise PromptTooLong(
            f"the prompt of {len(prompt_ids)} tokens fills the model's context of "
            f"{model.config.context}",
            "shorten it, or begin a new conversation",
        )
    control = control or GenerationControl()
    distinct = distinct and (n > 1 or bool(seen))
    branches = DistinctTexts(tokenizer) if distinct or standards else None
    fast = packed(model)
    rows = [
        Row(i, temperature_of(sampling, i), StreamDecoder(tokenizer), stops=stops)
        for i in range(1, n + 1)
    ]
    rows[0].likeliest = likeliest and distinct and sampling.temperature > 0.0
    prompt, parts = _reading(fast, prompt_ids, limit)
    for part in parts:
        if all(control.stops(row.index) for row in rows):
            yield from (row.finished("cancelled") for row in rows)
            return
        hidden = fast.hidden_states(part, cache=prompt)
    first_logits = _last_logits(fast, hidden)
    small = model.config.parameters < MANY and fast.device.type == "cpu"
    with one_core() if small else contextlib.nullcontext():
        yield from _stream(
            fast,
            tokenizer,
            prompt,
            first_logits,
            rows,
            limit,
            sampling,
            generator,
            control,
            branches,
            Selection(rows, distinct, standards, control, branches, {*map(text_key, seen)}),
        )


def _stream(
    fast: PackedModel,
    tokenizer: Tokenizer,
    prompt: KeyValueCache,
    first_logits: Tensor,
    rows: list[Row],
    limit: int,
    sampling: Sampling,
    generator: torch.Generator,
    control: GenerationControl,
    branches: DistinctTexts | None,
    selection: Selection,
) -> Iterator[Event]:
    """Runs one wave after another until all candidates have finished."""
    size = prompt.length + limit
    held: list[Finished] = []
    standards = selection.standards
    waits = rows[0].likeliest and standards is not None and standards.instead is not None
    first_first = selection.distinct and (sampling.temperature == 0.0 or waits)
    while rows:
        wave, rows = _wave(prompt, first_logits, rows, size), []
        while wave.rows:
            if branches is not None:
                branches.saw([row.tokens for row in wave.rows], wave.logits)
            for event in _step(fast, tokenizer, wave, sampling, generator, control, limit):
                if not isinstance(event, Finished):
                    yield event
                    continue
                held.append(event)
                if first_first and event.index != 1:
                    continue
                first_first = False
                for done in held:
                    if (row := selection.retry(done, tokenizer, sampling)) is not None:
                        rows.append(row)
                        yield Restart(done.index)
                    else:
                        yield done
                held.clear()


def prefill(
    model: Model | PackedModel, prompt_ids: list[int], room: int
) -> tuple[KeyValueCache, Tensor]:
    """Runs the prompt once: (cache of one row, logits [1, V] of the first answer token). room: tokens of
    answer for which the cache has space."""
    cache, parts = _reading(model, prompt_ids, room)
    for part in parts:
        hidden = model.hidden_states(part, cache=cache)
    return cache, _last_logits(model, hidden)


def _reading(
    model: Model | PackedModel, prompt_ids: list[int], room: int
) -> tuple[KeyValueCache, tuple[Tensor, ...]]:
    """An empty cache of one row with memory for the prompt, and the prompt in parts of ids [1, T]."""
    cache = KeyValueCache(model.config, 1, len(prompt_ids) + room, model.dtype, model.device)
    cache.reserve(len(prompt_ids))
    return cache, torch.tensor([prompt_ids], device=model.device).split(PART, 1)


def decode_one_token(model: Model | PackedModel, tokens: list[int], cache: KeyValueCache) -> Tensor:
    """One step of a batch: the last token of each row -> logits [B, V]. A packed model is several times as
    fast."""
    ids = torch.tensor(tokens, device=model.device)[:, None]
    return _last_logits(model, model.hidden_states(ids, cache=cache))


def _last_logits(model: Model | PackedModel, hidden: Tensor) -> Tensor:
    """Logits [B, V] after the last of the hidden states [B, T, D]."""
    return model.logits(hidden[:, -1]).float()


def _wave(prompt: KeyValueCache, logits: Tensor, rows: list[Row], size: int) -> _Wave:
    return _Wave(list(rows), continued(prompt, len(rows), size), logits.expand(len(rows), -1))


def _step(
    model: PackedModel,
    tokenizer: Tokenizer,
    wave: _Wave,
    sampling: Sampling,
    generator: torch.Generator,
    control: GenerationControl,
    limit: int,
) -> Iterator[Event]:
    """Samples one token for each row of the wave; finished rows leave it."""
    stopped = [row for row in wave.rows if control.stops(row.index)]
    if stopped:
        yield from (row.finished("cancelled") for row in stopped)
        _keep(wave, [i for i, row in enumerate(wave.rows) if row not in stopped])
        if not wave.rows:
            return
    ids, logprobs, own_logprobs = _draw(tokenizer, wave, sampling, generator)
    going, ended = [], []
    added: list[tuple[int, str]] = []
    for place, (row, token) in enumerate(zip(wave.rows, ids, strict=True)):
        row.tokens.append(token)
        row.logprobs.append(logprobs[place])
        row.own_logprobs.append(own_logprobs[place])
        if token in tokenizer.chat.stop_ids:
            ended.append(row.finished("end"))
            continue
        if text := row.decoder.push(token):
            row.text += text
            added.append((row.index, text))
        if before_stop(row.text, row.stops) != row.text:
            ended.append(row.finished("end"))
        elif len(row.tokens) >= limit:
            ended.append(row.finished("length"))
        else:
            going.append(place)
    if added:
        yield Delta(tuple(added))
    yield from ended
    _keep(wave, going)
    if wave.rows:
        wave.logits = decode_one_token(model, [row.tokens[-1] for row in wave.rows], wave.cache)


def _keep(wave: _Wave, places: list[int]) -> None:
    if len(places) == len(wave.rows):
        return
    wave.rows = [wave.rows[i] for i in places]
    if places:
        index = torch.tensor(places, device=wave.logits.device)
        wave.cache.keep(index)
        wave.logits = wave.logits[index]


def _draw(
    tokenizer: Tokenizer, wave: _Wave, sampling: Sampling, generator: torch.Generator
) -> tuple[list[int], list[float], list[float]]:
    """(next ids, their log-probabilities under the sampling distribution, and under the model itself). Never
    samples role tokens, nor an end token as the first one."""
    first = not wave.rows[0].tokens  # all rows of a wave have the same length
    logits = wave.logits[:, : tokenizer.answer_width]
    logits = logits.clone() if first else logits  # all waves share the first logits
    logits[:, tokenizer.forbidden] = NEVER
    if first:
        logits[:, tokenizer.chat.stop_ids] = NEVER
    said = [row.tokens for row in wave.rows]
    temperature = torch.tensor([row.temperature or 1.0 for row in wave.rows], device=logits.device)
    shaped = shape_logits(logits, said, sampling, temperature)
    drawn, drawn_logprobs = draw(shaped, sampling, generator)
    ids, logprobs = drawn.tolist(), drawn_logprobs.tolist()
    for place, row in enumerate(wave.rows):
        if len(row.tokens) < len(row.forced):
            ids[place] = row.forced[len(row.tokens)]
            logprobs[place] = float(shaped[place].log_softmax(-1)[ids[place]])
        elif row.likeliest:
            ids[place] = int(logits[place].argmax())
            logprobs[place] = float(shaped[place].log_softmax(-1)[ids[place]])
        elif row.temperature == 0.0:
            ids[place], logprobs[place] = int(shaped[place].argmax()), 0.0
    chosen = torch.tensor(ids, device=logits.device)[:, None]
    own = logits.gather(1, chosen)[:, 0] - logits.logsumexp(-1)
    return ids, logprobs, own.tolist()


def greedy(model: Model, tokenizer: Tokenizer, ids: list[int]) -> Finished:
    """The answer of greedy decoding after these ids."""
    events = generate(model, tokenizer, ids, 1, GREEDY, generator=torch.Generator().manual_seed(0))
    return next(event for event in events if isinstance(event, Finished))
