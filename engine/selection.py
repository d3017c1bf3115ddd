"""Which of several candidates stay, and what is drawn in place of those that do not.

A candidate that repeats another, and one that the caller's `Standards` refuse, is drawn anew from where
it could best have gone on otherwise (engine.branches), a bounded number of times. Left out: drawing
itself (engine.generate), and what an answer means.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from engine.branches import Beginning, DistinctTexts, fold
from engine.config import Sampling
from engine.tokenizers.tokenizer import StreamDecoder, Tokenizer

MAX_RETRIES = 12
"""Times that a candidate which repeats another is drawn anew."""
MAX_REFUSALS = 4
"""Times that a candidate which the caller refuses is drawn anew; the fallback comes after that."""
HOTTER = 1.3
"""Factor on the temperature at each retry for which no other beginning is left."""
FREE_TEMPERATURE = 0.7
"""Temperature of the further candidates where the first is greedy."""


@dataclass(frozen=True)
class Finished:
    """The candidate is complete."""

    index: int
    text: str
    """Without white space around it."""
    tokens: tuple[int, ...]
    """With the end token where it was drawn."""
    logprobs: tuple[float, ...]
    """Under the model, with repetition penalised and at the temperature, before top-k, top-p and min-p
    cut; 0 under greedy decoding."""
    ending: Literal["end", "length", "cancelled"]
    own_logprobs: tuple[float, ...] = ()
    """Under the model as it is: no penalty, temperature 1, however the tokens were drawn."""


@dataclass(frozen=True)
class Standards:
    """What the caller expects of the candidates."""

    acceptable: Callable[[Finished], bool]
    """Whether a candidate may stay. One that was stopped or chosen, and a greedy one, is not asked
    about."""
    fallback: tuple[int, ...] = ()
    """Tokens, the end among them, of what a candidate says where it was refused too often, or where
    `at_a_loss` says so; only one candidate ever says it. Empty: there is none."""
    at_a_loss: Callable[[Sequence[Finished]], bool] = lambda _: False
    """Whether the last of several candidates is to say the fallback instead. All are given."""


class GenerationControl:
    """Lets another thread stop candidates between two steps."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._only: int | None = None
        self._cancelled = False

    def cancel(self) -> None:
        """Stops all."""
        with self._lock:
            self._cancelled = True

    def keep(self, index: int) -> None:
        """Stops all but this one."""
        with self._lock:
            self._only = index

    def stops(self, index: int) -> bool:
        with self._lock:
            return self._cancelled or (self._only is not None and self._only != index)

    def keeps(self, index: int) -> bool:
        """Whether all but this one were stopped."""
        with self._lock:
            return self._only == index


@dataclass
class Row:
    """One candidate while it streams."""

    index: int
    temperature: float
    decoder: StreamDecoder
    retries: int = 0
    forced: Beginning = ()
    """How it has to begin."""
    refusals: int = 0
    fallback: bool = False
    """It says the fallback, which nobody judges."""
    tokens: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    own_logprobs: list[float] = field(default_factory=list)
    text: str = ""

    def finished(self, ending: Literal["end", "length", "cancelled"]) -> Finished:
        text = (self.text + self.decoder.finish()).strip()
        logprobs, own = tuple(self.logprobs), tuple(self.own_logprobs)
        return Finished(self.index, text, tuple(self.tokens), logprobs, ending, own)


@dataclass
class Selection:
    """Which candidates stay."""

    rows: list[Row]
    """By index, each as it is drawn now."""
    distinct: bool
    standards: Standards | None
    control: GenerationControl
    branches: DistinctTexts | None
    taken: set[str] = field(default_factory=set)
    """Folds of those that stay ..."""
    refused: set[str] = field(default_factory=set)
    """... and of those that were not acceptable."""
    told: list[Finished] = field(default_factory=list)

    def retry(self, done: Finished, tokenizer: Tokenizer, sampling: Sampling) -> Row | None:
        """The row that replaces a candidate; None where it stays."""
        row, key = self.rows[done.index - 1], fold(done.text)
        fresh: Row | None = None
        if self.control.stops(done.index) or row.fallback:
            pass
        elif self.distinct and row.retries < MAX_RETRIES and (key in self.taken or not key):
            fresh = self._otherwise(tokenizer, row, sampling)
        elif self.control.keeps(done.index) or temperature_of(sampling, done.index) == 0.0:
            pass  # somebody chose it as it is, or asked for what is likeliest
        elif self.standards and not self.standards.acceptable(done):
            self.refused.add(key)
            if row.refusals < MAX_REFUSALS:
                fresh = self._otherwise(tokenizer, row, sampling)
                fresh.refusals = row.refusals + 1
            else:
                fresh = self._fallback(tokenizer, row)
        elif (
            self.standards
            and self.distinct
            and len(self.told) == len(self.rows) - 1
            and self.standards.at_a_loss([*self.told, done])
        ):
            fresh = self._fallback(tokenizer, row)
        if fresh is None:
            self.taken.add(key)
            self.told.append(done)
        else:
            self.rows[done.index - 1] = fresh
        return fresh

    def _otherwise(self, tokenizer: Tokenizer, row: Row, sampling: Sampling) -> Row:
        beginning = self.branches.next(self.taken | self.refused) if self.branches else None
        return _retry(tokenizer, row, sampling, beginning)

    def _fallback(self, tokenizer: Tokenizer, row: Row) -> Row | None:
        """None where there is none, or another candidate says it."""
        tokens = self.standards.fallback if self.standards else ()
        said = fold(tokenizer.decode(tokens))
        if not tokens or said in self.taken or any(other.fallback for other in self.rows):
            return None
        self.taken.add(said)  # another that says it too is drawn anew
        decoder = StreamDecoder(tokenizer)
        return Row(row.index, row.temperature, decoder, row.retries, tokens, fallback=True)


def temperature_of(sampling: Sampling, index: int) -> float:
    if sampling.temperature == 0.0 and index > 1:
        return FREE_TEMPERATURE
    return sampling.temperature


def _retry(tokenizer: Tokenizer, row: Row, sampling: Sampling, beginning: Beginning | None) -> Row:
    """The candidate anew with that beginning; where there is none hotter, up to a bound."""
    retries = row.retries + 1
    temperature = temperature_of(sampling, row.index)
    if beginning is None:
        temperature = (temperature or FREE_TEMPERATURE) * HOTTER ** min(retries, 3)
    decoder = StreamDecoder(tokenizer)
    return Row(row.index, temperature, decoder, retries, beginning or (), row.refusals)
