"""Dialogues until the first reply is right, with credit for whole conversations and for single replies.

umbrella_talk (learning.rewards.tasks) pays the first reply at the end; every turn of small talk between pays
+1 or -1 by a coin. After a warm-up on worked conversations, which give random advice, both arms practise from
the same weights. Without --model a small model is made and trained on worked conversations alone. Rows that
are in umbrella_talk.json of --out already are not repeated, so an interrupted run resumes.

VIDYA_TALK_SMALL_TALK: turns, separated by commas. VIDYA_TALK_PARTNER: "quiet", "reminds" or "reacts".
"""

from __future__ import annotations

import copy
import json
import os
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

import torch

from benchmarks import BenchOptions
from benchmarks.report import deviation, machine, table, with_deviation, write
from benchmarks.scratch import scratch_home
from engine.config import ModelConfig
from engine.model import Model
from engine.storage.checkpoint import load_model
from engine.tokenizers.load import load_tokenizer
from engine.tokenizers.ranks import train_tokenizer
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.examples import Example
from learning.memory.book_rows import book_examples
from learning.memory.own_talk import own_talk
from learning.memory.replay import Replay
from learning.models.store import ModelStore
from learning.objectives.settings import RetentionSettings
from learning.practice.critic import ReplyCritic
from learning.practice.settings import CriticSettings, PracticeSettings, WarmUpSettings
from learning.practice.trainer import GrpoTrainer
from learning.rewards.dialogue import DialogueTask
from learning.rewards.registry import find_task
from learning.rewards.task import TaskOptions
from personality.book import shipped_book_path

SMALL_TALK = (0, 3, 6, 12)
SOLVED, OVER = 0.9, 2
"""Share of right first replies, over this many steps, at which it counts as learned."""
STEPS = 60
TITLE = "Umbrella talk: dialogues until the first reply is right"
CRITERION = (
    "Criterion, written before the first run: with 6 turns of small talk, credit by reply needs at most 0.5 "
    "of the dialogues of whole-conversation GRPO until 90 % of the first replies are right over two steps, "
    "in the mean of three seeds; without small talk the two differ by at most 20 %. A run that is not there "
    f"after {STEPS} steps counts with all its dialogues. 4 groups of 8 dialogues a step, one update a step; "
    "the learning rate and λ were chosen on seed 11."
)
NONE_KEPT = RetentionSettings(lines=0, talk=0)
SMALL = ModelConfig(vocab_size=512, dim=128, layers=2, heads=4, kv_heads=2, hidden=256, context=512)
"""The model that is made where none is named: 0.4M weights."""
SETTINGS = PracticeSettings(
    groups=4,
    group_size=8,
    updates=1,
    redraws=0,
    max_tokens=10,
    held_out=16,
    lr=3e-4,
    keep=NONE_KEPT,
    warm_up=WarmUpSettings(
        lr=3e-3, measure_every=30, measured=64, enough=1.0, steps=60, keep=NONE_KEPT
    ),
)
ARMS: dict[str, PracticeSettings] = {
    "whole conversation": SETTINGS,
    "by reply": replace(
        SETTINGS, critic=CriticSettings(step=ReplyCritic, answers=64, lam=0.5, explained=0.0)
    ),
}


@dataclass
class Pupil:
    """A model, and what it is kept near to."""

    model: Model
    tokenizer: Tokenizer
    book: list[Example]
    talk: list[Example]

    def trainer(self, task: DialogueTask, settings: PracticeSettings, seed: int) -> GrpoTrainer:
        replay = Replay(self.model, self.book, [], self.talk)
        return GrpoTrainer(self.model, self.tokenizer, task, replay, settings, seed=seed)


def run(options: BenchOptions) -> dict[str, Any]:
    """See `vidya bench`."""
    partner = os.environ.get("VIDYA_TALK_PARTNER", "").strip() or "reacts"
    chosen = os.environ.get("VIDYA_TALK_SMALL_TALK", "").strip()
    turns = [int(one) for one in chosen.split(",")] if chosen else list(SMALL_TALK)
    result: dict[str, Any] = {
        "benchmark": "umbrella_talk",
        "machine": machine(),
        "quick": options.quick,
        "model": options.model or "small",
        "partner": partner,
        "rows": _earlier(options, partner),
    }
    done = {(row["arm"], row["small_talk"], row["seed"]) for row in result["rows"]}
    with scratch_home(options) as (home, model):
        folder = ModelStore(home).resolve(model) if options.model else None
        for seed in options.seeds:
            for count in turns[:1] if options.quick else turns:
                missing = [arm for arm in ARMS if (arm, count, seed) not in done]
                for row in _arms(folder, count, partner, seed, missing, options):
                    result["rows"].append(row)
                    if options.out is not None:
                        command = f"VIDYA_TALK_PARTNER={partner} " + options.command(
                            "umbrella_talk", seeded=True
                        )
                        name = _file(options, partner)
                        write(options.out, name, TITLE, command, list(parts(result)), result)
    return result


def parts(result: dict[str, Any]) -> Iterator[str]:
    """The report: criterion, means, rows."""
    rows = result["rows"]
    yield CRITERION
    yield f"Model: {result['model']}. The partner {result['partner']}."
    means = []
    for count in sorted({row["small_talk"] for row in rows}):
        needed = {
            arm: [r["dialogues"] for r in rows if r["arm"] == arm and r["small_talk"] == count]
            for arm in ARMS
        }
        whole, by_reply = (needed[arm] for arm in ARMS)
        if whole and by_reply:
            cells = [with_deviation(fmean(n), deviation(n), 0) for n in (whole, by_reply)]
            means.append([count, *cells, fmean(by_reply) / fmean(whole)])
    yield table(["small talk", *ARMS, "ratio"], means)
    head = ["small talk", "seed", "arm", "dialogues", "learned", "right at the start, %"]
    yield table(
        [*head, "right at the end, %", "explained variance"],
        [
            [r["small_talk"], r["seed"], r["arm"], r["dialogues"], "yes" if r["learned"] else "no"]
            + [100 * r["curve"][0], 100 * r["curve"][-1], r["explained"]]
            for r in sorted(rows, key=lambda r: (r["small_talk"], r["seed"], r["arm"]))
        ],
    )


def _file(options: BenchOptions, partner: str) -> str:
    """Name of the results; one for each model and partner."""
    return "_".join(["umbrella_talk", *([options.model] if options.model else []), partner])


def _earlier(options: BenchOptions, partner: str) -> list[dict[str, Any]]:
    """Rows of an interrupted run."""
    path = options.out / f"{_file(options, partner)}.json" if options.out else None
    if path is None or options.quick or not path.exists():
        return []
    found = json.loads(path.read_text("utf-8"))
    return [] if found["quick"] else list(found["rows"])


def _arms(
    folder: Any, count: int, partner: str, seed: int, arms: list[str], options: BenchOptions
) -> Iterator[dict[str, Any]]:
    """One row for each arm, from the same weights after warm-up."""
    if not arms:
        return
    task = find_task(
        "umbrella_talk", TaskOptions(difficulty={"small_talk": count, "partner": partner})
    )
    assert isinstance(task, DialogueTask)
    pupil = _small(task, seed) if folder is None else _loaded(folder)
    plain = SETTINGS if folder is None else _for_large(SETTINGS)
    warm = pupil.trainer(task, plain, seed)
    limit = 2 if options.quick else plain.warm_up.steps
    last = warm.warm_up(lambda _: None, lambda: warm.updates >= limit)
    options.say(f"seed {seed}, {count}: warm-up {last.step} steps, right {last.success}")
    for arm in arms:
        settings = ARMS[arm] if folder is None else _for_large(ARMS[arm])
        own = replace(pupil, model=copy.deepcopy(pupil.model))
        row = _practise(own.trainer(task, settings, seed), 2 if options.quick else STEPS)
        options.say(f"seed {seed}, {count}, {arm}: {row['dialogues']}, {row['curve'][-1]:.2f}")
        yield {"arm": arm, "small_talk": count, "seed": seed, **row}


def _practise(trainer: GrpoTrainer, steps: int) -> dict[str, Any]:
    """Dialogues until it is learned, or all of them; the share of right first replies of each step."""
    curve: list[float] = []
    dialogues, explained, learned = 0, 0.0, False
    while len(curve) < steps and not learned:
        report = trainer.step()
        curve.append(report.success)
        dialogues += report.groups * trainer.settings.group_size
        explained = trainer.critic.explained if trainer.critic else 0.0
        learned = len(curve) >= OVER and fmean(curve[-OVER:]) >= SOLVED
    return {"dialogues": dialogues, "learned": learned, "curve": curve, "explained": explained}


def _small(task: DialogueTask, seed: int) -> Pupil:
    """A model that knows nothing, with a tokenizer of the task's words."""
    rng = random.Random(0)
    problems = task.problems("train", rng)
    texts = [text for _ in range(300) for _, text in task.worked_turns(next(problems))]
    tokenizer = train_tokenizer(iter(texts), SMALL.vocab_size)
    config = replace(SMALL, vocab_size=tokenizer.vocab_size)
    model = Model(config, generator=torch.Generator().manual_seed(seed))
    return Pupil(model, tokenizer, [], [])


def _loaded(folder: Any) -> Pupil:
    model, tokenizer = load_model(folder), load_tokenizer(folder)
    book = book_examples(tokenizer, [shipped_book_path()], model.config.context)
    return Pupil(model, tokenizer, book, own_talk(model, tokenizer, folder))


def _for_large(settings: PracticeSettings) -> PracticeSettings:
    """The usual rates and what is kept, for a model that knows something."""
    usual = PracticeSettings()
    warm = replace(settings.warm_up, lr=usual.warm_up.lr, keep=usual.warm_up.keep, steps=24)
    return replace(settings, lr=usual.lr, keep=usual.keep, warm_up=warm)
