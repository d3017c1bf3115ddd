"""Supervised training on a book until every entry is known, while other talk stays as it was.

AdamW with warm-up and cosine decay; the loss is on the assistant's tokens. Each step contains new lines
(not known yet), known lines, some lines after other talk or with careless spelling, and, as an anchor, the
KL to the earlier weights on the model's own talk. Once all new lines are known with a low loss and no other
line was lost, a few settling epochs restore the talk, and the training ends; otherwise after `epochs`.

An epoch is a pass over the new lines, not over the whole book: two new lines in a known book take half a
minute instead of four passes over the book.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from torch import Tensor

from engine.errors import NumericsError
from engine.model import Model
from learning.book_training.asking import Asking, EpochReport, Stop
from learning.book_training.moved import AllWeights, Moved
from learning.data.examples import Example, after
from learning.memory.reference import AnchorReference
from learning.objectives.forward import Knowledge
from learning.objectives.stepper import Stepper
from learning.objectives.supervised import anchor_gradients, likelihood_gradients

MENDING = 0.3
"""Factor on the learning rate in settling epochs of a book with known lines."""


@dataclass(frozen=True)
class BookSettings:
    """Defaults, tuned on a model of 10M weights."""

    epochs: int = 25
    """Most epochs."""
    batch: int = 32
    """Lines per step; at most half of them new if others are known."""
    short: int = 6
    """Fewest steps per epoch if other lines are known; a few new lines then come in every step."""
    beside: int = 10
    """Fewest known lines per step; more if there are more new ones, up to half of the batch."""
    others: int = 8
    """Further rows per step: lines after other talk, and careless questions. If there are known lines, at
    most half as many as lines in the step."""
    talk: int = 16
    """Rows of the model's own talk per step. With four, talk suffered more (benchmarks/results/book.md)."""
    talk_weight: float = 1.0
    """Weight of talk against the lines."""
    manner: int = 8
    """Rows per step of talk that shows the manner, if such talk is given."""
    settle: float = 0.3
    """Settling epochs after every entry is known, as a share of the epochs so far. In them the rate falls
    to a tenth and talk weighs more, so that the talk recovers. Lines lost then are relearned at that rate."""
    settling_weight: float = 5.0
    """Factor on the weight of talk in settling epochs."""
    lr: float = 1e-3
    """Peak learning rate."""
    warm_up: int = 20
    """Steps of linear learning-rate warm-up."""
    margin: float = 0.5
    """A new line with a margin (logits) below this comes twice per epoch, once most are known."""
    seconds: float = math.inf
    """Time limit."""
    until_known: bool = True
    """Train only on lines not known yet, and end as soon as all are known with a loss of at most `enough`.
    If False, train exactly `epochs` on the whole book."""
    enough: float = 0.1
    """Loss of the new lines, in nats per token, that ends the training."""
    ask_every: int = 1
    """Epochs between two measurements of the lines; the last epoch is always measured."""


ADAPTER_SETTINGS = BookSettings(
    epochs=16,
    others=2,
    talk=4,
    talk_weight=0.3,
    manner=16,
    settle=0.15,
    settling_weight=1.0,
    lr=3e-3,
    warm_up=10,
    ask_every=2,
)
"""For low-rank adapters, tuned on a model of 135M weights (engine/base/smollm2-135m/CARD.md). The model's
earlier talk weighs less, because its answers have to become shorter."""


OWN_TALK_SETTINGS = BookSettings(talk=80, manner=24)
"""For all weights of a base, beside its own answers to everyday messages, so that the lines of the book do
not become answers to all that is like them (benchmarks/results/base.md)."""


@dataclass(frozen=True)
class TrainingStart:
    """State from which to resume an interrupted training. Adam's moments start from zero."""

    epoch: int
    """Number of complete epochs."""
    step: int
    weights: Mapping[str, Tensor]


@dataclass(frozen=True)
class BookTraining:
    """Result of a training."""

    last: EpochReport
    """The last report. If its loss is not finite, the weights are unusable; if its step is 0, nothing was
    learned that can be kept."""
    before: list[Knowledge]
    """Knowledge of each line of the book, then of the rest, before the first step; empty if the training
    was stopped before all were measured."""
    after: list[Knowledge]
    """The same after the training."""


@dataclass(frozen=True)
class Rows:
    """What is learned from besides the lines."""

    talk: Sequence[Example]
    careless: Sequence[Example]
    manner: Sequence[Example]


def train_book(
    model: Model | Moved,
    book: Sequence[Example],
    talk: Sequence[Example],
    settings: BookSettings,
    rng: random.Random,
    *,
    rest: Sequence[Example] = (),
    careless: Sequence[Example] = (),
    manner: Sequence[Example] = (),
    report: Callable[[EpochReport], None] = lambda _: None,
    pause: Callable[[], None] = lambda: None,
    stop: Callable[[], bool] = lambda: False,
    begun: TrainingStart | None = None,
) -> BookTraining:
    """Trains the model in place.

    rest: other lines that must not be forgotten. careless: lines with careless or reworded questions.
    manner: talk to learn from that need not be known. stop: polled before every step and during
    measurements. begun: resume from there; the given model stays the reference for measurement and anchor.
    """
    moved = AllWeights(model) if isinstance(model, Model) else model
    asking = Asking(moved.passes, book, rest, report, pause, stop)
    rows = Rows(talk, careless, manner)
    training = _Training(moved, asking, rows, settings, rng, report, pause, stop)
    return training.run(begun)


class _Training:
    """One call of `train_book`."""

    def __init__(
        self,
        moved: Moved,
        asking: Asking,
        rows: Rows,
        settings: BookSettings,
        rng: random.Random,
        report: Callable[[EpochReport], None],
        pause: Callable[[], None],
        stop: Callable[[], bool],
    ) -> None:
        self._moved, self._asking, self._settings, self._rng = moved, asking, settings, rng
        self._report, self._pause, self._stop = report, pause, stop
        self._careless = rows.careless
        self._talk = list(rows.talk) if settings.talk else []
        self._manner = list(rows.manner)
        self._stepper = Stepper(moved.tensors(), settings.lr)
        self._started = time.monotonic()
        self._reference: AnchorReference
        self._step = self._first = 0
        self._epoch_steps = 1
        self._lines_seen = 0
        """Lines trained on in the last epoch."""
        self._new: list[int] = []
        """Indices of the lines to learn."""
        self._old: list[int] = []
        """Indices of all other lines, which must not be lost."""
        self._known_before: list[int] = []
        """Those of `_old` that were known at the start."""

    def run(self, begun: TrainingStart | None) -> BookTraining:
        asking, settings = self._asking, self._settings
        at = self._now(0, 0)
        if begun:  # estimate: the length of an epoch is known only after the measurement
            steps = begun.step * settings.epochs // max(1, begun.epoch)
            at = replace(at, epoch=begun.epoch, step=begun.step, begun=begun.step, steps=steps)
            self._first = begun.step
        try:
            asking.ask(range(len(asking.lines)), at, patience=0.0)
        except Stop:
            return BookTraining(self._now(0, 0), [], [])
        before = asking.all()
        self._choose()
        loss = asking.loss(self._new or range(asking.entries))
        last = asking.stands(self._now(at.epoch, at.step, loss))
        self._report(last)
        last = replace(last, epoch=0, step=0)  # nothing to keep yet
        if self._enough():
            return BookTraining(last, before, before)
        if self._talk:
            self._reference = self._moved.reference(self._pause)
        first, settling = 1, range(0)
        if begun:
            self._moved.load(begun.weights)
            self._step, first = begun.step, begun.epoch + 1
        whole, weights = BookTraining(last, before, before), dict[str, Tensor]()
        for epoch in range(first, settings.epochs + 1):
            if epoch > first and settings.until_known and self._learned() and not settling:
                more = round(settings.settle * (epoch - first))
                settling = range(epoch, epoch + (max(1, more) if self._old else more))
            if epoch >= settling.stop and self._enough():
                break
            loss = self._epoch(epoch, settling)
            last = self._now(epoch, self._step, loss, self._lines_seen)
            if not math.isfinite(loss):
                return BookTraining(last, before, asking.all())
            ended = self._over() or epoch == settings.epochs
            if epoch % settings.ask_every and not ended:
                continue
            try:
                asking.ask(self._new, last)
                complete = ended or self._learned() or not self._old
                if complete:
                    asking.ask(self._old, last)
            except Stop:
                if weights:
                    self._moved.load(weights)
                return whole
            last = asking.stands(replace(last, loss=asking.loss(self._new)))
            self._report(last)
            if complete:
                whole = BookTraining(last, before, asking.all())
                weights = self._moved.state()
            if ended:
                break
        return BookTraining(last, before, asking.all())

    def _choose(self) -> None:
        """Chooses the lines to learn and those to keep, and the sizes of steps and epochs."""
        asking, all_of_it = self._asking, not self._settings.until_known
        self._new = [at for at in range(asking.entries) if all_of_it or not asking.known(at)]
        new = set(self._new)
        self._old = [at for at in range(len(asking.lines)) if at not in new]
        self._known_before = [at for at in self._old if asking.known(at)]
        half = self._settings.batch // 2
        self._of_new = half if self._old else self._settings.batch
        self._of_old = min(half, max(self._settings.beside, len(self._new)), len(self._old))
        least = self._settings.short if self._old else 1
        self._epoch_steps = max(least, math.ceil(len(self._new) / self._of_new))

    def _learned(self) -> bool:
        """True if all new lines are known and their loss is low enough."""
        known = all(self._asking.known(at) for at in self._new)
        return known and (not self._new or self._asking.loss(self._new) <= self._settings.enough)

    def _enough(self) -> bool:
        kept = all(self._asking.known(at) for at in self._known_before)
        return self._settings.until_known and self._learned() and kept

    def _over(self) -> bool:
        return self._stop() or time.monotonic() - self._started > self._settings.seconds

    def _now(self, epoch: int, step: int, loss: float = 0.0, examples: int = 0) -> EpochReport:
        steps = max(1, self._settings.epochs * self._epoch_steps)
        seconds = time.monotonic() - self._started
        entries = self._asking.entries
        return EpochReport(
            epoch, step, steps, loss, None, seconds, examples, self._first, entries=entries
        )

    # ------------------------------------------------------------ steps

    def _epoch(self, epoch: int, settling: range) -> float:
        """Runs one epoch; returns the loss of its last step, nan if a loss was not finite. Ends early if
        the training is over."""
        settings, asking, rng, loss = self._settings, self._asking, self._rng, 0.0
        known = sum(map(asking.known, self._new))
        few = known > 0.6 * len(self._new)
        weak = [at for at in self._new if few and asking.weak(at, settings.margin)]
        order = [*self._new, *weak]
        rng.shuffle(order)
        self._lines_seen = 0
        count = max(self._epoch_steps, math.ceil(len(order) / self._of_new))
        for number in range(count):
            if self._over():
                break
            rate = _rate(self._step, self._now(0, 0).steps, settings.warm_up, self._first)
            if settling:  # decay linearly to a tenth over the settling epochs
                through = (epoch - settling.start + number / count) / len(settling)
                rate *= (MENDING if self._old else 1.0) * (1.0 - 0.9 * min(1.0, through))
            new = _part(order, number, self._of_new)
            old = self._kept_lines()
            try:
                loss = self._gradients(new, old, settling.start <= epoch < settling.stop)
            except Stop:  # in the middle of a step, which is dropped
                self._stepper.clear()
                break
            try:
                self._stepper.step(loss, rate)
            except NumericsError:
                return math.nan
            self._step += 1
            self._lines_seen += len(new) + len(old)
            now = asking.stands(self._now(epoch, self._step, loss, len(new) + len(old)))
            self._report(replace(now, recall=None))
        return loss

    def _kept_lines(self) -> list[int]:
        """Known lines for one step; up to half of them lines that have become weak."""
        lost = [at for at in self._known_before if self._asking.weak(at, self._settings.margin)]
        chosen = self._rng.sample(lost, min(self._of_old // 2, len(lost)))
        return chosen + self._rng.sample(self._old, self._of_old - len(chosen))

    def _gradients(self, new: Sequence[int], old: Sequence[int], settling: bool) -> float:
        """Adds the gradients of all terms; returns the loss of the lines in nats per token. New lines
        together weigh as much as known lines together. Raises Stop."""
        settings, lines, model = self._settings, self._asking.lines, self._moved.passes
        loss = 0.0

        def pause() -> None:
            self._pause()
            if self._stop():
                raise Stop

        for chosen in (new, old):
            if chosen:
                weight = 1.0 if not old else 0.5 * (1 + (not new))
                part = likelihood_gradients(
                    model, [lines[at] for at in chosen], weight=weight, pause=pause
                )
                loss += weight * part
        rows = len(new) + len(old)
        most = min(settings.others, rows // 2) if old else settings.others
        if others := self._others(new, most):
            likelihood_gradients(model, others, weight=len(others) / rows, pause=pause)
        if manner := self._rng.sample(self._manner, min(settings.manner, len(self._manner))):
            likelihood_gradients(model, manner, weight=len(manner) / rows, pause=pause)
        if self._talk:
            weight = settings.talk_weight * (settings.settling_weight if settling else 1.0)
            talk = self._rng.sample(self._talk, min(settings.talk, len(self._talk)))
            anchor_gradients(model, self._reference, talk, weight=weight, pause=pause)
        return loss

    def _others(self, new: Sequence[int], count: int) -> list[Example]:
        """Lines as owners will ask them: most of them after another line, every other one with a careless
        question if there are any; every fourth row is a new line."""
        lines, rng, careless = self._asking.lines, self._rng, self._careless
        rows = []
        for row in range(count if len(lines) > 1 else 0):
            line = rng.choice(careless) if careless and row % 2 else rng.choice(lines)
            if self._old and new and row % 4 == 0:
                line = lines[rng.choice(new)]
            if row % 4 != 1:
                line = after(rng.choice(lines), line, self._moved.context)
            rows.append(line)
        return rows


def _part(order: Sequence[int], number: int, size: int) -> list[int]:
    """The lines of step `number`: the next `size` in order; starts again if there are too few."""
    if number * size >= len(order):
        number %= max(1, math.ceil(len(order) / size))
    return list(order[number * size : (number + 1) * size])


def _rate(step: int, steps: int, warm_up: int, first: int = 0) -> float:
    """Share of the peak rate: linear warm-up from step `first`, then cosine decay to a tenth."""
    cosine = 0.5 * (1.0 + math.cos(math.pi * min(1.0, step / steps)))
    return min(1.0, (step - first + 1) / warm_up) * max(0.1, cosine)
