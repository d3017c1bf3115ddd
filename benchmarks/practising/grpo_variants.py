"""`vidya bench grpo_variants`: variants of GRPO from the same warm-up, at equal drawn tokens.

A run takes steps until it has drawn VIDYA_TOKENS tokens (default 120,000); held-out problems are answered
every five steps. Left out: guard and save points. VIDYA_TASKS selects tasks, VIDYA_VARIANTS arms, separated
by commas. Runs in the output folder are not repeated, so an interrupted benchmark resumes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from benchmarks import BenchOptions
from benchmarks.common.asked import count_asked, names_asked
from benchmarks.common.pupil import EARLIER_PRACTICE, QUICK_PRACTICE, Pupil
from benchmarks.common.report import deviation, table, with_deviation
from benchmarks.common.rows import ReportRows, about_run
from benchmarks.common.scratch import scratch_home
from learning.models.store import ModelStore
from learning.practice.options import with_options
from learning.practice.sampling.rollouts import Drawn
from learning.practice.settings import PracticeSettings
from learning.practice.trainer import GrpoTrainer
from learning.rewards.registry import find_task
from learning.rewards.task import Task, TaskOptions


@dataclass(frozen=True)
class Arm:
    """A variant: options of practice."""

    options: tuple[str, ...] = ()
    buffered: bool = True
    """False: a step is taken on however many of the 32 groups of one rollout differ in reward."""


NAME, BUFFER, NONE = "grpo_variants", "buffer 32", "no buffer"
ARMS: dict[str, Arm] = {
    NONE: Arm(("redraws=0",), buffered=False),
    BUFFER: Arm(),
    "buffer 64": Arm(("buffer_size=64",)),
    "by answer": Arm(("normalise=by_answer",)),
    "Dr. GRPO": Arm(("normalise=by_constant", "advantages=dr_grpo")),
    "sequence ratio": Arm(("ratio=sequence",)),
}
"""The most wanted first."""
TASKS = ("syllogism", "propositional_logic")
TOKENS, EVERY = 120_000, 5
LEAST = 3.0
"""Points by which the buffer was expected to be better."""
VARIABLES = ("VIDYA_TASKS", "VIDYA_VARIANTS", "VIDYA_TOKENS")
TITLE = "Variants of GRPO at equal drawn tokens"
CRITERION = (
    f"Criterion, written before the first run: with a buffer of 32 groups practice ends at least {LEAST:g} "
    "points higher than with steps on however many groups differ, on both tasks in the mean of three seeds; "
    "or else it does not matter. The other arms are told as they come. All settings but those named are the "
    "defaults; nothing was tuned."
)
SETTINGS = with_options(PracticeSettings(), EARLIER_PRACTICE)
QUICK = with_options(SETTINGS, QUICK_PRACTICE)


class Unbuffered(GrpoTrainer):
    """Takes a step on the groups of the newest rollout, however few differ in reward."""

    def _draw(self) -> list[Drawn]:
        self._buffer.size = self.settings.groups
        drawn = super()._draw()
        self._buffer.size = max(1, len(self._buffer))
        return drawn


def run(options: BenchOptions) -> dict[str, Any]:
    """See `vidya bench`."""
    budget = 64 if options.quick else count_asked("VIDYA_TOKENS", TOKENS)
    about = about_run(options, NAME) | {"tokens": budget}
    tasks, arms = names_asked("VIDYA_TASKS", TASKS), names_asked("VIDYA_VARIANTS", ARMS)
    command = options.command(NAME, seeded=True, variables=VARIABLES)
    rows = ReportRows(
        options.out, NAME, about, command, TITLE, parts, variables={"tokens": "VIDYA_TOKENS"}
    )
    with scratch_home(options) as (home, name):
        folder = ModelStore(home).resolve(name)
        for seed in options.seeds:
            for task_name in tasks:
                done = [row["arm"] for row in rows.having(task=task_name, seed=seed)]
                if not (missing := [arm for arm in arms if arm not in done]):
                    continue
                settings = QUICK if options.quick else SETTINGS
                task = find_task(task_name, TaskOptions(needs_field=True))
                warm, last = Pupil.loaded(folder).warmed_up(task, settings, seed)
                options.say(f"{task_name}, seed {seed}: warm-up of {last.step} steps")
                for arm in missing:
                    row = _practised(warm.copied(), task, settings, seed, ARMS[arm], budget)
                    rows.add({"task": task_name, "arm": arm, "seed": seed, **row})
                    options.say(f"{task_name}, {arm}, seed {seed}: {row}")
                task.close()
    return rows.result


def _practised(
    pupil: Pupil, task: Task, settings: PracticeSettings, seed: int, arm: Arm, budget: int
) -> dict[str, Any]:
    settings = with_options(settings, arm.options)
    trainer = pupil.trainer(task, settings, seed, kind=GrpoTrainer if arm.buffered else Unbuffered)
    curve = [[0, trainer.accuracy()]]
    tokens = steps = updates = 0
    while tokens < budget:
        report = trainer.step()
        tokens, steps, updates = tokens + report.tokens, steps + 1, updates + report.updates
        if steps % EVERY == 0:
            curve.append([tokens, trainer.accuracy()])
    if steps % EVERY:
        curve.append([tokens, trainer.accuracy()])
    return {"steps": steps, "updates": updates, "curve": curve, "book": pupil.book_recall()}


def parts(result: dict[str, Any]) -> Iterator[str]:
    """The report: criterion, means over seeds, each run."""
    yield CRITERION
    yield (
        f"A step draws answers to 32 problems, four each, until {result['tokens']:,} tokens are drawn. Held "
        "out: 200 problems, greedy (one standard error is 3 to 3.5 points). All arms of a seed begin with "
        "the same weights."
    )
    rows = result["rows"]
    lines, each = [], []
    for task in dict.fromkeys(row["task"] for row in rows):
        for arm in ARMS:
            own = [row for row in rows if (row["task"], row["arm"]) == (task, arm)]
            if not own:
                continue
            start, end = ([100 * row["curve"][at][1] for row in own] for at in (0, -1))
            gains = [now - was for was, now in zip(start, end, strict=True)]
            means = [with_deviation(fmean(v), deviation(v)) for v in (start, end, gains)]
            counts = [fmean(row[name] for row in own) for name in ("steps", "updates")]
            lines.append([task, arm, len(own), *means, *counts, 100 * min(r["book"] for r in own)])
    head = ["task", "arm", "seeds", "after warm-up, %", "at the end, %", "gain, points"]
    yield table([*head, "steps", "updates", "lowest book, %"], lines)
    for row in sorted(rows, key=lambda r: (r["task"], r["seed"], list(ARMS).index(r["arm"]))):
        curve = ", ".join(f"{100 * right:.0f}" for _, right in row["curve"])
        each.append([row["task"], row["seed"], row["arm"], row["steps"], row["updates"], curve])
    yield f"Each run; held-out accuracy in percent at the start and every {EVERY} steps:"
    yield table(["task", "seed", "arm", "steps", "updates", "accuracy"], each)
