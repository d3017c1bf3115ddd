"""What an agent and its world exchange: time steps, decisions, trajectories, and three protocols.

The meaning is that of DeepMind's dm_env: an ending is in the discount. `last` ends the loop and says
nothing about value. Loads no torch.
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeVar

Obs = TypeVar("Obs")
Action = TypeVar("Action")
ObsIn = TypeVar("ObsIn", contravariant=True)
ActionIn = TypeVar("ActionIn", contravariant=True)


@dataclass(frozen=True)
class TimeStep(Generic[Obs]):
    """What the world shows after a step, or at the beginning."""

    observation: Obs
    reward: float = 0.0
    """For having come here."""
    discount: float = 1.0
    """Of what follows, 0 to 1: 0 at a true end; above 0 where the episode is merely cut."""
    last: bool = False
    """Whether the episode is over."""


class Environment(Protocol[Obs, ActionIn]):
    """A world of episodes. All chance comes from the generator that `reset` gets."""

    def reset(self, rng: random.Random) -> TimeStep[Obs]:
        """Begins an episode. Its step has reward 0, discount 1 and is not the last."""
        ...

    def step(self, action: ActionIn) -> TimeStep[Obs]:
        """Acts. After the last step only `reset` may follow."""
        ...


@dataclass(frozen=True)
class DrawnTokens:
    """How a language model drew a reply."""

    prompt: tuple[int, ...]
    """Ids before it, exactly as the model saw them."""
    tokens: tuple[int, ...]
    logprobs: tuple[float, ...]
    """Of each token by the model that drew it, in nats; 0 where `own` is False."""
    own: tuple[bool, ...]
    """False: put there by the world (a tool's result). No gradient goes through it."""
    ending: Literal["end", "stop", "length"] = "end"


@dataclass(frozen=True)
class Decision(Generic[Action]):
    """An action, and for a language model how it was drawn."""

    action: Action
    drawn: DrawnTokens | None = None


class Policy(Protocol[ObsIn, Action]):
    """Chooses actions."""

    def act(self, observations: Sequence[ObsIn], *, greedy: bool = False) -> list[Decision[Action]]:
        """One decision for each observation. greedy: the likeliest action, the same at each call."""
        ...


@dataclass(frozen=True)
class Move(Generic[Obs, Action]):
    """A decision and what came of it."""

    observation: Obs
    decision: Decision[Action]
    reward: float
    discount: float
    """Of the state after it."""


@dataclass(frozen=True)
class Trajectory(Generic[Obs, Action]):
    """Moves of one episode, in order; all of it or a part."""

    moves: tuple[Move[Obs, Action], ...]
    group: Hashable = None
    """Trajectories of one group began in the same state and may be compared."""
    after: Obs | None = None
    """The observation behind the last move, to bootstrap from; None at a true end."""
    begins: bool = True
    """False: it goes on from the trajectory that was learned last, so traces are kept."""

    @property
    def total(self) -> float:
        """Sum of the rewards, not discounted."""
        return sum(move.reward for move in self.moves)


class PolicyLearner(Protocol[Obs, Action]):
    """Learns from trajectories."""

    def learn(self, trajectories: Sequence[Trajectory[Obs, Action]]) -> None:
        """Changes the policy, the value, or both. An empty sequence changes nothing."""
        ...
