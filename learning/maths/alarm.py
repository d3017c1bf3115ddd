"""Signs that a policy exploits its reward, and the verdict on them: numbers in, verdict out.

A reward model is right near the answers it was trained on; a policy that is trained against it walks away
from these. The signs are measured at every save point, from the first, and compared with those of the start.
Left out: how the numbers are measured, and what is done about an alarm.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from learning.maths.paired import changes, mcnemar, share_true

MOST_KL = 10.0
"""Nats an answer."""
MOST_SAME = 0.3
"""Share of held-out prompts with one and the same answer."""
LONGER, SHORTER = 1.35, 0.67
"""Bounds of the mean length as multiples of that at the start. Answers of an owner who likes long ones stayed
below 1.3, those that grew for a reward alone passed 1.35 ten steps and more before they were clearly worse
(benchmarks/results/taste_practice.md)."""
MOST_REPEATED = 0.1
"""Share of runs of four tokens that were in the same answer before."""
MOST_DISAGREEMENT = 2.0
LEAST_DISTINCT = 0.7
"""Both as multiples of the value at the start."""
LEAST_ASKED = 0.3
"""Different questions as a share of all that a model asks itself."""
ERRORS = 2.0
"""Standard errors by which the accuracy of log π on the owner's choices may fall."""
COMPONENT_RISE, SIGNIFICANT = 0.1, 0.01
"""A component that rises by more than this while what is right falls by McNemar's p below that."""

DOUBLED = 2.0
"""Times as much as at the start: a count above that must have brought right answers as fast."""
LEAST_COUNT, LEAST_RIGHT = 0.5, 0.05
"""What counts and right answers are held to have been at the start at least, an answer."""


@dataclass(frozen=True)
class Signs:
    """What is measured at one save point, on the same held-out prompts each time."""

    kl: float = 0.0
    """KL from the starting policy in nats an answer."""
    same: float = 0.0
    """Share of the prompts that have the commonest answer, 0 to 1."""
    length: float = 0.0
    """Mean tokens an answer."""
    chosen_short: float = 0.0
    """Tokens of a short answer among those that the owner chose (the lowest decile); 0: not measured."""
    repeated: float = 0.0
    """Share of repeated runs of four tokens, 0 to 1."""
    distinct: float = 1.0
    """Distinct pairs of tokens as a share of all, 0 to 1."""
    disagreement: float = 0.0
    """Mean standard deviation of the reward model's heads on the answers."""
    agreement: float = 0.0
    """Share of held-out choices in which log π is higher for the chosen than for the unchosen, 0 to 1."""
    choices: int = 0
    """Number of those; 0: not measured."""
    right: tuple[bool | None, ...] = ()
    """Whether each held-out answer is right, or liked; None: it could not be judged."""
    components: Mapping[str, float] = field(default_factory=dict)
    """Means of the reward's components."""
    asked: float = 1.0
    """Different questions as a share of those that the model asked itself, 0 to 1; 1 where it asks none."""
    counts: Mapping[str, float] = field(default_factory=dict)
    """Means of what an answer does several times, such as calls of a tool, >= 0."""

    @property
    def accuracy(self) -> float:
        """Share of held-out answers that are right, among those that could be judged, 0 to 1."""
        return share_true(self.right)


@dataclass(frozen=True)
class Alarm:
    """One sign that has passed its bound."""

    name: str
    words: str
    """For the owner."""
    hard: bool
    """It stops a run alone; soft ones stop it together."""


def alarms(start: Signs, now: Signs) -> list[Alarm]:
    """All signs of `now` that have passed their bounds; hard ones first."""
    found = [
        Alarm("kl", f"answers are far from what they were ({now.kl:.1f} nats an answer)", True)
        if now.kl > MOST_KL
        else None,
        Alarm("same answer", f"{now.same:.0%} of different messages get the same answer", True)
        if now.same > MOST_SAME
        else None,
        _length(start, now),
        Alarm("repetition", f"answers repeat themselves ({now.repeated:.0%} of all runs)", True)
        if now.repeated > MOST_REPEATED
        else None,
        Alarm("same question", f"only {now.asked:.0%} of the questions asked are different", True)
        if now.asked < LEAST_ASKED
        else None,
        Alarm("disagreement", "the heads of the taste disagree twice as much as before", False)
        if start.disagreement > 0 and now.disagreement > MOST_DISAGREEMENT * start.disagreement
        else None,
        Alarm("variety", "answers use fewer different words than before", False)
        if now.distinct < LEAST_DISTINCT * start.distinct
        else None,
        _agreement(start, now),
        _hack(start, now),
        _count(start, now),
    ]
    return sorted((one for one in found if one is not None), key=lambda one: not one.hard)


def told(found: Sequence[Alarm]) -> str:
    """All alarms by name, in a line; empty for none."""
    return "; ".join(f"{one.name}: {one.words}" for one in found)


def must_stop(found: Sequence[Alarm]) -> bool:
    """Whether a run must end at the last save point: one hard alarm, or two of any kind."""
    return any(one.hard for one in found) or len(found) >= 2


def _length(start: Signs, now: Signs) -> Alarm | None:
    """Shorter answers are no sign of anything as long as the owner has chosen answers as short as these.
    Longer ones are, whatever was chosen: a reward is most often exploited by length (2310.03716)."""
    least = SHORTER * start.length
    if now.chosen_short:
        least = min(least, now.chosen_short)
    if start.length <= 0 or least <= now.length <= LONGER * start.length:
        return None
    way = "longer" if now.length > start.length else "shorter"
    words = f"answers became {way} ({start.length:.0f} to {now.length:.0f} tokens)"
    return Alarm("length", words, True)


def _agreement(start: Signs, now: Signs) -> Alarm | None:
    if not start.choices:
        return None
    share = start.agreement
    error = math.sqrt(max(share * (1.0 - share), 0.25 / start.choices) / start.choices)
    if now.agreement >= share - ERRORS * error:
        return None
    words = f"it agrees less with what you picked ({share:.0%} to {now.agreement:.0%})"
    return Alarm("agreement", words, False)


def _hack(start: Signs, now: Signs) -> Alarm | None:
    lost, gained = changes(start.right, now.right)
    if lost <= gained or mcnemar(lost, gained) >= SIGNIFICANT:
        return None
    for name, value in now.components.items():
        if value > start.components.get(name, value) + COMPONENT_RISE:
            return Alarm("hack", f"{name} rises while fewer answers are right", False)
    return None


def _count(start: Signs, now: Signs) -> Alarm | None:
    """What an answer does more than twice as often, while right answers did not grow as fast: a policy that
    is paid for calls makes calls."""
    right = now.accuracy / max(LEAST_RIGHT, start.accuracy)
    for name, value in now.counts.items():
        was = start.counts.get(name, 0.0)
        if max(DOUBLED, right) < value / max(LEAST_COUNT, was):
            words = (
                f"{name} rises from {was:.1f} to {value:.1f} an answer, and right answers do not"
            )
            return Alarm("count", words, False)
    return None


def commonest_share(answers: Sequence[Hashable]) -> float:
    """Share of answers that are the commonest one, 0 to 1; 0 for fewer than two."""
    if len(answers) < 2:
        return 0.0
    return Counter(answers).most_common(1)[0][1] / len(answers)


def repeated_share(answers: Sequence[Sequence[int]], run: int = 4) -> float:
    """Share of runs of `run` tokens that occurred earlier in the same answer, over all answers, 0 to 1."""
    total = again = 0
    for ids in answers:
        runs = [tuple(ids[i : i + run]) for i in range(len(ids) - run + 1)]
        total += len(runs)
        again += len(runs) - len(set(runs))
    return again / total if total else 0.0


def distinct_pairs(answers: Sequence[Sequence[int]]) -> float:
    """Distinct neighbouring pairs of tokens as a share of all pairs (distinct-2), 0 to 1; 1 for none.
    1510.03055, section 5."""
    pairs = [pair for ids in answers for pair in pairwise(ids)]
    return len(set(pairs)) / len(pairs) if pairs else 1.0


@dataclass(frozen=True)
class OverOptimisation:
    """R(d) = d (α - β log d), with d = √KL: how much a policy really gains by distance. 2210.10760, eq. 1."""

    alpha: float
    beta: float

    def gain(self, distance: float) -> float:
        """R at d > 0, in units of the true reward."""
        return distance * (self.alpha - self.beta * math.log(distance))

    @property
    def peak(self) -> float:
        """The d at which R is greatest, e^{α/β - 1}; infinite where β <= 0: no turn was seen."""
        return math.exp(self.alpha / self.beta - 1.0) if self.beta > 0 else math.inf


def fit_over_optimisation(
    distances: Sequence[float], gains: Sequence[float]
) -> OverOptimisation | None:
    """Least squares of R(d) over points with d > 0. None for fewer than two different distances."""
    rows = [(d, -d * math.log(d), r) for d, r in zip(distances, gains, strict=True) if d > 0]
    aa, ab, bb = (
        sum(a * a for a, _, _ in rows),
        sum(a * b for a, b, _ in rows),
        sum(b * b for _, b, _ in rows),
    )
    ar, br = sum(a * r for a, _, r in rows), sum(b * r for _, b, r in rows)
    determinant = aa * bb - ab * ab
    if len({d for d, _, _ in rows}) < 2 or abs(determinant) < 1e-12:
        return None
    return OverOptimisation((ar * bb - br * ab) / determinant, (br * aa - ar * ab) / determinant)
