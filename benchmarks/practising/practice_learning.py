"""Measures the gain of practice by task (held-out accuracy) and its cost in book recall and talk.

Each run is that of `vidya practice`: warm-up, then GRPO alone, with save points and guard. Held-out accuracy
is that of greedy decoding on problems that were never practised. Afterwards the recall of the book and the
loss on held-out talk (VIDYA_CORPUS) are measured again. Without --model it uses the shipped model.

VIDYA_TASKS selects tasks, separated by commas. Without it all but `detective` are practised, which takes
longest and has a criterion of its own. VIDYA_MINUTES limits each run (default 60). VIDYA_PRACTICE_OPTIONS
sets options of `vidya practice` (name=value, separated by blanks). `detective` is practised with the defaults
of 28 November 2026, because its criterion asks for a start of 40 % at most. Runs that are in the output
folder are not repeated, so an interrupted benchmark resumes.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks import BenchOptions
from benchmarks.common.asked import names_asked, number_asked
from benchmarks.common.pupil import EARLIER_PRACTICE, QUICK_PRACTICE, Kept, of_defaults
from benchmarks.common.report import deviation, table, with_deviation
from benchmarks.common.rows import FINGERPRINT, ReportRows
from benchmarks.common.scratch import DEFAULT_MODEL, scratch_home
from benchmarks.common.weights import fingerprint_of
from benchmarks.lessons.collapse_data import make_yardstick
from engine.model import Model
from engine.storage.checkpoint import load_model
from engine.tokenizers.load import load_tokenizer
from learning.data.examples import Example
from learning.memory.book_rows import book_examples
from learning.memory.guard import bound
from learning.memory.own_talk import own_talk
from learning.memory.replay import Replay
from learning.models.store import ModelStore
from learning.objectives.forward import knowledge, mean_loss, share_known
from learning.practice.figures import StepReport
from learning.practice.options import with_options
from learning.practice.run import Evaluation, PracticeRun
from learning.practice.settings import PracticeSettings
from learning.practice.trained import AddedSavePoints, trained_weights
from learning.practice.trainer import GrpoTrainer
from learning.practice.warm_up import WarmUpReport
from learning.rewards.registry import find_task
from learning.rewards.task import TaskOptions
from personality.book import shipped_book_path


@dataclass(frozen=True)
class Plan:
    """Settings for one task."""

    task: str
    difficulty: dict[str, Any] = field(default_factory=dict)
    steps: int = 45
    """Most steps; there is a time limit too."""
    criterion: tuple[float, float] | None = None
    """Accuracy after warm-up at most, and after practice at least, 0 to 1, for its criterion to be met."""
    usual: bool = True
    """Whether it is practised where VIDYA_TASKS is not given."""
    options: tuple[str, ...] = ()
    """Options of practice that are not the defaults."""


PLANS = (
    Plan("syllogism"),
    Plan("chain_sum"),
    Plan("propositional_logic"),
    Plan("detective", steps=150, criterion=(0.40, 0.85), usual=False, options=EARLIER_PRACTICE),
)
TALK = 0.05
"""Most rise of the loss on talk in a criterion: what the costliest of the other tasks takes, rounded up."""
CRITERION = (
    "Criterion for `{task}`, written before any run: accuracy on held-out problems rises from {start:.0%} "
    "or less after warm-up to {goal:.0%} or more, in each of three seeds; the book keeps what the guard "
    f"asks for, and the loss on talk rises by {TALK:.0%} at most. A run without success in warm-up does not "
    "meet it."
)
MINUTES = 60.0
"""Longest time of a run."""
SETTINGS = PracticeSettings()
"""Of the full run: those of `vidya practice`."""
QUICK = with_options(SETTINGS, (*QUICK_PRACTICE, "warm_up.enough=0"))

TITLE = "What practice gains"
VARIABLES = ("VIDYA_TASKS", "VIDYA_MINUTES", "VIDYA_PRACTICE_OPTIONS", "VIDYA_CORPUS")


def run(options: BenchOptions) -> dict[str, Any]:
    """Runs the benchmark. Raises NotFound for a task, ConfigError for an option."""
    usual = [plan.task for plan in PLANS if plan.usual]
    wanted = names_asked("VIDYA_TASKS", [plan.task for plan in PLANS], usual)
    plans = [plan for plan in PLANS if plan.task in wanted]
    set_ones = os.environ.get("VIDYA_PRACTICE_OPTIONS", "").split()
    stem = options.stem("practice_learning")
    about: dict[str, Any] = {"model": options.model_name or DEFAULT_MODEL}
    about |= {"options": set_ones or None, FINGERPRINT: fingerprint_of(options)}
    about["practice"] = of_defaults()
    asked = number_asked("VIDYA_MINUTES")
    minutes = MINUTES if asked is None else asked
    # None where it is the usual, as in results from before it was told
    about |= {"quick": options.quick or None, "minutes": None if minutes == MINUTES else minutes}
    command = options.command("practice_learning", seeded=True, variables=VARIABLES)
    set_by = {"options": "VIDYA_PRACTICE_OPTIONS", "minutes": "VIDYA_MINUTES"}
    runs = ReportRows(options.out, stem, about, command, TITLE, parts, key="runs", variables=set_by)
    with scratch_home(options) as (home, name):
        folder = ModelStore(home).resolve(name)
        for seed in options.seeds:
            for plan in plans:
                if not runs.has(task=plan.task, seed=seed):
                    runs.add(_practise(folder, plan, seed, set_ones, minutes, options))
    return runs.result


def _practise(
    folder: Path,
    plan: Plan,
    seed: int,
    set_ones: Sequence[str],
    minutes: float,
    options: BenchOptions,
) -> dict[str, Any]:
    settings = QUICK if options.quick else SETTINGS
    if not options.quick:
        settings = replace(settings, seconds=60.0 * minutes)
    settings = replace(settings, steps=2 if options.quick else plan.steps)
    own = () if options.quick else plan.options
    settings = with_options(settings, (*own, *set_ones))
    model, tokenizer = load_model(folder), load_tokenizer(folder)
    talk = own_talk(model, tokenizer, folder)
    yard = make_yardstick(tokenizer, model, [], talk)
    book = book_examples(tokenizer, [shipped_book_path()], model.config.context)
    before, began = _measured(model, book, yard.talk), time.process_time()
    task = find_task(plan.task, TaskOptions(difficulty=plan.difficulty))
    trained = trained_weights(model, settings.adapter, seed)
    curve: list[dict[str, Any]] = []
    looks: list[dict[str, Any]] = []

    def stepped(report: StepReport) -> None:
        curve.append(report.figures())
        options.say(
            f"{plan.task} {seed}: step {report.step}, right {report.success:.2f}, dead "
            f"{report.dead_groups}/{report.groups}, KL {report.kl:.3f}, entropy {report.entropy:.2f}, "
            f"{report.seconds:.0f} s"
        )

    def looked(look: Evaluation) -> None:
        looks.append(asdict(look))
        options.say(
            f"{plan.task} {seed}: {look.stage} {look.step}: held-out {look.accuracy:.3f}, book "
            f"{look.book_recall:.3f} {look.alarm}"
        )

    def warmed(report: WarmUpReport) -> None:
        if report.success is not None:
            options.say(f"{plan.task} {seed}: warm-up {report.step}: {report.success:.2f}")

    kept = AddedSavePoints(Kept(model), trained)
    with trained.training():
        replay = Replay(model, book, [], talk)
        session = GrpoTrainer(model, tokenizer, task, replay, settings, seed=seed, trained=trained)
        outcome = PracticeRun(
            session, kept, on_step=stepped, on_evaluation=looked, on_warm_up=warmed
        ).run(warm_up=True)
    task.close()
    processor = time.process_time() - began
    if options.out and not options.quick:
        _sample(session, options)
    return {
        "task": plan.task,
        "difficulty": plan.difficulty,
        "seed": seed,
        **asdict(outcome),
        "processor": processor,
        "held_out": session.held_out,
        "before": before,
        "after": _measured(model, book, yard.talk),
        "talk_source": yard.talk_source,
        "looks": looks,
        "curve": curve,
    }


def _sample(session: GrpoTrainer, options: BenchOptions) -> None:
    rng = random.Random(1)
    problems = [next(session.task.problems("train", rng)) for _ in range(2)]
    drawn = session.roller.draw(session.model, problems, 1, session.generator, greedy=True)
    for sample in drawn.samples:
        options.say(f"  {sample.problem.prompt} -> {sample.text} ({sample.score.total:.2f})")


def _measured(model: Model, book: list[Example], talk: list[Example]) -> dict[str, float]:
    return {
        "book_recall": share_known(knowledge(model, book)),
        "talk_nll": mean_loss(knowledge(model, talk)),
    }


def _over_seeds(task: str, runs: list[dict[str, Any]]) -> tuple[str | int, ...]:
    """A row of the table of means over seeds."""
    own = [r for r in runs if r["task"] == task]
    warm = [100 * _warm(r) for r in own]
    after = [100 * r["accuracy_after"] for r in own]
    talk = [100 * (r["after"]["talk_nll"] / r["before"]["talk_nll"] - 1) for r in own]
    gain = [now - then for now, then in zip(after, warm, strict=True)]
    book = min(r["after"]["book_recall"] / r["before"]["book_recall"] for r in own)
    return (task, len(own), *map(_spread, (warm, after, gain, talk)), f"{book:.1%}")


def _warm(run: dict[str, Any]) -> float:
    """Accuracy after warm-up. Where practice did not begin after it, that is the accuracy at the end."""
    warm = run["accuracy_warm"]
    return float(run["accuracy_after"] if warm is None else warm)


def _spread(values: list[float]) -> str:
    return with_deviation(statistics.mean(values), deviation(values) or 0.0)


def met(plan: Plan, run: dict[str, Any]) -> bool:
    """Whether a run meets the criterion of its task. Raises ValueError if the task has none."""
    if plan.criterion is None:
        raise ValueError(f"{plan.task} has no criterion")
    start, goal = plan.criterion
    before, after = run["before"], run["after"]
    return (
        run["accuracy_warm"] is not None
        and run["accuracy_warm"] <= start
        and run["accuracy_after"] >= goal
        and after["book_recall"] >= bound(before["book_recall"])
        and after["talk_nll"] <= (1 + TALK) * before["talk_nll"]
    )


def _criteria(runs: list[dict[str, Any]]) -> list[str]:
    """What was to be met, and the seeds in which it was."""
    found = []
    for plan in PLANS:
        own = [run for run in runs if run["task"] == plan.task]
        if plan.criterion is None or not own:
            continue
        start, goal = plan.criterion
        found.append(CRITERION.format(task=plan.task, start=start, goal=goal))
        right = [str(run["seed"]) for run in own if met(plan, run)]
        found.append(f"Met in {len(right)} of {len(own)} seeds ({', '.join(right) or 'none'}).")
    return found


def parts(result: dict[str, Any]) -> list[str]:
    """The report: settings, means over the seeds, each run."""
    rows = []
    for r in result["runs"]:
        was, now = r["before"], r["after"]
        rows.append(
            (
                r["task"],
                r["seed"],
                f"{r['accuracy_before']:.1%}",
                "\u2013" if r["accuracy_warm"] is None else f"{r['accuracy_warm']:.1%}",
                f"{r['accuracy_after']:.1%}",
                r["warm_up_steps"],
                r["steps"],
                f"{r['seconds'] / 60:.0f}",
                f"{r['processor'] / 60:.0f}",
                f"{was['book_recall']:.1%} \u2192 {now['book_recall']:.1%}",
                f"{now['talk_nll'] / was['talk_nll'] - 1:+.1%}",
                r["ended"],
            )
        )
    head = (
        "task",
        "seed",
        "untrained",
        "after warm-up",
        "after GRPO",
        "warm-up steps",
        "steps",
        "minutes",
        "of processor time",
        "book recall",
        "talk NLL",
        "ended",
    )
    settings = with_options(SETTINGS, result["options"] or ())
    counts = {r["task"]: r["held_out"] for r in result["runs"]}
    held = ", ".join(f"`{task}` {count}" for task, count in counts.items())
    return [
        f"Model {result['model']}. Accuracy on held-out problems ({held}) under greedy "
        f"decoding; {settings.groups} problems a step, {settings.group_size} answers to "
        f"each, two optimizer steps. Talk: "
        f"{result['runs'][-1]['talk_source']}.",
        "## Over the seeds",
        table(
            (
                "task",
                "seeds",
                "after warm-up",
                "after GRPO",
                "gain",
                "talk NLL",
                "lowest book recall",
            ),
            [_over_seeds(name, result["runs"]) for name in dict.fromkeys(r[0] for r in rows)],
        ),
        "Means \u00b1 the standard deviation over the seeds, in percent; gain in points.",
        *_criteria(result["runs"]),
        "## Each run",
        table(head, rows),
        "Settings of the tasks: "
        + "; ".join(
            sorted({f"`{r['task']}` {json.dumps(r['difficulty'])}" for r in result["runs"]})
        )
        + ".",
        "Held-out accuracy at each save point:",
        table(
            ("task", "seed", "step: accuracy"),
            [
                (
                    r["task"],
                    r["seed"],
                    ", ".join(
                        f"{look['stage']} {look['step']}: {look['accuracy']:.1%}"
                        for look in r["looks"]
                    ),
                )
                for r in result["runs"]
            ],
        ),
    ]
