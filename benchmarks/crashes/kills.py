"""Kills a program with a small model in every save and rename, and at random moments; then forgets what was
taught.

kills_day.py, a separate process, runs the days, the kills and the checks. Requirements: the program starts
again after every kill; after forgetting, no file of the home contains what was taught, every tensor file has
the weights from before it, bit for bit, and no file is left over or unknown. Left out: the app with its
worker and the real model (crash.py), and power loss.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks import ROOT, BenchOptions
from benchmarks.common.report import machine, table, write
from benchmarks.common.scratch import DEFAULT_MODEL
from learning.home import Home
from learning.journal.journal import Journal
from learning.models.store import SHIPPED

KILLS = 200
"""Number of kills at random moments."""


def run(options: BenchOptions) -> dict[str, Any]:
    """Returns the number of kills and `problems`, which is empty if all is well."""
    where, folder = machine(), Path(tempfile.mkdtemp(prefix="vidya-bench-"))
    seed, kills = options.seeds[0], 20 if options.quick else KILLS
    try:
        home = Home(folder / "home")
        _small_model(home.models_path / "tiny")
        Journal(home.journal_path).close()
        every = _rows(options, home, folder / "copy")
        some = _rows(options, home, folder / "copy", kills, seed)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    before = Counter(row["before"].split()[0] for row in every if "before" in row)
    ends = [row for row in some if "status" in row]
    result = {
        "machine": where,
        "seed": seed,
        "calls": sum(before.values()),
        "calls_by_kind": dict(before),
        "random_kills": sum(row["status"] == 9 for row in ends),
        "days_that_ended_first": sum(row["status"] == 0 for row in ends),
        "problems": [_words(row) for row in (*every, *some) if _words(row)],
    }
    if options.out:
        _write(options, result)
    return result


def _small_model(folder: Path) -> None:
    """Writes an untrained model of half a million weights, with the shipped tokenizer."""
    import torch

    from engine.config import CONFIGS
    from engine.model import Model
    from engine.storage.checkpoint import save_model
    from engine.tokenizers.load import load_tokenizer

    tokenizer = load_tokenizer(SHIPPED / DEFAULT_MODEL)
    config = replace(CONFIGS["tiny"], vocab_size=tokenizer.vocab_size)
    model = Model(config, generator=torch.Generator().manual_seed(0))
    save_model(model, folder, dtype=torch.float32)
    tokenizer.save(folder)


def _rows(options: BenchOptions, home: Home, copy: Path, *numbers: int) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "benchmarks.crashes.kills_day", str(home.path), str(copy)]
    rows = list[dict[str, Any]]()
    with subprocess.Popen(
        [*command, *map(str, numbers)],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        text=True,
    ) as days:
        assert days.stdout is not None
        for line in days.stdout:
            rows.append(json.loads(line))
            if "status" in rows[-1]:
                options.say(f"kill {rows[-1]['at']}: {rows[-1]['wrong'] or 'all well'}")
    if days.returncode:
        rows.append({"failed": f"the driver ended with {days.returncode}"})
    return rows


def _words(row: dict[str, Any]) -> str:
    """The faults after a kill as text; empty if there were none."""
    wrong = [*row.get("wrong", ()), *([row["failed"]] if "failed" in row else [])]
    return f"kill {row.get('at', '?')}: {'; '.join(wrong)}" if wrong else ""


def _write(options: BenchOptions, result: dict[str, Any]) -> None:
    kinds = sorted(result["calls_by_kind"].items(), key=lambda item: -item[1])
    facts = [
        ("calls that change a file, killed before each", result["calls"]),
        ("kills at random moments of one home", result["random_kills"]),
        ("days that ended before their kill", result["days_that_ended_first"]),
        ("anything wrong", len(result["problems"])),
    ]
    parts = [
        "A model of half a million weights. A day teaches three lessons, writes margins, the anchor, a "
        "training and notes, exports, undoes, rolls back, imports and removes a model, and forgets. "
        "After each kill the program starts again and forgets the secret; then every file of the "
        "home is checked.",
        table(("", "count"), facts),
        "Killed before:",
        table(("call", "kills"), kinds),
    ]
    if result["problems"]:
        parts += ["Wrong:", "\n".join(f"- {what}" for what in result["problems"])]
    command = options.command("kills")
    write(options.out or Path(), "kills", "Killed in every save and rename", command, parts, result)
