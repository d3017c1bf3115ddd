"""Writes results as Markdown tables for people and the same figures as JSON.

Also describes the machine, and computes percentiles. Imports no torch.
"""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import math
import os
import platform
import re
import statistics
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from engine.errors import DataError
from engine.processor import processor
from engine.storage.files import write_atomically

Row = Sequence[object]
NOT_KEPT = "# the commands of some earlier rows were not kept"
"""Stands among the commands of a report that has rows without one."""
BY_HAND = ("## What it says", "## Read")
"""Headings under which a person writes what the figures say. A report keeps such a text."""
ELSEWHERE = "move the file away, or name another folder: --out"
DIFFERS = {
    "benchmark": "of another benchmark",
    "quick": "without --quick",
    "model": "with another --model",
    "seed": "with another --seed",
    "start": "with other weights or another book",
}
"""Name of a value in the results of many benchmarks -> what a message says of a run with another value."""


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` (0 to 1) of all values do not exceed.

    Nearest rank: always one of the measured values. Raises ValueError if there is none.
    """
    if not values or not 0.0 <= share <= 1.0:
        raise ValueError(f"percentile {share} of {len(values)} values")
    ranked = sorted(values)
    return ranked[max(0, math.ceil(share * len(ranked)) - 1)]


def median(values: Sequence[float]) -> float:
    """The 50th percentile, by nearest rank."""
    return percentile(values, 0.5)


def spread(values: Sequence[float]) -> dict[str, float]:
    """count, p50, p95, p99 and max; only the count if there are no values."""
    if not values:
        return {"count": 0}
    shares = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "max": 1.0}
    return {"count": len(values), **{k: percentile(values, v) for k, v in shares.items()}}


def deviation(values: Sequence[float]) -> float | None:
    """The standard deviation over seeds; None for fewer than two values."""
    return statistics.stdev(values) if len(values) > 1 else None


def with_deviation(mean: float, deviation: float | None, digits: int = 1) -> str:
    """ "57.5 ± 3.1"; only the mean if there is no deviation."""
    spread = f" ± {deviation:.{digits}f}" if deviation is not None else ""
    return f"{mean:.{digits}f}{spread}"


def machine() -> dict[str, Any]:
    """Facts on machine, versions, date and load, without which figures mean nothing."""
    load = os.getloadavg()
    return {
        "date": datetime.date.today().isoformat(),
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count() or 0,
        "cpu": processor(),
        "torch": _version("torch"),
        "python": platform.python_version(),
        "load_average": round(load[0], 2),
    }


def machine_words(found: Mapping[str, Any]) -> str:
    """The machine in one sentence."""
    return (
        f"{found['cores']} cores, {found['cpu']}, torch {found['torch']}, Python {found['python']}, "
        f"{found['date']}, load average at the start {found['load_average']}."
    )


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "none"


def table(head: Row, rows: Iterable[Row]) -> str:
    """A Markdown table. Numbers are rounded for reading; pipes in texts are escaped."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(_cell, line)) + " |" for line in lines)


def _cell(value: object) -> str:
    if value is None:
        return "\u2013"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        if not math.isfinite(value):
            return "\u2013"
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return str(value).replace("|", "\\|").replace("\n", " ")


def commands_of(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """The command lines that measured these rows, each once, in their order. Results in which rows of several
    runs stand together keep it in every row, as "command"; rows from before that have none."""
    return list(dict.fromkeys(row.get("command", NOT_KEPT) for row in rows))


def write(
    out: Path,
    name: str,
    title: str,
    commands: str | Sequence[str],
    parts: Sequence[str],
    result: Mapping[str, Any],
) -> None:
    """Writes out/NAME.md (title, commands, machine, then the parts: paragraphs and tables) and
    out/NAME.json. commands: the command, or those of several runs. `result["machine"]` is from `machine()`;
    with several commands it is told as that of the last run. What a person wrote into an earlier NAME.md,
    from a heading in BY_HAND on, stays at its end. Raises DataError."""
    ran = [commands] if isinstance(commands, str) else commands
    where = machine_words(result["machine"])
    text = [
        f"# {title}",
        "\n".join(f"    {command}" for command in ran),
        f"The last run: {where}" if len(ran) > 1 else where,
        *parts,
    ]
    try:
        out.mkdir(parents=True, exist_ok=True)
        text += by_hand(out / f"{name}.md", "\n\n".join(text))
        write_atomically(out / f"{name}.md", "\n\n".join(text) + "\n")
        rows = json.dumps(result, indent=1, ensure_ascii=False)
        write_atomically(out / f"{name}.json", rows + "\n")
    except OSError as error:
        raise DataError(
            f"{out}: the results cannot be written ({error.strerror})", "name another folder: --out"
        ) from error


def by_hand(report: Path, made: str) -> list[str]:
    """The sections of an earlier report from the first heading in BY_HAND on. made: the new report; a section
    whose heading it has is left out. Bytes that are not UTF-8 become U+FFFD. Raises OSError."""
    if not report.exists():
        return []
    sections = re.split(r"^(?=## )", report.read_text("utf-8", "replace"), flags=re.MULTILINE)
    headings = [section.split("\n", 1)[0] for section in sections]
    first = next((i for i, heading in enumerate(headings) if heading in BY_HAND), len(sections))
    new = set(made.splitlines())
    return [sections[i].rstrip() for i in range(first, len(sections)) if headings[i] not in new]


def damaged(path: Path) -> DataError:
    """The error for a file that does not have the results of a benchmark."""
    what = f"{path}: not the results of a benchmark, so this run cannot go on with them"
    return DataError(what, ELSEWHERE)


def earlier(
    out: Path | None,
    name: str,
    like: Mapping[str, Any],
    variables: Mapping[str, str] = {},  # noqa: B006
) -> dict[str, Any]:
    """out/NAME.json, the result of an interrupted run that is to go on; {} if there is none, or that
    of a quick run and this one is not. variables: values of `like` -> the environment variables that set
    them. Raises DataError if the file is damaged, or if one of its values is not as in `like`: this run would
    overwrite it."""
    path = out / f"{name}.json" if out else None
    if path is None or not path.exists():
        return {}
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise damaged(path) from error
    if not isinstance(found, dict):
        raise damaged(path)
    if found.get("quick") and not like.get("quick"):
        return {}
    if other := [key for key, value in like.items() if found.get(key) != value]:
        if "quick" in other:  # --quick also changes values that variables set
            other = [key for key in other if key in DIFFERS]
        told = (DIFFERS.get(key) or f"with another {variables.get(key, key)}" for key in other)
        raise DataError(f"{path}: the results of a run {' and '.join(told)}", ELSEWHERE)
    return found
