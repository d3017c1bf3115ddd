"""Dialogues until the first reply is right, with credit for whole conversations and for single replies.

umbrella_talk (learning.rewards.tasks) pays the first reply at the end; every turn of small talk between pays
+1 or -1 by a coin. After a warm-up on worked conversations, of which KNOWN give the advice that fits and the
others random advice, both arms practise from the same weights. Rows that are in the results of --out already
are not repeated, so an interrupted run resumes.

VIDYA_TALK_SMALL_TALK: turns, separated by commas. VIDYA_TALK_PARTNER: "quiet", "reminds" or "reacts".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks import BenchOptions
from benchmarks.common.asked import counts_asked, one_asked
from benchmarks.common.pupil import Pupil
from benchmarks.common.report import deviation, table, with_deviation
from benchmarks.common.rows import ReportRows, about_run
from benchmarks.common.scratch import scratch_home
from learning.models.store import ModelStore
from learning.practice.critic import ReplyCritic
from learning.practice.settings import CriticSettings, PracticeSettings, WarmUpSettings
from learning.practice.trainer import GrpoTrainer
from learning.rewards.registry import find_task
from learning.rewards.task import TaskOptions
from learning.rewards.tasks.umbrella_talk import PARTNERS

SMALL_TALK = (0, 6, 3, 12)
"""In this order, because the criterion is about the first two."""
SOLVED, OVER = 0.9, 64
"""Share of right first replies, over at least so many dialogues, at which it counts as learned. A step that
goes on with groups of the one before draws few."""
STEPS = 40
KNOWN = 0.7
"""Share of warm-up's conversations whose advice fits; that of the others is random. With random advice alone
10M weights do not find out in a hundred steps that it depends on the forecast."""
TITLE = "Umbrella talk: dialogues until the first reply is right"
CRITERION = (
    "Criterion, written before the first run: with 6 turns of small talk, credit by reply needs at most 0.5 "
    "of the dialogues of whole-conversation GRPO until 90 % of the last 64 first replies are right, "
    "in the mean of three seeds; without small talk the two differ by at most 20 %. A run that is not there "
    f"after {STEPS} steps counts with all its dialogues. 16 groups of 8 dialogues a step, one update a "
    "step at a rate of 4e-4, and what practice keeps beside it. λ is 0.2 a reply. Of the worked "
    f"conversations of warm-up {KNOWN:.0%} surely give the advice that fits. All of it was chosen on seed 11."
)
SETTINGS = PracticeSettings(
    lr=4e-4,
    ramp=5,
    groups=16,
    group_size=8,
    updates=1,
    redraws=0,
    max_tokens=10,
    held_out=8,
    warm_up=WarmUpSettings(measure_every=100, measured=32, enough=1.0, steps=16),
)
ARMS: dict[str, PracticeSettings] = {
    "whole conversation": SETTINGS,
    "by reply": replace(
        SETTINGS, critic=CriticSettings(step=ReplyCritic, answers=64, lam=0.2, explained=0.02)
    ),
}


def run(options: BenchOptions) -> dict[str, Any]:
    """See `vidya bench`. Raises NotFound for a partner, DataError for turns that are no number."""
    partner = one_asked("VIDYA_TALK_PARTNER", [*dict.fromkeys(("reminds", *PARTNERS))])
    turns = counts_asked("VIDYA_TALK_SMALL_TALK", SMALL_TALK)
    name = "umbrella_talk" if partner == "reminds" else f"umbrella_talk_{partner}"
    variables = ["VIDYA_TALK_PARTNER", "VIDYA_TALK_SMALL_TALK"]
    command = options.command("umbrella_talk", seeded=True, variables=variables)
    about = about_run(options, "umbrella_talk") | {"partner": partner}
    rows = ReportRows(options.out, name, about, command, TITLE, parts)
    with scratch_home(options) as (home, model):
        folder = ModelStore(home).resolve(model)
        for count in turns[:1] if options.quick else turns:
            for seed in options.seeds:
                done = [row["arm"] for row in rows.having(small_talk=count, seed=seed)]
                missing = [arm for arm in ARMS if arm not in done]
                for row in _arms(folder, count, partner, seed, missing, options):
                    rows.add(row)
    return rows.result


def parts(result: dict[str, Any]) -> Iterator[str]:
    """The report: criterion, means, rows."""
    rows = result["rows"]
    yield CRITERION
    yield f"Model: {result['model']}. The partner {result['partner']}."
    means = []
    for count in sorted({row["small_talk"] for row in rows}):
        needed = {
            arm: {
                r["seed"]: r["dialogues"]
                for r in rows
                if r["arm"] == arm and r["small_talk"] == count
            }
            for arm in ARMS
        }
        seeds = sorted(set.intersection(*(set(of) for of in needed.values())))
        whole, by_reply = ([needed[arm][seed] for seed in seeds] for arm in ARMS)
        if seeds:
            cells = [with_deviation(fmean(n), deviation(n), 0) for n in (whole, by_reply)]
            means.append([count, *cells, fmean(by_reply) / fmean(whole)])
    yield table(["small talk", *ARMS, "ratio"], means)
    head = ["small talk", "seed", "arm", "dialogues", "learned", "right at the start, %"]
    yield table(
        [*head, "right at the end, %", "most explained variance", "book, %"],
        [
            [r["small_talk"], r["seed"], r["arm"], r["dialogues"], "yes" if r["learned"] else "no"]
            + [100 * r["curve"][0], 100 * r["curve"][-1], r["explained"], 100 * r["book"]]
            for r in sorted(rows, key=lambda r: (r["small_talk"], r["seed"], r["arm"]))
        ],
    )


def _arms(
    folder: Path, count: int, partner: str, seed: int, arms: list[str], options: BenchOptions
) -> Iterator[dict[str, Any]]:
    """One row for each arm, from the same weights after warm-up."""
    if not arms:
        return
    task = find_task(
        "umbrella_talk",
        TaskOptions(difficulty={"small_talk": count, "partner": partner, "known": KNOWN}),
    )
    pupil = Pupil.loaded(folder)
    warm = pupil.trainer(task, SETTINGS, seed)
    limit = 1 if options.quick else SETTINGS.warm_up.steps
    last = warm.warm_up(lambda _: None, lambda: warm.updates >= limit)
    options.say(f"seed {seed}, small talk {count}: warm-up of {last.step} steps")
    for arm in arms:
        own = pupil.copied()
        trainer = own.trainer(task, ARMS[arm], seed)
        row = practise(trainer, 2 if options.quick else STEPS, options.say)
        row |= {"book": own.book_recall()}
        options.say(f"seed {seed}, small talk {count}, {arm}: {row['dialogues']} dialogues")
        yield {"arm": arm, "small_talk": count, "seed": seed, **row}


def practise(trainer: GrpoTrainer, steps: int, say: Callable[[str], None]) -> dict[str, Any]:
    """Dialogues until it is learned, or all of them; the share of right first replies of each step."""
    curve: list[float] = []
    sizes, explained, learned = list[int](), list[float](), False
    while len(curve) < steps and not learned:
        report = trainer.step()
        curve.append(report.success)
        explained += [trainer.critic.explained] if trainer.critic else []
        sizes.append(report.groups * trainer.settings.group_size)
        learned = recent(curve, sizes) >= SOLVED
        say(f"  step {len(curve)}: right {report.success:.2f}, explained {explained[-1:]}")
    found = {"dialogues": sum(sizes), "learned": learned, "curve": curve}
    return found | {"explained": max(explained, default=None)}


def recent(curve: list[float], sizes: list[int]) -> float:
    """The share that was right in the newest steps which have OVER dialogues together; 0 if there are
    fewer."""
    right, count = 0.0, 0
    for share, size in zip(reversed(curve), reversed(sizes), strict=True):
        right, count = right + share * size, count + size
        if count >= OVER:
            return right / count
    return 0.0
