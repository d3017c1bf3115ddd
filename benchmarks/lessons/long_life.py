"""Teaches 1,000 lessons in a row and measures what is left of the first ones, of the book and of talk.

Uses the app's learner with its journal and files. After every ten lessons it gets a pause; after every fifty
everything is measured again on the weights alone. Left out: other methods and reworded questions
(collapse.py).
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from benchmarks import BenchOptions
from benchmarks.common.corpus import named_corpus
from benchmarks.common.processes import resident_bytes
from benchmarks.common.report import machine, median, table, write
from benchmarks.lessons.collapse import start_folder
from benchmarks.lessons.collapse_data import Row, make_yardstick
from benchmarks.lessons.collapse_pupils import open_learner
from benchmarks.lessons.long_life_lessons import make_lessons
from engine.storage.checkpoint import load_model
from engine.tokenizers.load import load_tokenizer
from learning.memory.own_talk import own_talk
from learning.objectives.forward import knowledge, mean_loss, share_known

LESSONS, EVERY, EARLY, RESTS = 1000, 50, 100, 10
"""Number of lessons; lessons between two measurements; number of early lessons; lessons between two
pauses."""
QUICK = (6, 3, 2, 3)
PAUSE, QUICK_PAUSE = 20.0, 0.5
"""Most seconds of a pause."""


def run(options: BenchOptions) -> dict[str, Any]:
    """Measures with the first seed; writes long_life.md and long_life.json after every measurement if
    `options.out` is set."""
    count, every, early, rests = QUICK if options.quick else (LESSONS, EVERY, EARLY, RESTS)
    where, rows, seed = machine(), list[dict[str, Any]](), options.seeds[0]
    lessons = make_lessons(count, seed)
    with start_folder(options) as folder:
        tokenizer, model = load_tokenizer(folder), load_model(folder)
        yard = make_yardstick(
            tokenizer,
            model,
            [Row(one.prompt[-1].text, one.answer, one.answer, False) for one in lessons],
            own_talk(model, tokenizer, folder),
        )
        pause = QUICK_PAUSE if options.quick else PAUSE
        result: dict[str, Any] = {
            "benchmark": "long_life",
            "machine": where,
            "quick": options.quick,
            "model": folder.name,
            "seed": seed,
            "pause": [pause, rests],
            "early": early,
            "talk": yard.talk_source,
            "rows": rows,
        }
        with open_learner(folder, seed, pauses=True) as pupil:
            talk = mean_loss(knowledge(pupil.model, yard.talk))
            right = thrown = 0
            took, worked, rested = list[float](), list[float](), 0.0
            for number, lesson in enumerate(lessons, 1):
                started, spent = time.perf_counter(), time.process_time()
                thrown += not pupil.learn(lesson)
                took.append(time.perf_counter() - started)
                worked.append(time.process_time() - spent)
                right += knowledge(pupil.model, [yard.lessons[number - 1]])[0].known
                if number % rests == 0:
                    rested += pupil.rest(pause)
                if number % every and number != count:
                    continue
                known = [k.known for k in knowledge(pupil.model, yard.lessons[:number])]
                rows.append(
                    {
                        "lessons": number,
                        "right_after": right / number,
                        "known": sum(known) / number,
                        "early": sum(known[:early]) / min(early, number),
                        "book": share_known(knowledge(pupil.model, yard.book)),
                        "talk_rise": mean_loss(knowledge(pupil.model, yard.talk)) / talk - 1.0,
                        "seconds": median(took[-every:]),
                        "cpu": median(worked[-every:]),
                        "pauses": rested,
                        "rolled_back": thrown,
                        "memory": resident_bytes(os.getpid()),
                        "home": size_of(pupil.home.path, "*"),
                        "journal": size_of(pupil.home.path, "journal.sqlite3*"),
                    }
                )
                options.say(" ".join(f"{k} {_short(v)}" for k, v in rows[-1].items()))
                if options.out is not None:
                    corpus = bool(named_corpus())
                    words = options.command("long_life", seeded=True, corpus=corpus)
                    write(options.out, "long_life", TITLE, words, parts(result), result)
    return result


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
    """Text and table of long_life.md."""
    pause, rests = result["pause"]
    head = list(HEAD)
    head[3] = f"the first {result['early']}"
    return [
        f"Lessons about one invented life, one after another, taught to the {result['model']}; seed "
        f"{result['seed']}. Known: every token of the answer is the likeliest, measured on the weights "
        f"alone. After every {rests} lessons the learner gets a pause of at most {pause:g} s. "
        f"Seconds are medians of the lessons since the previous row. Book: entries known. Talk: rise of "
        f"the loss per token on {result['talk']}. Memory is that of the process, including measurements.",
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
                    *(
                        None if row[key] is None else row[key] / 1e6
                        for key in ("memory", "home", "journal")
                    ),
                ]
                for row in result["rows"]
            ],
        ),
    ]
