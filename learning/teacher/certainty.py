"""Calibrated certainty of an answer: of answers with certainty 0.7, seven in ten are right.

Uses the probability of the whole answer, not the mean over its tokens. In "Your dog is called Zish." the
model is sure of every token but those of the name, so the mean gives 60 % for a name that nobody taught.
EXPONENT, the default, was fitted to the 10M of before 26 November 2026, on 60 lessons of
benchmarks/data/lessons_tune*.jsonl with 3,980 candidates. `vidya bench calibration` fits it again on a few of
these lessons: to the present 10M 0.45. 0.75 stays, because AT_A_LOSS was chosen with it, and a higher claim
for guesses costs more than a low one for sums (benchmarks/results/calibration.md). Models differ:
what was fitted for one stands in its folder (engine.storage.generation_file).
Left out: whether an answer is true; a model can be sure and wrong.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

EXPONENT = 0.75
"""Exponent applied to the answer's probability, of a model for which none was fitted."""
SURE = 0.5
"""An answer of at least this certainty counts as known rather than guessed."""
AT_A_LOSS = 0.3
"""An answer below this certainty counts as invented. Of questions never taught, 82 to 90 % have no answer
above it. Of taught facts asked in other words, 41 to 51 % have none, and one in five of their surest
answers is right. At 0.5 the latter were 57 to 75 % and one in three."""

PLAUSIBLE = -1.0
"""Least mean log-probability per token, in nats, of an answer that need not be drawn again. What lies below
is mostly nonsense (benchmarks/results/cards.md)."""
LARGE = 100_000_000
"""Number of weights from which no answer is drawn again for that: another one takes seconds and gains
little."""


def least_plausible(weights: int, temperature: float) -> float:
    """PLAUSIBLE, or no bound, for a model of so many weights. A temperature above 1 asks for unlikely
    answers, so none is refused for that."""
    return PLAUSIBLE if weights < LARGE and temperature <= 1.0 else -math.inf


def certainty(own_logprobs: Sequence[float], exponent: float = EXPONENT) -> float | None:
    """Certainty of an answer, 0 to 1; None if it has no tokens.

    own_logprobs: log-probabilities of its tokens under the model itself, without temperature or penalty.
    exponent: the model's, above 0.
    """
    return math.exp(min(0.0, exponent * sum(own_logprobs))) if own_logprobs else None


def of_not_knowing(others: Iterable[float | None]) -> float:
    """Certainty, 0 to 1, that "I do not know" is right: that no other candidate is. others: theirs."""
    return 1.0 - max((value for value in others if value is not None), default=0.0)


def calibration_error(claims: Sequence[tuple[float, bool]], bins: int = 10) -> float:
    """Expected calibration error, 0 to 1: mean of |mean certainty - share right| over equal-width bins of
    certainty, weighted by the number of claims in each.

    claims: (certainty 0 to 1, was it right). Guo et al. 2017, arXiv:1706.04599, eq. 3. Raises
    ValueError if there are none.
    """
    if not claims:
        raise ValueError("no claims")
    found: list[list[tuple[float, bool]]] = [[] for _ in range(bins)]
    for value, right in claims:
        found[min(int(value * bins), bins - 1)].append((value, right))
    gaps = (
        abs(sum(value for value, _ in one) - sum(right for _, right in one)) for one in found if one
    )
    return sum(gaps) / len(claims)
