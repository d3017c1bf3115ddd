"""Samples many answers to many prompts in one batch that stays full, for reinforcement learning.

Each prompt is prefilled once and its keys and values are copied to all its answers; a row whose answer has
ended takes the next one at once. Samples from the plain distribution at one temperature, without the ids
that no answer has, and records the log-probability of each token under it, so that importance ratios are
exact. Where a world answers a reply, its words are read token by token in the same row and the next reply
follows: nothing is computed or encoded twice. Replies that end in one step are given to it together. Left
out: top-p, penalties, distinctness and streaming (engine.generate).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Literal

import torch
from torch import Tensor

from engine.cache import KeyValueCache
from engine.config import ModelConfig
from engine.errors import DataError
from engine.generate import PART
from engine.model import Model
from engine.packed import packed
from engine.sampling import NEVER, sample
from engine.tokenizers.chat_format import encode_prompt
from engine.tokenizers.tokenizer import Tokenizer

ROWS = 64
"""Answers per batch; more are no faster per token and wait longer for the last one."""
PREFILL_TOKENS = 2048
"""Padded prompt tokens that are prefilled together."""
World = Callable[[Sequence[tuple[int, tuple[int, ...]]]], Sequence[Sequence[int]]]
"""(number of the answer, the reply) of all replies that ended in one step -> for each the ids to read before
the next reply; none: the answer is over. Answers are numbered prompt by prompt."""
SHRINK = 0.75
"""Share of active rows below which the batch is made smaller, once no answer waits."""


@dataclass(frozen=True)
class Answered:
    """One answer."""

    prompt: int
    """Index of the prompt it answers."""
    tokens: tuple[int, ...]
    """Its ids, including the special token that ended it, if any."""
    logprobs: tuple[float, ...]
    """Log-probability of each own token at the temperature of the rollout, in nats; 0 in greedy decoding."""
    ending: Literal["end", "length"]
    own: tuple[bool, ...] | None = None
    """For each token whether the model drew it; None: all of them. The others are the world's."""
    number: int = 0
    """Among all answers, prompt by prompt."""

    @property
    def drawn(self) -> int:
        """Number of own tokens."""
        return len(self.tokens) if self.own is None else sum(self.own)


class RowCache(KeyValueCache):
    """Cache for rows of different length: row b has `lengths[b]` tokens, from slot 0 on."""

    def __init__(
        self, config: ModelConfig, rows: int, size: int, dtype: torch.dtype, device: torch.device
    ) -> None:
        super().__init__(config, rows, size, dtype, device)
        self.lengths = torch.zeros(rows, dtype=torch.long, device=device)
        self._all = torch.arange(rows, device=device)

    def append(self, layer: int, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Stores one token per row, key and value [B, K, 1, E], after the row's tokens; returns the keys and
        values of as many slots as the longest row has, each [B, K, S, E]. `mask` hides the rest."""
        keys, values = self._buffer[layer]
        keys[self._all, :, self.lengths] = key[:, :, 0]
        values[self._all, :, self.lengths] = value[:, :, 0]
        end = self.length + 1
        return keys[:, :, :end], values[:, :, :end]

    def advance(self, tokens: int) -> None:
        self.lengths = self.lengths + tokens
        self.length += tokens

    def mask(self) -> Tensor:
        """Additive attention mask for the next token of each row, [B, 1, 1, S]."""
        slots = torch.arange(self.length + 1, device=self.lengths.device)
        hidden = slots > self.lengths[:, None]
        mask = torch.zeros(hidden.shape, device=hidden.device).masked_fill_(hidden, float("-inf"))
        return mask[:, None, None]

    def begin(self, row: int, prompt: Tensor) -> None:
        """Starts the row again with a prompt's keys and values, [layers, 2, K, P, E]."""
        self.reserve(max(0, prompt.shape[3] - self.length))
        self._buffer[:, :, row, :, : prompt.shape[3]] = prompt
        self.lengths[row] = prompt.shape[3]

    def settle(self) -> None:
        """Call after rows have started or ended: sets `length` to the longest row."""
        self.length = int(self.lengths.max()) if len(self.lengths) else 0

    def keep(self, rows: Tensor) -> None:
        super().keep(rows)
        self.lengths = self.lengths[rows]
        self._all = torch.arange(len(rows), device=rows.device)


@dataclass
class _RolloutRow:
    """An answer that is being sampled."""

    prompt: int
    number: int
    tokens: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    own: list[bool] = field(default_factory=list)
    to_read: deque[int] = field(default_factory=deque)
    """Ids of the world that have not been read yet."""
    reply: int = 0
    """Where the reply begins that is being sampled."""

    def read(self) -> int:
        """Takes the next id of the world."""
        token = self.to_read.popleft()
        self.tokens.append(token)
        self.own.append(False)
        self.reply = len(self.tokens)
        return token


@dataclass
class _Prompt:
    """A prefilled prompt."""

    state: Tensor
    """Keys and values, [layers, 2, K, P, E]."""
    logits: Tensor
    """Logits [V] of the first answer token."""
    left: int
    """Number of answers that have not started yet."""


class Rollout:
    """Samples `group` answers to each prompt; call `answers`."""

    def __init__(
        self,
        model: Model,
        prompts: Sequence[Sequence[int]],
        group: int,
        *,
        ends: Collection[int],
        never: Sequence[int] = (),
        max_tokens: int | Sequence[int],
        temperature: float = 1.0,
        generator: torch.Generator,
        rows: int = ROWS,
        world: World | None = None,
        pause: Callable[[], None] = lambda: None,
    ) -> None:
        """prompts: ids. ends: ids that end a reply, see Tokenizer.not_text. never: ids that are not drawn
        (Tokenizer.unsaid): they have probability 0 before the others' log-probabilities are computed.
        max_tokens: of a reply, for all prompts or for each. temperature 0: greedy decoding. world: None: an
        answer is one reply. pause: called between forward passes. Raises DataError if a prompt leaves no
        room for an answer."""
        longest = max(map(len, prompts), default=0)
        if prompts and longest + 1 > model.config.context:
            raise DataError(
                f"a prompt of {longest} tokens fills the model's context of {model.config.context}",
                "shorten it, or take a model with a longer context",
            )
        self._model, self._prompts, self._group = packed(model), prompts, group
        self._ends, self._temperature = ends, temperature
        self._never = torch.tensor(list(never), dtype=torch.long, device=model.device)
        most = [max_tokens] * len(prompts) if isinstance(max_tokens, int) else list(max_tokens)
        self._max_tokens, self._world = most, world
        room = [model.config.context - len(p) for p in prompts]
        self._limits = room if world else list(map(min, most, room))
        self._generator, self._pause = generator, pause
        self._count = min(rows, len(prompts) * group)
        self._size = longest + max(self._limits, default=0)

    @torch.no_grad()
    def answers(self) -> list[list[Answered]]:
        """The answers to each prompt, in no particular order."""
        found: list[list[Answered]] = [[] for _ in self._prompts]
        if not self._count:
            return found
        model = self._model
        cache = RowCache(model.config, self._count, self._size, model.dtype, model.device)
        waiting = deque(range(len(self._prompts) * self._group))
        ready: dict[int, _Prompt] = {}
        rows: list[_RolloutRow | None] = [None] * self._count
        logits = torch.zeros(self._count, model.config.vocab_size, device=model.device)
        while True:
            for place, row in enumerate(rows):
                if row is None and waiting:
                    rows[place] = self._begin(waiting, ready, place, cache, logits)
            if not waiting and sum(row is not None for row in rows) <= SHRINK * len(rows):
                kept = [i for i, row in enumerate(rows) if row is not None]
                if not kept:
                    return found
                index = torch.tensor(kept, device=model.device)
                cache.keep(index)
                rows, logits = [rows[i] for i in kept], logits[index]
            self._pause()
            drawn, ended = self._draw(logits), dict[int, _RolloutRow]()
            for place, (row, token, logprob) in enumerate(zip(rows, *drawn, strict=True)):
                if row is not None and row.to_read:
                    drawn[0][place] = row.read()
                elif row is not None and self._take(row, token, logprob):
                    ended[place] = row
            self._hear(list(ended.values()))
            for place, row in ended.items():
                if not row.to_read:
                    found[row.prompt].append(self._answered(row))
                    rows[place] = None
                    cache.lengths[place] = 0
            if not waiting and not any(rows):
                return found
            cache.settle()
            hidden = model.hidden_states(
                torch.tensor(drawn[0], device=model.device)[:, None],
                positions=cache.lengths[:, None],
                mask=cache.mask(),
                cache=cache,
            )
            logits = model.logits(hidden[:, -1]).float()

    def _draw(self, logits: Tensor) -> tuple[list[int], list[float]]:
        if self._temperature == 0.0:
            best = logits.index_fill(1, self._never, NEVER).argmax(-1)
            return best.tolist(), [0.0] * len(logits)
        shaped = (logits / self._temperature).index_fill_(1, self._never, NEVER)
        ids, logprobs = sample(shaped, self._generator)
        return ids.tolist(), logprobs.tolist()

    def _take(self, row: _RolloutRow, token: int, logprob: float) -> bool:
        """Adds a token to the row; returns whether that ends the reply."""
        row.tokens.append(token)
        row.logprobs.append(logprob)
        row.own.append(True)
        full = len(row.tokens) - row.reply >= self._max_tokens[row.prompt]
        return token in self._ends or full or not self._left(row)

    def _left(self, row: _RolloutRow) -> int:
        """Tokens for which it still has room."""
        return self._limits[row.prompt] - len(row.tokens)

    def _hear(self, rows: Sequence[_RolloutRow]) -> None:
        """Asks the world what follows the replies that have ended. Raises DataError if it says more than the
        context has room for."""
        if not self._world or not rows:
            return
        replies = [(row.number, tuple(row.tokens[row.reply :])) for row in rows]
        for row, following in zip(rows, self._world(replies), strict=True):
            if following and len(following) >= self._left(row):
                raise DataError(
                    f"the world said {len(following)} tokens where {self._left(row)} are left",
                    "end the conversation before",
                )
            row.to_read.extend(following)

    def _answered(self, row: _RolloutRow) -> Answered:
        ending: Literal["end", "length"] = "end" if row.tokens[-1] in self._ends else "length"
        own = None if all(row.own) else tuple(row.own)
        return Answered(row.prompt, tuple(row.tokens), tuple(row.logprobs), ending, own, row.number)

    def _begin(
        self,
        waiting: deque[int],
        ready: dict[int, _Prompt],
        place: int,
        cache: RowCache,
        logits: Tensor,
    ) -> _RolloutRow:
        number = waiting.popleft()
        index = number // self._group
        if index not in ready:
            ready.update(self._prefill(index))
        prompt = ready[index]
        cache.begin(place, prompt.state)
        logits[place] = prompt.logits
        prompt.left -= 1
        if not prompt.left:
            del ready[index]
        return _RolloutRow(index, number)

    def _prefill(self, first: int) -> dict[int, _Prompt]:
        """Prefills this prompt and the following ones that fit into one batch. Right padding needs no mask,
        because attention is causal."""
        chosen = [first]
        width = len(self._prompts[first])
        for index in range(first + 1, len(self._prompts)):
            wider = max(width, len(self._prompts[index]))
            if wider * (len(chosen) + 1) > PREFILL_TOKENS:
                break
            chosen.append(index)
            width = wider
        model = self._model
        ids = torch.zeros(len(chosen), width, dtype=torch.long)
        for place, index in enumerate(chosen):
            ids[place, : len(self._prompts[index])] = torch.tensor(list(self._prompts[index]))
        cache = KeyValueCache(model.config, len(chosen), width, model.dtype, model.device)
        cache.reserve(width)
        read = []
        for part in ids.to(model.device).split(PART, 1):
            self._pause()
            read.append(model.hidden_states(part, cache=cache))
        hidden = torch.cat(read, 1)
        lengths = [len(self._prompts[index]) for index in chosen]
        last = hidden[torch.arange(len(chosen)), torch.tensor(lengths) - 1]
        logits = model.logits(last).float()
        state = cache.filled()
        return {
            index: _Prompt(state[:, :, place, :, :length].clone(), logits[place], self._group)
            for place, (index, length) in enumerate(zip(chosen, lengths, strict=True))
        }


def message_answers(
    model: Model,
    tokenizer: Tokenizer,
    messages: Sequence[str],
    group: int,
    *,
    max_tokens: int,
    temperature: float = 1.0,
    generator: torch.Generator | None = None,
    pause: Callable[[], None] = lambda: None,
) -> list[list[tuple[str, Answered]]]:
    """`group` answers to each message, each alone in a conversation: (text, answer). Raises what Rollout
    raises."""
    config = model.config
    found = Rollout(
        model,
        [encode_prompt(tokenizer, [("user", m)], config.context, max_tokens) for m in messages],
        group,
        ends=tokenizer.not_text(config.vocab_size),
        never=tokenizer.unsaid(config.vocab_size),
        max_tokens=max_tokens,
        temperature=temperature,
        generator=generator or torch.Generator(),
        pause=pause,
    ).answers()
    return [[(tokenizer.decode(a.tokens).strip(), a) for a in answers] for answers in found]
