"""Measures what batches of ever new shapes cost: passes of a lesson's size, forward and back, and passes that
only look.

Lessons and practice draw batches whose number of rows and length are hardly ever the same twice. In bfloat16
oneDNN compiles kernels for each shape (engine.products). Programs: vidya; vidya with all products in the
shapes of the batches, as it was before; transformers. Each runs in a process of its own with one thread, and
they take turns on the same batches. Seconds are processor seconds. Models have random weights.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from benchmarks import BenchOptions
from benchmarks.common.report import machine, median, table, write
from benchmarks.common.workers import Worker
from benchmarks.models import decode

OURS, BEFORE, PEER = "vidya", "vidya, shapes as they come", "transformers"
FEW_KEPT = {"LRU_CACHE_CAPACITY": "64", "ONEDNN_PRIMITIVE_CACHE_CAPACITY": "64"}
"""Kernels that are kept in the program as it was before."""
SIZES = ("10m", "49m", "smollm2-135m")
WORKS = {"learn": "forward and back", "look": "forward alone, weights frozen"}
ROUNDS, BATCHES = 5, 12


def run(options: BenchOptions) -> dict[str, Any]:
    """See `vidya bench`. Returns a row per program, size and work; writes shapes.md and .json."""
    rounds, batches = (1, 2) if options.quick else (ROUNDS, BATCHES)
    result: dict[str, Any] = {"machine": machine(), "rows": []}
    for size in SIZES[:1] if options.quick else SIZES:
        with ExitStack() as stack:
            workers = {
                name: Worker(
                    "benchmarks.models.shapes_engines", name, size, environment=environment_of(name)
                )
                for name in (OURS, BEFORE, PEER)
            }
            for worker in workers.values():
                stack.callback(worker.close)
            for work in WORKS:
                result["rows"] += measure(workers, size, work, rounds, batches, options)
    if options.out:
        command = options.command("shapes")
        write(
            options.out, "shapes", "Batches of new shapes", command, parts(result["rows"]), result
        )
    return result


def environment_of(name: str) -> dict[str, str]:
    """Environment of a program's process, with one thread."""
    few = FEW_KEPT if name == BEFORE else {}
    return {**decode.environment_of(name), **few, "OMP_NUM_THREADS": "1"}


def measure(
    workers: dict[str, Worker],
    size: str,
    work: str,
    rounds: int,
    batches: int,
    options: BenchOptions,
) -> list[dict[str, Any]]:
    """A row per program: medians over the rounds, the first of which is not counted if there are others."""
    found: dict[str, list[dict[str, Any]]] = {}
    for number in range(rounds):
        for name, worker in workers.items():
            if worker.missing is None:
                found.setdefault(name, []).append(
                    worker.ask(work=work, seed=number, batches=batches)
                )
                options.say(
                    f"{size}, {work}, round {number + 1} of {rounds}: {name} {found[name][-1]}"
                )
    rows = list[dict[str, Any]]()
    for name, worker in workers.items():
        about = {"size": size, "work": work, "program": name}
        if worker.missing is not None:
            rows.append({**about, "missing": worker.missing})
            continue
        counted = range(min(1, rounds - 1), rounds)
        runs = [found[name][number] for number in counted]
        rows.append(
            {
                **about,
                "milliseconds": median([1000.0 * run["seconds"] / batches for run in runs]),
                "times": median(
                    [found[BEFORE][n]["seconds"] / found[name][n]["seconds"] for n in counted]
                ),
                "tokens": sum(run["tokens"] for run in runs),
                "peak_mb": found[name][-1]["peak_mb"],
            }
        )
    return rows


def parts(rows: list[dict[str, Any]]) -> list[str]:
    """Paragraphs and a table per kind of work."""
    found = [
        f"Batches of 7 to 21 rows of 20 to 47 tokens ({WORKS['learn']}), of 30 to 75 rows of 20 to 30 tokens "
        f"({WORKS['look']}); logits of every fourth token. Medians of the rounds after the first, and of "
        "their ratios; one thread. *Times*: as fast as vidya with the shapes as they come.",
    ]
    for work, what in WORKS.items():
        lines = [
            [row["size"], row["program"], row["missing"], "", ""]
            if "missing" in row
            else [
                row["size"],
                row["program"],
                f"{row['milliseconds']:.1f}",
                f"{row['times']:.2f}",
                f"{row['peak_mb']:,.0f}",
            ]
            for row in rows
            if row["work"] == work
        ]
        found += [f"## {what[0].upper()}{what[1:]}"]
        found += [table(["model", "program", "CPU ms a batch", "times", "peak MB"], lines)]
    return found
