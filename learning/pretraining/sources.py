"""A curriculum over the sources of a corpus: which one each row of pre-training comes from.

Every row of a step is drawn with the curriculum's probabilities. Steps whose rows are all of one source learn
far worse: after 400,000 tokens of five sources (one seed, 2.8M weights) the mean of their held-out bits per
byte was 1.69 with mixed rows, 1.81 with steps of one source each, 1.97 with four such steps in a row.

After each block of steps the loss on held-out rows of every source is measured. What a source was worth is
its prediction gain (1704.03003): the fall of its loss, divided by its tokens in the block. Falls shrink as
the model learns, so a gain is in units of the last ones. Measuring is a pass without gradients, a third of
the work of a row to train on. A block has as many steps as keep its share of the run near `curriculum_cost`.

Sources without held-out text cannot be measured: together they keep their share of the tokens.
Left out: how a curriculum chooses (learning.curriculum), and how a loss is computed (loop.py).
"""

from __future__ import annotations

import math
import random
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.errors import ConfigError
from learning.curriculum.interface import Visit
from learning.curriculum.methods import ArmChoice
from learning.curriculum.settings import METHODS, CurriculumSettings
from learning.data.token_stream import RowCursor, TokenStream
from learning.data.tokens import Corpus
from learning.objectives.processes import ALONE, ProcessGroup
from learning.objectives.settings import load_variant
from learning.pretraining.settings import PretrainSettings

RECENT = 5
"""Blocks whose mean |fall per token| is the unit of a gain."""
TEMPERATURE = 1.0
"""τ of SEC in these units: a source worth one unit more is drawn e times as often."""
LEAST = 0.5
"""A source's tokens in a block count as at least this share of an equal division. Otherwise what few tokens
seem to be worth would be chance, or the work of the other sources."""

SumOfLosses = Callable[[Tensor, Tensor], float]
"""(ids [B, T], document numbers [B, T]) -> sum over the rows of the mean loss of each, in nats."""


class SourceCurriculum:
    """Makes the batches of a run and learns from the losses on held-out rows."""

    def __init__(
        self,
        stream: TokenStream,
        settings: PretrainSettings,
        losses: SumOfLosses,
        vocabulary: int,
        team: ProcessGroup = ALONE,
    ) -> None:
        """stream: its corpus and seed are used, its weights are not. losses: of the model in its present
        state. vocabulary: number of token ids. Raises ConfigError if fewer than two sources can be
        measured, or the settings name no curriculum."""
        if settings.curriculum is None:
            raise ConfigError("pretrain: no curriculum is named", "name one with --curriculum")
        corpus = stream.corpus
        own, held = _tokens_of_sources(corpus)
        arms, rest = measurable_sources(corpus)
        self.names = tuple(corpus.names[arm] for arm in arms)
        """The sources among which the curriculum chooses, in alphabetical order."""
        self.unmeasured = tuple(corpus.names[place] for place in rest)
        """The sources without held-out text, in alphabetical order."""
        self._rest = float(own[rest].sum() / own.sum())

        def rows_of(sources: NDArray[np.int64], held: bool) -> RowCursor:
            chosen = np.flatnonzero(np.isin(corpus.source, sources) & (corpus.held == held))
            part = TokenStream(corpus, seed=stream.seed, documents=chosen)
            return RowCursor(part, settings.row)

        groups = [np.array([arm]) for arm in arms] + ([rest] if len(rest) else [])
        self._cursors = [rows_of(group, False) for group in groups]
        self._held = []
        for group in groups[: len(arms)]:
            full = int(held[group[0]]) // settings.row
            count = max(1, min(settings.curriculum_rows, full))
            cursor = rows_of(group, True)
            self._held.append(_stacked([cursor.row(number) for number in range(count)]))
        self._choice = ArmChoice(
            len(arms),
            CurriculumSettings(
                method=load_variant(METHODS[settings.curriculum]), temperature=TEMPERATURE
            ),
        )
        measured = sum(len(ids) for ids, _ in self._held)
        self.steps = max(1, math.ceil(measured / (3 * settings.curriculum_cost * settings.rows)))
        """Steps of a block."""
        self._settings, self._losses, self._team = settings, losses, team
        self._seed, self._guess = stream.seed, math.log(vocabulary)
        self._taken = [0] * len(groups)
        """Rows so far, by source; the last number is that of all sources that are not measured."""
        self._begun = list(self._taken)
        """The same at the beginning of the block."""
        self._before: list[float] = []
        """Losses on the held-out rows at the beginning of the block; empty before the first."""
        self._usual: deque[float] = deque(maxlen=RECENT)
        """Mean |fall per token| of the last blocks."""
        self._newest: list[float | None] = [None] * len(arms)
        """Newest fall of each source, in nats per million tokens."""
        self._seconds = 0.0

    def batch(self, step: int) -> tuple[Tensor, Tensor]:
        """(ids, document numbers) of this process's rows of step number `step`, each [rows / processes, row].
        Steps must follow each other. All processes draw the same sources, and at the first step of a
        block they measure together."""
        if step % self.steps == 0 and self._settings.curriculum != "uniform":
            started = time.perf_counter()
            self._end_block()
            self._seconds += time.perf_counter() - started
        weights = [*self._weights(), self._rest][: len(self._taken)]
        # each step has random numbers of its own, so that a checkpoint needs to keep none
        rng = random.Random(f"{self._seed}/{step}")
        arms = rng.choices(range(len(weights)), weights, k=self._settings.rows)
        own = self._settings.rows // self._team.size
        mine = range(self._team.rank * own, (self._team.rank + 1) * own)
        rows = []
        for place, arm in enumerate(arms):
            if place in mine:
                rows.append(self._cursors[arm].row(self._taken[arm]))
            self._taken[arm] += 1
        return _stacked(rows)

    def _end_block(self) -> None:
        """Measures all sources, and learns what the block before was worth."""
        after = self._measure()
        drawn = [now - then for now, then in zip(self._taken, self._begun, strict=True)]
        least = LEAST * sum(drawn) / len(self.names)
        falls = [
            (old - new) / (self._settings.row * max(rows, least))
            for old, new, rows in zip(self._before, after, drawn, strict=False)
        ]
        self._before, self._begun = after, list(self._taken)
        if not falls or not all(map(math.isfinite, falls)):
            return
        self._usual.append(sum(map(abs, falls)) / len(falls))
        unit = sum(self._usual) / len(self._usual)
        self._newest = [1e6 * fall for fall in falls]
        visits = [
            Visit(arm, fall / unit if unit else 0.0, max(0.0, 1.0 - loss / self._guess))
            for arm, (fall, loss) in enumerate(zip(falls, after, strict=True))
        ]
        # every source is visited, however many rows were drawn from it
        self._choice.learn(visits, torch.full((len(visits),), 1.0 / len(visits)))

    def _measure(self) -> list[float]:
        """Mean loss per token on each source's held-out rows, in nats; the same in every process."""
        rank, size = self._team.rank, self._team.size
        sums = []
        for ids, owners in self._held:
            own = ids[rank::size]
            sums.append(self._losses(own, owners[rank::size]) if len(own) else 0.0)
        sums = self._team.agree(*self._team.total(*sums))
        return [total / len(ids) for total, (ids, _) in zip(sums, self._held, strict=True)]

    def _weights(self) -> list[float]:
        """With which probability a row is of each source that is measured."""
        found: list[float] = (self._choice.probabilities() * (1.0 - self._rest)).tolist()
        return found

    def figures(self) -> dict[str, dict[str, float | None]]:
        """By source: "tokens" so far, their "share", the "weight" with which it is drawn now, the
        curriculum's "value" of it, and the newest "fall" of its loss in nats per million of its tokens,
        None if it was not measured yet."""
        values, all_taken = self._choice.values(), max(1, sum(self._taken))
        return {
            name: {
                "tokens": taken * self._settings.row,
                "share": round(taken / all_taken, 4),
                "weight": round(weight, 4),
                "value": round(value, 4),
                "fall": fall if fall is None else round(fall, 4),
            }
            for name, taken, weight, value, fall in zip(
                self.names, self._taken, self._weights(), values, self._newest, strict=False
            )
        }

    def told(self) -> dict[str, Any]:
        """What the record says: method, steps of a block, seconds that measuring took, figures by source, and
        the sources that are not measured with their tokens."""
        found: dict[str, Any] = {
            "method": self._settings.curriculum,
            "steps_of_a_block": self.steps,
            "measuring_seconds": round(self._seconds, 3),
            "sources": self.figures(),
        }
        if self.unmeasured:
            tokens = self._taken[-1] * self._settings.row
            found["not_measured"] = {"sources": list(self.unmeasured), "tokens": tokens}
        return found

    def state(self) -> dict[str, Any]:
        """All that a checkpoint needs, as JSON has it."""
        return {
            "taken": list(self._taken),
            "begun": list(self._begun),
            "before": list(self._before),
            "usual": list(self._usual),
            "newest": list(self._newest),
            "seconds": self._seconds,
            "choice": self._choice.state(),
        }

    def load(self, state: dict[str, Any]) -> None:
        """The inverse of `state`, for the same data and settings."""
        self._taken, self._begun = list(state["taken"]), list(state["begun"])
        self._before, self._newest = list(state["before"]), list(state["newest"])
        self._usual.extend(state["usual"])
        self._seconds = state["seconds"]
        self._choice.load(state["choice"])


def measurable_sources(corpus: Corpus) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Indices of the sources with text to train on: those that have held-out text too, and the rest. Raises
    ConfigError if fewer than two can be measured."""
    own, held = _tokens_of_sources(corpus)
    arms = np.flatnonzero((own > 0) & (held > 0))
    if len(arms) < 2:
        raise ConfigError(
            f"pretrain: a curriculum divides the tokens among sources, and {len(arms)} of "
            f"{len(corpus.names)} in the data has text both to train on and held out",
            "give more sources or more text, or leave --curriculum out",
        )
    return arms, np.flatnonzero((own > 0) & (held == 0))


def _tokens_of_sources(corpus: Corpus) -> tuple[NDArray[Any], NDArray[Any]]:
    """Tokens of each source to train on, and held out."""
    own, held = (
        np.bincount(corpus.source[part], corpus.length[part], len(corpus.names))
        for part in (~corpus.held, corpus.held)
    )
    return own, held


def _stacked(rows: list[tuple[NDArray[np.int64], NDArray[np.int64]]]) -> tuple[Tensor, Tensor]:
    """(ids, document numbers) of rows, each [B, T]."""
    ids, owners = (np.stack(part) for part in zip(*rows, strict=True))
    return torch.from_numpy(ids), torch.from_numpy(owners)
