"""Measures what a model knows of facts that its owner told it, asked in any words, as knowledge editing does.

Each arm (people_arms.py) is taught the facts of data/people.jsonl one after another, from a fresh start and
with pauses. Right after each lesson its question is asked; after 10, 50, 100, ... lessons all that was taught
is asked again, in other words and indirectly, with what must not change. Then a third of the facts is
contradicted. All answers are greedy and free-running. Every measurement is appended to people_rows.jsonl in
--out at once, so an interrupted run resumes arm by arm.

VIDYA_PEOPLE_HALF: "tune" (default) or "unseen", which is for final figures only. VIDYA_PEOPLE_ARMS: arms,
separated by commas. VIDYA_PEOPLE_FACTS: only so many, from the first. VIDYA_PEOPLE_PAUSE: processor seconds
of a pause. VIDYA_CORPUS: held-out talk.
"""

from __future__ import annotations

import gc
import hashlib
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from benchmarks import BenchOptions
from benchmarks.common.asked import names_asked, number_asked, one_asked
from benchmarks.common.processes import forget_peak
from benchmarks.common.report import commands_of, machine
from benchmarks.common.weights import fingerprint
from benchmarks.facts.people_answers import (
    Asker,
    Shares,
    judge_facts,
    judge_later,
    same_text,
    unchanged,
)
from benchmarks.facts.people_arms import ARMS, RANDOM, Arm, open_arm
from benchmarks.facts.people_data import HALVES, PersonFact, read_people
from benchmarks.facts.people_report import write_report
from benchmarks.lessons.clock import Clock
from benchmarks.lessons.collapse import pause_of, start_folder, words
from benchmarks.lessons.collapse_data import make_yardstick
from benchmarks.lessons.collapse_pupils import RECIPE, LearnerPupil
from benchmarks.lessons.collapse_rows import Rows
from benchmarks.talking.talk_data import load
from engine.model import Model
from engine.storage.checkpoint import load_model
from engine.storage.weight_files import current_files
from engine.tokenizers.load import load_tokenizer
from learning.lessons.recipe import TeachSettings
from learning.memory.own_talk import own_talk
from learning.models.trainable import upper_matrices
from learning.objectives.forward import knowledge, mean_loss, share_known
from learning.text.normalise import fold
from personality.book import shipped_book_path

AT = (10, 50, 100, 200, 500, 1000)
"""Lessons after which everything is asked; after the last one too."""
CONTROLS, QUICK_CONTROLS = 50, 5
"""Questions of talk.jsonl whose answers are compared to the letter."""
QUICK_FACTS, QUICK_ARMS = 4, (RECIPE, "rome", "retrieval")
FILE = "people_rows.jsonl"
PART = "facts"
VARIABLES = [f"VIDYA_PEOPLE_{name}" for name in ("HALF", "ARMS", "FACTS", "PAUSE")]
VARIABLES += ["VIDYA_CORPUS"]


@dataclass(frozen=True)
class PeopleSettings:
    """What the environment asks for."""

    half: str
    arms: tuple[str, ...]
    facts: int | None
    """Facts, from the first; None for all."""
    pause: float | None
    """Processor seconds of a pause; None for the model's usual."""

    @classmethod
    def read(cls, quick: bool) -> PeopleSettings:
        """From the environment. Raises NotFound for an arm or half, DataError for no number."""
        half = one_asked("VIDYA_PEOPLE_HALF", HALVES)
        arms = names_asked("VIDYA_PEOPLE_ARMS", ARMS, QUICK_ARMS if quick else None)
        facts = number_asked("VIDYA_PEOPLE_FACTS")
        return cls(
            half,
            tuple(arms),
            int(facts) if facts is not None else (QUICK_FACTS if quick else None),
            number_asked("VIDYA_PEOPLE_PAUSE"),
        )


def run(options: BenchOptions) -> dict[str, Any]:
    """Measures everything that is not in the rows yet. Raises NotFound for a model, an arm or a half."""
    chosen = PeopleSettings.read(options.quick)
    facts = read_people(chosen.half)[: chosen.facts]
    seeds = options.seeds[:1] if options.quick else options.seeds
    started, found = time.perf_counter(), machine()
    with start_folder(options) as folder:
        exam = Exam(folder, facts, chosen, options.quick)
        rows = Rows(options.out, exam.start, FILE)
        # seed by seed, so that an interrupted run has complete seeds; the recipe first, for its step
        arms = sorted(chosen.arms, key=lambda name: name != RECIPE)
        command = options.command("people", seeded=True, variables=VARIABLES)
        result: dict[str, Any] = {}
        for name, seed in [(name, seed) for seed in seeds for name in arms]:
            if rows.has(name, seed, PART):
                options.say(f"{name}, seed {seed}: measured before")
            else:
                step = recipe_step(rows.finished(), exam.start) if name == RANDOM else None
                for row in exam.teach(name, seed, step):
                    rows.add(name, seed, PART, row | {"command": command})
                    options.say(f"{name}, seed {seed}: {words(row)}")
                rows.finish(name, seed, PART)
            result = {
                "benchmark": "people",
                "machine": found,
                "quick": options.quick,
                "threads": torch.get_num_threads(),
                "talk": exam.talk_source,
                "rows": rows.finished(),
                "seconds": time.perf_counter() - started,
            }
            if options.out is not None:
                write_report(options.out, result, commands_of(rows.finished()))
    return result


def recipe_step(rows: Sequence[dict[str, Any]], start: dict[str, Any]) -> float | None:
    """Length of the recipe's step per lesson at that start, the mean over its seeds; None if not measured."""
    last: dict[int, float] = {}
    for row in rows:
        if row["method"] == RECIPE and row.items() >= start.items() and "step" in row:
            last[row["seed"]] = row["step"]
    return sum(last.values()) / len(last) if last else None


def mark_of(facts: Sequence[PersonFact]) -> str:
    """A hash of the facts, so that rows of other facts are not mixed in."""
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:12]


class Exam:
    """Teaches and asks models that start from the one in the folder."""

    def __init__(
        self, folder: Path, facts: Sequence[PersonFact], chosen: PeopleSettings, quick: bool
    ) -> None:
        self._folder, self._facts = folder, list(facts)
        self._tokenizer, model = load_tokenizer(folder), load_model(folder)
        yard = make_yardstick(self._tokenizer, model, [], own_talk(model, self._tokenizer, folder))
        taught = {fold(fact.prompt) for fact in facts}
        self._book = [e for e in yard.book if e.prompt not in taught]
        self._talk, self.talk_source = yard.talk, yard.talk_source
        self._pause = pause_of(folder.name, quick) if chosen.pause is None else chosen.pause
        questions = [q.asked for q in load() if len(q.turns) == 1]
        self._controls = random.Random(0).sample(questions, QUICK_CONTROLS if quick else CONTROLS)
        self._before: dict[torch.dtype, dict[str, dict[str, str]]] = {}
        self._at_first: dict[torch.dtype, dict[str, Any]] = {}
        start = fingerprint(current_files(folder).newest, [shipped_book_path()])
        self.start: dict[str, Any] = {
            "model": folder.name,
            "start": f"{start}-{mark_of(facts)}",
            "quick": quick,
            "half": chosen.half,
            "facts": len(facts),
            "pause": self._pause,
        }

    def teach(self, name: str, seed: int, step: float | None) -> Iterator[dict[str, Any]]:
        """Yields a row before the first lesson, after each number of AT, after the last one, and after the
        contradictions. step: see `open_arm`."""
        facts = list(self._facts)
        random.Random(seed).shuffle(facts)
        clock = Clock(self._pause, time.process_time)
        gc.collect()
        forget_peak()
        with open_arm(name, self._folder, facts, seed, step) as arm:
            yield {"at": 0, **self._first(arm.pupil.model)}
            moved = Moved(arm)
            known, exact = list[bool](), list[bool]()
            for count, fact in enumerate(facts, 1):
                clock.teach(arm.pupil, fact.lesson())
                (text,) = self._asker(arm).ask([fact.prompt])
                known.append(fact.right(text))
                exact.append(same_text(text, fact.answer))
                clock.rest(arm.pupil)
                moved.look()
                if count in AT or count == len(facts):
                    asker = self._asker(arm)
                    yield {
                        "at": count,
                        "right_after": sum(known) / count,
                        "right_after_exact": sum(exact) / count,
                        **judge_facts(asker, facts[:count], known),
                        **self._kept(arm.pupil.model, asker),
                        **clock.row(),
                        **moved.row(),
                    }
            changed = [later for fact in facts if (later := fact.later)]
            for later in changed:
                clock.teach(arm.pupil, later.lesson())
                clock.rest(arm.pupil)
            if changed:
                asker = self._asker(arm)
                yield {
                    "at": len(facts) + len(changed),
                    **judge_later(asker, facts),
                    **self._uncontradicted(asker, facts, known),
                    **self._kept(arm.pupil.model, asker),
                    **clock.row(),
                }

    def _asker(self, arm: Arm) -> Asker:
        return Asker(arm.pupil.model, self._tokenizer, arm.asking)

    def _first(self, model: Model) -> dict[str, Any]:
        """All shares before any lesson; the same for all arms with such numbers, so it is cached."""
        if model.dtype not in self._at_first:
            asker = Asker(model, self._tokenizer)
            shares = judge_facts(asker, self._facts, [])
            self._at_first[model.dtype] = {**shares, **self._kept(model, asker)}
        return self._at_first[model.dtype]

    def _uncontradicted(
        self, asker: Asker, facts: Sequence[PersonFact], known: Sequence[bool]
    ) -> Shares:
        """Shares of the facts that nothing contradicts."""
        kept = [(f, k) for f, k in zip(facts, known, strict=True) if f.later is None]
        return judge_facts(asker, [f for f, _ in kept], [k for _, k in kept])

    def _kept(self, model: Model, asker: Asker) -> Shares:
        """What teaching must not change; compared with the untaught model in the same numbers."""
        before = self._untaught(model)
        return {
            "neighbours": unchanged(asker, before["neighbours"]),
            "controls": unchanged(asker, before["controls"]),
            "book": share_known(knowledge(model, self._book)),
            "talk_nll": mean_loss(knowledge(model, self._talk)),
        }

    def _untaught(self, model: Model) -> dict[str, dict[str, str]]:
        """The untaught model's answers; the first call for a type of numbers must be before any lesson."""
        if model.dtype not in self._before:
            asker = Asker(model, self._tokenizer)
            questions = {
                "neighbours": [fact.neighbour for fact in self._facts],
                "controls": self._controls,
            }
            self._before[model.dtype] = {
                name: dict(zip(asked, asker.ask_alone(asked), strict=True))
                for name, asked in questions.items()
            }
        return self._before[model.dtype]


class Moved:
    """Measures how far a lesson with its pause moves the weights of Vidya's learner."""

    def __init__(self, arm: Arm) -> None:
        self._names: tuple[str, ...] = ()
        self._lengths: list[float] = []
        if isinstance(arm.pupil, LearnerPupil):
            self._model = arm.pupil.masters
            frozen = TeachSettings().trunk_layers(self._model.config)
            self._names = upper_matrices(self._model, frozen).names
            self._last = self._state()

    @torch.no_grad()
    def look(self) -> None:
        if not self._names:
            return
        now = self._state()
        parts = [(a - b).norm() for a, b in zip(now, self._last, strict=True)]
        self._lengths.append(float(torch.stack(parts).norm()))
        self._last = now

    def row(self) -> dict[str, float]:
        """step: mean length per lesson."""
        return {"step": sum(self._lengths) / len(self._lengths)} if self._lengths else {}

    def _state(self) -> list[torch.Tensor]:
        return [self._model.get_parameter(name).detach().clone() for name in self._names]
