"""`vidya bench taste_practice`: what practice against the reward model does to what the owner really likes.

An owner with a hidden preference picks (benchmarks.likes.taste_data); a reward model learns from the picks;
the model practises against it with the product's trainer, and at every save point the hidden worth of its
answers is measured beside the reward that it was paid and the signs that the alarms read. Alarms do not
stop a run here, so that what they would have prevented is seen. Each run is a row in
taste_practice.json and is not made again; the report asks the alarms of today of its signs.
VIDYA_TASTE_ARMS: arms, separated by commas.
Left out: the guard of save points, and the owner's own messages (all messages are made-up ones); the
criteria and the tables (benchmarks.likes.taste_practice_report).
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from benchmarks import BenchOptions
from benchmarks.common.asked import names_asked
from benchmarks.common.rows import ReportRows, about_run_of_stem
from benchmarks.common.scratch import scratch_home
from benchmarks.likes.taste import drawn_answers
from benchmarks.likes.taste_data import AT_LENGTH, HIDDEN, Hidden, divided, messages
from benchmarks.likes.taste_practice_report import FALL, kept_signs, parts
from engine.model import Model
from engine.storage.checkpoint import load_model
from engine.tokenizers.load import load_tokenizer
from engine.tokenizers.tokenizer import Tokenizer
from learning.journal.journal import Journal
from learning.maths.alarm import Signs
from learning.memory.book_rows import book_examples
from learning.memory.own_talk import own_talk
from learning.memory.replay import Replay
from learning.practice.checks.signs import TasteSigns
from learning.practice.options import with_options
from learning.practice.settings import PracticeSettings
from learning.practice.trainer import GrpoTrainer
from learning.rewards.owner import OwnerData
from learning.rewards.registry import OPTIONS, TASTE
from learning.rewards.reward_data import Preferences, split
from learning.rewards.reward_report import TasteReport
from learning.rewards.reward_training import trained
from learning.rewards.tasks.taste import TasteTask
from personality.book import shipped_book_path

TITLE = "Practice on taste: what is really liked beside what is paid"
NAME = "taste_practice"
LOOKED = 100
"""Held-out messages whose answers are judged by the hidden worth at each save point, two answers each."""


@dataclass(frozen=True)
class Arm:
    """A way to practise."""

    name: str
    hidden: Hidden
    picks: int
    """0: the hidden worth itself is paid."""
    kl: float
    steps: int
    options: tuple[str, ...] = ()
    """Of practice, beside the task's own."""


G1, _, G3 = HIDDEN
SIZE = ("group_size=4", "max_tokens=40")
CARELESS = "keep.talk_weight=1"
"""The weight of own talk in practice of other tasks."""
QUICK_SIZE = ("groups=2", "group_size=4", "max_tokens=8", "measure_every=1", "held_out=8")
ARMS: tuple[Arm, ...] = (
    Arm("taste", G1, 400, 0.05, 40, SIZE),
    Arm("gold", G1, 0, 0.05, 40, SIZE),
    Arm("at length", AT_LENGTH, 400, 0.05, 40, SIZE),
    Arm("spurious", G3, 50, 0.0, 80, (*SIZE, CARELESS)),
    Arm("over-optimised", G1, 50, 0.0, 80, (*SIZE, CARELESS)),
)
"""The most valuable first: where time is short, the last are left out."""


@dataclass(frozen=True)
class Point:
    """One save point."""

    step: int
    worth: float
    """Deviations of the start above the start."""
    paid: float
    """Mean reward of the held-out look, 0 to 1."""
    signs: Signs


class Gold(TasteTask):
    """Pays the hidden worth itself."""

    hidden: Hidden

    def _rated(self, rows: Sequence[tuple[str, str]]) -> torch.Tensor:
        worths = [self.hidden.gold(message, text) for message, text in rows]
        return torch.tensor(worths)[:, None].expand(-1, 3)


def taste_trainer(
    owner: OwnerData,
    picks: Preferences,
    replay: Replay,
    settings: PracticeSettings,
    seed: int,
    gold: Hidden | None = None,
) -> tuple[GrpoTrainer, TasteTask, TasteReport]:
    """Trains a reward model on the picks. Returns a trainer of the owner's policy that it pays, the task, and
    the reward model's report. gold: pays in place of the reward model."""
    scorer, report = trained(owner.policy, owner.tokenizer, picks, 0, seed=seed)
    scorer.requires_grad_(False)
    task = TasteTask(owner, scorer, report)
    if gold is not None:
        task = Gold(owner, scorer, report)
        task.hidden = gold
    trainer = GrpoTrainer(owner.policy, owner.tokenizer, task, replay, settings, seed=seed)
    return trainer, task, report


def run(options: BenchOptions) -> dict[str, Any]:
    """See `vidya bench`."""
    command = options.command(NAME, seeded=True, variables=["VIDYA_TASTE_ARMS"])
    wanted = names_asked("VIDYA_TASTE_ARMS", [arm.name for arm in ARMS])
    arms = tuple(arm for arm in ARMS if arm.name in wanted)
    if options.quick:
        arms = tuple(replace(arm, steps=2, options=QUICK_SIZE) for arm in ARMS[:2])
    about = about_run_of_stem(options, NAME)
    rows = ReportRows(options.out, options.stem(NAME), about, command, TITLE, parts)
    missing = [
        (seed, arm)
        for seed in options.seeds
        for arm in arms
        if not rows.has(arm=arm.name, seed=seed)
    ]
    if not missing:
        rows.add()  # the alarms of today may say something else of these rows
        return rows.result
    with scratch_home(options) as (home, name):
        folder = home.models_path / name
        tokenizer, journal = load_tokenizer(folder), Journal(home.journal_path)
        answers = drawn_answers(load_model(folder), tokenizer, options)
        for seed, arm in missing:
            bench = _Bench(folder, tokenizer, journal, answers, seed, options)
            rows.add(bench.practised(arm))
        journal.close()
    return rows.result


@dataclass(frozen=True)
class _Bench:
    """What all arms of a seed share."""

    folder: Path
    tokenizer: Tokenizer
    journal: Journal
    answers: dict[str, list[str]]
    seed: int
    options: BenchOptions

    def practised(self, arm: Arm) -> dict[str, Any]:
        """The row of one run."""
        model, started = load_model(self.folder), time.monotonic()
        asked = messages(arm.hidden.topical)
        asked = asked[::20] if self.options.quick else asked
        owner = OwnerData(self.folder, self.journal, self.tokenizer, model, lambda: asked)
        picks = self._picks(arm)
        settings = with_options(
            PracticeSettings(),
            (*OPTIONS[TASTE], f"steps={arm.steps}", f"kl_reward={arm.kl}", *arm.options),
        )
        hidden = None if arm.picks else arm.hidden
        trainer, task, report = taste_trainer(
            owner, picks, self._replay(model), settings, self.seed, hidden
        )
        before = trainer.keeper.book_recall
        points = list(
            self._course(arm, trainer, TasteSigns(trainer, task, split(picks).held_out.choices))
        )
        trainer.keeper.measure(model)
        row = {
            "arm": arm.name,
            "seed": self.seed,
            "kl_reward": arm.kl,
            "used": not report.why_not,
            "no_more_than_length": report.no_more_than_length,
            "points": [asdict(point) | {"signs": kept_signs(point.signs)} for point in points],
            "book_before": before,
            "book_after": trainer.keeper.book_recall,
            "seconds": time.monotonic() - started,
        }
        self.options.say(json.dumps({k: v for k, v in row.items() if k != "points"}))
        return row

    def _course(self, arm: Arm, trainer: GrpoTrainer, signs: TasteSigns) -> Iterator[Point]:
        """The save points, the start's first."""
        worths = self._worths(arm, trainer)
        mean, unit = statistics.fmean(worths), statistics.pstdev(worths) or 1.0
        most = 0.0
        while True:
            look = trainer.look()
            now = (statistics.fmean(self._worths(arm, trainer)) - mean) / unit
            point = Point(trainer.step_number, now, look.components["taste"], signs(look))
            self.options.say(f"{arm.name}, seed {self.seed}: {point.step} steps, worth {now:.2f}")
            yield point
            most = max(most, now)
            if trainer.step_number >= arm.steps or (not arm.kl and now <= most - 2.0 * FALL):
                return
            for _ in range(trainer.settings.measure_every):
                trainer.step()

    def _worths(self, arm: Arm, trainer: GrpoTrainer) -> list[float]:
        drawn = trainer.roller.draw(
            trainer.model,
            trainer.problems_held_out[: 8 if self.options.quick else LOOKED],
            2,
            torch.Generator().manual_seed(1),
        )
        return [arm.hidden.gold(one.problem.prompt, one.text) for one in drawn.samples]

    def _picks(self, arm: Arm) -> Preferences:
        """Gold has some too: its reward model is not read, but the policy is compared with the picks."""
        data = divided(self.answers, arm.hidden, 10 if self.options.quick else 200, self.seed)
        return data.first(40 if self.options.quick else arm.picks or 400)

    def _replay(self, model: Model) -> Replay:
        book = book_examples(self.tokenizer, [shipped_book_path()], model.config.context)
        return Replay(model, book, [], own_talk(model, self.tokenizer, self.folder))
