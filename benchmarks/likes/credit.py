"""Measures what a bad rating does to an answer whose first sentence is right and whose second is wrong.

The answers of data/credit.jsonl are taught; then each gets one bad rating through the learner, as the app
gives it. Arms: the whole answer is blamed; all of it, halving with the distance from its end; the last
sentence alone, with what stands before it held. Half "tune" is for choosing, "measured" for the figures.
Seeds and arms that are in credit.json of --out already are not repeated, so an interrupted run resumes.

VIDYA_CREDIT_PART: "ratings" (default), "rewards" or "slow rewards" (credit_rewards.py).
VIDYA_CREDIT_HALF: "tune" or "measured" (default). VIDYA_CREDIT_ARMS: arms, separated by commas.
"""

from __future__ import annotations

import json
import math
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import DATA, BenchOptions
from benchmarks.common.asked import names_asked, one_asked
from benchmarks.common.report import table
from benchmarks.common.rows import ReportRows, about_run
from benchmarks.common.scratch import scratch_home
from benchmarks.likes import credit_rewards
from engine.config import Sampling
from engine.generate import greedy
from engine.tokenizers.chat_format import encode_prompt
from learning.channels import learn_from_rating
from learning.data.examples import Example, from_answer
from learning.home import Home
from learning.journal.journal import Journal
from learning.lessons.avoid import ALIKE
from learning.lessons.learner import Learner
from learning.lessons.recipe import TeachSettings
from learning.memory.tasks import LessonTask
from learning.memory.transaction import Commit
from learning.models.store import ModelStore
from learning.objectives.forward import knowledge, share_known
from learning.protocol.records import Ask, Lesson, Turn
from learning.text.blame import last_sentence
from learning.text.normalise import fold

ANSWERS = DATA / "credit.jsonl"
TOGETHER = 6
"""Answers that are taught at once."""
QUICK = 2
TITLE = "Credit: what a bad rating leaves of an answer whose end alone is wrong"
CRITERION = (
    "Criterion, written before the first run: with the last sentence blamed, 90 % or more of the wrong "
    "endings are gone and 85 % or more of the right beginnings kept, in each of three seeds; blaming the "
    "whole answer keeps 60 % or fewer at the same share gone; the book stays at 99 % or more. 48 answers, "
    "seeds 0 to 2. Chosen on the 24 answers of the other half, seed 11: the half-life, the one with most of "
    "both. A beginning is kept if the greedy answer begins with the right sentence; an ending is gone if no "
    f"sentence of the answer is the wrong one or has {ALIKE:.0%} or more of its words in order."
)

REWARDS, SLOW = "rewards", "slow rewards"
REWARDS_TITLE = "Credit: updates of practice where one word decides"
REWARDS_CRITERION = (
    "Criterion, written before the first run: to be right in 80 % over four steps, a critic needs at most "
    "0.67 of the updates of whole-answer credit where only the end decides, and at most 1.2 where only the "
    "beginning does, in the mean of three seeds. Half-life 3 (decay without a critic) is told as it comes. "
    "4 groups of 4 answers, one update a rollout, the usual rate in all arms; nothing was tuned."
)
SLOW_CRITERION = (
    "Written after the run at the usual rate, and before this one. There the tasks were learned in 5 or 6 "
    "updates, too few for a critic to be used. So again at a tenth of the rate, with two critics: that "
    "of the settings, and one that is used as soon as it foretells better than the mean does, because where "
    "only the end decides, the states before it can foretell nothing, which bounds the explained variance. "
    "Criterion as before, for the second critic: at most 0.67 and 1.2 of the updates of whole-answer credit, "
    "in the mean over seeds. Nothing was tuned."
)


@dataclass(frozen=True)
class CreditArm:
    """A way to blame."""

    span: bool = False
    """The last sentence alone."""
    half_life: float = math.inf
    """In tokens."""


ARMS = {
    "whole answer": CreditArm(),
    "half-life 6.6": CreditArm(half_life=6.6),
    "half-life 3": CreditArm(half_life=3.0),
    "half-life 1.4": CreditArm(half_life=1.4),
    "last sentence": CreditArm(span=True),
}
HALVES = ("measured", "tune")


@dataclass(frozen=True)
class Mixed:
    """A question, and the two sentences of its answer."""

    prompt: str
    keep: str
    wrong: str

    @property
    def answer(self) -> str:
        return f"{self.keep} {self.wrong}"


def read_mixed(half: str) -> list[Mixed]:
    """The answers of a half of data/credit.jsonl."""
    rows = [json.loads(line) for line in ANSWERS.read_text("utf-8").splitlines()]
    return [Mixed(r["prompt"], r["keep"], r["wrong"]) for r in rows if r["half"] == half]


def kept(said: str, mixed: Mixed) -> bool:
    """Whether an answer still begins with the right sentence."""
    return fold(said).startswith(fold(mixed.keep))


def gone(said: str, mixed: Mixed) -> bool:
    """Whether no sentence of an answer is nearly the wrong one."""
    wrong = fold(mixed.wrong).split()
    return all(
        SequenceMatcher(None, fold(part).split(), wrong, autojunk=False).ratio() < ALIKE
        for part in re.split(r"(?<=[.!?])\s+", said)
    )


def run(options: BenchOptions) -> dict[str, Any]:
    """See `vidya bench`. Raises NotFound for a part, an arm or a half."""
    part = one_asked("VIDYA_CREDIT_PART", ["ratings", REWARDS, SLOW])
    if part != "ratings":
        return _rewards(options, part)
    half, arms = _chosen(options.quick)
    data = read_mixed(half)[: QUICK if options.quick else None]
    name = "credit" if half == HALVES[0] else f"credit_{half}"
    variables = ["VIDYA_CREDIT_HALF", "VIDYA_CREDIT_ARMS"]
    command = options.command("credit", seeded=True, variables=variables)
    about = about_run(options, "credit") | {"half": half}
    rows = ReportRows(options.out, name, about, command, TITLE, parts)
    for seed in options.seeds:
        missing = [arm for arm in arms if not rows.has(arm=arm, seed=seed)]
        if not missing:
            continue
        with scratch_home(options) as (home, model):
            known = _teach(home, model, data, seed)
            options.say(f"seed {seed}: {len(known)} of {len(data)} answers are known")
            for arm in missing:
                with _copy(home) as own:
                    row = _rate(own, model, known, ARMS[arm], seed, options.say)
                row = {"arm": arm, "seed": seed, "taught": len(known), **row}
                rows.add(row)
                options.say(f"seed {seed}, {arm}: {row}")
    return rows.result


def _rewards(options: BenchOptions, part: str) -> dict[str, Any]:
    """Part 2."""
    slow = part == SLOW
    arms = credit_rewards.SLOW_ARMS if slow else credit_rewards.ARMS
    name = "credit_" + part.replace(" ", "_")
    command = options.command("credit", seeded=True, variables=["VIDYA_CREDIT_PART"])
    shown = partial(reward_parts, criterion=SLOW_CRITERION if slow else REWARDS_CRITERION)
    about = about_run(options, "credit")
    rows = ReportRows(options.out, name, about, command, REWARDS_TITLE, shown)
    with scratch_home(options) as (home, model):
        folder = ModelStore(home).resolve(model)
        for row in credit_rewards.measure(folder, options.seeds, rows.rows, options, arms):
            rows.add(row)
    return rows.result


def reward_parts(result: dict[str, Any], criterion: str) -> Iterator[str]:
    """The report of part 2: criterion, table."""
    yield criterion
    yield table(
        ["task", "arm", "seed", "updates", "right at the end, %", "explained variance", "book, %"],
        [
            [row["task"], row["arm"], row["seed"], row["updates"], 100 * row["curve"][-1]]
            + [row["explained"], 100 * row["book"]]
            for row in result["rows"]
        ],
    )


def parts(result: dict[str, Any]) -> Iterator[str]:
    """The report: criterion, table."""
    yield CRITERION
    head = ["arm", "seed", "rated", "endings gone, %", "beginnings kept, %", "both, %", "book, %"]
    yield table(
        [*head, "learned, %", "steps", "seconds a rating"],
        [
            [row["arm"], row["seed"], row["taught"]]
            + [100 * row[at] for at in ("gone", "kept", "both", "book", "learned")]
            + [row["steps"], row["seconds"]]
            for row in sorted(result["rows"], key=lambda r: (list(ARMS).index(r["arm"]), r["seed"]))
        ],
    )


def _chosen(quick: bool) -> tuple[str, list[str]]:
    half = one_asked("VIDYA_CREDIT_HALF", HALVES)
    usual = ["whole answer", "last sentence"] if quick else None
    return half, names_asked("VIDYA_CREDIT_ARMS", ARMS, usual)


@contextmanager
def _copy(home: Home) -> Iterator[Home]:
    """A copy of a home while one arm learns in it."""
    folder = Path(tempfile.mkdtemp(prefix="vidya-bench-"))
    try:
        shutil.copytree(home.path, folder, dirs_exist_ok=True)
        yield Home(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _teach(home: Home, model: str, data: Sequence[Mixed], seed: int) -> list[Mixed]:
    """Teaches the answers, some at a time. Returns those that greedy decoding gives afterwards."""
    with closing(Journal(home.journal_path)) as journal:
        learner = Learner(home, ModelStore(home).resolve(model), journal, seed=seed)
        context = learner.weights.model.config.context
        for start in range(0, len(data), TOGETHER):
            part = data[start : start + TOGETHER]
            lessons = journal.add_lessons(
                Lesson("example", (Turn("user", one.prompt),), one.answer) for one in part
            )
            rows = [from_answer(learner.tokenizer, x.prompt, x.answer, context) for x in lessons]
            _attempt(learner, rows, [lesson.id for lesson in lessons])
            for lesson, row in zip(lessons, rows, strict=True):
                journal.set_lesson_state(lesson.id, "learned")
                learner.replay.remember(row)
        said = _answers(learner, data)
        return [one for one in data if fold(said[one.prompt]) == fold(one.answer)]


def _attempt(learner: Learner, rows: Sequence[Example], lessons: Sequence[int]) -> None:
    """Takes the steps that teach all rows, and keeps them."""
    task, commit = LessonTask(rows[0], forms=tuple(rows[1:])), Commit(lessons, "taught")
    learner.transaction.attempt(lambda: learner.transaction.teach(task), lambda _: commit)


def _rate(
    home: Home,
    model: str,
    known: Sequence[Mixed],
    arm: CreditArm,
    seed: int,
    say: Callable[[str], None],
) -> dict[str, Any]:
    """Rates every answer bad, once, and looks at all of them at the end."""
    with closing(Journal(home.journal_path)) as journal:
        folder, settings = ModelStore(home).resolve(model), TeachSettings(half_life=arm.half_life)
        learner = Learner(home, folder, journal, seed=seed, settings=settings)
        started, steps, learned = time.monotonic(), 0, 0
        for one in known:
            asked = Ask(0, 0, (Turn("user", one.prompt),), Sampling(), None, 0.0)
            blame = last_sentence(one.answer) if arm.span else None
            lesson = learn_from_rating(asked, one.answer, "bad", blame)
            assert lesson is not None
            report = learner.learn(journal.add_lessons([replace(lesson, judgement=None)])[0])
            steps, learned = steps + report.steps, learned + report.known_after
        seconds = time.monotonic() - started
        said = _answers(learner, known)
        for one in known[:8]:
            say(f"  {one.answer!r} -> {said[one.prompt]!r}")
        held = [kept(said[one.prompt], one) for one in known]
        away = [gone(said[one.prompt], one) for one in known]
        count = max(1, len(known))
        return {
            "gone": sum(away) / count,
            "kept": sum(held) / count,
            "both": sum(a and b for a, b in zip(held, away, strict=True)) / count,
            "book": share_known(knowledge(learner.weights.model, learner.replay.book)),
            "learned": learned / count,
            "steps": steps / count,
            "seconds": seconds / count,
        }


def _answers(learner: Learner, data: Sequence[Mixed]) -> dict[str, str]:
    """Prompt -> the answer of greedy decoding by the published weights."""
    model, tokenizer = learner.published.model, learner.tokenizer
    found = {}
    for one in data:
        turns = [("user", one.prompt)]
        ids = encode_prompt(tokenizer, turns, model.config.context, 48)
        found[one.prompt] = greedy(model, tokenizer, ids).text
    return found
