"""How sure the model is of an answer, as a share that holds: of answers given 0.7, seven in ten are right.

The probability of the whole answer, not the mean over its tokens: "Your dog is called Zish." is sure in
every token but those of the name, and its mean says 60 % of a name that nobody taught. The exponent has
the smallest log loss on 60 lessons of benchmarks/data/lessons_tune*.jsonl and 3,980 candidates (0.70 to
0.80 within 0.1 % of it; smaller samples gave 0.70 and 0.85). `vidya bench calibration` fits it again on
a few of these and measures the result on other lessons.
Left out: whether an answer is true; a model can be sure and wrong.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

EXPONENT = 0.75
"""Of the answer's probability."""
SURE = 0.5
"""From here on an answer counts as known rather than guessed."""
AT_A_LOSS = 0.3
"""Below this it counts as invented. Of questions never taught 82 to 90 % have no answer above it; of
taught facts asked in other words 41 to 51 %, of whose surest answers one in five is right. At 0.5 these
were 57 to 75 %, and one in three."""


def certainty(own_logprobs: Sequence[float]) -> float | None:
    """0 to 1, of an answer whose tokens have these log-probabilities under the model as it is (no
    temperature, no penalty); None of no tokens."""
    return math.exp(min(0.0, EXPONENT * sum(own_logprobs))) if own_logprobs else None


def of_not_knowing(others: Iterable[float | None]) -> float:
    """0 to 1, that "I do not know" is the right answer beside the others: none of them is right."""
    return 1.0 - max((value for value in others if value is not None), default=0.0)


def calibration_error(claims: Sequence[tuple[float, bool]], bins: int = 10) -> float:
    """Expected calibration error: over equal bins of claimed certainty, the mean distance between what
    was claimed and the share that was right, weighted by how many fell into each.

    claims: (certainty 0 to 1, was it right). Guo et al. 2017, arXiv:1706.04599, eq. 3. Raises
    ValueError where there are none.
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
