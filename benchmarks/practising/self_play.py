"""Self-play on sums: whether questions of its own teach a model as much as those of a generator.

From one warm-up on sums of two one-digit numbers (and on asking) every arm practises: questions of its own
paid by learnability, or by being unanswerable (the adversarial baseline), and those of a generator that draws
evenly from five levels, with as many tokens of answers. No arm but the generator's ever sees a problem of the
other levels. Rows that are in the results of --out already are not repeated, so an interrupted run resumes.

VIDYA_SELF_PLAY_ARMS: arms, separated by commas.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks import BenchOptions
from benchmarks.common.asked import names_asked
from benchmarks.common.pupil import EARLIER_PRACTICE, Pupil
from benchmarks.common.report import deviation, table, with_deviation
from benchmarks.common.rows import ReportRows, about_run
from benchmarks.common.scratch import scratch_home
from learning.curriculum.methods import ArmChoice, Uniform
from learning.curriculum.settings import CurriculumSettings
from learning.maths.learnability import adversarial, learnability
from learning.models.store import ModelStore
from learning.practice.figures import mean
from learning.practice.options import with_options
from learning.practice.sampling.rollouts import HeldOut, held_out_problems
from learning.practice.self_play.trainer import SelfPlayTrainer
from learning.practice.settings import PracticeSettings, SelfPlaySettings
from learning.practice.supply.arms import difficulty, split_arm
from learning.practice.supply.mixture import CurriculumSource, TaskMixture
from learning.practice.supply.source import Fits
from learning.practice.trainer import GrpoTrainer
from learning.protocol.records import AskingFigures
from learning.rewards.registry import find_task
from learning.rewards.task import Problem, Task, TaskOptions

SUM = "chain_sum"
LADDER = {
    "2x1": f"{SUM} min_terms=2 max_terms=2",
    "3x1": f"{SUM} min_terms=3 max_terms=3",
    "4x1": f"{SUM} min_terms=4 max_terms=4",
    "2x2": f"{SUM} min_terms=2 max_terms=2 min_digits=2 max_digits=2",
    "3x2": f"{SUM} min_terms=3 max_terms=3 min_digits=2 max_digits=2",
}
"""Terms x digits -> the level as one types it."""
PAID: dict[str, Callable[[float], float]] = {
    "learnability": learnability,
    "adversarial": adversarial,
}
GENERATOR = "generator"
ARMS = ("learnability", GENERATOR, "adversarial")
"""In this order, because the generator has as many tokens as the first."""
STEPS, MEASURE_EVERY, HELD_OUT = 60, 20, 200
SETTINGS = with_options(
    PracticeSettings(held_out=16, self_play=SelfPlaySettings(questions=16)), EARLIER_PRACTICE
)
TITLE = "Self-play: sums that the model asks itself"
CRITERION = (
    "Criterion, written before the first run. In the mean of three seeds: (1) with learnability held-out "
    "accuracy rises by at least 15 points over the start; (2) this gain is at least 0.9 of the generator's "
    "with as many tokens of answers; (3) the questions move to higher levels from the first five steps to "
    "the last five (mean of terms x digits); (4) the adversarial arm gains at most half of it, and in the "
    "mean of its last five steps less than 10 % of its answers are right. "
)
PLAN = (
    "The 10m, seeds 0 to 2, one warm-up a seed until a fifth of its answers to sums of two one-digit "
    "numbers, and of its questions, are right; the 50 example questions, which have no answers, "
    f"are of all sizes up to four terms and two digits. Then {STEPS} steps of 16 groups of 4 questions, 8 "
    "answers to each different one. The generator's groups have 8 answers too, and it goes on until it has "
    "drawn as many tokens of answers as the learnability arm of its seed. All other settings are the "
    "defaults of then (a rate of 1.5e-4). Of these the questions' `kl_reward` (0.2), the batch's deviation "
    "in their advantages and the groups of answers that an update needs (8) were chosen on seed 11. "
    f"Accuracy is of greedy answers to {HELD_OUT} held-out problems, {HELD_OUT // len(LADDER)} of each of "
    f"the levels {', '.join(LADDER)} (a standard error of at most 3.5 points)."
)

Row = dict[str, Any]
ARMS_VARIABLE = "VIDYA_SELF_PLAY_ARMS"


def run(options: BenchOptions) -> dict[str, Any]:
    """See `vidya bench`. Raises NotFound for an arm."""
    arms = names_asked(ARMS_VARIABLE, ARMS)
    command = options.command("self_play", seeded=True, variables=[ARMS_VARIABLE])
    about = about_run(options, "self_play")
    rows = ReportRows(options.out, "self_play", about, command, TITLE, parts)
    with scratch_home(options) as (home, name):
        folder = ModelStore(home).resolve(name)
        for seed in options.seeds:
            there = {row["arm"]: row for row in rows.having(seed=seed)}
            for row in _rows(folder, seed, [a for a in arms if a not in there], there, options):
                rows.add(row)
                options.say(f"seed {seed}, {row['arm']}: {row['curve'][-1]}")
    return rows.result


def _rows(
    folder: Path, seed: int, arms: Sequence[str], there: dict[str, Row], options: BenchOptions
) -> Iterator[Row]:
    """The missing arms of a seed, all from the weights of one warm-up. there: the rows of this seed."""
    if not arms:
        return
    settings = _quick(SETTINGS) if options.quick else SETTINGS
    steps = 1 if options.quick else STEPS
    task, ladder = _task(SUM), TaskMixture({name: _task(arm) for name, arm in LADDER.items()})
    pupil = Pupil.loaded(folder)
    warm = pupil.trainer(task, settings, seed, kind=SelfPlayTrainer)
    last = warm.warm_up(lambda _: None, lambda: False)
    pupil = replace(pupil, tokenizer=warm.tokenizer)
    options.say(f"seed {seed}: warm-up {last.step} steps, right and valid {last.success}")
    problems = held_out_problems(ladder, 5 if options.quick else HELD_OUT)
    for arm in arms:
        own = pupil.copied()
        enough = None
        if arm == GENERATOR:
            enough = there[ARMS[0]]["curve"][-1]["tokens"] if ARMS[0] in there else None
            size = settings.self_play.answers
            groups = max(1, settings.groups * settings.group_size // size)
            plain = replace(settings, groups=groups, group_size=size)
            trainer = own.trainer(ladder, plain, seed, _uniform)
        else:
            paid = replace(settings.self_play, reward=PAID[arm])
            played = replace(settings, self_play=paid)
            trainer = own.trainer(task, played, seed, kind=SelfPlayTrainer)
        row = course(trainer, problems, steps, enough, options.say)
        row |= {"arm": arm, "seed": seed, "warm_up": last.step, "book": own.book_recall()}
        there[arm] = row
        yield row


def course(
    trainer: GrpoTrainer,
    problems: Sequence[Problem],
    steps: int,
    tokens: int | None,
    say: Callable[[str], None],
) -> Row:
    """One run of `steps` steps, or until so many tokens of answers are drawn: looks at the held-out problems
    every MEASURE_EVERY steps, and what was asked in the first and last five steps."""
    began, drawn, step = time.process_time(), 0, 0
    asking: list[AskingFigures] = []
    success: list[float] = []
    curve = [_look(trainer, problems, 0, 0)]
    while step < steps if tokens is None else drawn < tokens:
        report = trainer.step()
        step, drawn = step + 1, drawn + report.tokens
        success.append(report.success)
        asking += [report.asking] if report.asking else []
        own = f", {asking[-1].valid} valid, {asking[-1].distinct} different" if asking else ""
        say(f"  step {step}: right {report.success:.2f}, {report.updates} updates{own}")
        if step % MEASURE_EVERY == 0:
            curve.append(_look(trainer, problems, step, drawn))
    if curve[-1]["step"] != step:
        curve.append(_look(trainer, problems, step, drawn))
    return {
        "curve": curve,
        "success": [round(mean(part), 4) for part in (success[:5], success[-5:])],
        "asked": [_asked(part) for part in (asking[:5], asking[-5:])] if asking else None,
        "sizes": [round(mean_size(one.levels), 2) for one in asking],
        "cpu": round(time.process_time() - began, 1),
    }


def _look(trainer: GrpoTrainer, problems: Sequence[Problem], step: int, tokens: int) -> Row:
    look: HeldOut = trainer.roller.held_out(trainer.model, problems)
    arms = tuple(problem.arm for problem in problems)
    levels = HeldOut(look.right, {}, arms).by_arm()
    return {
        "step": step,
        "tokens": tokens,
        "accuracy": round(look.accuracy, 4),
        "levels": {name: round(value, 4) for name, value in levels.items()},
    }


def _asked(steps: Sequence[AskingFigures]) -> Row:
    """The questions of some steps together."""
    levels: dict[str, int] = {}
    for one in steps:
        for level, count in one.levels.items():
            levels[level] = levels.get(level, 0) + count
    valid = sum(one.valid for one in steps)
    return {
        "valid": round(valid / sum(one.asked for one in steps), 4),
        "distinct": round(fmean(one.variety for one in steps), 4),
        "right": round(fmean(one.success for one in steps), 4),
        "size": round(mean_size(levels), 4),
        "levels": dict(sorted(levels.items())),
    }


def mean_size(levels: dict[str, int]) -> float:
    """Mean number of terms x digits of questions, by how many are of each level; 0 without any."""
    total = sum(levels.values())
    sizes = {level: int(level[0]) * int(level[2]) for level in levels}
    return sum(sizes[level] * count for level, count in levels.items()) / max(1, total)


def _uniform(task: Task, rng: random.Random, fits: Fits) -> CurriculumSource:
    assert isinstance(task, TaskMixture)
    method = replace(CurriculumSettings(), method=Uniform)
    return CurriculumSource(task, ArmChoice(len(task.tasks), method), rng, fits)


def _task(arm: str) -> Task:
    name, settings = split_arm(arm)
    return find_task(name, TaskOptions(difficulty=difficulty(settings), needs_field=True))


def _quick(settings: PracticeSettings) -> PracticeSettings:
    warm_up = replace(settings.warm_up, steps=1, measured=8, enough=1.0)
    own = SelfPlaySettings(questions=2, answers=2, examples=4)
    return replace(
        settings, groups=2, redraws=0, max_tokens=16, held_out=8, warm_up=warm_up, self_play=own
    )


def parts(result: dict[str, Any]) -> Iterator[str]:
    """The report: criterion, means over the seeds, each run."""
    yield CRITERION + PLAN
    rows = result["rows"]
    means = []
    for arm in ARMS:
        own = [row for row in rows if row["arm"] == arm]
        if own:
            gains = [100 * gain(row) for row in own]
            share = [
                gain(row) / gain(other)
                for row in own
                for other in rows
                if other["arm"] == GENERATOR and other["seed"] == row["seed"] and gain(other)
            ]
            ends = [100 * row["success"][1] for row in own]
            cells = [with_deviation(fmean(found), deviation(found)) for found in (gains, ends)]
            means.append([arm, len(own), *cells, fmean(share) if share else None])
    head = ["arm", "seeds", "gain, points", "right in the last five steps, %"]
    yield table([*head, "of the generator's gain"], means)
    yield "## Each run"
    head = ["seed", "arm", "held out, %", "by level, %", "steps", "tokens", "minutes of processor"]
    yield table(
        [*head, "book, %"],
        [
            [row["seed"], row["arm"], *_went(row), row["curve"][-1]["step"]]
            + [row["curve"][-1]["tokens"], row["cpu"] / 60, 100 * row["book"]]
            for row in rows
        ],
    )
    yield "## Questions, first five steps and last five"
    head = ["seed", "arm", "valid, %", "different, %", "right, %", "terms x digits"]
    yield table(
        [*head, "levels of the last five"],
        [[row["seed"], row["arm"], *_questions(*row["asked"])] for row in rows if row["asked"]],
    )


def gain(row: Row) -> float:
    """Held-out accuracy gained, 0 to 1."""
    return float(row["curve"][-1]["accuracy"] - row["curve"][0]["accuracy"])


def _went(row: Row) -> list[str]:
    first, last = row["curve"][0], row["curve"][-1]
    levels = ", ".join(
        f"{name} {100 * was:.0f} → {100 * last['levels'][name]:.0f}"
        for name, was in first["levels"].items()
    )
    return [f"{100 * first['accuracy']:.1f} → {100 * last['accuracy']:.1f}", levels]


def _questions(first: Row, last: Row) -> list[str]:
    shares = [
        f"{100 * first[name]:.0f} → {100 * last[name]:.0f}"
        for name in ("valid", "distinct", "right")
    ]
    levels = ", ".join(f"{level} {count}" for level, count in last["levels"].items())
    return [*shares, f"{first['size']:.2f} → {last['size']:.2f}", levels]
