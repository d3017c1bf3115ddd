"""The report of `vidya bench one_example`: gains of few examples against all, and the worth of an order."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import Any

from benchmarks.common.report import deviation, table, with_deviation
from benchmarks.common.two_way import components, icc_interval, rows_exceed_columns

Row = dict[str, Any]


def tables(result: dict[str, Any]) -> Iterator[str]:
    """For each task what few examples gain, and what the order is worth."""
    rows = result["rows"]
    for task in dict.fromkeys(row["task"] for row in rows):
        few, order = (
            [row for row in rows if row["task"] == task and row["part"] == part]
            for part in ("few", "order")
        )
        if few:
            yield f"## Few examples: {task}"
            yield from _few(few)
        if order:
            yield f"## Order: {task}"
            yield from _order(order)


def gain(row: Row, what: str = "accuracy") -> float:
    """From the warm-up to the end, in points."""
    return 100 * float(row["end"][what] - row["start"][what])


def reproduced(rows: Sequence[Row]) -> bool | None:
    """The criterion on the rows of one task; None while an arm is missing."""
    gains = {
        arm: [gain(row) for row in rows if row["arm"] == arm]
        for arm in dict.fromkeys(row["arm"] for row in rows)
    }
    coin = [values for arm, values in gains.items() if arm.endswith("random rewards")]
    one, all_ = gains.get("n = 1"), gains.get("n = 1000")
    if not one or not all_ or len(coin) < 2:
        return None
    control = max(coin, key=fmean)
    apart = math.hypot(_error(one), _error(control))
    enough = fmean(one) >= 0.5 * fmean(all_)
    return enough and fmean(one) > fmean(control) + 2 * apart


def _error(values: Sequence[float]) -> float:
    """The standard error of the mean; 0 for one value."""
    return (deviation(values) or 0.0) / len(values) ** 0.5


def _few(rows: Sequence[Row]) -> Iterator[str]:
    examples = rows[0]["examples"]
    groups = {arm: [r for r in rows if r["arm"] == arm] for arm in dict.fromkeys(_arms(rows))}
    ones = groups.get("n = 1", [])
    for words, numbers in (
        ("n = 1, varied most", examples["varied"]),
        ("n = 1, by chance", examples["chance"]),
    ):
        groups[words] = [row for row in ones if row["example"] in numbers]
    lines = [
        [arm, len(own)]
        + [_spread([gain(row) for row in own])]
        + [
            _spread([100 * row["end"][what] for row in own])
            for what in ("accuracy", "format", "among_formed")
        ]
        + [_spread([100 * row["dead"] for row in own]), _spread([row["updates"] for row in own], 0)]
        for arm, own in groups.items()
        if own
    ]
    head = ["arm", "runs", "gain, points", "accuracy, %", "form, %", "right among formed, %"]
    yield table([*head, "dead groups, %", "updates"], lines)
    verdict = {True: "reproduced", False: "not reproduced", None: "not known yet"}
    yield f"One example: {verdict[reproduced(rows)]}."
    yield _each(rows)


def _order(rows: Sequence[Row]) -> Iterator[str]:
    seeds = sorted({row["seed"] for row in rows})
    ends = {(row["arm"], row["seed"]): 100 * row["end"]["accuracy"] for row in rows}
    names = list(dict.fromkeys(_arms(rows)))
    yield table(
        ["order", *(f"seed {seed}, %" for seed in seeds), "mean, %"],
        [
            [name, *(ends.get((name, seed)) for seed in seeds)]
            + [_spread([ends[name, seed] for seed in seeds if (name, seed) in ends])]
            for name in names
        ],
    )
    whole = [seed for seed in seeds if all((name, seed) in ends for name in names)]
    if len(whole) > 1 and len(names) > 1:
        cells = [[ends[name, seed] for seed in whole] for name in names]
        found = components(cells)
        low, high = icc_interval(cells, random.Random(0))
        chance = rows_exceed_columns(cells, random.Random(0))
        yield (
            f"Variance in squared points: of the order {found.rows:.2f}, of the seed "
            f"{found.columns:.2f}, of the rest {found.error:.2f}. Share of the order (ICC) "
            f"{found.icc:.2f}, 95 % interval {low:.2f} to {high:.2f}. That the order varies more than "
            f"the seed: p = {chance:.3f}, {'claimed' if chance < 0.05 else 'not claimed'}."
        )
    yield _each(rows)


def _each(rows: Sequence[Row]) -> str:
    head = ["seed", "arm", "example", "before, %", "after, %", "form, %", "updates", "answers"]
    return table(
        [*head, "book, %"],
        [
            [row["seed"], row["arm"], row["example"]]
            + [100 * row["start"]["accuracy"], 100 * row["end"]["accuracy"]]
            + [100 * row["end"]["format"], row["updates"], row["answers"], 100 * row["book"]]
            for row in rows
        ],
    )


def _arms(rows: Sequence[Row]) -> list[str]:
    return [row["arm"] for row in rows]


def _spread(values: Sequence[float], digits: int = 1) -> str:
    return with_deviation(fmean(values), deviation(values), digits)
