"""A value as a linear function of features of the state, and the features of a table.

Those of a language model are in learning.agents.language. Left out: a value that is fitted to whole batches
of hidden states at once (learning.agents.value).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic

import torch
from torch import Tensor

from learning.agents.interface import Obs


def one_hot(states: int) -> Callable[[int], Tensor]:
    """Features of a table: a vector of zeros with a one, [S]."""
    rows = torch.eye(states, dtype=torch.float64)
    return lambda state: rows[state]


class LinearValue(Generic[Obs]):
    """A value v(s) = w·x(s), a Critic (learning.agents.actor_critic). Sutton and Barto, section 9.4.

    With `one_hot` features it is learning.agents.tables.TableValue.
    """

    def __init__(self, features: Callable[[Obs], Tensor], size: int) -> None:
        """features: x(s), [D]; read anew at each call and never given a gradient. size: D."""
        self._features = features
        self.weights = torch.zeros(size, dtype=torch.float64)

    def __call__(self, observation: Obs) -> float:
        return float(self.weights @ self._read(observation))

    @property
    def parameters(self) -> list[Tensor]:
        """What learning changes in place: the weights, [D], float64."""
        return [self.weights]

    def gradient(self, observation: Obs) -> list[Tensor]:
        """The gradient of v(s) by each of the parameters: x(s)."""
        return [self._read(observation)]

    def _read(self, observation: Obs) -> Tensor:
        return self._features(observation).detach().to(self.weights)
