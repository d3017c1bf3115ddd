"""`vidya bench taste_picks`: answers as preferred after forty picks, with the recipe alone and with taste.

The picks are those of `vidya bench collapse`: of five answers the owner prefers one that asks something back.
Each is taught with a pause. Then a reward model learns from the same picks, and the taught weights practise
against it as `vidya practice taste` does. All is measured before, between and after. Each seed is a row of
taste_picks.json and is not made again. A run with VIDYA_CORPUS refuses the rows of one without it, and the
other way round: talk is measured on other texts.
Left out: the guard and the alarms of practice, which would end a run earlier.
"""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks import BenchOptions
from benchmarks.common.report import deviation, table, with_deviation
from benchmarks.common.rows import ReportRows, about_run_of_stem
from benchmarks.common.scratch import scratch_home
from benchmarks.lessons.clock import Clock
from benchmarks.lessons.collapse import Exam
from benchmarks.lessons.collapse_pupils import LearnerPupil, open_learner
from benchmarks.likes.taste_data import messages
from benchmarks.likes.taste_practice import QUICK_SIZE, SIZE, taste_trainer
from engine.model import Model
from engine.tokenizers.load import load_tokenizer
from learning.practice.options import with_options
from learning.practice.settings import PracticeSettings
from learning.protocol.records import Lesson
from learning.rewards.owner import OwnerData
from learning.rewards.registry import OPTIONS, TASTE
from learning.rewards.reward_data import Choice, Preferences

TITLE = "Forty picks: the recipe alone, and practice on taste after it"
NAME = "taste_picks"
STEPS, QUICK_STEPS = 40, 2
REGISTERED = """Registered before the run. Forty picks as in `vidya bench collapse` (an answer that asks
something back is preferred to the others), each taught by the recipe with a pause of at most 20 s. Then a
reward model is trained on these picks, and the taught weights practise against it for 40 steps of 12
messages with 4 answers each; all else is the product's default for `taste`. Wins: first answers that ask
something back, to messages without picks, drawn as in the app. Talk: the loss on held-out conversations of
the corpus, or on the model's own talk without one. Three seeds (picks, learner, practice). There is no
bound: the issue asks for both side by side."""


def run(options: BenchOptions) -> dict[str, Any]:
    """See `vidya bench`."""
    command = options.command(NAME, seeded=True, variables=["VIDYA_CORPUS"])
    stem = options.stem(NAME)
    with scratch_home(options) as (home, name):
        exam = Exam(options, home.models_path / name)
        about = about_run_of_stem(options, NAME) | {"talk": exam.yardstick.talk_source}
        set_by = {"talk": "VIDYA_CORPUS"}
        rows = ReportRows(options.out, stem, about, command, TITLE, parts, variables=set_by)
        for seed in options.seeds:
            if not rows.has(seed=seed):
                row = _measured(exam, home.models_path / name, seed, options)
                options.say(json.dumps(row))
                rows.add(row)
    return rows.result


def _measured(exam: Exam, folder: Path, seed: int, options: BenchOptions) -> dict[str, Any]:
    def looked(model: Model) -> dict[str, Any]:
        asked = exam.asked_again(model, [])
        return {"win": exam.win_rate(model, seed), "book": asked["book"], "talk": asked["talk_nll"]}

    with open_learner(folder, seed, pauses=True) as pupil:
        before, started = looked(pupil.model), time.monotonic()
        picked, _ = exam.pick_all(pupil, seed, Clock(exam.pause))
        recipe, taught = looked(pupil.model), time.monotonic()
        model, used = _practised(pupil, folder, picked, seed, options)
        practised = time.monotonic()
        return {
            "seed": seed,
            "picks": len(picked),
            "before": before,
            "recipe": recipe,
            "both": looked(model),
            "used": used,
            "seconds_of_picks": taught - started,
            "seconds_of_practice": practised - taught,
        }


def _practised(
    pupil: LearnerPupil, folder: Path, picked: Sequence[Lesson], seed: int, options: BenchOptions
) -> tuple[Model, bool]:
    """The taught weights after practice on the picks, and whether the app would have used this taste."""
    model, tokenizer = copy.deepcopy(pupil.masters), load_tokenizer(folder)
    asked = messages(False)[:: 20 if options.quick else 1]
    owner = OwnerData(folder, pupil.journal, tokenizer, model, lambda: asked)
    picks = Preferences(tuple(choice_of(one, number) for number, one in enumerate(picked)))
    size, steps = (QUICK_SIZE, QUICK_STEPS) if options.quick else (SIZE, STEPS)
    settings = with_options(PracticeSettings(), (*OPTIONS[TASTE], f"steps={steps}", *size))
    trainer, _, report = taste_trainer(owner, picks, pupil.replay, settings, seed)
    for _ in range(steps):
        trainer.step()
    return model.requires_grad_(False), not report.why_not


def choice_of(lesson: Lesson, number: int) -> Choice:
    """A pick as the reward model learns it."""
    assert lesson.answer is not None
    shown = tuple(dict.fromkeys([lesson.answer, *lesson.rejected]))
    return Choice(lesson.prompt, shown, 0, True, number, number)


def parts(result: dict[str, Any]) -> list[str]:
    """The paragraphs and tables of the result."""
    rows = result["rows"]
    head = ("weights", "wins", "book", "talk, nats", "against before")
    names = {"before": "before", "recipe": "after forty picks", "both": "and practice on taste"}
    lines = [
        (
            words,
            _percent([row[key]["win"] for row in rows]),
            _percent([row[key]["book"] for row in rows]),
            f"{fmean(row[key]['talk'] for row in rows):.3f}",
            _percent([row[key]["talk"] / row["before"]["talk"] - 1.0 for row in rows]),
        )
        for key, words in names.items()
    ]
    each = [
        (
            row["seed"],
            row["picks"],
            *(f"{100 * row[key]['win']:.0f}" for key in names),
            "yes" if row["used"] else "no",
            row["seconds_of_picks"],
            row["seconds_of_practice"],
        )
        for row in rows
    ]
    columns = ("seed", "picks", *(f"wins {words}, %" for words in names.values()))
    return [
        REGISTERED,
        f"Talk is measured on {result['talk']}. Means over {len(rows)} seeds with their standard deviation.",
        table(head, lines),
        table((*columns, "taste used by the app", "s of picks", "s of practice"), each),
    ]


def _percent(shares: Sequence[float]) -> str:
    hundred = [100 * share for share in shares]
    return f"{with_deviation(fmean(hundred), deviation(hundred), 1)} %"
