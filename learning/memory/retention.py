"""Protects book, lessons and the model's own talk in practice and distillation: every batch contains some.

Remembered lines are trained on by likelihood, weak ones more often. The model's own talk is held near the
weights before by a KL term.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from engine.model import Model
from learning.data.examples import Example
from learning.memory.guard import Verdict, examine
from learning.memory.reference import AnchorReference, frozen_reference
from learning.memory.replay import Replay
from learning.objectives.forward import CHECK_TOKENS, knowledge, share_known
from learning.objectives.processes import ALONE, ProcessGroup
from learning.objectives.settings import RetentionSettings
from learning.objectives.supervised import anchor_gradients, likelihood_gradients

ROUNDS, STEPS = 4, 8
"""Rehearsal after the guard has refused: most rounds, and optimizer steps in each. A verdict ends a round."""
MENDING_RATE = 0.3
"""Learning rate of steps that only rehearse, as a share of the peak rate."""
WEAK = 0.5
"""Margin in logits below which a remembered line counts as weak."""


class Retention:
    """Measures and rehearses what one model knew before practice."""

    def __init__(
        self,
        model: Model,
        replay: Replay,
        settings: RetentionSettings,
        rng: random.Random,
        *,
        reference: AnchorReference | None = None,
        check_tokens: int = CHECK_TOKENS,
        pause: Callable[[], None] = lambda: None,
        team: ProcessGroup = ALONE,
    ) -> None:
        """Measures the recall of everything remembered. reference: how the model is to talk; None: as it
        does now. team: processes that share the rows of a batch."""
        self._reference = reference or frozen_reference(model, pause=pause)
        self._replay, self._settings, self._rng = replay, settings, rng
        self._check_tokens, self._pause, self._team = check_tokens, pause, team
        self._weak: list[Example] = []
        self.book_recall = self.earlier_recall = 1.0
        self.measure(model)
        self.book_before, self.earlier_before = self.book_recall, self.earlier_recall

    @property
    def earlier(self) -> int:
        """Number of earlier lessons."""
        return len(self._replay.taught)

    def measure(self, model: Model) -> float:
        """Measures recall of everything remembered; returns exact recall of the book, 0 to 1."""
        replay = self._replay
        checked = knowledge(model, replay.memory, pause=self._pause, tokens=self._check_tokens)
        self._weak = [
            e for e, item in zip(replay.memory, checked, strict=True) if item.margin < WEAK
        ]
        self.book_recall = share_known(checked[: len(replay.book)])
        self.earlier_recall = share_known(checked[len(replay.book) :])
        return self.book_recall

    def gradients(
        self, model: Model, settings: RetentionSettings | None = None, *, mending: bool = False
    ) -> float:
        """Adds the gradient of one batch; returns its weighted loss in nats. Of several processes each adds
        and returns its part. settings: override. mending: use four times as many lines."""
        settings, replay, rng = settings or self._settings, self._replay, self._rng
        if mending:
            settings = replace(settings, lines=4 * settings.lines)
        weak = rng.sample(self._weak, min(settings.lines // 2, len(self._weak)))
        memory = replay.memory
        lines = weak + rng.sample(memory, min(settings.lines - len(weak), len(memory)))
        loss = 0.0
        if lines:
            loss += settings.line_weight * likelihood_gradients(
                model, lines, weight=settings.line_weight, pause=self._pause, team=self._team
            )
        talk = rng.sample(replay.talk, min(settings.talk, len(replay.talk)))
        if talk:
            loss += settings.talk_weight * anchor_gradients(
                model,
                self._reference,
                talk,
                weight=settings.talk_weight,
                pause=self._pause,
                team=self._team,
            )
        return loss


def examined(keeper: Retention, model: Model) -> Verdict:
    """Measures everything remembered and asks the guard whether the weights may be published. Practice is no
    reason to lose a lesson, as a contradiction is, so none is spared."""
    keeper.measure(model)
    return examine(
        model,
        book_before=keeper.book_before,
        book_recall=keeper.book_recall,
        earlier=keeper.earlier,
        earlier_before=keeper.earlier_before,
        earlier_recall=keeper.earlier_recall,
        spare=0,
    )


def rehearse(step: Callable[[], None], mended: Callable[[], bool]) -> None:
    """Takes steps on what is remembered alone until `mended()` is true, at most ROUNDS times STEPS."""
    for _ in range(ROUNDS):
        for _ in range(STEPS):
            step()
        if mended():
            return
