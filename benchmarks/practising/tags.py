"""Measures practice with the tags of answers as text and as single tokens: tokens, accuracy, processor time.

Each run is a warm-up with the settings of `vidya practice` of then, and steps of GRPO, without guard and save
points. Processor time is that of warm-up and steps, without the looks at held-out problems. VIDYA_TASKS
selects tasks, separated by commas; VIDYA_STEPS sets the steps (default 15). Runs in the output folder
are not repeated, so an interrupted benchmark resumes.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks import BenchOptions
from benchmarks.common.asked import count_asked
from benchmarks.common.pupil import EARLIER_PRACTICE, QUICK_PRACTICE, Pupil
from benchmarks.common.report import table
from benchmarks.common.rows import ReportRows, about_run
from benchmarks.common.scratch import scratch_home
from engine.tokenizers.tokenizer import Tokenizer
from learning.models.store import ModelStore
from learning.practice.options import with_options
from learning.practice.settings import PracticeSettings
from learning.practice.tags import as_text, as_tokens
from learning.rewards.registry import find_task
from learning.rewards.task import Task, TaskOptions

TASKS = ("syllogism", "propositional_logic")
ARMS = {"text": as_text, "tokens": as_tokens}
STEPS, WORKED = 15, 300
SETTINGS = with_options(PracticeSettings(), EARLIER_PRACTICE)
QUICK = with_options(SETTINGS, QUICK_PRACTICE)
TITLE = "Tags of answers as text and as single tokens"
CRITERION = (
    "Criterion, written before the first run: with single tokens a step draws at most 0.6 of the tokens, and "
    "held-out accuracy gains at least 1.5 times as much a processor minute, from the untrained model to the "
    "last step, on both tasks in the mean of three seeds; accuracy at equal steps is not lower. Nothing was "
    "tuned."
)
NAME = "tags"
VARIABLES = ("VIDYA_TASKS", "VIDYA_STEPS")


def run(options: BenchOptions) -> dict[str, Any]:
    """See `vidya bench`. Raises DataError for steps that are no number."""
    wanted = [name for name in os.environ.get("VIDYA_TASKS", "").split(",") if name] or TASKS
    steps = 1 if options.quick else count_asked("VIDYA_STEPS", STEPS, least=1)
    about = about_run(options, NAME) | {"steps": steps}
    command = options.command(NAME, seeded=True, variables=VARIABLES)
    rows = ReportRows(
        options.out, NAME, about, command, TITLE, parts, variables={"steps": "VIDYA_STEPS"}
    )
    with scratch_home(options) as (home, name):
        folder = ModelStore(home).resolve(name)
        for seed in options.seeds:
            for task in wanted:
                for arm in ARMS:
                    if rows.has(task=task, arm=arm, seed=seed):
                        continue
                    row = _measured(folder, task, seed, steps, arm, options.quick)
                    rows.add({"task": task, "arm": arm, "seed": seed, **row})
                    options.say(f"{task}, {arm}, seed {seed}: {row}")
    return rows.result


def parts(result: dict[str, Any]) -> Iterator[str]:
    """The report: criterion, table."""
    yield CRITERION
    yield f"{result['steps']} steps of GRPO after warm-up."
    head = ["task", "tags", "seed", "tokens a worked answer", "tokens a drawn answer"]
    head += ["warm-up steps", "right after it, %", "right at the end, %", "processor min"]
    yield table(
        [*head, "points a min"],
        [
            [row["task"], row["arm"], row["seed"], row["worked"], row["drawn"], row["warm_up"]]
            + [100 * row["warm"], 100 * row["after"], row["minutes"], row["gain"]]
            for row in sorted(result["rows"], key=lambda r: (r["task"], r["arm"], r["seed"]))
        ],
    )


def worked_tokens(tokenizer: Tokenizer, task: Task, arm: str) -> float:
    """Mean number of ids of a worked answer, its end included."""
    problems = task.problems("train", random.Random(0))
    return fmean(1 + len(ARMS[arm](tokenizer, next(problems).worked or "")) for _ in range(WORKED))


def _measured(
    folder: Path, task: str, seed: int, steps: int, arm: str, quick: bool
) -> dict[str, float]:
    pupil = Pupil.loaded(folder)
    settings = QUICK if quick else SETTINGS
    settings = replace(settings, warm_up=replace(settings.warm_up, tags=ARMS[arm]))
    practised = find_task(task, TaskOptions(needs_field=True))
    trainer = pupil.trainer(practised, settings, seed)
    before, began = trainer.accuracy(), time.process_time()
    last = trainer.warm_up(lambda _: None, lambda: False)
    spent = time.process_time() - began
    warm, began = trainer.accuracy(), time.process_time()
    reports = [trainer.step() for _ in range(steps)]
    minutes = (spent + time.process_time() - began) / 60
    after = trainer.accuracy()
    practised.close()
    return {
        "worked": worked_tokens(pupil.tokenizer, practised, arm),
        "drawn": fmean(report.length for report in reports),
        "step_tokens": fmean(report.tokens for report in reports),
        "warm_up": last.step,
        "before": before,
        "warm": warm,
        "after": after,
        "warm_minutes": spent / 60,
        "minutes": minutes,
        "gain": 100 * (after - before) / minutes,
    }
