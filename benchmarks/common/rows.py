"""Writes each row of a benchmark to a file once it is measured; the next run measures only the others."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks import BenchOptions
from benchmarks.common.report import ELSEWHERE, commands_of, earlier, machine, write
from benchmarks.common.scratch import DEFAULT_MODEL
from benchmarks.common.weights import fingerprint_of
from engine.errors import DataError

FINGERPRINT = "fingerprint"
"""The hash of the weights with which a run began, in what is told of the run and in its rows."""


def about_run(options: BenchOptions, benchmark: str) -> dict[str, Any]:
    """What the results of most benchmarks say of a run: "benchmark", "quick", "model" and FINGERPRINT. Raises
    NotFound and CheckpointError for a model."""
    model = options.model_name or DEFAULT_MODEL
    about = {"benchmark": benchmark, "quick": options.quick, "model": model}
    return about | {FINGERPRINT: fingerprint_of(options)}


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
        if out and own and any(row.get(FINGERPRINT, own) != own for row in self.rows):
            what = f"{out / name}.json: has rows of other weights than those of this run's model"
            raise DataError(what, ELSEWHERE)

    def having(self, **values: object) -> list[dict[str, Any]]:
        """The rows that have these values."""
        return _having(self.rows, values)

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


class KeptRows:
    """All rows, oldest first; those of earlier runs are read from the file."""

    def __init__(self, path: Path | None) -> None:
        """path: JSON, a row on each line; None: nothing is kept."""
        self._path = path
        self.rows: list[dict[str, Any]] = []
        if path is not None and path.exists():
            lines = path.read_text("utf-8").splitlines()
            self.rows = [json.loads(line) for line in lines if line.strip()]

    @classmethod
    def of(cls, options: BenchOptions, name: str) -> KeptRows:
        """Those of a benchmark, NAME_rows.jsonl in the output folder; a quick run keeps none."""
        if options.out is None or options.quick:
            return cls(None)
        return cls(options.out / f"{options.stem(name)}_rows.jsonl")

    def has(self, **values: object) -> bool:
        """Whether a row has these values."""
        return bool(_having(self.rows, values))

    def add(self, row: dict[str, Any]) -> None:
        """Appends a row, to the file too."""
        self.rows.append(row)
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")


def _having(rows: Iterable[dict[str, Any]], values: Mapping[str, object]) -> list[dict[str, Any]]:
    return [row for row in rows if all(row.get(key) == value for key, value in values.items())]
