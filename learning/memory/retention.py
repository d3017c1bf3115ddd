"""What practice must not cost: the book and the model's own talk are in every batch.

Remembered lines as text to predict, those that have become weak more often; own talk as an anchor to
the weights before practice.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace

from engine.model import Model
from learning.data.examples import Example
from learning.memory.reference import frozen_reference
from learning.memory.replay import Replay
from learning.objectives.forward import CHECK_TOKENS, knowledge, share_known
from learning.objectives.supervised import anchor_gradients, likelihood_gradients

WEAK = 0.5
"""Lead in logits below which a remembered line is drawn more often."""


@dataclass(frozen=True)
class RetentionSettings:
    """Rows of each optimizer step, and their weights beside the task's own loss."""

    lines: int = 8
    """Of book and earlier lessons; up to half of them weak ones."""
    talk: int = 16
    line_weight: float = 1.0
    talk_weight: float = 1.0
    """Its gradient is then about as long as the objective's; at 10 it drowns it."""


class Retention:
    """Watches over what one model knew before practice."""

    def __init__(
        self,
        model: Model,
        replay: Replay,
        settings: RetentionSettings,
        rng: random.Random,
        *,
        check_tokens: int = CHECK_TOKENS,
        pause: Callable[[], None] = lambda: None,
    ) -> None:
        """What it is held to is how the model talks now."""
        self._reference = frozen_reference(model, pause=pause)
        self._replay, self._settings, self._rng = replay, settings, rng
        self._check_tokens, self._pause = check_tokens, pause
        self._weak: list[Example] = []
        self.book_recall = self.earlier_recall = 1.0
        self.look(model)
        self.book_before, self.earlier_before = self.book_recall, self.earlier_recall

    @property
    def earlier(self) -> int:
        """How many earlier lessons there are."""
        return len(self._replay.taught)

    def look(self, model: Model) -> float:
        """Asks for everything remembered; exact recall of the book, 0 to 1."""
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
        """Adds the gradient of one batch; its loss in nats. settings: in place of the usual ones.
        mending: four times the lines."""
        settings, replay, rng = settings or self._settings, self._replay, self._rng
        if mending:
            settings = replace(settings, lines=4 * settings.lines)
        weak = rng.sample(self._weak, min(settings.lines // 2, len(self._weak)))
        memory = replay.memory
        lines = weak + rng.sample(memory, min(settings.lines - len(weak), len(memory)))
        loss = 0.0
        if lines:
            loss += settings.line_weight * likelihood_gradients(
                model, lines, weight=settings.line_weight, pause=self._pause
            )
        talk = rng.sample(replay.talk, min(settings.talk, len(replay.talk)))
        if talk:
            loss += settings.talk_weight * anchor_gradients(
                model, self._reference, talk, weight=settings.talk_weight, pause=self._pause
            )
        return loss
