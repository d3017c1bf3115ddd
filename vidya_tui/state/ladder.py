"""The rungs that joined practice, in words."""

from __future__ import annotations

from collections.abc import Sequence

from learning.practice.supply.ladder import below


def joined(rungs: Sequence[str]) -> str:
    """A sentence without its full stop; empty for none: "New: chain_sum max_terms=3 min_terms=3, because
    chain_sum is solved or nearly so"."""
    told = [f"{rung}, because {below(rung)} is solved or nearly so" for rung in rungs]
    return f"New: {'; '.join(told)}" if told else ""
