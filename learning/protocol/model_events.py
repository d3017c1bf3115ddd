"""Events of models that come into the home (downloads, growth), and of the model of the owner's taste."""

from __future__ import annotations

from dataclasses import dataclass

from learning.protocol.records import DisputedAnswers


@dataclass(frozen=True)
class FetchProgress:
    """Progress of a download; sent at most four times a second (by worker/fetch.py, not by the teacher)."""

    name: str
    done: int
    """Bytes downloaded so far."""
    total: int
    """Bytes in total. When all are downloaded, the model is being prepared."""
    prepared: float = 0.0
    """Share of the preparation that is done, 0 to 1."""


@dataclass(frozen=True)
class Fetched:
    """A downloaded model is in the home (sent by worker/fetch.py, not by the teacher)."""

    name: str
    parameters: int
    told: str = ""
    """For the owner: how many lines of Vidya's book it knows, and whose weights it has if not the preferred
    ones. Empty: it was asked nothing."""
    trouble: bool = False
    """Whether `told` is a warning."""


@dataclass(frozen=True)
class Grown:
    """A larger model was grown and is in the home."""

    name: str
    parameters: int


@dataclass(frozen=True)
class WouldPick:
    """The answer to a Foretell. None is sent where there is no taste that may be used."""

    ask: int
    index: int
    """1 to n."""


@dataclass(frozen=True)
class Disputed:
    """The answer to a FindDisputed."""

    found: tuple[DisputedAnswers, ...]
    """The most disputed first."""
    trouble: str = ""
    """Why none can be found; else empty."""
    next_step: str = ""
