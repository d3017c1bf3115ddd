"""`vidya bench gsm8k`: sums in words by a model that speaks, with python as a calculator and in words alone.

For each way: the model as it comes, after a warm-up of a fixed number of steps, and after GRPO; the same
held-out problems, greedy. VIDYA_GSM8K names the folder or file of the data set (needed), VIDYA_WARM_UP and
VIDYA_STEPS the numbers of steps. A row is written after each stage; a way that is not finished is begun
again. Left out: guard and save points.
"""

from __future__ import annotations

import json
import math
import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks import BenchOptions
from benchmarks.common.asked import count_asked
from benchmarks.common.pupil import EARLIER_RATE, Pupil
from benchmarks.common.report import deviation, table, with_deviation
from benchmarks.common.rows import ReportRows, about_run
from benchmarks.common.scratch import scratch_home
from engine.errors import ConfigError
from learning.maths.paired import changes, mcnemar
from learning.models.store import ModelStore
from learning.practice.options import with_options
from learning.practice.sampling.rollouts import HeldOut
from learning.practice.settings import PracticeSettings, WarmUpSettings
from learning.practice.trained import trained_weights
from learning.rewards.registry import find_task
from learning.rewards.task import TaskOptions


@dataclass(frozen=True)
class Way:
    """How the model is to answer."""

    task: str
    max_tokens: int
    """Of an answer, or of a stretch between two calls."""


NAME, DATA = "gsm8k", "VIDYA_GSM8K"
VARIABLES = (DATA, "VIDYA_WARM_UP", "VIDYA_STEPS")
WAYS = {"calculator": Way("tool_gsm8k", 100), "in words": Way("gsm8k", 220)}
WARM_UP, STEPS = 60, 20
SETTINGS = with_options(
    PracticeSettings(
        groups=8,
        group_size=8,
        rows=64,
        field_below=0,
        warm_up=WarmUpSettings(batch=16, enough=1.0, measured=32, measure_every=20),
    ),
    EARLIER_RATE,
)
QUICK = replace(
    SETTINGS,
    groups=2,
    group_size=2,
    updates=1,
    held_out=2,
    warm_up=WarmUpSettings(batch=2, measured=2, measure_every=1, enough=1.0),
)
STAGES = ("before", "after warm-up", "after GRPO")
TITLE = "GSM8K with a calculator and without"
CRITERION = (
    "Registered before the first run: told as it comes; the aim is a gain of GRPO beyond two standard errors "
    "(McNemar, p < 0.05, on the same 200 held-out problems) with the calculator. Nothing was tuned."
)


def run(options: BenchOptions) -> dict[str, Any]:
    """See `vidya bench`. Raises ConfigError if no data is named, DataError for steps that are no number."""
    warm, steps = (
        (1, 1)
        if options.quick
        else (
            count_asked("VIDYA_WARM_UP", WARM_UP),
            count_asked("VIDYA_STEPS", STEPS, least=1),
        )
    )
    about = about_run(options, NAME) | {"warm_up": warm, "steps": steps}
    command = options.command(NAME, seeded=True, variables=VARIABLES)
    set_by = {"warm_up": "VIDYA_WARM_UP", "steps": "VIDYA_STEPS"}
    rows = ReportRows(options.out, NAME, about, command, TITLE, parts, variables=set_by)
    with tempfile.TemporaryDirectory() as made, scratch_home(options) as (home, name):
        data = _data(Path(made), options.quick)
        folder = ModelStore(home).resolve(name)
        for seed in options.seeds:
            for way in WAYS:
                found = rows.having(way=way, seed=seed)
                if any(len(row["right"]) == len(STAGES) for row in found):
                    continue
                row = {"way": way, "seed": seed, "right": [], "calls": [], "seconds": []}
                for stage in _stages(folder, data, way, seed, warm, steps, options, row):
                    options.say(f"{way}, seed {seed}: {stage}: {row}")
                    rows.drop(way=way, seed=seed)
                    rows.add(row)
    return rows.result


def _stages(
    folder: Path,
    data: Path,
    way: str,
    seed: int,
    warm: int,
    steps: int,
    options: BenchOptions,
    row: dict[str, Any],
) -> Iterator[str]:
    """Yields the name of each stage when its figures are in the row."""
    pupil, settings = Pupil.loaded(folder), QUICK if options.quick else SETTINGS
    settings = replace(settings, max_tokens=8 if options.quick else WAYS[way].max_tokens)
    settings = replace(settings, warm_up=replace(settings.warm_up, steps=warm))
    task = find_task(WAYS[way].task, TaskOptions(data=data, needs_field=True))
    trained = trained_weights(pupil.model, settings.adapter, seed)
    began, looks = time.monotonic(), list[HeldOut]()

    def told(stage: str) -> str:
        looks.append(trainer.look())
        row["right"].append(looks[-1].accuracy)
        row["calls"].append(looks[-1].components.get("python_count"))
        row["seconds"].append(round(time.monotonic() - began))
        if len(looks) > 1:
            lost, gained = changes(looks[-2].right, looks[-1].right)
            row.setdefault("p", []).append(mcnemar(lost, gained))
        return stage

    with trained.training():
        trainer = pupil.trainer(task, settings, seed, trained=trained)
        yield told(STAGES[0])
        trainer.warm_up(
            lambda now: options.say(f"  warm-up {now.step}: loss {now.loss:.3f}, {now.success}"),
            lambda: False,
        )
        yield told(STAGES[1])
        for _ in range(steps):
            report = trainer.step()
            options.say(
                f"  step {report.step}: right {report.success:.2f}, {report.updates} updates"
            )
        yield told(STAGES[2])
    task.close()


def _data(folder: Path, quick: bool) -> Path:
    if place := os.environ.get(DATA, ""):
        return Path(place).expanduser()
    if not quick:
        raise ConfigError(
            f"{NAME} needs its data",
            f"name the folder of the data set: {DATA}=FOLDER vidya bench {NAME}",
        )
    path = folder / "rows.jsonl"
    rows = [
        {
            "question": f"What is {n} + 2?",
            "answer": f"{n} + 2 = <<{n}+2={n + 2}>>{n + 2}\n#### {n + 2}",
        }
        for n in range(40)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def parts(result: dict[str, Any]) -> Iterator[str]:
    """The report: criterion, means over seeds, each run."""
    yield CRITERION
    batch, groups, answers = SETTINGS.warm_up.batch, SETTINGS.groups, SETTINGS.group_size
    yield (
        f"{result['model']}; warm-up of {result['warm_up']} steps of {batch} worked answers, then "
        f"{result['steps']} steps of GRPO on {groups} problems with {answers} answers each. Models "
        "of 100 million weights and more are practised with adapters, as in the app."
    )
    lines, each = [], []
    for way in WAYS:
        own = [row for row in result["rows"] if row["way"] == way]
        whole = [row for row in own if len(row["right"]) == len(STAGES)]
        if whole:
            columns = [[100 * row["right"][at] for row in whole] for at in range(len(STAGES))]
            means = [with_deviation(fmean(one), deviation(one)) for one in columns]
            lines.append([way, len(whole), *means])
        each += [[way, row["seed"], *_shown(row)] for row in own]
    yield table(["way", "seeds", *(f"{stage}, %" for stage in STAGES)], lines)
    yield "Each run; ± one standard error of 200 problems; p by McNemar against the stage before:"
    yield table(["way", "seed", *STAGES, "calls an answer", "p", "seconds"], each)


def _shown(row: dict[str, Any]) -> list[str]:
    right = [f"{100 * p:.1f} ± {100 * math.sqrt(p * (1 - p) / 200):.1f}" for p in row["right"]]
    right += [""] * (len(STAGES) - len(right))
    calls = ", ".join("\u2013" if one is None else f"{one:.2f}" for one in row["calls"])
    return [*right, calls, ", ".join(f"{p:.2g}" for p in row.get("p", [])), str(row["seconds"][-1])]
