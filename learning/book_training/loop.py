"""Supervised training on a book: every entry known, and talk outside the book as before.

AdamW with warm-up and cosine; loss on the assistant's tokens. What is not known yet comes in every
step; beside it lines that are known, some after other talk or carelessly written, and, as an anchor, KL
to the weights before on the model's own talk. When all that was to be learned is known, its loss is
low, and nothing else was lost, some more epochs follow in which talk settles, and it ends; else after
`epochs`.

An epoch goes through what is new, not through all that is known: two new lines beside a book that is
known take half a minute, not four passes over the book.
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
"""Share of the rate that is left once new lines are known and old ones are to be kept or mended."""


@dataclass(frozen=True)
class BookSettings:
    """Defaults measured at 10M."""

    epochs: int = 25
    """The limit."""
    batch: int = 32
    """Lines a step; of them at most half new ones where others are known."""
    short: int = 6
    """Steps of an epoch at least, where other lines are known: a few new ones come in each of them."""
    beside: int = 10
    """Known lines in a step at least, where there are as many; as many as new ones where those are more."""
    others: int = 8
    """Further rows a step: lines after some other talk, and carelessly written questions; where new lines
    stand beside known ones half as many as lines at most."""
    talk: int = 16
    """Rows of talk a step. With four the book cost more of talk, and of facts told in it (book.md)."""
    talk_weight: float = 1.0
    """Of talk against the lines."""
    manner: int = 8
    """Rows a step of talk that shows the manner, where there is such talk."""
    settle: float = 0.3
    """Once every entry is known: further epochs, as a share of those it took, in which the rate falls to
    a tenth and talk weighs more, so that what the book costs of it comes back. What is not known then is
    learned at that low rate."""
    settling_weight: float = 5.0
    """Of talk in these, times the weight that it has before."""
    lr: float = 1e-3
    warm_up: int = 20
    """Steps."""
    margin: float = 0.5
    """Lead in logits below which a line comes twice."""
    seconds: float = math.inf
    """Limit of time."""
    until_known: bool = True
    """What is known already is only kept; settle and stop as soon as every entry is known and the loss is
    at most `enough`. Else exactly `epochs`, of the whole book."""
    enough: float = 0.1
    """Nats a token."""
    ask_every: int = 1
    """Epochs from one time that the lines are asked to the next; at the end they always are."""


ADAPTER_SETTINGS = BookSettings(
    epochs=16,
    others=2,
    talk=4,
    talk_weight=0.3,
    manner=6,
    settle=0.15,
    settling_weight=1.0,
    lr=3e-3,
    warm_up=10,
    ask_every=2,
)
"""For adapters of a model that brings its knowledge along; chosen at 135M (engine/base/smollm2-135m/CARD.md).
Talk is to become short and plain there, so that it weighs less how the model talked."""


@dataclass(frozen=True)
class TrainingStart:
    """Where a training that was broken off goes on. Adam begins anew."""

    epoch: int
    """Whole epochs done."""
    step: int
    weights: Mapping[str, Tensor]


@dataclass(frozen=True)
class BookTraining:
    """What it came to."""

    last: EpochReport
    """Its loss is not finite where that ended the training; the weights are of no use then. Its step is 0
    where nothing was learned that could be kept."""
    before: list[Knowledge]
    """Of each line of the book, then of the rest, before the first step; empty where it was to stop before
    all were asked."""
    after: list[Knowledge]
    """... and now."""


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
    """Trains in place. rest: what else must not be forgotten. careless: lines with the question written
    otherwise. manner: talk that is learned from, and need not be known. stop: looked at before every
    step, and while lines are asked. begun: goes on from there; what it is measured against, and what
    anchors the talk, is the model as given."""
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
        """In the last epoch."""
        self._new: list[int] = []
        """Places of what is to be learned ..."""
        self._old: list[int] = []
        """... and of all else, which is only to be kept."""
        self._known_before: list[int] = []
        """Of these, what was known at first."""

    def run(self, begun: TrainingStart | None) -> BookTraining:
        asking, settings = self._asking, self._settings
        at = self._now(0, 0)
        if begun:  # how long an epoch is will be known when all was asked
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
        last = replace(last, epoch=0, step=0)  # nothing is to be kept yet
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
        """What is to be learned, and what is only to be kept."""
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
        """What is new is known well."""
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
        """Some steps; the loss of the last one. Ends where it is over, or the loss is not finite."""
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
            if settling:  # from there on to a tenth of where it stood
                through = (epoch - settling.start + number / count) / len(settling)
                rate *= (MENDING if self._old else 1.0) * (1.0 - 0.9 * min(1.0, through))
            new = _part(order, number, self._of_new)
            old = self._kept_lines()
            try:
                loss = self._gradients(new, old, settling.start <= epoch < settling.stop)
            except Stop:  # in the middle of a step, of which nothing is kept
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
        """Known lines of one step, up to half of them such as were lost since."""
        lost = [at for at in self._known_before if self._asking.weak(at, self._settings.margin)]
        chosen = self._rng.sample(lost, min(self._of_old // 2, len(lost)))
        return chosen + self._rng.sample(self._old, self._of_old - len(chosen))

    def _gradients(self, new: Sequence[int], old: Sequence[int], settling: bool) -> float:
        """Of all terms; the loss of the lines. New ones weigh as much as all that are known."""
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
        """Lines as they will be asked: half of them after another line, half as people type; new ones
        every other time."""
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
    """The lines of one step: those that come next; from the first again where there are too few for all
    steps."""
    if number * size >= len(order):
        number %= max(1, math.ceil(len(order) / size))
    return list(order[number * size : (number + 1) * size])


def _rate(step: int, steps: int, warm_up: int, first: int = 0) -> float:
    """Warm-up from step `first` on, then cosine down to a tenth."""
    cosine = 0.5 * (1.0 + math.cos(math.pi * min(1.0, step / steps)))
    return min(1.0, (step - first + 1) / warm_up) * max(0.1, cosine)
