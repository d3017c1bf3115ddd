"""A critic for practice: a value of states, learned from the answers that are drawn anyway.

Until it predicts the returns of new answers, practice goes on with the credit of whole answers.
From then on every token, or every reply of a conversation, is credited by the errors of the value
(generalised advantage estimation). Its values are of returns that `critic.gamma` discounts from reply to
reply; a reward comes with the last token of the reply that it follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import torch
from torch import Tensor

from engine.errors import CheckpointError
from engine.model import Model
from learning.agents.credit import Credit, scaled, token_gae, turn_gae
from learning.agents.value import ValueHead, explained_variance, talk_states
from learning.maths.returns import discounted_returns
from learning.objectives.token_credit import Answered
from learning.practice.settings import CriticSettings

VALUE = "value.safetensors"
"""A critic's value, in the folder of the model whose weights it belongs to."""


class RolloutCritic:
    """The value of one run of practice; one step is one token."""

    def __init__(
        self, model: Model, settings: CriticSettings, head: ValueHead | None = None
    ) -> None:
        """model: the policy, whose hidden states are read as they are. head: learned before; None: new."""
        self._model, self._settings = model, settings
        self.head = head or ValueHead(model.config.dim)
        self._seen = settings.answers if head else 0
        self.explained = 0.0
        """Explained variance of the returns of the last rollout, before it learned from that."""

    @property
    def ready(self) -> bool:
        """Whether its values are good enough to be used."""
        return self._seen >= self._settings.answers and self.explained > self._settings.explained

    def observe(self, answers: Sequence[Answered]) -> None:
        """Looks at a rollout: first tells how well it would have foretold it, then learns from it. Answers
        that were cut have no true end, and are left out."""
        whole = [one for one in answers if one.after is None]
        if not whole:
            return
        states, gained = list[Tensor](), list[Tensor]()
        for one in whole:
            parts = [self._steps(part) for part in talk_states(self._model, one)]
            states += parts
            gained += [
                back.expand(len(part)) for back, part in zip(self._returns(one), parts, strict=True)
            ]
        hidden, returns = torch.cat(states), torch.cat(gained)
        self.explained = explained_variance(self.head(hidden), returns)
        keep = self._settings.earlier if self._seen >= self._settings.answers else 1.0
        self.head.learn(hidden, returns, keep)
        self._seen += len(whole)

    def credit(self) -> Credit:
        """By the errors of the value, of one size over a batch."""
        return scaled(token_gae(self._values, self._settings.lam, self._settings.gamma))

    def _steps(self, states: Tensor) -> Tensor:
        """Of the states of a move, [tokens + 1, D], those before its steps."""
        return states[:-1]

    def _returns(self, answer: Answered) -> Tensor:
        """What was gained from each move on, discounted, [moves], float64."""
        rewards, discounts = (
            torch.tensor([getattr(move, name) for move in answer.moves], dtype=torch.float64)
            for name in ("reward", "discount")
        )
        none = torch.zeros((), dtype=torch.float64)
        return discounted_returns(rewards, self._settings.gamma * discounts, none)

    def _values(self, answer: Answered) -> list[Tensor]:
        values = [self.head(part) for part in talk_states(self._model, answer)]
        return [*(self._steps(part) for part in values), values[-1][-1:]]


class ReplyCritic(RolloutCritic):
    """The same with one reply of a conversation as one step: its value is that of the state before it, and
    all of its tokens share its advantage (2512.17008)."""

    def credit(self) -> Credit:
        def values(talk: Answered) -> Tensor:
            return torch.cat(self._values(talk))

        return scaled(turn_gae(values, self._settings.lam, self._settings.gamma))

    def _steps(self, states: Tensor) -> Tensor:
        return states[:1]


def kept_value(folder: Path, version: int, task: str) -> ValueHead | None:
    """The value that was kept with these weights for this task; None if there is none."""
    with suppress(CheckpointError):  # of other weights or another task: a new one is learned
        return ValueHead.load(folder / VALUE, version, task) if (folder / VALUE).exists() else None
    return None


def keep_value(critic: RolloutCritic | None, folder: Path, version: int, task: str) -> None:
    """Keeps what a critic learned, if it is good enough, with the version that was published last."""
    if critic is not None and critic.ready:
        critic.head.save(folder / VALUE, version, task)
