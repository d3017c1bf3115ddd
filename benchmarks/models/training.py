"""Measures training speed: pre-training steps and book training, against transformers' Trainer on the same
work.

Programs take turns, each in its own process, and the machine's peak matrix product is measured in the same
rounds, so that other load on the machine affects all of them. Parts that are in the output folder are not
measured again; VIDYA_TRAINING selects parts, such as "book 49m", separated by commas. Left out: GPUs.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from benchmarks import BenchOptions
from benchmarks.common.asked import names_asked
from benchmarks.common.report import machine, median, table
from benchmarks.common.rows import FINGERPRINT, ReportRows
from benchmarks.common.scratch import scratch_home
from benchmarks.common.weights import fingerprint_of
from benchmarks.common.workers import Worker
from benchmarks.models.decode import environment_of
from benchmarks.models.training_engines import BATCH, BATCHES, MICRO_ROWS
from engine.config import CONFIGS, ModelConfig
from learning.models.store import SHIPPED

ENGINES = {
    "pretrain": (
        "vidya",
        "vidya compiled",
        "transformers Trainer",
        "transformers Trainer, padded",
    ),
    "pretrain of 32": ("vidya muon", "vidya muon compiled", "transformers Trainer"),
    "book": ("vidya", "transformers Trainer"),
}
BASE = "10m-base"
"""The model to train by default; it does not know the book."""
ROUNDS = 3
STEPS = 6
"""Timed pre-training steps per round."""
LONG_STEPS = 3
"""The same for steps with four times as many rows."""
EPOCHS = 10
KNOWN = 0.95
"""Recall of the book until which the time is reported separately."""


def run(options: BenchOptions) -> dict[str, Any]:
    """Measures everything; writes training.md and training.json if `options.out` is set. Raises NotFound for
    an unknown part."""
    about = {"benchmark": "training", "quick": options.quick}
    about[FINGERPRINT] = fingerprint_of(options, BASE)
    command = options.command("training", variables=["VIDYA_TRAINING"])
    rows = ReportRows(options.out, "training", about, command, "Training speed", parts)
    sizes = ("10m",) if options.quick else ("10m", "49m")
    rounds, epochs = (1, 1) if options.quick else (ROUNDS, EPOCHS)
    works = [("pretrain", rounds, STEPS), ("pretrain of 32", rounds, LONG_STEPS)]
    works += [("book", 1, epochs)]
    wanted = names_asked(
        "VIDYA_TRAINING", [f"{work} {size}" for work, _, _ in works for size in sizes]
    )

    with scratch_home(options) as (home, model), ExitStack() as stack:
        folder = home.models_path / model if options.model else SHIPPED / BASE
        workers = {
            name: Worker(
                "benchmarks.models.training_engines",
                name,
                str(folder),
                environment=environment_of(name),
            )
            for name in dict.fromkeys(name for names in ENGINES.values() for name in names)
        }
        for worker in workers.values():
            stack.callback(worker.close)
        for work, times, count in works:
            for size in sizes:
                if f"{work} {size}" in wanted and not rows.has(work=work, size=size):
                    found = measure(workers, work, size, times, count, options)
                    rows.result["machine"]["load_average_after"] = machine()["load_average"]
                    rows.add(*found)
    return rows.result


def seconds_to(recall: float, curve: list[tuple[int, float, float]]) -> float | None:
    """Seconds at the first point of the curve with that recall; None if there is none. curve: (epoch,
    seconds, recall)."""
    return next((seconds for _, seconds, known in curve if known >= recall), None)


def measure(
    workers: dict[str, Worker], work: str, size: str, rounds: int, count: int, options: BenchOptions
) -> list[dict[str, Any]]:
    """Runs all programs on one kind of work; returns a row per program."""
    found: dict[str, list[dict[str, Any]]] = {}
    for number in range(rounds):
        for name in ENGINES[work]:
            worker = workers[name]
            if worker.missing:
                continue
            peak = workers["vidya"].ask(work="gemm", size=size, count=0)
            took = worker.ask(work=work, size=size, count=count)
            speed = took["tokens"] / took["seconds"]
            took |= {
                "tokens_per_second": speed,
                "share": 6e-9 * peak["parameters"] * speed / peak["gflops"],
                "gemm_gflops": peak["gflops"],
            }
            found.setdefault(name, []).append(took)
            options.say(
                f"{work} {size}, round {number + 1} of {rounds}: {name} {speed:,.0f} tokens/s"
            )
    theirs = found.get("transformers Trainer")
    rows: list[dict[str, Any]] = []
    for name in ENGINES[work]:
        about: dict[str, Any] = {"work": work, "size": size, "engine": name}
        if name not in found:
            rows.append({**about, "missing": workers[name].missing})
            continue
        runs = found[name]
        rows.append(
            {
                **about,
                "count": count,
                "tokens_per_second": median([t["tokens_per_second"] for t in runs]),
                "all": [round(t["tokens_per_second"], 1) for t in runs],
                "share_of_gemm_peak": median([t["share"] for t in runs]),
                "gemm_gflops": [round(t["gemm_gflops"]) for t in runs],
                "times_trainer": median(
                    [
                        o["tokens_per_second"] / t["tokens_per_second"]
                        for o, t in zip(runs, theirs, strict=True)
                    ]
                )
                if theirs
                else None,
                "peak_mb": max(t["peak_mb"] for t in runs) or None,
                "seconds": median([t["seconds"] for t in runs]),
                "first": max(t.get("first", 0.0) for t in runs),
                "checking_seconds": runs[-1].get("checking"),
                "lines": runs[-1].get("lines"),
                "recall": runs[-1].get("recall"),
                "curve": runs[-1].get("curve", []),
                "seconds_to_95": seconds_to(KNOWN, runs[-1].get("curve", [])),
            }
        )
    return rows


def parts(result: dict[str, Any]) -> list[str]:
    """Text and tables of training.md."""
    made = [
        "Programs take turns, each in its own process with all cores; medians of the steps of a "
        "round, of the rounds, and of the rounds' ratios. *Of the GEMM peak*: six operations a weight and "
        "token against the best product of two 2048 x 2048 matrices in the same round, without attention's "
        "own products. *With attention* includes them, as PaLM does (2204.02311, appendix B).",
    ]
    for work, (lines, width) in BATCHES.items():
        if rows := [r for r in result["rows"] if r["work"] == work]:
            made += [
                f"## Pre-training: steps of {lines} rows of {width} tokens, documents packed",
                pretraining(rows, width),
            ]
    made += [
        "*vidya* and Trainer use AdamW; *muon* is the default of `vidya pretrain`, in steps of 32 rows, "
        f"{MICRO_ROWS} per pass; Trainer accumulates gradients in the same way. *Compiled*: `vidya pretrain "
        "--compile`; the first step, which compiles, is listed separately. Our attention stays inside a "
        "document, Trainer's covers the whole row. *Padded*: the same documents, one per row, as Trainer "
        "uses them by default; padding tokens do not count.",
        f"## The book, {BATCH} lines a step",
        table(
            (
                "model",
                "program",
                "epochs",
                "lines",
                "seconds",
                "of them checking",
                "to 95 %",
                "recall",
                "tokens/s",
                "times Trainer",
                "peak MB",
            ),
            [
                [
                    *_about(r),
                    r["count"],
                    r["lines"],
                    r["seconds"],
                    r["checking_seconds"],
                    r.get("seconds_to_95"),
                    r["recall"],
                    r["tokens_per_second"],
                    r["times_trainer"],
                    r["peak_mb"],
                ]
                if "missing" not in r
                else [*_about(r), r["missing"], *[None] * 8]
                for r in result["rows"]
                if r["work"] == "book"
            ],
        ),
        "Tokens are those of the lines without padding. vidya measures recall before the first epoch and "
        "after each; its seconds include that. *To 95 %* is the time until it first measured a recall of "
        "95 %. Trainer measures nothing. The model is the base, which "
        "does not know the book (49m: the same, grown); recall is exact, with greedy decoding.",
    ]
    return made


def pretraining(rows: list[dict[str, Any]], width: int) -> str:
    """The pre-training table for one size of steps."""
    return table(
        (
            "model",
            "program",
            "tokens/s",
            "times Trainer",
            "of the GEMM peak",
            "with attention",
            "first step s",
            "peak MB",
        ),
        [
            [
                *_about(r),
                r["tokens_per_second"],
                r["times_trainer"],
                r["share_of_gemm_peak"],
                r["share_of_gemm_peak"] * (1.0 + attention_share(CONFIGS[r["size"]], width)),
                r.get("first"),
                r["peak_mb"],
            ]
            if "missing" not in r
            else [*_about(r), r["missing"], *[None] * 5]
            for r in rows
        ],
    )


def attention_share(config: ModelConfig, width: int) -> float:
    """Operations of attention's own products, 12 L H E T per token, relative to six per weight."""
    attention = 12 * config.layers * config.heads * config.head_dim * width
    return attention / (6 * config.parameters)


def _about(row: dict[str, Any]) -> list[object]:
    return [row["size"], row["engine"]]
