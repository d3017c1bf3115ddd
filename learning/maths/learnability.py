"""What a question is worth to the one who asks it, by the share p of right answers to it, 0 to 1.

Self-play pays the questioner by one of these functions. p is estimated from n answers, so
E[4 p̂ (1 - p̂)] = 4 p (1 - p) (1 - 1/n): too small by the same factor for every question, which advantages
do not see.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

REFUSED = -1.0
"""For a question without a truth."""


def learnability(right: float) -> float:
    """4 p (1 - p): most where as many answers are right as wrong, as is the variance of their rewards. The
    proposer and solver of the library `verifiers` use it."""
    return 4.0 * right * (1.0 - right)


def rarer_outcome(right: float) -> float:
    """min(p, 1 - p). R-Zero, 2508.05004, up to a factor."""
    return min(right, 1.0 - right)


def hard_but_solved(right: float) -> float:
    """(1 - p) [p > 0]: the harder the better, but what nobody solves is worth nothing. Absolute Zero,
    2505.03335."""
    return 1.0 - right if right > 0.0 else 0.0


def adversarial(right: float) -> float:
    """1 - p: the questioner is paid for questions that cannot be answered, so it soon asks nothing else, and
    no group of answers differs. A baseline that fails."""
    return 1.0 - right


def questioner_rewards(
    keys: Sequence[str | None],
    right: Mapping[str, float],
    worth: Callable[[float], float],
) -> list[float]:
    """worth(p) - n/N of each of N questions, where n of them are the same; REFUSED for those without a truth.

    keys: the same for the same question, None for one without a truth. right: p by key, 0 to 1. The share
    is R-Zero's penalty for repetition (2508.05004), by exact sameness instead of BLEU.
    """
    shares = repeated_shares(keys)
    return [
        REFUSED if key is None else worth(right[key]) - share
        for key, share in zip(keys, shares, strict=True)
    ]


def repeated_shares(keys: Sequence[str | None]) -> list[float]:
    """For each key the share of all keys that equal it, itself among them, above 0 to 1."""
    counts = Counter(keys)
    return [counts[key] / len(keys) for key in keys]
