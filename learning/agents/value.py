"""A value of states as a linear function of a model's hidden states, which it leaves alone.

It is fitted by ridge regression with forgetting: every observation so far counts, older ones less. That
has one answer and no learning rate, and is as good for returns of any size. The value of the state before a
token is read where that token is predicted. Left out: what returns are (learning.maths.returns), who uses it
(learning.practice.critic).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.errors import CheckpointError, ShapeError
from engine.model import Model
from engine.precision import autocast
from engine.storage.checkpoint import load_tensors, save_tensors
from learning.agents.interface import DrawnTokens, Trajectory

RIDGE = 1e-2
"""Of the mean square of a hidden number, added to every direction."""


class ValueHead:
    """v(h) = w · h + b on hidden states [..., D]."""

    def __init__(self, width: int, ridge: float = RIDGE) -> None:
        """width: D; ridge: > 0."""
        self.width, self._ridge = width, ridge
        self._gram = torch.zeros(width + 1, width + 1, dtype=torch.float64)
        self._moment = torch.zeros(width + 1, dtype=torch.float64)
        self._weights = torch.zeros(width + 1, dtype=torch.float64)

    def __call__(self, hidden: Tensor) -> Tensor:
        """[..., D] -> [...], float64, without gradient. Raises ShapeError."""
        return self._with_one(hidden) @ self._weights

    def learn(self, hidden: Tensor, returns: Tensor, keep: float = 1.0) -> None:
        """Fits to these states, [N, D], and their returns, [N], and to all before, which count `keep` times
        what they did (0 to 1). Raises ShapeError."""
        rows = self._with_one(hidden)
        if returns.shape != rows.shape[:-1] or rows.dim() != 2:
            raise ShapeError(f"hidden is {tuple(hidden.shape)}, returns {tuple(returns.shape)}")
        self._gram = keep * self._gram + rows.T @ rows
        self._moment = keep * self._moment + rows.T @ returns.detach().double().cpu()
        size = self._gram.diagonal()[:-1].mean().clamp_min(1e-12)
        ridge = torch.full((self.width + 1,), self._ridge, dtype=torch.float64) * size
        ridge[-1] = 1e-9 * size  # the mean is not pulled towards 0
        self._weights = torch.linalg.solve(self._gram + ridge.diag(), self._moment)

    def _with_one(self, hidden: Tensor) -> Tensor:
        if hidden.shape[-1] != self.width:
            raise ShapeError(
                f"hidden is {tuple(hidden.shape)}, the value was made for {self.width}"
            )
        rows = hidden.detach().double().cpu()
        return torch.cat([rows, torch.ones_like(rows[..., :1])], -1)

    # ------------------------------------------------------------ file

    @property
    def tensors(self) -> dict[str, Tensor]:
        """All that it has learned, by name."""
        return {"gram": self._gram, "moment": self._moment, "weights": self._weights}

    def save(self, path: Path, version: int, task: str) -> None:
        """Writes the head to a file. version: of the weights that give the hidden states. task: the task
        whose rewards the head predicts. Raises CheckpointError."""
        save_tensors(self.tensors, path, {"version": str(version), "task": task})

    @classmethod
    def load(cls, path: Path, version: int, task: str) -> ValueHead:
        """Reads what `save` wrote. Raises CheckpointError for the value of other weights or of another
        task."""
        tensors, record = load_tensors(path)
        found = (record.get("version"), record.get("task"))
        if found != (str(version), task):
            raise CheckpointError(
                f"{path}: is the value of version {found[0]} on task {found[1]}, "
                f"and version {version} practises {task}",
                "leave it: a new value is learned and takes its place",
            )
        try:
            head = cls(len(tensors["weights"]) - 1)
            head._gram, head._moment = tensors["gram"], tensors["moment"]
            head._weights = tensors["weights"]
        except KeyError as error:
            raise CheckpointError(f"{path}: has no {error}", "remove it") from error
        return head


def explained_variance(values: Tensor, returns: Tensor) -> float:
    """1 - Var(G - v) / Var(G): 1 for a perfect value, 0 for a constant one; 0 where all returns are equal."""
    spread = float(returns.double().var(unbiased=False))
    if spread == 0.0:
        return 0.0
    return 1.0 - float((returns.double() - values.double()).var(unbiased=False)) / spread


def reply_states(model: Model, drawn: DrawnTokens) -> Tensor:
    """The hidden states before each token of a reply, and behind the last, [tokens + 1, D], with gradient."""
    ids = torch.tensor([[*drawn.prompt, *drawn.tokens]], device=model.device)
    with autocast(model.device):
        return model.hidden_states(ids)[0, len(drawn.prompt) - 1 :]


@torch.no_grad()
def token_states(model: Model, drawn: DrawnTokens) -> Tensor:
    """`reply_states` in float32 and without gradient."""
    return reply_states(model, drawn).float()


def talk_states(model: Model, talk: Trajectory[Any, Any]) -> list[Tensor]:
    """`token_states` of each move. Where all of them stand in one conversation, it is read once."""
    drawn = [move.decision.drawn for move in talk.moves]
    known = [one for one in drawn if one is not None]
    assert len(known) == len(drawn), "a table's decisions have no hidden states"
    ids = (*known[-1].prompt, *known[-1].tokens)
    if any(ids[: len(one.prompt) + len(one.tokens)] != (*one.prompt, *one.tokens) for one in known):
        return [token_states(model, one) for one in known]
    whole = token_states(model, DrawnTokens(known[0].prompt, ids[len(known[0].prompt) :], (), ()))
    starts = [len(one.prompt) - len(known[0].prompt) for one in known]
    return [
        whole[start : start + len(one.tokens) + 1] for start, one in zip(starts, known, strict=True)
    ]
