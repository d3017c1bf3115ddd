"""Decides which of several candidates stay and how to retry the others.

A candidate that repeats another, or that the caller's `Standards` refuse, is sampled again from another
likely beginning (engine.branches), a limited number of times. Left out: sampling itself (engine.generate)
and the meaning of answers.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from engine.branches import Beginning, DistinctTexts, text_key
from engine.config import Sampling
from engine.tokenizers.tokenizer import StreamDecoder, Tokenizer

MAX_RETRIES = 12
"""Most retries of a candidate that repeats another."""
MAX_REFUSALS = 4
"""Most retries of a candidate that the caller refuses; then comes the fallback."""
HOTTER = 1.3
"""Factor on the temperature per retry if no other beginning is left."""
FREE_TEMPERATURE = 0.7
"""Temperature of the other candidates if the first is greedy."""


@dataclass(frozen=True)
class Finished:
    """A finished candidate."""

    index: int
    """1 to n."""
    text: str
    """Stripped."""
    tokens: tuple[int, ...]
    """Its ids, including the end token if it was sampled."""
    logprobs: tuple[float, ...]
    """Log-probability of each token, in nats, with repetition penalty and temperature but before top-k,
    top-p and min-p; 0 in greedy decoding."""
    ending: Literal["end", "length", "cancelled"]
    own_logprobs: tuple[float, ...] = ()
    """Log-probability of each token under the model itself: no penalty, temperature 1."""


@dataclass(frozen=True)
class Standards:
    """The caller's requirements on candidates."""

    acceptable: Callable[[Finished], bool]
    """Whether a candidate may stay. Not called for candidates that were cancelled or kept by the owner, and
    for greedy ones."""
    fallback: Callable[[Sequence[Finished]], tuple[int, ...]] = lambda _: ()
    """Ids, including the end token, of the text for a candidate that was refused too often, or if
    `at_a_loss` is true; empty: none. Called with the candidates that stay so far."""
    at_a_loss: Callable[[Sequence[Finished]], bool] = lambda _: False
    """Whether the last candidate should be replaced by the fallback; gets all that the model wrote."""
    alone: bool = False
    """Whether that holds for one candidate alone too."""
    even_greedy: bool = False
    """Whether `at_a_loss` is also asked about a single greedy candidate. If not, it always stays."""
    offer: Callable[[Sequence[Finished]], tuple[int, ...]] = lambda _: ()
    """Ids, including the end token, of a text that takes the place of the last candidate but one; empty:
    none. Called once, with the candidates so far, of which there will be at least three."""
    instead: Callable[[Sequence[Finished]], tuple[int, ...]] | None = None
    """Ids, including the end token, of a text that takes the place of the newest of these candidates; empty:
    none. Called with the candidates so far, never for the likeliest one or the last one. The likeliest one
    ends first then. None: it is never called, and candidates end in any order."""


class GenerationControl:
    """Lets another thread stop candidates between two steps."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._only: int | None = None
        self._cancelled = False

    def cancel(self) -> None:
        """Stops all candidates."""
        with self._lock:
            self._cancelled = True

    def keep(self, index: int) -> None:
        """Stops all candidates but this one."""
        with self._lock:
            self._only = index

    def stops(self, index: int) -> bool:
        with self._lock:
            return self._cancelled or (self._only is not None and self._only != index)

    def keeps(self, index: int) -> bool:
        """True if all candidates but this one were stopped."""
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
    """Its required beginning, ids."""
    refusals: int = 0
    given: bool = False
    """True if it is the fallback or an offer, which are not checked."""
    likeliest: bool = False
    """True if it takes the likeliest token each time, without repetition penalty, and is checked like drawn
    answers."""
    stops: tuple[str, ...] = ()
    """Texts, none empty, before the first of which it ends. A given text has none."""
    tokens: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    own_logprobs: list[float] = field(default_factory=list)
    text: str = ""

    def finished(self, ending: Literal["end", "length", "cancelled"]) -> Finished:
        text = self.text + self.decoder.finish(ended=ending == "end")
        text = before_stop(text, self.stops).strip()
        logprobs, own = tuple(self.logprobs), tuple(self.own_logprobs)
        return Finished(self.index, text, tuple(self.tokens), logprobs, ending, own)


def before_stop(text: str, stops: Sequence[str]) -> str:
    """The text before the first of these stops in it; the whole text if it has none."""
    found = [place for stop in stops if (place := text.find(stop)) >= 0]
    return text[: min(found)] if found else text


@dataclass
class Selection:
    """Keeps track of the candidates and decides which stay."""

    rows: list[Row]
    """The present row of each candidate, in order of index."""
    distinct: bool
    standards: Standards | None
    control: GenerationControl
    branches: DistinctTexts | None
    seen: set[str] = field(default_factory=set)
    """Keys of texts of before that a distinct candidate does not repeat."""
    taken: set[str] = field(default_factory=set)
    """Keys of the candidates that stay."""
    refused: set[str] = field(default_factory=set)
    """Keys of the candidates that were not acceptable."""
    told: list[Finished] = field(default_factory=list)
    """Candidates that stay."""
    offered: bool = False
    """True once `Standards.offer` was asked."""

    def retry(self, done: Finished, tokenizer: Tokenizer, sampling: Sampling) -> Row | None:
        """A new row to sample in place of a finished candidate; None if it stays."""
        row, key = self.rows[done.index - 1], text_key(done.text)
        fresh: Row | None = None
        if self.control.stops(done.index) or row.given:
            pass
        elif self.distinct and row.retries - row.refusals < MAX_RETRIES and self._repeats(key):
            fresh = self._otherwise(tokenizer, row, sampling)
        elif self.control.keeps(done.index):
            pass  # kept by the owner
        elif temperature_of(sampling, done.index) == 0.0:
            if self.standards and self.standards.even_greedy and self._at_a_loss(row, done):
                fresh = self._fallback(tokenizer, row)  # else the greedy answer was requested
        elif self.standards and not self.standards.acceptable(done):
            self.refused.add(key)
            if row.refusals < MAX_REFUSALS:
                fresh = self._otherwise(tokenizer, row, sampling)
                fresh.refusals = row.refusals + 1
            else:
                fresh = self._fallback(tokenizer, row) or self._replacement(tokenizer, row, done)
        elif self._at_a_loss(row, done):
            fresh = self._fallback(tokenizer, row)
        else:
            fresh = self._replacement(tokenizer, row, done)
        if fresh is None:
            self.taken.add(key)
            self.told.append(done)
        else:
            self.rows[done.index - 1] = fresh
        return fresh

    def _repeats(self, key: str) -> bool:
        return not key or key in self.taken or key in self.seen

    def _at_a_loss(self, row: Row, done: Finished) -> bool:
        """Whether the fallback should take the place of this candidate, the last one."""
        standards = self.standards
        if standards is None or not (self.distinct or standards.alone) or not self._last(row):
            return False
        return standards.at_a_loss([*self._written(), done])

    def _otherwise(self, tokenizer: Tokenizer, row: Row, sampling: Sampling) -> Row:
        said = self.taken | self.refused | self.seen
        beginning = self.branches.next(said) if self.branches else None
        return _retry(tokenizer, row, sampling, beginning)

    def _last(self, row: Row) -> bool:
        """Whether all other candidates stay, or are an offer."""
        told = {done.index for done in self.told}
        return all(one is row or one.given or one.index in told for one in self.rows)

    def _written(self) -> list[Finished]:
        """The candidates that stay and are the model's own."""
        return [one for one in self.told if not self.rows[one.index - 1].given]

    def _replacement(self, tokenizer: Tokenizer, row: Row, done: Finished) -> Row | None:
        """A row with what the caller would rather show; None if that is nothing."""
        return self._offer(tokenizer, row, done) or self._instead(tokenizer, row, done)

    def _instead(self, tokenizer: Tokenizer, row: Row, done: Finished) -> Row | None:
        instead = self.standards.instead if self.standards and self.distinct else None
        if instead is None or row.likeliest or not self.told or self._last(row):
            return None
        return self._given(tokenizer, row, instead([*self.told, done]))

    def _offer(self, tokenizer: Tokenizer, row: Row, done: Finished) -> Row | None:
        """A row with an offer; None if there is none or it is not its time: it never takes the place of the
        likeliest answer, and comes before the last candidate, which may become the fallback."""
        settled = {one.index for one in self.told} | {one.index for one in self.rows if one.given}
        late = len(settled) >= len(self.rows) - 2 >= 1
        if not (self.standards and self.distinct and late) or self.offered or row.likeliest:
            return None
        self.offered = True
        return self._given(tokenizer, row, self.standards.offer([*self.told, done]))

    def _fallback(self, tokenizer: Tokenizer, row: Row) -> Row | None:
        """A row with the fallback; None if there is none or another candidate has it."""
        return self._given(
            tokenizer, row, self.standards.fallback(self.told) if self.standards else ()
        )

    def _given(self, tokenizer: Tokenizer, row: Row, tokens: tuple[int, ...]) -> Row | None:
        """A row with this text; None if it is empty or another candidate has it."""
        said = text_key(tokenizer.decode(tokens))
        if not tokens or said in self.taken:
            return None
        self.taken.add(said)  # so that another candidate with this text is retried
        decoder = StreamDecoder(tokenizer)
        return Row(row.index, row.temperature, decoder, row.retries, tokens, given=True)


def temperature_of(sampling: Sampling, index: int) -> float:
    if sampling.temperature == 0.0 and index > 1:
        return FREE_TEMPERATURE
    return sampling.temperature


def _retry(tokenizer: Tokenizer, row: Row, sampling: Sampling, beginning: Beginning | None) -> Row:
    """A new row for a candidate with this beginning; without one, at a higher temperature."""
    retries = row.retries + 1
    temperature = temperature_of(sampling, row.index)
    if beginning is None:
        temperature = (temperature or FREE_TEMPERATURE) * HOTTER ** min(retries, 3)
    decoder = StreamDecoder(tokenizer)
    forced = beginning or ()
    return Row(row.index, temperature, decoder, retries, forced, row.refusals, stops=row.stops)
