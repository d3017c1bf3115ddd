"""`vidya bench alarms`: whether practice tells runs that fail from others, and what is kept of each.

All runs of a seed begin with the same warm-up. Those of the arm `as it comes` are practised with the settings
of the product when they were first measured; the others fail on purpose: they are paid for something else, or
the rate is too high. Beside the held-out problems that practice looks at, others are answered, which it does
not see. Each run is a row in alarms.json and is not made again.
VIDYA_ALARMS_ARMS: arms, separated by commas.
Left out: the signs of a learned reward (benchmarks.likes.taste_practice), and those of tools
(benchmarks.practising.tools).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchmarks import BenchOptions
from benchmarks.common.asked import names_asked
from benchmarks.common.pupil import EARLIER_PRACTICE, QUICK_PRACTICE, Kept, Pupil
from benchmarks.common.report import table
from benchmarks.common.rows import ReportRows, about_run_of_stem
from benchmarks.common.scratch import scratch_home
from learning.models.store import ModelStore
from learning.practice.options import with_options
from learning.practice.run import Evaluation, PracticeRun
from learning.practice.sampling.rollouts import held_out_problems
from learning.practice.settings import PracticeSettings
from learning.practice.trainer import GrpoTrainer
from learning.rewards.registry import find_task
from learning.rewards.task import Problem, Score, Task, TaskOptions

NAME = "alarms"
TITLE = "Alarms of practice: runs that fail and runs that do not"
TASK = "syllogism"
CHECKED = 200
"""Held-out problems that practice does not look at."""
LOST = 0.1
"""A run has failed once its accuracy is this far below its best; share of all problems."""
LONG = 300
"""Characters of an answer for which the arm `paid for length` pays most."""

Pay = Callable[[str, Score], float]
"""(answer, score) -> the reward in its place, 0 to 1."""


@dataclass(frozen=True)
class Arm:
    """A way to practise."""

    options: tuple[str, ...] = ()
    pay: Pay | None = None
    """In place of the task's reward."""


def for_length(answer: str, score: Score) -> float:
    """One fifth for a right answer, the rest for a long one."""
    return 0.2 * score.total + 0.8 * min(1.0, len(answer) / LONG)


def for_wrong(answer: str, score: Score) -> float:
    """A key with the answers the wrong way round, as a mistake in a verifier would have it."""
    return 0.0 if score.correct else 1.0


GOOD = "as it comes"
ARMS: dict[str, Arm] = {
    GOOD: Arm(),
    "paid for length": Arm(pay=for_length),
    "wrong key": Arm(pay=for_wrong),
    "rate x 10": Arm(("lr=0.0015",)),
    "three problems": Arm(("few.examples=3", "lr=0.0005")),
}
SETTINGS = with_options(
    PracticeSettings(), (*EARLIER_PRACTICE, "steps=12", "groups=16", "measure_every=3")
)
QUICK = with_options(SETTINGS, ("steps=2", *QUICK_PRACTICE))
POINTS = f"{100 * LOST:.0f} points"
CRITERION = f"""Criterion, written after a pilot (seeds 100 to 103) and before the runs below. A run fails
if its accuracy on {CHECKED} held-out problems, which practice does not look at, is at a save point {POINTS}
below its best before. Practice reports a run when it raises an alarm, holds weights back or takes them
back. (a) Of 20 runs with the product's settings it reports at most one that has not failed. (b) It reports
every run that fails, at the latest at the first save point at which the run has lost {POINTS}. (c) The
weights that it keeps of a run are less than {POINTS} below the run's best. The table also counts reports
before {POINTS} are lost. In the pilot a policy that is paid for the wrong thing lost 35 to 60 points
between two save points, two steps, so no report can come before; hence (c). Task {TASK}, 10m, 12 steps of
16 problems with 4 answers each, a save point every 3 steps; all else is the default. Arms: **{GOOD}**, 20
seeds; **paid for length**: 80 % of the reward is for long answers; **wrong key**: wrong answers are paid,
right ones are not; **rate x 10**; **three problems**: the same three in every step, at the rate 5e-4 in
place of 1.5e-4; five seeds each. Nothing was tuned."""


class Repaid:
    """Replaces the reward of a task; whether an answer counts as right stays as the task says."""

    def __init__(self, task: Task, pay: Pay) -> None:
        self._task, self._pay = task, pay

    def __getattr__(self, name: str) -> Any:
        return getattr(self._task, name)

    def score(self, problem: Problem, answers: Sequence[str]) -> list[Score]:
        """See Task."""
        scores = self._task.score(problem, answers)
        return [
            replace(score, total=self._pay(answer, score))
            for answer, score in zip(answers, scores, strict=True)
        ]


class Watched(Kept):
    """Measures the present weights before it restores the kept ones."""

    def __init__(self, trainer: GrpoTrainer, measure: Callable[[], float]) -> None:
        self._measure = measure
        self.given_up: list[float] = []
        super().__init__(trainer.model)

    def restore(self) -> None:
        """See Kept."""
        self.given_up.append(self._measure())
        super().restore()


def run(options: BenchOptions) -> dict[str, Any]:
    """See `vidya bench`."""
    settings = QUICK if options.quick else SETTINGS
    command = options.command(NAME, seeded=True, variables=["VIDYA_ALARMS_ARMS"])
    about = about_run_of_stem(options, NAME)
    rows = ReportRows(options.out, options.stem(NAME), about, command, TITLE, parts)
    with scratch_home(options) as (home, name):
        folder = ModelStore(home).resolve(name)
        for seed in options.seeds:
            arms = [arm for arm in _wanted(seed, options) if not rows.has(arm=arm, seed=seed)]
            if not arms:
                continue
            task = find_task(TASK, TaskOptions(needs_field=True))
            warm, _ = Pupil.loaded(folder).warmed_up(task, settings, seed)
            for arm in arms:
                row = {
                    "arm": arm,
                    "seed": seed,
                    **_practised(warm.copied(), task, settings, seed, ARMS[arm]),
                }
                options.say(json.dumps(row))
                rows.add(row)
            task.close()
    return rows.result


def _wanted(seed: int, options: BenchOptions) -> list[str]:
    """Arms of a seed: those that fail have a quarter of the seeds each."""
    named = names_asked("VIDYA_ALARMS_ARMS", ARMS)
    failing = [arm for arm in ARMS if arm != GOOD]
    usual = {GOOD, *(failing if options.quick else failing[seed % len(failing) :][:1])}
    return [arm for arm in named if arm in usual]


def _practised(
    pupil: Pupil, task: Task, settings: PracticeSettings, seed: int, arm: Arm
) -> dict[str, Any]:
    """The row of one run."""
    paid: Any = Repaid(task, arm.pay) if arm.pay else task
    trainer = pupil.trainer(paid, with_options(settings, arm.options), seed)
    checked = settings.held_out + (4 if settings is QUICK else CHECKED)
    unseen = held_out_problems(task, checked, lambda one: trainer.roller.fits(trainer.model, one))

    def right() -> float:
        return trainer.roller.held_out(trainer.model, unseen[settings.held_out :]).accuracy

    looks = list[dict[str, Any]]()
    weights = Watched(trainer, right)

    def looked(look: Evaluation) -> None:
        gone = weights.given_up.pop() if weights.given_up else None
        now = right() if gone is None else gone
        told = bool(look.alarm) or look.held or gone is not None
        looks.append(
            {"step": look.step, "right": now, "told": told, "held": look.held, "alarm": look.alarm}
        )

    outcome = PracticeRun(trainer, weights, on_evaluation=looked).run(warm_up=False)
    while weights.given_up:  # numbers that are not finite end a run without a look
        looked(Evaluation(outcome.steps, 0.0, 0.0, saved=False))
    return {
        "looks": looks,
        "kept": right(),
        "ended": outcome.ended,
        "why": outcome.why,
        "book": pupil.book_recall(),
        "seconds": outcome.seconds,
    }


# ---------------------------------------------------------------- results


@dataclass(frozen=True)
class Course:
    """What a run says about the criterion."""

    best: float
    """Highest accuracy on the unseen problems, 0 to 1."""
    failed: int | None
    """The first save point, by its step, at which LOST was lost; None: never."""
    told: int | None
    """The first save point at which something was told."""
    kept: float

    @classmethod
    def of(cls, row: dict[str, Any]) -> Course:
        best, failed = 0.0, None
        for look in row["looks"]:
            best = max(best, look["right"])
            if failed is None and is_lost(best, look["right"]):
                failed = look["step"]
        told = next((look["step"] for look in row["looks"] if look["told"]), None)
        return cls(best, failed, told, row["kept"])

    def told_by(self, *, before: bool) -> bool:
        """It failed, and was told at the save point at which that was seen, or before; or before alone."""
        if self.failed is None or self.told is None:
            return False
        return self.told < self.failed or (self.told == self.failed and not before)


def is_lost(best: float, now: float) -> bool:
    """Whether LOST of all problems or more are lost; 20 of 200 are."""
    return best - now > LOST - 1e-9


def parts(result: dict[str, Any]) -> list[str]:
    """The paragraphs and tables of the result."""
    rows = result["rows"]
    courses = [(row, Course.of(row)) for row in rows]
    good = [one for row, one in courses if row["arm"] == GOOD]
    failed = [one for _, one in courses if one.failed is not None]
    false = sum(one.told is not None and one.failed is None for one in good)
    well = sum(not is_lost(one.best, one.kept) for _, one in courses)
    said = (
        f"(a) told and not failed: {false} of {len(good)}. (b) told as {POINTS} were lost, or before: "
        f"{sum(one.told_by(before=False) for one in failed)} of {len(failed)} that failed (before: "
        f"{sum(one.told_by(before=True) for one in failed)}). (c) kept less than "
        f"{POINTS} below the best: {well} of {len(courses)}."
    )
    head = (
        "arm",
        "runs",
        "failed",
        "told",
        "told in time",
        "of these before",
        "kept below the best, points",
        "at most",
    )
    lines = list[Sequence[object]]()
    for arm in ARMS:
        own = [one for row, one in courses if row["arm"] == arm]
        if own:
            below = [100 * (one.best - one.kept) for one in own]
            counts = (
                sum(one.failed is not None for one in own),
                sum(one.told is not None for one in own),
                sum(one.told_by(before=False) for one in own),
                sum(one.told_by(before=True) for one in own),
            )
            lines.append(
                (arm, len(own), *counts, f"{sum(below) / len(below):.1f}", f"{max(below):.1f}")
            )
    each = (
        "arm",
        "seed",
        "right on unseen problems, %, at each save point",
        "kept, %",
        "ended",
        "told",
    )
    return [CRITERION, said, table(head, lines), "Each run:", table(each, list(_each(rows)))]


def _each(rows: Sequence[dict[str, Any]]) -> Iterator[Sequence[object]]:
    for row in sorted(rows, key=lambda one: (list(ARMS).index(one["arm"]), one["seed"])):
        curve = ", ".join(f"{100 * look['right']:.0f}" for look in row["looks"])
        told = "; ".join(
            f"step {look['step']}: {look['alarm'] or ('held back' if look['held'] else 'taken back')}"
            for look in row["looks"]
            if look["told"]
        )
        yield (row["arm"], row["seed"], curve, f"{100 * row['kept']:.0f}", row["ended"], told)
