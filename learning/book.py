"""Supervised training on a book: every entry known, and talk outside the book as before.

AdamW with warm-up and cosine; loss on the assistant's tokens; each batch holds book lines, some of
them again after other talk or carelessly written, and, as an anchor, KL to the weights before on the
model's own talk. Lines that are not known yet come twice. When every entry is known and the loss is
low, some more epochs follow in which talk settles, and it ends; else after `epochs`.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.model import Model
from learning.direct.supervised import anchor_gradients, likelihood_gradients
from learning.examples import Example, after
from learning.forward import Knowledge, knowledge, mean_loss, share_known
from learning.voice import frozen_voice


@dataclass(frozen=True)
class BookSettings:
    """Defaults measured at 10M."""

    epochs: int = 25
    """The limit."""
    batch: int = 32
    """Book lines a step."""
    others: int = 8
    """Further rows a step: lines after some other talk, and carelessly written questions."""
    talk: int = 16
    """Rows of talk a step. With four the book cost more of talk, and of facts told in it (book.md)."""
    settle: float = 0.3
    """Once every entry is known: further epochs, as a share of those it took, in which the rate falls to
    a tenth and talk weighs more, so that what the book costs of it comes back. What is not known then is
    learned at that low rate."""
    settling_weight: float = 5.0
    """Of talk in these; 1 before."""
    lr: float = 1e-3
    warm_up: int = 20
    """Steps."""
    margin: float = 0.5
    """Lead in logits below which a line comes twice."""
    seconds: float = math.inf
    """Limit of time."""
    until_known: bool = True
    """Settle and stop as soon as every entry is known and the loss is at most `enough`."""
    enough: float = 0.1


@dataclass(frozen=True)
class EpochReport:
    """Where training is. recall is None within an epoch."""

    epoch: int
    step: int
    steps: int
    loss: float
    recall: float | None
    seconds: float
    examples: int
    begun: int = 0
    """Steps that were done before, where it goes on from an earlier time."""


@dataclass(frozen=True)
class Begun:
    """Where a training that was broken off goes on. Adam begins anew."""

    epoch: int
    """Whole epochs done."""
    step: int
    weights: Mapping[str, Tensor]


@dataclass(frozen=True)
class BookTraining:
    """What it came to."""

    last: EpochReport
    """Its loss is not finite where that ended the training; the weights are of no use then."""
    before: list[Knowledge]
    """Of each entry, before the first step ..."""
    after: list[Knowledge]
    """... and now."""


def train_book(
    model: Model,
    book: Sequence[Example],
    talk: Sequence[Example],
    settings: BookSettings,
    rng: random.Random,
    *,
    careless: Sequence[Example] = (),
    report: Callable[[EpochReport], None] = lambda _: None,
    pause: Callable[[], None] = lambda: None,
    stop: Callable[[], bool] = lambda: False,
    begun: Begun | None = None,
) -> BookTraining:
    """Trains in place. careless: lines of the book with the question written otherwise. begun: goes on
    from there; what it is measured against, and what anchors the talk, is the model as given."""
    for parameter in model.parameters():
        parameter.requires_grad_(True)
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=settings.lr, betas=(0.9, 0.98), weight_decay=0.0, fused=True
    )
    steps = max(1, settings.epochs * math.ceil(len(book) / settings.batch))
    started, step, weak = time.monotonic(), 0, list[Example]()
    before = checked = knowledge(model, book, pause=pause)
    last = EpochReport(0, 0, steps, mean_loss(checked), share_known(checked), 0.0, 0)
    report(last)

    def enough() -> bool:
        return settings.until_known and last.recall == 1.0 and last.loss <= settings.enough

    anchor = [] if enough() or not settings.talk else list(talk)
    voice = frozen_voice(model, anchor, pause=pause)
    first = begun.step if begun else 0
    first_epoch = begun.epoch + 1 if begun else 1
    settling: range | None = None
    """The epochs in which what the book cost of talk is brought back."""
    if begun:
        model.load_state_dict(begun.weights)
        step = begun.step
    for epoch in range(first_epoch, settings.epochs + 1):
        if enough():
            took = epoch - first_epoch
            settling = settling or range(epoch, epoch + round(settings.settle * took))
            if epoch >= settling.stop:
                break
        order = [*book, *weak]
        rng.shuffle(order)
        for start in range(0, len(order), settings.batch):
            if stop() or time.monotonic() - started > settings.seconds:
                break
            rate = _rate(step, steps, settings.warm_up, first)
            if settling:  # from there on to a tenth of where it stood
                through = (epoch - settling.start + start / len(order)) / len(settling)
                rate *= 1.0 - 0.9 * min(1.0, through)
            for group in optimizer.param_groups:
                group["lr"] = settings.lr * rate
            lines = order[start : start + settings.batch]
            loss = likelihood_gradients(model, lines, pause=pause)
            if others := _others(book, careless, settings.others, model.config.context, rng):
                likelihood_gradients(model, others, weight=len(others) / len(lines), pause=pause)
            if anchor:
                weight = settings.settling_weight if settling and epoch in settling else 1.0
                rows = rng.sample(anchor, min(settings.talk, len(anchor)))
                anchor_gradients(model, voice, rows, weight=weight, pause=pause)
            if not math.isfinite(loss):
                seconds = time.monotonic() - started
                last = EpochReport(epoch, step, steps, loss, None, seconds, len(lines), first)
                return BookTraining(last, before, checked)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            step += 1
            seconds = time.monotonic() - started
            report(EpochReport(epoch, step, steps, loss, None, seconds, len(lines), first))
        checked = knowledge(model, book, pause=pause)
        few = share_known(checked) > 0.6
        weak = [
            e
            for e, item in zip(book, checked, strict=True)
            if few and item.margin < settings.margin
        ]
        seconds = time.monotonic() - started
        last = EpochReport(
            epoch,
            step,
            steps,
            mean_loss(checked),
            share_known(checked),
            seconds,
            len(order),
            first,
        )
        report(last)
        if stop() or seconds > settings.seconds:
            break
    return BookTraining(last, before, checked)


def _others(
    book: Sequence[Example],
    careless: Sequence[Example],
    count: int,
    context: int,
    rng: random.Random,
) -> list[Example]:
    """Lines as they will be asked: half of them after another line, half as people type."""
    rows = []
    for row in range(count if len(book) > 1 else 0):
        line = rng.choice(careless) if careless and row % 2 else rng.choice(book)
        if row % 4 != 1:
            line = after(rng.choice(book), line, context)
        rows.append(line)
    return rows


def _rate(step: int, steps: int, warm_up: int, first: int = 0) -> float:
    """Warm-up from step `first` on, then cosine down to a tenth."""
    cosine = 0.5 * (1.0 + math.cos(math.pi * min(1.0, step / steps)))
    return min(1.0, (step - first + 1) / warm_up) * max(0.1, cosine)
