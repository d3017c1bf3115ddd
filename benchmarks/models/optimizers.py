"""Compares Muon (matrices) with AdamW (the rest) against AdamW alone, at equal tokens.

Each uses the best learning rate of its own short sweep, which has another seed than the comparison and is
measured on every second held-out document; the comparison is measured on the others.
Left out: other model and batch sizes.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from benchmarks import BenchOptions
from benchmarks.common.corpus import corpus_documents
from benchmarks.common.report import machine, table, write
from engine.config import ModelConfig
from engine.model import Model
from engine.tokenizers.load import load_tokenizer
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.corpus import Document
from learning.data.token_stream import TokenStream
from learning.data.tokens import encode
from learning.maths.optim import AdamWAlone, Optimizers
from learning.models.store import SHIPPED
from learning.pretraining.held_out import bits_of_tokens
from learning.pretraining.loop import fresh_model, muon_adamw, pretrain
from learning.pretraining.settings import PretrainSettings

CONFIG = ModelConfig(dim=192, layers=4, heads=3, kv_heads=1, hidden=512, context=256)
"""2.8M weights, two fifths of them in the embedding."""
RATES = (0.0015, 0.003, 0.006, 0.012)
SWEEP_SEED = 1000

OptimizerOf = Callable[[Model, PretrainSettings], Optimizers]


def _adamw_alone(model: Model, settings: PretrainSettings) -> Optimizers:
    return AdamWAlone(
        model,
        lr=settings.adam_lr,
        weight_decay=settings.weight_decay,
        betas=(0.9, 0.95),
    )


OPTIMIZERS: dict[str, OptimizerOf] = {"muon + adamw": muon_adamw, "adamw": _adamw_alone}


@dataclass(frozen=True)
class _Bench:
    """Data and settings that all runs share."""

    tokenizer: Tokenizer
    seen: list[Document]
    tuning: dict[str, list[list[int]]]
    judging: dict[str, list[list[int]]]

    def train(
        self, optimizer_of: OptimizerOf, rate: float, seed: int, tokens: int, *, tuning: bool
    ) -> dict[str, float]:
        """Trains once from random weights; returns held-out bits per byte and seconds."""
        model = fresh_model(CONFIG, seed)
        stream = TokenStream.of(self.seen, self.tokenizer, seed=seed)
        settings = PretrainSettings(
            tokens=tokens, row=256, rows=16, micro_rows=8, muon_lr=rate, adam_lr=rate, warm_up=0.05
        )
        started = time.perf_counter()
        progress = pretrain(model, stream, settings, optimizer_of=optimizer_of)
        seconds = time.perf_counter() - started
        held = self.tuning if tuning else self.judging
        bits = bits_of_tokens(model, self.tokenizer, held, limit=6_000)["all"]
        return {
            "rate": rate,
            "seed": seed,
            "bits_per_byte": bits,
            "loss": progress.curve[-1][1] if progress.curve else math.nan,
            "seconds": seconds,
            "tokens_per_second": progress.tokens / seconds,
        }


def run(options: BenchOptions) -> dict[str, Any]:
    """Sweeps, compares and writes the results."""
    result: dict[str, Any] = {"machine": machine(), "quick": options.quick}
    sweep_tokens, tokens = (40_960, 81_920) if options.quick else (245_760, 983_040)
    seeds = options.seeds if len(options.seeds) > 1 else (0, 1, 2)
    bench = _bench(options)
    result |= {
        "parameters": CONFIG.parameters,
        "tokens": tokens,
        "sweep_tokens": sweep_tokens,
        "threads": torch.get_num_threads(),
        "optimizers": {},
    }
    for name, optimizer_of in OPTIMIZERS.items():
        sweep = []
        for rate in RATES:
            sweep.append(bench.train(optimizer_of, rate, SWEEP_SEED, sweep_tokens, tuning=True))
            options.say(f"{name}, rate {rate:g}: {sweep[-1]['bits_per_byte']:.3f} bits per byte")
        best = min(sweep, key=lambda row: row["bits_per_byte"])["rate"]
        runs = []
        for seed in seeds:
            runs.append(bench.train(optimizer_of, best, seed, tokens, tuning=False))
            options.say(f"{name}, seed {seed}: {runs[-1]['bits_per_byte']:.3f} bits per byte")
        bits = [row["bits_per_byte"] for row in runs]
        result["optimizers"][name] = {
            "rate": best,
            "sweep": sweep,
            "runs": runs,
            "mean": statistics.mean(bits),
            "spread": statistics.stdev(bits),
            "tokens_per_second": statistics.mean(row["tokens_per_second"] for row in runs),
        }
    if options.out:
        _write(options, result)
    return result


def _bench(options: BenchOptions) -> _Bench:
    """Loads a tenth of the corpus, which is far more than one run uses."""
    tokenizer = load_tokenizer(SHIPPED / "10m")
    documents = corpus_documents()
    held = [d for d in documents if d.held_out]
    halves: list[dict[str, list[list[int]]]] = [{}, {}]
    for place, document in enumerate(held):
        halves[place % 2].setdefault(document.source, []).append(encode(document, tokenizer))
    seen = [d for d in documents if not d.held_out][:: 50 if options.quick else 10]
    return _Bench(tokenizer, seen, *halves)


def _write(options: BenchOptions, result: dict[str, Any]) -> None:
    assert options.out is not None
    found = result["optimizers"]
    compared = table(
        ["optimizer", "rate", "bits/byte, mean", "spread", "each seed", "tokens/s"],
        [
            [
                name,
                row["rate"],
                f"{row['mean']:.3f}",
                f"{row['spread']:.3f}",
                ", ".join(f"{r['bits_per_byte']:.3f}" for r in row["runs"]),
                f"{row['tokens_per_second']:,.0f}",
            ]
            for name, row in found.items()
        ],
    )
    swept = table(
        ["optimizer", *(f"rate {rate:g}" for rate in RATES)],
        [
            [name, *(f"{r['bits_per_byte']:.3f}" for r in row["sweep"])]
            for name, row in found.items()
        ],
    )
    write(
        options.out,
        "optimizers",
        "Muon and AdamW against AdamW alone"
        + (" (quick: not to be quoted)" if result["quick"] else ""),
        options.command("optimizers", seeded=True, variables=["VIDYA_CORPUS"]),
        [
            f"{result['parameters'] / 1e6:.1f}M weights, {result['tokens']:,} tokens in steps of 4,096, "
            f"{result['threads']} threads, {len(next(iter(found.values()))['runs'])} seeds (weights and "
            "order); held-out bits per byte of all sources, lower is better; spread is one standard "
            "deviation between seeds.",
            compared,
            f"The rates come from a sweep of {result['sweep_tokens']:,} tokens with another seed, judged "
            "on other held-out documents than the comparison (one rate scales both parts; matrices "
            "decay by 0.05):",
            swept,
        ],
        result,
    )
