"""Teaches many lessons in a row and measures what is left of the first ones, of the book and of talk.

Uses the app's learner with its journal and files. After every ten lessons it gets a pause; after every fifty
everything is measured again on the weights alone. VIDYA_LONG_LIFE_LESSONS says how many lessons (default
1,000). With an output folder an interrupted run resumes from its last measurement: only then is the
learner's home copied into that folder, because a copy has all weights (230 MB with the 10M). The copy is
removed at the end. Left out: other methods and reworded questions (collapse.py).
"""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import BenchOptions
from benchmarks.common.asked import count_asked
from benchmarks.common.processes import resident_bytes
from benchmarks.common.report import (
    commands_of,
    damaged,
    earlier,
    machine,
    median,
    table,
    write,
)
from benchmarks.common.rows import check_rows
from benchmarks.common.weights import fingerprint
from benchmarks.lessons.collapse import start_folder
from benchmarks.lessons.collapse_data import Row, Yardstick, make_yardstick
from benchmarks.lessons.collapse_pupils import LearnerPupil, open_learner
from benchmarks.lessons.long_life_lessons import COUNT_VARIABLE, make_lessons
from engine.errors import DataError
from engine.storage.checkpoint import load_model
from engine.storage.weight_files import current_files
from engine.tokenizers.load import load_tokenizer
from learning.memory.own_talk import own_talk
from learning.objectives.forward import knowledge, mean_loss, share_known
from learning.protocol.records import Lesson
from personality.book import shipped_book_path

LESSONS, EVERY, EARLY, RESTS = 1000, 50, 100, 10
"""Number of lessons; lessons between two measurements; number of early lessons; lessons between two
pauses."""
QUICK = (6, 3, 2, 3)
PAUSE, QUICK_PAUSE = 20.0, 0.5
"""Most seconds of a pause."""
NAME = "long_life"
NUMBERS = (
    *("lessons", "right_after", "known", "early", "book", "talk_rise", "seconds", "cpu", "pauses"),
    "rolled_back",
)
"""What every row has as a number."""
SIZES = ("memory", "home", "journal")
"""What every row has in bytes; None: not known."""


@dataclass(frozen=True)
class Plan:
    """How many lessons are taught, and when is what done."""

    count: int
    every: int
    """Lessons between two measurements."""
    early: int
    """Number of early lessons."""
    rests: int
    """Lessons between two pauses."""
    pause: float
    """Most seconds of a pause."""


def make_plan(*, quick: bool) -> Plan:
    """The plan that the environment asks for. Raises DataError for what is not a whole number."""
    usual, every, early, rests = QUICK if quick else (LESSONS, EVERY, EARLY, RESTS)
    count = count_asked(COUNT_VARIABLE, usual)
    return Plan(count, every, early, rests, QUICK_PAUSE if quick else PAUSE)


def run(options: BenchOptions) -> dict[str, Any]:
    """Measures with the first seed; writes its .md and .json (`options.stem`) after every measurement if
    `options.out` is set. Raises DataError if the files there are of another run or damaged."""
    plan, seed = make_plan(quick=options.quick), options.seeds[0]
    lessons = make_lessons(plan.count, seed)
    with start_folder(options) as folder:
        like = {
            "benchmark": NAME,
            "quick": options.quick,
            "model": folder.name,
            "start": fingerprint(current_files(folder).newest, [shipped_book_path()]),
            "seed": seed,
            "pause": [plan.pause, plan.rests],
            "early": plan.early,
        }
        result = _earlier(options, like)
        if result and result["rows"][-1]["lessons"] >= plan.count:
            return result
        saved = _saved(options, result)
        if saved is None:
            result = {**like, "machine": machine(), "resumed": [], "rows": []}
        else:
            result["machine"] = machine()
            result["resumed"].append(result["rows"][-1]["lessons"])
            options.say(f"goes on after lesson {result['resumed'][-1]}")
        tokenizer, model = load_tokenizer(folder), load_model(folder)
        rows = [Row(one.prompt[-1].text, one.answer, one.answer, False) for one in lessons]
        yard = make_yardstick(tokenizer, model, rows, own_talk(model, tokenizer, folder))
        with open_learner(folder, seed, pauses=True, saved=saved) as pupil:
            if saved is None:
                talk = mean_loss(knowledge(pupil.model, yard.talk))
                result |= {"talk": yard.talk_source, "talk_before": talk}
            _live(options, plan, lessons, yard, pupil, result)
    return result


def _earlier(options: BenchOptions, like: dict[str, Any]) -> dict[str, Any]:
    """The result of an interrupted run, with at least one row; {} if there is none. Raises DataError if the
    file is of another run or damaged."""
    name = options.stem(NAME)
    result = earlier(options.out, name, like)
    if options.out is None or not result:
        return {}
    path = options.out / f"{name}.json"
    check_rows(path, result.get("rows"), NUMBERS, SIZES)
    last = result["rows"][-1]["lessons"] if result["rows"] else 0
    talk_before, resumed = result.get("talk_before"), result.get("resumed")
    if not isinstance(last, int) or last < 1 or not isinstance(resumed, list):
        raise damaged(path)
    if not isinstance(talk_before, int | float) or talk_before <= 0 or "talk" not in result:
        raise damaged(path)
    return result


def _live(
    options: BenchOptions,
    plan: Plan,
    lessons: list[Lesson],
    yard: Yardstick,
    pupil: LearnerPupil,
    result: dict[str, Any],
) -> None:
    """Teaches the lessons that are left, and adds a row to the result at each measurement."""
    rows = result["rows"]
    right, thrown, rested, taught = 0, 0, 0.0, 0
    if rows:
        last = rows[-1]
        taught, thrown, rested = last["lessons"], last["rolled_back"], last["pauses"]
        right = round(last["right_after"] * taught)
    took, worked = list[float](), list[float]()
    variables = [COUNT_VARIABLE, "VIDYA_CORPUS"]
    command = options.command(NAME, seeded=True, variables=variables)
    for number, lesson in enumerate(lessons[taught:], taught + 1):
        started, spent = time.perf_counter(), time.process_time()
        thrown += not pupil.learn(lesson)
        took.append(time.perf_counter() - started)
        worked.append(time.process_time() - spent)
        right += knowledge(pupil.model, [yard.lessons[number - 1]])[0].known
        if number % plan.rests == 0:
            rested += pupil.rest(plan.pause)
        if number % plan.every and number != plan.count:
            continue
        known = [k.known for k in knowledge(pupil.model, yard.lessons[:number])]
        talk = mean_loss(knowledge(pupil.model, yard.talk))
        row = {
            "lessons": number,
            "right_after": right / number,
            "known": sum(known) / number,
            "early": sum(known[: plan.early]) / min(plan.early, number),
            "book": share_known(knowledge(pupil.model, yard.book)),
            "talk_rise": talk / result["talk_before"] - 1.0,
            "seconds": median(took),
            "cpu": median(worked),
            "pauses": rested,
            "rolled_back": thrown,
            "memory": resident_bytes(os.getpid()),
            "home": size_of(pupil.home.path, "*"),
            "journal": size_of(pupil.home.path, "journal.sqlite3*"),
        }
        rows.append(row | {"command": command})
        took, worked = [], []
        options.say(" ".join(f"{k} {_short(v)}" for k, v in row.items()))
        if options.out is not None:
            _keep(options, plan, pupil, result)


def _keep(options: BenchOptions, plan: Plan, pupil: LearnerPupil, result: dict[str, Any]) -> None:
    """Writes the result, and the copy of the home that belongs to it. Killed in between, the copy of the row
    before is still there."""
    out, number = options.out, result["rows"][-1]["lessons"]
    assert out is not None
    homes = _homes(options)
    done = number == plan.count
    try:
        out.mkdir(parents=True, exist_ok=True)
        if not done:
            half = out / f"{homes}half"
            shutil.rmtree(half, ignore_errors=True)
            pupil.save(half)
            whole = out / f"{homes}{number}"
            shutil.rmtree(
                whole, ignore_errors=True
            )  # of a run that was killed before its row was written
            half.rename(whole)
    except OSError as error:
        what = f"{out}: the home cannot be copied ({error.strerror})"
        raise DataError(what, "name another folder: --out") from error
    write(out, options.stem(NAME), TITLE, commands_of(result["rows"]), parts(result), result)
    for copy in out.glob(f"{homes}*"):
        if done or copy.name != f"{homes}{number}":
            shutil.rmtree(copy, ignore_errors=True)


def _homes(options: BenchOptions) -> str:
    """Begin of the name of a copy of the home in the output folder; the number of lessons follows."""
    return f"{options.stem(NAME)}_home_"


def _saved(options: BenchOptions, result: dict[str, Any]) -> Path | None:
    """The copy of the home that belongs to the last row; None if there is none."""
    if options.out is None or not result:
        return None
    path = options.out / f"{_homes(options)}{result['rows'][-1]['lessons']}"
    return path if path.is_dir() else None


def size_of(folder: Path, pattern: str) -> int:
    """Bytes of the files under the folder that match the pattern."""
    return sum(file.stat().st_size for file in folder.rglob(pattern) if file.is_file())


def _short(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


TITLE = "A long life"
HEAD = (
    *(
        "lessons",
        "known right after",
        "known now",
        "the early ones",
        "book",
        "talk",
        "s per lesson",
    ),
    *("CPU s", "s of pauses in all", "rolled back", "MB of memory", "MB of home", "MB of journal"),
)


def parts(result: dict[str, Any]) -> list[str]:
    """Text and table of the report."""
    pause, rests = result["pause"]
    head = list(HEAD)
    head[3] = f"the first {result['early']}"
    again = ", ".join(map(str, result["resumed"]))
    resumed = [f"Interrupted and resumed after lesson {again}, as after a restart of the program."]
    return [
        f"Lessons about one invented life, one after another, taught to the {result['model']}; seed "
        f"{result['seed']}. Known: every token of the answer is the likeliest, measured on the weights "
        f"alone. After every {rests} lessons the learner gets a pause of at most {pause:g} s. "
        f"Seconds are medians of the lessons since the previous row. Book: entries known. Talk: rise of "
        f"the loss per token on {result['talk']}. Memory is that of the process, including measurements.",
        *(resumed if again else []),
        table(
            head,
            [
                [
                    row["lessons"],
                    *(f"{row[key]:.1%}" for key in ("right_after", "known", "early", "book")),
                    f"{row['talk_rise']:+.1%}",
                    row["seconds"],
                    row["cpu"],
                    row["pauses"],
                    row["rolled_back"],
                    *(None if row[key] is None else row[key] / 1e6 for key in SIZES),
                ]
                for row in result["rows"]
            ],
        ),
    ]
