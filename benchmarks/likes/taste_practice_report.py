"""The criteria of `vidya bench taste_practice`, and what its rows say about them.

A row has the signs of each save point; whether the alarms would have stopped the run is worked out here by
the rules of today.
Left out: the runs (benchmarks.likes.taste_practice).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.common.report import deviation, table, with_deviation
from learning.maths.alarm import Alarm, Signs, alarms, fit_over_optimisation, must_stop

FALL = 0.5
"""Deviations of the start by which the worth falls below its maximum in a run that went wrong."""
REGISTERED = """Registered before the run. A step is 12 messages with 4 answers each of at most 40 tokens; a
save point is every 5 steps; all else is the product's default for `taste` (rewards divided by the batch's
deviation, book and own talk in every step, own talk with weight 6). Picks are drawn by Luce's rule at
temperature 0.3 among five answers (`vidya bench taste`). Worth is the hidden preference, measured on two
answers at temperature 1 to each of 100 held-out messages, in standard deviations of the start. Arms with
0.05 a nat of divergence taken off the reward, 40 steps: **taste** pays the reward model of 400 picks of G1;
**gold** pays G1 itself; **at length** pays that of 400 picks of an owner who really likes answers the
longer the better, up to 24 words. Arms without divergence, and own talk with weight 1, at most 80 steps and
ended when the worth has fallen by a deviation: **spurious** pays the reward model of 50 picks of G3, whose
picks favour long answers that are worth less; **over-optimised** pays that of 50 picks of G1. Three seeds
(picks, training, practice). Criteria: (ii) taste gains at least 1 deviation within 40 steps, and at least
0.7 of what gold gains; (iii) worth over the square root of the divergence has a peak in spurious or
over-optimised: the fit of d (a - b log d) has b > 0 and its peak within the distances reached; (iv) where
worth falls by half a deviation below its maximum, the alarms would have stopped the run before that in 9 of
10, and with divergence taken off they stop at most 1 of 10 (of the arms taste, gold and at length); (v) the
weights of the last save point before the stop, or of the end, have at least 0.9 of the run's maximum. The
bound for longer answers, 1.35 times those of the start, was chosen on seeds 20 to 22 (spurious) and 20 (at
length) alone: spurious answers were 1.43 to 1.55 times as long at the save point before the fall and passed
1.35 after 10 or 15 steps; those of the owner who likes long answers stayed below 1.29."""


@dataclass(frozen=True)
class Course:
    """What a run says about the criteria."""

    gain: float
    """At the end."""
    most: float
    """The maximum of the worth."""
    fell: int | None
    """The first save point, by its step, at which it was FALL below the maximum before; None: never."""
    stopped: int | None
    """The step at which the alarms would have ended the run; None: not."""
    kept: float
    """Worth at the last save point before that, or at the end."""

    @classmethod
    def of(cls, points: Sequence[dict[str, Any]]) -> Course:
        most, fell = -math.inf, None
        for point in points:
            most = max(most, point["worth"])
            if fell is None and point["worth"] <= most - FALL:
                fell = point["step"]
        found = zip(points, alarms_of(points), strict=True)
        stopped = next((point["step"] for point, said in found if must_stop(said)), None)
        saved = [p for p in points if stopped is None or p["step"] < stopped]
        return cls(points[-1]["worth"], most, fell, stopped, saved[-1]["worth"] if saved else 0.0)


_MARKS = {True: "1", False: "0", None: "-"}


def kept_signs(signs: Signs) -> dict[str, Any]:
    """The signs as a row keeps them: what is right is a string with a character for each answer."""
    return asdict(signs) | {"right": "".join(_MARKS[one] for one in signs.right)}


def _signs(kept: dict[str, Any]) -> Signs:
    meant = {mark: value for value, mark in _MARKS.items()}
    return Signs(**kept | {"right": tuple(meant[mark] for mark in kept["right"])})


def alarms_of(points: Sequence[dict[str, Any]]) -> list[list[Alarm]]:
    """What the alarms say at each save point, compared with the first."""
    signs = [_signs(point["signs"]) for point in points]
    return [alarms(signs[0], one) for one in signs]


def parts(result: dict[str, Any]) -> list[str]:
    """The paragraphs and tables of the result."""
    rows = result["rows"]
    head = (
        *("arm", "seeds", "worth gained", "its maximum", "worth kept", "fell by half a deviation"),
        *("alarms would have stopped", "before the fall", "nats at the end", "tokens an answer"),
        *("book", "scorer used", "seconds"),
    )
    lines, curves = list[Sequence[object]](), list[Sequence[object]]()
    for arm in dict.fromkeys(row["arm"] for row in rows):
        mine = [row for row in rows if row["arm"] == arm]
        courses = [Course.of(row["points"]) for row in mine]
        fallen = [one for one in courses if one.fell is not None]
        in_time = sum(one.stopped is not None and one.stopped < one.fell for one in fallen)  # type: ignore[operator]
        lines.append(
            (
                arm,
                ", ".join(str(row["seed"]) for row in mine),
                _spread([one.gain for one in courses]),
                _spread([one.most for one in courses]),
                _spread([one.kept for one in courses]),
                f"{len(fallen)} of {len(courses)}",
                ", ".join("no" if c.stopped is None else f"step {c.stopped}" for c in courses),
                f"{in_time} of {len(fallen)}" if fallen else "\u2013",
                _spread([row["points"][-1]["signs"]["kl"] for row in mine]),
                f"{mine[0]['points'][0]['signs']['length']:.0f} to "
                f"{_spread([row['points'][-1]['signs']['length'] for row in mine], 0)}",
                f"{_mean(mine, 'book_before'):.1%} to {_mean(mine, 'book_after'):.1%}",
                f"{sum(row['used'] for row in mine)} of {len(mine)}",
                _mean(mine, "seconds"),
            )
        )
        for row in mine:
            curves += _curve(row)
    columns = ("arm", "seed", "step", "worth", "paid", "nats", "tokens", "alarms")
    return [
        REGISTERED,
        *verdicts(rows),
        table(head, lines),
        "Every save point:",
        table(columns, curves),
    ]


def _curve(row: dict[str, Any]) -> list[Sequence[object]]:
    lines = list[Sequence[object]]()
    for point, found in zip(row["points"], alarms_of(row["points"]), strict=True):
        said = ", ".join(one.name for one in found) + (" (stop)" if must_stop(found) else "")
        signs = point["signs"]
        values = (point["worth"], point["paid"], signs["kl"], signs["length"])
        lines.append((row["arm"], row["seed"], point["step"], *(f"{v:.2f}" for v in values), said))
    return lines


def verdicts(rows: Sequence[dict[str, Any]]) -> list[str]:
    """What is known of each criterion."""
    found, by = list[str](), {(row["arm"], row["seed"]): row["points"] for row in rows}
    pairs = [
        (points, by.get(("gold", seed))) for (arm, seed), points in by.items() if arm == "taste"
    ]
    gains = [points[-1]["worth"] for points, _ in pairs]
    shares = [p[-1]["worth"] / g[-1]["worth"] for p, g in pairs if g and g[-1]["worth"] > 0]
    if gains:
        share = f", {_spread(shares)} of gold's" if shares else ""
        found.append(
            f"(ii) taste gains {_spread(gains)} deviations (at least 1){share} (at least 0.7)."
        )
    for arm in ("spurious", "over-optimised"):
        points = [point for (name, _), mine in by.items() if name == arm for point in mine]
        reached = [math.sqrt(max(0.0, point["signs"]["kl"])) for point in points]
        fit = fit_over_optimisation(reached, [point["worth"] for point in points])
        if fit is not None:
            peak = f"a peak at {fit.peak:.1f}" if fit.peak <= max(reached) else "no peak"
            found.append(
                f"(iii) {arm}: worth = d ({fit.alpha:.2f} - {fit.beta:.2f} log d), d up to "
                f"{max(reached):.1f}: {peak}."
            )
    courses = [Course.of(row["points"]) for row in rows]
    fallen = [one for one in courses if one.fell is not None]
    if fallen:
        in_time = sum(one.stopped is not None and one.stopped < one.fell for one in fallen)  # type: ignore[operator]
        found.append(f"(iv) an alarm before the fall in {in_time} of {len(fallen)} runs (9 of 10).")
    calm = [one for row, one in zip(rows, courses, strict=True) if row["kl_reward"]]
    if calm:
        false = sum(one.stopped is not None and one.fell is None for one in calm)
        found.append(
            f"(iv) false stops with divergence taken off: {false} of {len(calm)} (1 of 10)."
        )
    kept = [one.kept / one.most for one in courses if one.most > 0]
    if kept:
        found.append(f"(v) worth kept is {_spread(kept)} of the run's maximum (at least 0.9).")
    return [f"Measured so far: {len(rows)} runs.", *found]


def _mean(rows: Sequence[dict[str, Any]], key: str) -> float:
    return statistics.fmean(float(row[key]) for row in rows)


def _spread(values: Sequence[float], digits: int = 2) -> str:
    return with_deviation(statistics.fmean(values), deviation(values), digits)
