"""Paired comparison of two policies on the same problems."""

from __future__ import annotations

import math
from collections.abc import Sequence

from engine.errors import ShapeError


def mcnemar(lost: int, gained: int) -> float:
    """Exact two-sided p-value that `lost` and `gained` come from a fair coin.

    lost: problems solved before and not now; gained: the other way; both >= 0. Problems with the same result
    both times say nothing. Returns 2 Σ_{k <= min} C(n, k) / 2^n, at most 1; 1 if nothing changed. McNemar
    1947.
    """
    n = lost + gained
    tail = sum(math.comb(n, k) for k in range(min(lost, gained) + 1))
    return min(1.0, 2.0 * tail / 2**n)


def share_true(results: Sequence[bool | None]) -> float:
    """Share of True among the flags that are not None ("not judged"), 0 to 1; 0 if there are none."""
    known = [one for one in results if one is not None]
    return sum(known) / max(1, len(known))


def changes(before: Sequence[bool | None], now: Sequence[bool | None]) -> tuple[int, int]:
    """(lost, gained) over the problems that were judged both times. Raises ShapeError if lengths differ."""
    if len(before) != len(now):
        raise ShapeError(
            f"{len(before)} results before, {len(now)} now; the problems must be the same"
        )
    pairs = [
        (was, is_)
        for was, is_ in zip(before, now, strict=True)
        if was is not None and is_ is not None
    ]
    return sum(was and not is_ for was, is_ in pairs), sum(is_ and not was for was, is_ in pairs)
