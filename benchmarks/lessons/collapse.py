"""Measures whether teaching one lesson after another destroys what was known: the recipe and failed methods.

Each method is taught the same 100 lessons and, from a fresh start, 40 picks by a hidden preference. After
every ten lessons everything is measured again on the weights alone. Seeds shuffle the lessons and the
replay. Every measurement is appended to collapse_rows.jsonl in --out at once, so an interrupted run resumes,
method by method (delete lines from the file to measure them again); the tables use all rows in it.
VIDYA_COLLAPSE_METHODS selects methods, separated by commas; VIDYA_CORPUS provides held-out talk.

"Known" means exact: each token of the answer is the likeliest, so greedy decoding gives the answer. By key:
the greedy, free-running answer holds the lesson's key (learning.text.key); measured at the end.
"""

from __future__ import annotations

import gc
import random
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from benchmarks import BenchOptions
from benchmarks.baselines.bag_of_words import share_found
from benchmarks.common.asked import names_asked
from benchmarks.common.processes import forget_peak
from benchmarks.common.report import commands_of, machine
from benchmarks.common.scratch import DEFAULT_MODEL
from benchmarks.common.weights import fingerprint
from benchmarks.lessons.clock import Clock
from benchmarks.lessons.collapse_data import (
    LESSONS,
    PREFERENCE,
    Row,
    Yardstick,
    make_yardstick,
    pick_prompts,
    preferred,
    read_lessons,
)
from benchmarks.lessons.collapse_pupils import METHODS, RECIPE, WITHOUT_PAUSES, Pupil, open_pupil
from benchmarks.lessons.collapse_report import summary, write_report
from benchmarks.lessons.collapse_rows import Rows
from engine.config import CONFIGS, Sampling
from engine.errors import NotFound
from engine.generate import Finished, generate
from engine.model import Model
from engine.storage.checkpoint import load_model
from engine.storage.weight_files import current_files
from engine.tokenizers.chat_format import encode_prompt
from engine.tokenizers.load import load_tokenizer
from learning.data.examples import Example
from learning.evaluate import greedy_answers, share
from learning.home import Home
from learning.memory.own_talk import own_talk
from learning.models.grow import grow_model
from learning.models.store import ModelStore
from learning.objectives.forward import knowledge, mean_loss, share_known
from learning.protocol.records import Lesson, Turn
from learning.text.key import holds
from learning.text.normalise import fold
from personality.book import read_book, shipped_book_path

EVERY = 10
"""Lessons between two measurements."""
PICKS, CANDIDATES = 40, 5
"""Number of picks; fewer if the prompts run out, because a prompt on which all or none of the candidates
satisfy the preference gives no pick."""
PAUSE = {"10m": 20.0}
OTHER_PAUSE = 60.0
"""Most seconds of consolidation after a lesson."""
VARIABLES = ("VIDYA_COLLAPSE_METHODS", "VIDYA_CORPUS")
QUICK_METHODS = (RECIPE, "single-1e-4", "elastic-0.02", "conversation")
QUICK_LESSONS, QUICK_PICKS, QUICK_WIN_PROMPTS, QUICK_PAUSE = 10, 2, 10, 0.5


def run(options: BenchOptions) -> dict[str, Any]:
    """Measures everything that is not in the rows yet. Raises NotFound for a model or a method."""
    methods = chosen_methods(options.quick)
    seeds = options.seeds[:1] if options.quick else options.seeds
    started, found = time.perf_counter(), machine()
    with start_folder(options) as folder:
        exam = Exam(options, folder)
        alone = words_alone(exam.rows)
        rows = Rows(options.out, {"model": folder.name, "start": exam.start, "quick": exam.quick})
        # the recipe first, then seed by seed, so that an interrupted run has complete seeds
        ours = [(m, s) for m in methods if m == RECIPE for s in seeds]
        others = [(m, s) for s in seeds for m in methods if m != RECIPE]
        command = options.command("collapse", seeded=True, variables=VARIABLES)
        result: dict[str, Any] = {}
        for method, seed in [*ours, *others]:
            for part, measure in (("lessons", exam.lessons), ("picks", exam.picks)):
                if rows.has(method, seed, part):
                    options.say(f"{method}, seed {seed}, {part}: measured before")
                    continue
                for row in measure(method, seed):
                    rows.add(method, seed, part, row | {"command": command})
                    options.say(f"{method}, seed {seed}, {part}: {words(row)}")
                rows.finish(method, seed, part)
            models = summary(rows.finished())
            result = {
                "benchmark": "collapse",
                "machine": found,
                "quick": exam.quick,
                "lessons": len(exam.rows),
                "picks": exam.pick_count,
                "preference": PREFERENCE,
                "pause_seconds": {name: pause_of(name, exam.quick) for name in models},
                "threads": torch.get_num_threads(),
                "talk": exam.yardstick.talk_source,
                "words_alone": alone,
                "models": models,
                "seconds": time.perf_counter() - started,
            }
            if options.out is not None:
                write_report(options.out, result, commands_of(rows.finished()))
    return result


def words_alone(rows: Sequence[Row]) -> dict[str, float]:
    """Share of rewordings and of paraphrases that a bag of words matches to the right question, among all
    lessons and the book."""
    taught = {fold(row.prompt) for row in rows}
    book = [e.question for e in read_book(shipped_book_path())]
    others = [question for question in book if fold(question) not in taught]
    asked = {
        "rewordings": [(i, text) for i, row in enumerate(rows) for text in row.rewordings],
        "paraphrases": [(i, row.paraphrase) for i, row in enumerate(rows)],
    }
    prompts = [row.prompt for row in rows]
    return {name: share_found(prompts, others, of) for name, of in asked.items()}


def pause_of(model: str, quick: bool) -> float:
    """Most seconds of consolidation after each lesson."""
    return QUICK_PAUSE if quick else PAUSE.get(model, OTHER_PAUSE)


def words(row: dict[str, Any]) -> str:
    """A row as text."""
    return " ".join(
        f"{key} {value:.3g}" if isinstance(value, float) else f"{key} {value}"
        for key, value in row.items()
        if value is not None
    )


def chosen_methods(quick: bool) -> list[str]:
    """The methods in VIDYA_COLLAPSE_METHODS; by default all except the recipe without pauses, which takes
    as long as the recipe. Raises NotFound."""
    usual = QUICK_METHODS if quick else [name for name in METHODS if name != WITHOUT_PAUSES]
    return names_asked("VIDYA_COLLAPSE_METHODS", METHODS, usual)


@contextmanager
def start_folder(options: BenchOptions) -> Iterator[Path]:
    """A folder with the initial model, which is not changed: the shipped one, the named one of the owner's
    home, or, if the home has none of that name, the shipped one grown to that size."""
    place = Path(tempfile.mkdtemp(prefix="vidya-collapse-"))
    name = options.model or DEFAULT_MODEL
    try:
        store = ModelStore(Home(place))
        if name == DEFAULT_MODEL and options.model is None:
            yield store.resolve(name)
            return
        try:
            found = ModelStore(Home(options.home)).info(name).path
        except NotFound:
            if name not in CONFIGS:
                raise
            yield grow_model(store, DEFAULT_MODEL, name).path
            return
        ignored = shutil.ignore_patterns("snapshots", ".*")
        yield Path(shutil.copytree(found, store.place(found.name), ignore=ignored))
    finally:
        shutil.rmtree(place, ignore_errors=True)


class Exam:
    """Teaches and measures models that start from the one in the folder."""

    def __init__(self, options: BenchOptions, folder: Path) -> None:
        self.quick, self._folder = options.quick, folder
        self._tokenizer, model = load_tokenizer(folder), load_model(folder)
        talk = own_talk(model, self._tokenizer, folder)
        self._context = model.config.context
        self.rows: list[Row] = read_lessons()
        if self.quick:
            self.rows = self.rows[:: len(self.rows) // QUICK_LESSONS][:QUICK_LESSONS]
        self.yardstick: Yardstick = make_yardstick(self._tokenizer, model, self.rows, talk)
        self.pause = pause_of(folder.name, self.quick)
        self.pick_count = QUICK_PICKS if self.quick else PICKS
        self._pick_prompts, asked = pick_prompts()
        self._win_prompts = asked[:QUICK_WIN_PROMPTS] if self.quick else asked
        self._won_at_first: dict[tuple[int, torch.dtype], float] = {}
        self._asked_at_first: dict[torch.dtype, dict[str, float | None]] = {}
        self.start = fingerprint(current_files(folder).newest, [shipped_book_path(), LESSONS])

    # ------------------------------------------------------------ lessons

    def lessons(self, method: str, seed: int) -> Iterator[dict[str, Any]]:
        """Yields a row before the first lesson and after every EVERY lessons."""
        order = list(range(len(self.rows)))
        random.Random(seed).shuffle(order)
        clock = Clock(self.pause)
        gc.collect()
        forget_peak()
        with open_pupil(method, self._folder, seed) as pupil:
            yield {"at": 0, **self._at_first(pupil.model)}
            right_after: list[bool] = []
            for count, index in enumerate(order, 1):
                clock.teach(pupil, self.rows[index].lesson())
                example = self.yardstick.lessons[index]
                right_after.append(knowledge(pupil.model, [example])[0].known)
                clock.rest(pupil)
                if count % EVERY == 0 or count == len(order):
                    yield {
                        "at": count,
                        "right_after": sum(right_after) / count,
                        **self.asked_again(pupil.model, order[:count]),
                        **(self._by_key(pupil.model) if count == len(order) else {}),
                        **clock.row(),
                    }

    def _at_first(self, model: Model) -> dict[str, float | None]:
        """`asked_again` before any lesson; the same for all methods, so it is cached."""
        if model.dtype not in self._asked_at_first:
            self._asked_at_first[model.dtype] = self.asked_again(model, [])
        return self._asked_at_first[model.dtype]

    def asked_again(self, model: Model, taught: Sequence[int]) -> dict[str, float | None]:
        """All measurements of the weights; shares are None if there is nothing to count."""
        yard = self.yardstick

        def known(examples: Sequence[Example]) -> float | None:
            return share_known(knowledge(model, examples)) if examples else None

        return {
            "known": known([yard.lessons[i] for i in taught]),
            "rewordings": known([again for i in taught for again in yard.rewordings[i]]),
            "paraphrases": known([yard.paraphrases[i] for i in taught]),
            "contradictions": known([yard.lessons[i] for i in taught if yard.contradicts[i]]),
            "book": known(yard.book),
            "talk_nll": mean_loss(knowledge(model, yard.talk)),
        }

    def _by_key(self, model: Model) -> dict[str, float]:
        """Shares of greedy answers that hold the key, over all lessons that have one. Decoding takes as long
        as many forward passes, so only at the end."""
        asked: dict[str, list[tuple[Sequence[str], Row]]] = {
            "known_key": [((row.prompt,), row) for row in self.rows],
            "rewordings_key": [(row.rewordings, row) for row in self.rows],
            "paraphrases_key": [((row.paraphrase,), row) for row in self.rows],
        }
        found = {}
        for name, of in asked.items():
            cases = [(text, row) for texts, row in of if row.key for text in texts]
            pairs = [([("user", text)], row.answer) for text, row in cases]
            _, said = greedy_answers(model, self._tokenizer, pairs)
            if cases:
                found[name] = share(
                    [
                        holds(text, row.key, row.without)
                        for text, (_, row) in zip(said, cases, strict=True)
                    ]
                )
        return found

    # ------------------------------------------------------------ picks

    def picks(self, method: str, seed: int) -> Iterator[dict[str, Any]]:
        """Yields a row before the first pick and one after the last."""
        clock = Clock(self.pause)
        gc.collect()
        forget_peak()
        with open_pupil(method, self._folder, seed) as pupil:
            first = seed, pupil.model.dtype  # the first row is the same for all methods
            if first not in self._won_at_first:
                self._won_at_first[first] = self.win_rate(pupil.model, seed)
            yield {"at": 0, "win": self._won_at_first[first], **self._at_first(pupil.model)}
            picked, asked = self.pick_all(pupil, seed, clock)
            yield {
                "at": len(picked),
                "asked": asked,
                "win": self.win_rate(pupil.model, seed),
                **self.asked_again(pupil.model, []),
                **clock.row(),
            }

    def pick_all(self, pupil: Pupil, seed: int, clock: Clock) -> tuple[list[Lesson], int]:
        """Teaches picks of the preferred among CANDIDATES answers, each with a pause. Returns their lessons,
        and the number of messages that were asked for them."""
        picked, asked = list[Lesson](), 0
        prompts = list(self._pick_prompts)
        random.Random(seed).shuffle(prompts)
        for prompt in prompts:
            asked += 1
            lesson = pick(prompt, self._answers(pupil.model, prompt, CANDIDATES, seed, asked))
            if lesson is not None:
                clock.teach(pupil, lesson)
                clock.rest(pupil)
                picked.append(lesson)
            if len(picked) == self.pick_count:
                break
        return picked, asked

    def win_rate(self, model: Model, seed: int) -> float:
        """Share of first candidates that satisfy the preference, on prompts without picks."""
        said = [
            preferred(text)
            for number, prompt in enumerate(self._win_prompts)
            for text in self._answers(model, prompt, 1, seed, number)
        ]
        return sum(said) / len(said)

    def _answers(self, model: Model, prompt: str, n: int, seed: int, number: int) -> list[str]:
        """Candidates, sampled as in the app."""
        sampling = Sampling()
        ids = encode_prompt(self._tokenizer, [("user", prompt)], self._context, sampling.max_tokens)
        generator = torch.Generator().manual_seed(1000 * seed + number)
        events = generate(model, self._tokenizer, ids, n, sampling, generator=generator)
        done = [event for event in events if isinstance(event, Finished)]
        return [event.text for event in sorted(done, key=lambda event: event.index)]


def pick(prompt: str, texts: Sequence[str]) -> Lesson | None:
    """A lesson that prefers the first candidate which satisfies the preference to all others; None if all
    or none satisfy it."""
    texts = [text.strip() for text in texts if text.strip()]
    chosen = next((text for text in texts if preferred(text)), None)
    if chosen is None or all(map(preferred, texts)):
        return None
    others = tuple(text for text in dict.fromkeys(texts) if text != chosen)
    return Lesson("pick", (Turn("user", prompt),), chosen, others)
