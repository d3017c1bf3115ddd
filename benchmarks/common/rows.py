"""Writes each row of a benchmark to a file once it is measured; the next run measures only the others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks import BenchOptions
from benchmarks.common.report import ELSEWHERE, commands_of, damaged, earlier, machine, write
from benchmarks.common.scratch import DEFAULT_MODEL
from benchmarks.common.weights import fingerprint_of
from engine.errors import DataError

FINGERPRINT = "fingerprint"
"""The key of a hash in `about_run` and in rows: that of the weights with which the run began."""


def about_run(options: BenchOptions, benchmark: str) -> dict[str, Any]:
    """What the results of most benchmarks say of a run: "benchmark", "quick", "model" and FINGERPRINT. Raises
    NotFound and CheckpointError for a model."""
    model = options.model_name or DEFAULT_MODEL
    about = {"benchmark": benchmark, "quick": options.quick, "model": model}
    return about | {FINGERPRINT: fingerprint_of(options)}


def about_run_of_stem(options: BenchOptions, benchmark: str) -> dict[str, Any]:
    """What results in a file named after the model (`options.stem`) say of a run: "benchmark" and
    FINGERPRINT, and "quick" if it is a quick run."""
    about = about_run(options, benchmark)
    names = ("benchmark", FINGERPRINT, *(["quick"] if options.quick else []))
    return {name: about[name] for name in names}


def check_rows(
    path: Path, rows: object, numbers: Collection[str] = (), maybe: Collection[str] = ()
) -> None:
    """Checks rows that were read from a file: they are a list of dictionaries. numbers: keys that each of
    them has a number under. maybe: those that it has a number or None under. Raises DataError."""
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise damaged(path)
    for row in rows:
        if not all(isinstance(row.get(key), int | float) for key in numbers):
            raise damaged(path)
        if not all(isinstance(row.get(key, ""), int | float | None) for key in maybe):
            raise damaged(path)


class ReportRows:
    """The rows of a report, oldest first, each with the command that measured it as "command", and with the
    run's FINGERPRINT. NAME.json in the output folder keeps them and NAME.md shows them."""

    def __init__(
        self,
        out: Path | None,
        name: str,
        about: Mapping[str, Any],
        command: str,
        title: str,
        parts: Callable[[dict[str, Any]], Iterable[str]],
        *,
        key: str = "rows",
        variables: Mapping[str, str] = {},  # noqa: B006
    ) -> None:
        """out: the output folder; None: nothing is kept. about: what NAME.json says beside machine and rows;
        its FINGERPRINT, if it has one, goes into each new row instead. command: of this run. parts: makes
        paragraphs and tables from the result. key: of the rows in NAME.json. variables: see `earlier`.
        Raises DataError if the file is damaged, if it says something else than `about` and is not of a quick
        run, or if a row has another FINGERPRINT; a row without one is kept."""
        self._out, self._name = out, name
        self._title, self._parts = title, parts
        said = {key: value for key, value in about.items() if key != FINGERPRINT}
        own = about.get(FINGERPRINT)
        self._stamp = {"command": command} | ({FINGERPRINT: own} if own else {})
        found = earlier(out, name, said, variables)
        self.result: dict[str, Any] = {**found, **said, "machine": machine()}
        """What NAME.json has."""
        self.rows: list[dict[str, Any]] = self.result.setdefault(key, [])
        if out is not None:
            self._check(out / f"{name}.json", own)

    def _check(self, path: Path, own: str | None) -> None:
        """path: where the rows were read. own: the FINGERPRINT of this run. Raises DataError."""
        check_rows(path, self.rows)
        if own and any(row.get(FINGERPRINT, own) != own for row in self.rows):
            what = f"{path}: has rows of other weights than those of this run's model"
            raise DataError(what, ELSEWHERE)

    def having(self, **values: object) -> list[dict[str, Any]]:
        """The rows that have these values."""
        return [row for row in self.rows if all(row.get(k) == v for k, v in values.items())]

    def has(self, **values: object) -> bool:
        """Whether a row has these values."""
        return bool(self.having(**values))

    def drop(self, **values: object) -> None:
        """Removes the rows that have these values; the files keep them until `add`."""
        gone = self.having(**values)
        self.rows[:] = [row for row in self.rows if row not in gone]

    def add(self, *rows: dict[str, Any]) -> None:
        """Appends rows with this run's command and FINGERPRINT, and writes both files; without rows, writes
        both files anew. Raises DataError if it cannot."""
        self.rows += [row | self._stamp for row in rows]
        if self._out is not None:
            ran, parts = commands_of(self.rows), list(self._parts(self.result))
            write(self._out, self._name, self._title, ran, parts, self.result)
