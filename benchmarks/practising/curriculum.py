"""Measures what a curriculum saves on a ladder of sums: rollouts until an even mixture can be done.

Part "made" (default) is a made-up learner whose skill at each level grows with the advantages it gets there
and, less, at its neighbours: seconds, and any number of seeds. Part "sums" is the model, on eight levels from
sums of two one-digit numbers to four two-digit ones: all arms start from the same warm-up. Rollouts are
counted, not steps, because redrawing skips dead groups anyway. What is in the output folder is not repeated.
Part "sources" is about text (curriculum_sources.py).

VIDYA_CURRICULUM_PART: "made", "sums" or "sources". VIDYA_CURRICULUM_ARMS: arms, separated by commas.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from benchmarks import BenchOptions
from benchmarks.common.asked import names_asked, one_asked
from benchmarks.common.pupil import EARLIER_PRACTICE, Pupil
from benchmarks.common.report import deviation, table, with_deviation
from benchmarks.common.rows import FINGERPRINT, ReportRows
from benchmarks.common.scratch import scratch_home
from benchmarks.common.weights import fingerprint_of
from benchmarks.practising import curriculum_sources
from benchmarks.practising.curriculum_made import MadeLearner
from learning.curriculum.methods import (
    ArmChoice,
    Boltzmann,
    Exp3,
    LearningProgress,
    Make,
    Thresholds,
    Uniform,
)
from learning.curriculum.settings import CurriculumSettings
from learning.models.store import ModelStore
from learning.practice.options import with_options
from learning.practice.settings import PracticeSettings
from learning.practice.supply.arms import difficulty, split_arm
from learning.practice.supply.mixture import CurriculumSource, TaskMixture
from learning.practice.supply.source import Fits, MakeSource
from learning.practice.trainer import GrpoTrainer
from learning.rewards.registry import find_task
from learning.rewards.task import Task, TaskOptions

SUM, TIMES = "chain_sum", 'basic_arithmetic operators=["+","-","*"] allow_parentheses=false'
LADDER = (
    f"{SUM} min_terms=2 max_terms=2",
    f"{TIMES} min_terms=2 max_terms=2",
    f"{SUM} min_terms=3 max_terms=3",
    f"{TIMES} min_terms=3 max_terms=3",
    f"{SUM} min_terms=2 max_terms=2 min_digits=2 max_digits=2",
    f"{SUM} min_terms=4 max_terms=4",
    f"{SUM} min_terms=3 max_terms=3 min_digits=2 max_digits=2",
    f"{SUM} min_terms=4 max_terms=4 min_digits=2 max_digits=2",
)
"""Terms 2 to 4, digits 1 to 2, with and without products; the easiest first."""
HARDEST = 2


@dataclass(frozen=True)
class Arm:
    """One way to choose."""

    method: Make
    backwards: bool = False
    """Whether the levels are given from the hardest to the easiest."""


ARMS: dict[str, Arm] = {
    "uniform": Arm(Uniform),
    "SEC": Arm(Boltzmann),
    "hardest first": Arm(Thresholds, backwards=True),
    "thresholds": Arm(Thresholds),
    "Exp3": Arm(Exp3),
    "learning progress": Arm(LearningProgress),
}
TARGET = 0.5
"""Held-out accuracy on the even mixture that part "made" counts rollouts to."""
LEAST = 0.67
SETTINGS = with_options(PracticeSettings(groups=32, held_out=160), EARLIER_PRACTICE)
STEPS, MEASURE_EVERY, LAST_LOOKS = 60, 6, 3
MADE_STEPS, MADE_GROUPS, MADE_EVERY = 400, 32, 4
TITLE = "Curriculum: rollouts until an even mixture of eight levels can be done"
CRITERION = (
    "Criterion, written before the first run: SEC needs at most 0.67 of uniform's rollouts to 50 % on the "
    "even mixture, in the mean of the seeds; the two hardest levels end 10 points higher or more; the order "
    "from the hardest level is the worst arm. Settings of all arms are the defaults; nothing was tuned. "
)
MADE = (
    "Part made: seeds 0 to 9, rollouts counted until 50 %. The learner is made up, so this checks the "
    "curricula, not the claim."
)
SUMS = (
    f"Part sums: the 10m, seeds 0 to 2, {STEPS} steps of {SETTINGS.groups} groups of {SETTINGS.group_size} "
    "answers from one warm-up a seed. So few steps end below 50 %, so rollouts are counted until the "
    f"accuracy with which uniform ends (the mean of its last {LAST_LOOKS} looks), measured every "
    f"{MEASURE_EVERY} steps on {SETTINGS.held_out} problems, 20 of each level (a look has a standard error "
    "of 4 points). Run in this order: uniform, SEC, hardest first of seed 0, then of the other seeds."
)


def run(options: BenchOptions) -> dict[str, Any]:
    """See `vidya bench`. Raises NotFound for a part or an arm."""
    part = one_asked("VIDYA_CURRICULUM_PART", ["made", "sums", "sources"])
    if part == "sources":
        return curriculum_sources.run(options)
    usual = list(ARMS) if part == "made" else list(ARMS)[:3]
    arms = names_asked("VIDYA_CURRICULUM_ARMS", ARMS, usual)
    name = "curriculum" if part == "made" else "curriculum_sums"
    about: dict[str, Any] = {"benchmark": "curriculum", "quick": options.quick, "part": part}
    if part == "sums":
        about[FINGERPRINT] = fingerprint_of(options)
    variables = ["VIDYA_CURRICULUM_PART", "VIDYA_CURRICULUM_ARMS"]
    command = options.command("curriculum", seeded=True, variables=variables)
    rows = ReportRows(options.out, name, about, command, TITLE, parts)
    measure = _made if part == "made" else _sums
    for row in measure(options, lambda seed: [a for a in arms if not rows.has(arm=a, seed=seed)]):
        rows.add(row)
        options.say(f"seed {row['seed']}, {row['arm']}: {row['curve'][-1]}")
    return rows.result


Missing = Callable[[int], Sequence[str]]
"""Seed -> the arms that are not measured yet."""


def _made(options: BenchOptions, missing: Missing) -> Iterator[dict[str, Any]]:
    for seed in options.seeds:
        for name in missing(seed):
            learner, rng = MadeLearner(len(LADDER)), random.Random(seed)
            choice, order = _choice(name)
            curve = [_look(0, learner.success())]
            for step in range(1, 1 + (20 if options.quick else MADE_STEPS)):
                levels = [order[arm] for arm in choice.choose(MADE_GROUPS, rng)]
                visits = learner.practise(levels, rng)
                choice.learn([replace(one, arm=order.index(one.arm)) for one in visits])
                if step % MADE_EVERY == 0:
                    curve.append(_look(learner.rollouts, learner.success()))
            for look in curve[1:-1]:
                del look["levels"]  # the first and the last are enough
            yield {"arm": name, "seed": seed, "curve": curve}


def _sums(options: BenchOptions, missing: Missing) -> Iterator[dict[str, Any]]:
    quick = options.quick
    settings = SETTINGS
    if quick:
        warm_up = replace(settings.warm_up, steps=1, measured=8, enough=0.0)
        settings = replace(settings, groups=2, held_out=8, updates=1, warm_up=warm_up)
    ladder = {level: _task(level) for level in LADDER}
    with scratch_home(options) as (home, model_name):
        folder = ModelStore(home).resolve(model_name)
        for seed in options.seeds:
            if not (arms := missing(seed)):
                continue
            mixture = TaskMixture(ladder)
            source = _source(mixture, _choice("uniform")[0])
            warm, last = Pupil.loaded(folder).warmed_up(mixture, settings, seed, source)
            options.say(f"seed {seed}: warm-up {last.step} steps, right {last.success}")
            for name in arms:
                choice, order = _choice(name)
                own = warm.copied()
                mixture = TaskMixture({LADDER[level]: ladder[LADDER[level]] for level in order})
                trainer = own.trainer(mixture, settings, seed, _source(mixture, choice))
                curve = list(_course(trainer, 2 if quick else STEPS, options, f"{seed} {name}"))
                yield {
                    "arm": name,
                    "seed": seed,
                    "warm_up": last.step,
                    "curve": curve,
                    "book": own.book_recall(),
                }


def _course(
    trainer: GrpoTrainer, steps: int, options: BenchOptions, name: str
) -> Iterator[dict[str, Any]]:
    """Looks: before, and every MEASURE_EVERY steps."""
    rollouts = tokens = 0
    look = trainer.look().by_arm()
    yield {**_look(0, [look[level] for level in LADDER if level in look]), "tokens": 0}
    for step in range(1, steps + 1):
        report = trainer.step()
        rollouts += report.groups * trainer.settings.group_size
        tokens += report.tokens
        weights = ", ".join(f"{arm.weight:.2f}" for arm in report.arms)
        options.say(f"{name}: step {step}, {report.updates} updates, weights {weights}")
        if step % MEASURE_EVERY == 0 or step == steps:
            look = trainer.look().by_arm()
            found = [look[level] for level in LADDER if level in look]
            yield {**_look(rollouts, found), "tokens": tokens}


def _look(rollouts: int, levels: Sequence[float]) -> dict[str, Any]:
    return {
        "rollouts": rollouts,
        "accuracy": round(fmean(levels), 4),
        "levels": [round(level, 4) for level in levels],
    }


def _choice(name: str) -> tuple[ArmChoice, list[int]]:
    """(a curriculum that knows nothing, the level of each of its arms)."""
    arm, order = ARMS[name], list(range(len(LADDER)))
    if arm.backwards:
        order.reverse()
    return ArmChoice(len(LADDER), replace(CurriculumSettings(), method=arm.method)), order


def _task(level: str) -> Task:
    name, settings = split_arm(level)
    return find_task(name, TaskOptions(difficulty=difficulty(settings), needs_field=True))


def _source(mixture: TaskMixture, choice: ArmChoice) -> MakeSource:
    def source(_: Task, rng: random.Random, fits: Fits) -> CurriculumSource:
        return CurriculumSource(mixture, choice, rng, fits)

    return source


def rollouts_to(curve: Sequence[dict[str, Any]], target: float) -> int | None:
    """Rollouts at the first look with that accuracy on the mixture; None: never reached."""
    return next((look["rollouts"] for look in curve if look["accuracy"] >= target), None)


def end(curve: Sequence[dict[str, Any]]) -> float:
    """The accuracy on the mixture, 0 to 1, with which a run ends: the mean of its last looks."""
    return fmean(look["accuracy"] for look in curve[-LAST_LOOKS:])


def parts(result: dict[str, Any]) -> Iterator[str]:
    """The report: criterion, table over the seeds, each run."""
    made = result["part"] == "made"
    yield CRITERION + (MADE if made else SUMS)
    rows = result["rows"]
    ends = {r["seed"]: end(r["curve"]) for r in rows if r["arm"] == "uniform"}
    lines, each = [], []
    for arm in dict.fromkeys(row["arm"] for row in rows):
        own = [row for row in rows if row["arm"] == arm]
        targets = [TARGET if made else ends.get(row["seed"], 1.0) for row in own]
        reached = [
            rollouts_to(row["curve"], target) for row, target in zip(own, targets, strict=True)
        ]
        known = [float(one) for one in reached if one is not None]
        final = [100 * row["curve"][-1]["accuracy"] for row in own]
        hard = [100 * fmean(row["curve"][-1]["levels"][-HARDEST:]) for row in own]
        count = f"{len(known)} of {len(own)}"
        mean = with_deviation(fmean(known), deviation(known), 0) if known else "\u2013"
        lines.append(
            [arm, count, mean, *(with_deviation(fmean(v), deviation(v)) for v in (final, hard))]
        )
        each += [
            [row["seed"], arm, one, row["curve"][-1]["rollouts"], *_percent(row)]
            for row, one in zip(own, reached, strict=True)
        ]
    yield table(["arm", "reached", "rollouts", "mixture, %", "hardest two, %"], lines)
    if not made:
        yield "## Each run"
        head = ["seed", "arm", "rollouts to uniform's end", "in all", "mixture, %", "by level, %"]
        yield table(head, each)


def _percent(row: dict[str, Any]) -> list[str]:
    first, last = row["curve"][0], row["curve"][-1]
    levels = " ".join(
        f"{100 * was:.0f}→{100 * now:.0f}"
        for was, now in zip(first["levels"], last["levels"], strict=True)
    )
    return [f"{100 * first['accuracy']:.1f} → {100 * last['accuracy']:.1f}", levels]
