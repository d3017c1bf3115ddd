"""Measures the seconds of a GRPO step against TRL's GRPOTrainer: same weights, problems, batch and lengths.

Both start with the same weights after a short warm-up and use the same problems; each samples its own
answers, so tokens are reported beside seconds. In practice ours has book lines and talk in each optimizer
step, so ours is measured with and without them. First the losses are compared term by term. Finally it
measures how soon idle practice ends after a key press. TRL is in the extra `bench`.
"""

from __future__ import annotations

import random
import tempfile
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from benchmarks import BenchOptions
from benchmarks.common.report import machine, median, table, write
from benchmarks.common.scratch import scratch_home
from benchmarks.practising.practice_idle import stopping
from benchmarks.practising.practice_trl import compare_losses, their_steps
from engine.model import Model
from engine.storage.checkpoint import load_model, save_model
from engine.tokenizers.load import load_tokenizer
from engine.tokenizers.tokenizer import Tokenizer
from learning.memory.book_rows import book_examples
from learning.memory.own_talk import own_talk
from learning.memory.replay import Replay
from learning.models.store import ModelStore
from learning.objectives.settings import RetentionSettings
from learning.practice.settings import PracticeSettings, WarmUpSettings
from learning.practice.trainer import GrpoTrainer
from learning.rewards.registry import find_task
from personality.book import shipped_book_path

TASK = "syllogism"
PROBLEMS = 64
KEEP = RetentionSettings()
NOTHING = RetentionSettings(lines=0, talk=0)


@dataclass(frozen=True)
class Work:
    """The work of both programs."""

    groups: int = 8
    group_size: int = 8
    max_tokens: int = 64
    steps: int = 9
    """Steps; the first is not counted."""
    warm_up: int = 20
    """Supervised steps before, so that answers end."""
    keys: int = 4
    """Key presses in idle practice."""
    longest: float = 8.0
    """Most seconds before a key press."""


QUICK = Work(groups=2, group_size=2, max_tokens=8, steps=2, warm_up=1, keys=1, longest=1.0)


def run(options: BenchOptions) -> dict[str, Any]:
    """Runs the benchmark."""
    work = QUICK if options.quick else Work()
    result: dict[str, Any] = {"machine": machine(), "work": asdict(work), "task": TASK}
    result["differences"] = _worst([compare_losses(seed) for seed in (options.seeds or (0,))])
    options.say(f"losses differ by at most {max(result['differences'].values()):.1e}")
    with scratch_home(options) as (home, name), tempfile.TemporaryDirectory() as scratch:
        folder = ModelStore(home).resolve(name)
        model, tokenizer = load_model(folder), load_tokenizer(folder)
        session = _session(model, tokenizer, folder, work, KEEP)
        session.warm_up(lambda _: None, lambda: False)
        checkpoint = Path(scratch) / "warm"
        save_model(model, checkpoint, dtype=torch.float32)
        ours = _our_steps(options, session, work)
        again = _session(load_model(checkpoint), tokenizer, folder, work, NOTHING)
        alone = _our_steps(options, again, work)
        problems = list(islice(session.task.problems("train", random.Random(0)), PROBLEMS))
        theirs = their_steps(
            checkpoint,
            tokenizer,
            session.task,
            problems,
            lambda problem: session.roller.prompt(model, problem),
            groups=work.groups,
            group_size=work.group_size,
            max_tokens=work.max_tokens,
            lr=session.settings.lr,
            steps=work.steps,
            scratch=Path(scratch),
        )
        for row in theirs:
            options.say(f"TRL: {row['seconds']:.2f} s, {row['tokens']:.0f} tokens")
        result["stopping_ms"] = stopping(
            home, folder, task=TASK, times=work.keys, longest=work.longest
        )
        options.say(f"a key ends idle practice in {max(result['stopping_ms']):.0f} ms at most")
    kinds = {"ours": ours, "ours_alone": alone, "trl": theirs}
    result |= kinds
    for what in ("seconds", "tokens"):
        result[what] = {kind: _median(rows, what) for kind, rows in kinds.items()}
    seconds = result["seconds"]
    result["times_as_fast"] = {kind: seconds["trl"] / seconds[kind] for kind in kinds}
    if options.out:
        _write(options.out, result, work)
    return result


def _our_steps(options: BenchOptions, session: GrpoTrainer, work: Work) -> list[dict[str, float]]:
    steps = []
    for _ in range(work.steps):
        report = session.step()
        steps.append(
            {
                "seconds": report.seconds,
                "tokens": float(report.tokens),
                "dead_groups": float(report.dead_groups),
            }
        )
        options.say(f"ours: {report.seconds:.2f} s, {report.tokens} tokens")
    return steps


def _session(
    model: Model, tokenizer: Tokenizer, folder: Path, work: Work, keep: RetentionSettings
) -> GrpoTrainer:
    book = book_examples(tokenizer, [shipped_book_path()], model.config.context)
    replay = Replay(model, book, [], own_talk(model, tokenizer, folder))
    warm_up = WarmUpSettings(enough=1.0, steps=work.warm_up, measure_every=10_000, measured=4)
    settings = PracticeSettings(
        groups=work.groups,
        group_size=work.group_size,
        max_tokens=work.max_tokens,
        updates=1,
        redraws=0,
        held_out=1,
        keep=keep,
        warm_up=warm_up,
    )
    return GrpoTrainer(model, tokenizer, find_task(TASK), replay, settings, seed=0)


def _worst(found: list[dict[str, float]]) -> dict[str, float]:
    return {name: max(row[name] for row in found) for name in found[0]}


def _median(rows: list[dict[str, float]], name: str) -> float:
    return median([row[name] for row in rows[1:]])


def _write(out: Path, result: dict[str, Any], work: Work) -> None:
    seconds, tokens, times = result["seconds"], result["tokens"], result["times_as_fast"]
    names = {
        "ours": "vidya, as it practises",
        "ours_alone": "vidya, the same work as TRL",
        "trl": "TRL GRPOTrainer",
    }
    rate = {kind: tokens[kind] / seconds[kind] for kind in names}
    rows = [
        (name, seconds[kind], tokens[kind], rate[kind], times[kind], rate[kind] / rate["trl"])
        for kind, name in names.items()
    ]
    dead = [sum(row["dead_groups"] for row in result[kind][1:]) for kind in ("ours", "ours_alone")]
    parts = [
        f"One GRPO step on `{TASK}`: {work.groups} problems, {work.group_size} answers to each of at "
        f"most {work.max_tokens} tokens, one optimizer step; includes sampling, scoring, gradient and step. "
        f"All start with the same weights, after {work.warm_up} supervised steps. Median of "
        f"{work.steps - 1} steps, without the first. *As it practises*, vidya also has {KEEP.lines} book "
        f"lines and {KEEP.talk} rows of talk in the optimizer step. vidya computes no gradient for dead "
        f"groups ({dead[0]:.0f} and {dead[1]:.0f} of {work.groups * (work.steps - 1)}).",
        table(
            (
                *("", "seconds a step", "tokens drawn", "tokens/s, all of the step"),
                *("times as fast a step", "for each token"),
            ),
            rows,
        ),
        f"A key ends idle practice within {max(result['stopping_ms']):.0f} ms ({work.keys} keys at "
        f"random moments of its first {work.longest:.0f} s).",
        "Largest absolute difference between TRL's `_compute_loss` and ours, on the same random "
        "log-probabilities, rewards and lengths (clip 0.2 and 0.28, KL weight 0.07, loss type dapo):",
        table(("term", "difference"), [(k, f"{v:.1e}") for k, v in result["differences"].items()]),
    ]
    write(out, "practice", "Practice", "vidya bench practice --out FOLDER", parts, result)
