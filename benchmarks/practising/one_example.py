"""Measures whether practice on one example gains as much as on a thousand, and what the order is worth.

Part "few" practises n fixed problems again and again, chosen by how much their success varied in a reference
run, or by chance; beside them answers are paid by a coin (`by_coin`). Part "order" practises one list
once, in five orders with each seed, and splits the variance of what comes out. All arms of a seed start from
the same warm-up. What is in the output folder is not repeated.

VIDYA_ONE_EXAMPLE_PART: "few" or "order"; both by default. VIDYA_ONE_EXAMPLE_TASK: one of TASKS; all by
default.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from benchmarks import BenchOptions
from benchmarks.common.asked import names_asked
from benchmarks.common.pupil import EARLIER_PRACTICE, Pupil
from benchmarks.common.rows import ReportRows, about_run
from benchmarks.common.scratch import scratch_home
from benchmarks.practising.one_example_report import Row, tables
from learning.models.store import ModelStore
from learning.practice.options import with_options
from learning.practice.settings import FewSettings, PracticeSettings
from learning.practice.supply.few import FewSource
from learning.practice.supply.orders import (
    Order,
    as_they_come,
    blocks,
    easy_to_hard,
    hard_to_easy,
    shuffled,
)
from learning.practice.supply.source import Fits, MakeSource
from learning.practice.trainer import GrpoTrainer
from learning.rewards.registry import find_task
from learning.rewards.task import Problem, RewardWeights, Task, TaskOptions
from learning.rewards.verifiers.answer import ParsedAnswer
from learning.rewards.verifiers.verified import Verdict, VerifiedTask

PARTS = ("few", "order")
TASKS = ("syllogism", "propositional_logic")
COUNTS = (1, 4, 16, 1000)
SHAPES = {1: (4, 32), 4: (4, 32), 16: (16, 8), 1000: (32, 4)}
"""Examples -> (groups, answers to each) of a step: always 128 answers, more to each of fewer problems."""
UPDATES, STEPS = 45, 60
VARIED, CHANCE = 3, 2
"""Single examples: those that varied most, and others."""
REFERENCE, CANDIDATES, REFERENCE_SEED = 10, 32, 100
FEW_SEEDS = 2
LIST, ORDER_SEED = 1440, 0
ORDERS: dict[str, Order] = {
    "none": as_they_come,
    "random": shuffled,
    "easy to hard": easy_to_hard,
    "hard to easy": hard_to_easy,
    "blocks": blocks,
}
SETTINGS = with_options(PracticeSettings(updates=1, held_out=200), EARLIER_PRACTICE)
TITLE = "One example, random rewards, and the order of problems"
CRITERION = (
    'Criterion, written before the first run. Part few: one example is "reproduced" on a task if the mean '
    "gain in held-out accuracy of n = 1 is at least 0.5 of that of n = 1000, and above the gain with random "
    "rewards by more than 2 standard errors of the difference; the random arm that gains more counts. "
    "Failure is expected at 10M, mostly through dead groups. Part order: nothing to pass; a table with "
    "intervals. An effect of the order is claimed only where its variance exceeds that of the seed with "
    "p < 0.05 (parametric bootstrap). "
)
ARMS = (
    f"Part few: {' and '.join(TASKS)}, the 10m, seeds 0 and 1, one warm-up a task and seed, then {UPDATES} "
    f"updates, one a step (at most {STEPS} steps), of 128 answers: n = 1 and 4 with 4 groups of 32, n = 16 "
    f"with 16 of 8, n = 1000 with 32 of 4. n = 1 with {VARIED + CHANCE} examples: of the first {CANDIDATES} "
    f"problems the {VARIED} whose success varied most in a reference run of {REFERENCE} steps (from the "
    f"warm-up of seed 0, drawn with seed {REFERENCE_SEED}), and the first {CHANCE} others as controls; "
    "other n: the first n. "
    "Random rewards, 1 or 0 by a coin: n = 1 with the example that varied most, and n = 1000. Part order: "
    f"the first {LIST} problems once, in the orders {', '.join(ORDERS)}, seeds 0 to 2; 32 groups of 4, no "
    "redraws, so at most 45 updates. The shuffled list is the same for all seeds. All other settings are "
    "the defaults; nothing was tuned. Accuracy, form and accuracy among well-formed answers are of greedy "
    "answers to 200 held-out problems (a standard error of at most 3.5 points)."
)


def by_coin(task: VerifiedTask, seed: int) -> VerifiedTask:
    """The task with every answer to a training problem paid 1 or 0 by a coin, whatever it says; held-out
    problems are judged as before. For measurements only: what is gained so was not learned from the truth."""
    rng = random.Random(seed)

    def check(
        problem: Problem, read: Sequence[ParsedAnswer], texts: Sequence[str]
    ) -> list[Verdict]:
        if problem.split == "train":
            return [float(rng.random() < 0.5) for _ in read]
        verdicts = task.check(problem, read, texts)
        return [
            0.0 if task.needs_field and answer.field is None else verdict
            for answer, verdict in zip(read, verdicts, strict=True)
        ]

    # a coin that wants a field would pay for the form
    return replace(task, check=check, weights=RewardWeights(format=0.0), needs_field=False)


@dataclass(frozen=True)
class Arm:
    """One run from a warm-up."""

    part: str
    name: str
    few: FewSettings
    shape: tuple[int, int] = (32, 4)
    random_rewards: bool = False

    @property
    def example(self) -> int | None:
        """The number of the example, if there is one."""
        return self.few.example if self.few.examples == 1 else None


def run(options: BenchOptions) -> dict[str, Any]:
    """See `vidya bench`; --quick measures the first task only. Raises NotFound for a part or a task."""
    chosen_parts = tuple(names_asked("VIDYA_ONE_EXAMPLE_PART", PARTS))
    chosen_tasks = tuple(names_asked("VIDYA_ONE_EXAMPLE_TASK", TASKS))
    variables = ["VIDYA_ONE_EXAMPLE_PART", "VIDYA_ONE_EXAMPLE_TASK"]
    command = options.command("one_example", seeded=True, variables=variables)
    about = about_run(options, "one_example")
    rows = ReportRows(options.out, "one_example", about, command, TITLE, parts)
    with scratch_home(options) as (home, name):
        pupil = Pupil.loaded(ModelStore(home).resolve(name))
        for task in chosen_tasks[: 1 if options.quick else None]:
            for row in _rows(pupil, task, chosen_parts, rows.rows, options):
                rows.add(row)
    return rows.result


def parts(result: dict[str, Any]) -> list[str]:
    """The report: criterion, arms, tables."""
    return [CRITERION + ARMS, *tables(result)]


def _rows(
    pupil: Pupil, name: str, chosen: tuple[str, ...], rows: list[Row], options: BenchOptions
) -> Iterator[Row]:
    """What is missing of one task, seed by seed. rows: those that are there, others of this task too."""
    task = find_task(name, TaskOptions(needs_field=True))
    assert isinstance(task, VerifiedTask)
    settings = _quick(SETTINGS) if options.quick else SETTINGS
    examples: dict[str, list[int]] | None = next(
        (row["examples"] for row in rows if row["task"] == name), None
    )
    for at, seed in enumerate(options.seeds):
        wanted = [part for part in chosen if part == "order" or at < FEW_SEEDS]
        done = {_key(row) for row in rows if row["task"] == name and row["seed"] == seed}
        if examples is not None and not _missing(examples, wanted, done):
            continue
        warm, last = pupil.copied().warmed_up(task, settings, seed)
        options.say(f"{name}, seed {seed}: warm-up {last.step} steps, right {last.success}")
        if examples is None:
            examples = reference(warm.copied(), task, settings, options)
        for arm in _missing(examples, wanted, done):
            own = warm.copied()
            row = practise(own, task, arm, settings, seed, options)
            row |= {"task": name, "seed": seed, "warm_up": last.step, "examples": examples}
            options.say(f"{name}, seed {seed}, {arm.name} {arm.example}: {row['end']}")
            yield row | {"book": own.book_recall()}


def _key(row: Row) -> tuple[str, str, int | None]:
    return row["part"], row["arm"], row["example"]


def _missing(examples: dict[str, list[int]], wanted: Sequence[str], done: set[Any]) -> list[Arm]:
    every = [arm for arm in arms(examples) if arm.part in wanted]
    return [arm for arm in every if (arm.part, arm.name, arm.example) not in done]


def arms(examples: dict[str, list[int]]) -> list[Arm]:
    """All arms of a seed. examples: numbers of the single ones, "varied" and by "chance"."""
    found, single = [], (*examples["varied"], *examples["chance"])
    for count in COUNTS:
        for first in single if count == 1 else (0,):
            few = FewSettings(examples=count, example=first)
            found.append(Arm("few", f"n = {count}", few, SHAPES[count]))
    for count, first in ((1, single[0]), (1000, 0)):
        few = FewSettings(examples=count, example=first)
        name = f"n = {count}, random rewards"
        found.append(Arm("few", name, few, SHAPES[count], random_rewards=True))
    for name, order in ORDERS.items():
        found.append(Arm("order", name, FewSettings(examples=LIST, order=order)))
    return found


def reference(
    pupil: Pupil, task: Task, settings: PracticeSettings, options: BenchOptions
) -> dict[str, list[int]]:
    """Numbers of the single examples: the VARIED that varied most, and the first CHANCE others."""
    steps = 1 if options.quick else REFERENCE
    few = FewSettings(examples=VARIED, reference=steps, candidates=CANDIDATES)
    made: list[FewSource] = []

    def source(task: Task, rng: random.Random, fits: Fits) -> FewSource:
        made.append(FewSource(task, rng, fits, few))
        return made[0]

    trainer = pupil.trainer(task, settings, REFERENCE_SEED, source)
    for _ in range(steps):
        trainer.step()
    varied = list(made[0].numbers)
    options.say(f"varied most: {[(n, round(made[0].variation(n), 3)) for n in varied]}")
    others = [number for number in range(CANDIDATES) if number not in varied]
    return {"varied": varied, "chance": others[:CHANCE]}


def practise(
    pupil: Pupil,
    task: VerifiedTask,
    arm: Arm,
    settings: PracticeSettings,
    seed: int,
    options: BenchOptions,
) -> Row:
    """One run: looks before and after, updates, answers, and the share of dead groups."""
    once = arm.part == "order"
    if not options.quick:
        groups, size = arm.shape
        redraws = 0 if once else settings.redraws
        settings = replace(settings, groups=groups, group_size=size, redraws=redraws)
    trained = by_coin(task, seed) if arm.random_rewards else task
    trainer = pupil.trainer(trained, settings, seed, _source(arm.few))
    start = look(trainer)
    updates = steps = drawn = dead = 0
    most = 1 if options.quick else LIST if once else STEPS
    while steps < most and (drawn < LIST if once else updates < UPDATES):
        report = trainer.step()
        steps, updates = steps + 1, updates + report.updates
        drawn, dead = drawn + report.groups, dead + report.dead_groups
    return {
        "part": arm.part,
        "arm": arm.name,
        "example": arm.example,
        "start": start,
        "end": look(trainer),
        "steps": steps,
        "updates": updates,
        "answers": drawn * settings.group_size,
        "dead": dead / max(1, drawn),
    }


def look(trainer: GrpoTrainer) -> dict[str, float]:
    """Greedy answers to the held-out problems, all 0 to 1: right ones, well-formed ones, and right ones among
    those that are well-formed (0 if none is)."""
    drawn = trainer.roller.draw(
        trainer.model, trainer.problems_held_out, 1, torch.Generator().manual_seed(0), greedy=True
    )
    scores = [sample.score for sample in drawn.samples if sample.score.failed is None]
    formed = [score for score in scores if score.components.get("format") == 1.0]
    return {
        "accuracy": sum(score.success for score in scores) / max(1, len(scores)),
        "format": len(formed) / max(1, len(scores)),
        "among_formed": sum(score.success for score in formed) / max(1, len(formed)),
    }


def _source(few: FewSettings) -> MakeSource:
    """The list does not depend on the seed of a run, nor does its order."""

    def source(task: Task, _: random.Random, fits: Fits) -> FewSource:
        return FewSource(task, random.Random(ORDER_SEED), fits, few)

    return source


def _quick(settings: PracticeSettings) -> PracticeSettings:
    warm_up = replace(settings.warm_up, steps=1, measured=8, enough=1.0)
    return replace(settings, groups=2, redraws=0, max_tokens=16, held_out=8, warm_up=warm_up)
