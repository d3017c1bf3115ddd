"""The event with which a run of practice begins; the others are in learning.protocol.events."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PracticeStarted:
    """A run of practice begins, and is in the journal under the id `run`."""

    task: str
    run: int
    seed: int
    options: dict[str, str]
    """Every option of practice with its value; `changed` has those that are not the defaults."""
    changed: dict[str, str]
    differs: tuple[str, ...] = ()
    """Messages about what differs from the run that is repeated: weights, data, machine, packages."""
