"""Writes each row of a benchmark to a file once it is measured; the next run measures only the others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks import BenchOptions


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
        return any(all(row[key] == value for key, value in values.items()) for row in self.rows)

    def add(self, row: dict[str, Any]) -> None:
        """Appends a row, to the file too."""
        self.rows.append(row)
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
