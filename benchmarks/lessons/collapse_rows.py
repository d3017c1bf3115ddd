"""Stores measurements as JSON lines as soon as they are made, so that an interrupted run loses nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from engine.errors import DataError

FILE = "collapse_rows.jsonl"


class Rows:
    """The rows of one start (model, weights, quick or not) in a file that may have others."""

    def __init__(self, folder: Path | None, start: dict[str, Any], file: str = FILE) -> None:
        """folder: None keeps the rows in memory only. start: "start" is a mark of weights and data; the rest
        says what is measured, and has "model" and "quick". Raises DataError."""
        self._path, self._start = folder / file if folder else None, start
        self._rows: list[dict[str, Any]] = []
        if self._path and self._path.exists():
            try:
                lines = self._path.read_text("utf-8").splitlines()
            except OSError as error:
                raise _unwritable(self._path, error) from error
            for line in lines:
                try:
                    self._rows.append(json.loads(line))
                except ValueError:
                    continue  # a partial line of an interrupted run

    def add(self, method: str, seed: int, part: str, row: dict[str, Any]) -> None:
        self._append({**self._start, "method": method, "seed": seed, "part": part, **row})

    def finish(self, method: str, seed: int, part: str) -> None:
        """Marks a part as complete."""
        self.add(method, seed, part, {"done": True})

    def has(self, method: str, seed: int, part: str) -> bool:
        """True if the part is complete for the same start."""
        wanted = {**self._start, "method": method, "seed": seed, "part": part, "done": True}
        return any(row.items() >= wanted.items() for row in self._rows)

    def finished(self) -> list[dict[str, Any]]:
        """Rows of complete parts: those of this start, and of the newest start of whatever else was measured,
        for example other models. If a part was started twice, only the rows after the last start count."""
        newest = {self._what(row): row["start"] for row in self._rows if self._alike(row)}
        newest[self._what(self._start)] = self._start["start"]
        groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
        done: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
        for row in self._rows:
            if not self._alike(row) or row["start"] != newest[self._what(row)]:
                continue
            key = (*self._what(row), *(row[k] for k in ("method", "seed", "part")))
            if row.get("done"):
                done[key] = groups.pop(key, [])
            elif row["at"] == 0:
                groups[key] = [row]
            else:
                groups.setdefault(key, []).append(row)
        return [row for rows in done.values() for row in rows]

    def _what(self, row: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(row.get(name) for name in self._start if name != "start")

    def _alike(self, row: dict[str, Any]) -> bool:
        return bool(row.get("quick") == self._start["quick"])

    def _append(self, row: dict[str, Any]) -> None:
        self._rows.append(row)
        if self._path is None:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            whole = not self._path.exists() or self._path.read_bytes()[-1:] in (b"", b"\n")
            with self._path.open("a", encoding="utf-8") as file:
                file.write(("" if whole else "\n") + json.dumps(row) + "\n")
        except OSError as error:
            raise _unwritable(self._path, error) from error


def _unwritable(path: Path, error: OSError) -> DataError:
    return DataError(
        f"{path}: cannot be read or written ({error.strerror})", "name another folder: --out"
    )
