"""Variance components of a table with one value per cell: what its rows do, what its columns do, the rest.

    y[i, j] = mean + row[i] + column[j] + error[i, j],  all three random with mean 0

Components are those of the analysis of variance; intervals and p-values are from tables drawn with normal
effects (parametric bootstrap), because a table of 5 x 3 has too few rows and columns to draw them again.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

Table = Sequence[Sequence[float]]
"""[I, J], both >= 2."""
DRAWS = 2000
"""Tables drawn for an interval or a p-value."""


@dataclass(frozen=True)
class Components:
    """Variances. Those of rows and columns may come out below 0 where there is no effect."""

    rows: float
    columns: float
    error: float

    @property
    def icc(self) -> float:
        """Share of the rows in the variance of a value, 0 to 1; 0 if nothing varies."""
        parts = [max(0.0, one) for one in (self.rows, self.columns, self.error)]
        return parts[0] / sum(parts) if sum(parts) else 0.0


def components(table: Table) -> Components:
    """Estimates (MS_rows - MS_error) / J, (MS_columns - MS_error) / I and MS_error. Raises ValueError if the
    table has fewer than two rows or columns, or rows of different lengths."""
    count, width = len(table), len(table[0]) if table else 0
    if count < 2 or width < 2 or any(len(row) != width for row in table):
        raise ValueError("a table of two rows and two columns or more is needed")
    rows = [fmean(row) for row in table]
    columns = [fmean(column) for column in zip(*table, strict=True)]
    mean = fmean(rows)
    of_rows = width * sum((one - mean) ** 2 for one in rows) / (count - 1)
    of_columns = count * sum((one - mean) ** 2 for one in columns) / (width - 1)
    left = [table[i][j] - rows[i] - columns[j] + mean for i in range(count) for j in range(width)]
    error = sum(one**2 for one in left) / ((count - 1) * (width - 1))
    return Components((of_rows - error) / width, (of_columns - error) / count, error)


def icc_interval(table: Table, rng: random.Random, share: float = 0.95) -> tuple[float, float]:
    """(low, high) of `Components.icc` in that share of tables drawn with the components of this one."""
    found = sorted(one.icc for one in _drawn(table, components(table), rng))
    out = round((1 - share) / 2 * len(found))
    return found[out], found[-1 - out]


def rows_exceed_columns(table: Table, rng: random.Random) -> float:
    """p-value of the hypothesis that rows vary no more than columns: how often tables in which both vary
    alike have a difference of the two variances as large as this one."""
    own = components(table)
    alike = max(0.0, (own.rows + own.columns) / 2)
    null = Components(alike, alike, own.error)
    found = [one.rows - one.columns for one in _drawn(table, null, rng)]
    return (1 + sum(one >= own.rows - own.columns for one in found)) / (1 + len(found))


def _drawn(like: Table, true: Components, rng: random.Random) -> Iterator[Components]:
    """Estimates from DRAWS tables of the shape of `like` with these variances."""
    of_row, of_column, of_error = (
        max(0.0, one) ** 0.5 for one in (true.rows, true.columns, true.error)
    )
    for _ in range(DRAWS):
        columns = [rng.gauss(0.0, of_column) for _ in like[0]]
        rows = [rng.gauss(0.0, of_row) for _ in like]
        yield components(
            [[row + column + rng.gauss(0.0, of_error) for column in columns] for row in rows]
        )
