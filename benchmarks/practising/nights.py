"""`vidya bench nights`: nights in which the app practises alone and is interrupted, or ten practices.

The worker with the real model and a session run as in the app, without a screen. While its owner is away
the worker gets the app's own plan for idle hours again and again. Interruptions come at random moments, in
turns: a key press; a message, of whose candidates one is picked; `kill -9` of the worker. After each night
the weights on the disk are measured: held-out problems of each task, book, talk, and what was taught.
Left out: the screen, and the time between a key press and its effect (bench practice).
"""

from __future__ import annotations

import os
import queue
import random
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchmarks import BenchOptions
from benchmarks.common.asked import one_asked
from benchmarks.common.pupil import QUICK_PRACTICE, Pupil, of_defaults
from benchmarks.common.report import (
    deviation,
    table,
    with_deviation,
)
from benchmarks.common.rows import ReportRows, about_run
from benchmarks.common.scratch import scratch_home
from benchmarks.crashes.crash_look import known, look, settled
from benchmarks.lessons.collapse_data import make_yardstick
from engine.config import Sampling
from learning.home import Home
from learning.journal.journal import Journal
from learning.objectives.forward import knowledge, mean_loss
from learning.practice.idle import Idle
from learning.practice.report import together
from learning.practice.sampling.rollouts import RolloutSampler, held_out_problems
from learning.practice.settings import PracticeSettings
from learning.protocol.events import (
    AskDone,
    Event,
    Failed,
    LessonDone,
    PracticeDone,
    Ready,
    WorkerLost,
)
from learning.protocol.practice_events import PracticeStarted
from learning.protocol.requests import OwnerActive
from learning.rewards.registry import find_task
from learning.rewards.task import TaskOptions
from vidya_tui.session.session import Session
from vidya_tui.state.practice import done as told
from vidya_tui.worker.supervisor import WorkerTeacher

CHOSEN = "syllogism"
OTHERS = ("propositional_logic", "chain_sum")
PATIENCE = 900.0
"""Seconds without an event after which the worker counts as hanging."""
KINDS = ("key", "talk", "kill")


@dataclass(frozen=True)
class Part:
    """What is simulated."""

    name: str
    nights: int
    minutes: float
    interruptions: int
    """Of all nights together."""
    title: str
    criterion: str

    def kinds(self, night: int) -> list[str]:
        """The interruptions of a night, from 0: its share of all, in turns."""
        every = [KINDS[number % len(KINDS)] for number in range(self.interruptions)]
        ends = [len(every) * number // self.nights for number in (night, night + 1)]
        return every[slice(*ends)]


THREE = Part(
    "nights",
    3,
    40.0,
    20,
    "Three nights of practice",
    "Criterion, written before the first run: after three nights of 40 minutes at least two of the three "
    "tasks solve 10 points more of their held-out problems than before the first, the loss on talk is at "
    "most 3 % higher, and twenty interruptions lose nothing: every judgement is in the journal, every lesson "
    "in the weights and said word for word, no version of the weights goes back, nothing on the disk is "
    "damaged. Settings are the app's own; nothing was tuned.",
)
TEN = Part(
    "nights_ten",
    10,
    6.0,
    0,
    "Ten practices in a row",
    "Criterion, written before the first run: after ten practices of 6 minutes the loss on talk is at most "
    "1.3 times as far above that of the start as after one, and book recall is at least 99 % after each. "
    "Settings are the app's own; nothing was tuned.",
)
PARTS = {"three": THREE, "ten": TEN}
QUICK = Part("nights", 1, 0.2, 3, THREE.title, THREE.criterion)


def run(options: BenchOptions) -> dict[str, Any]:
    """See `vidya bench`. VIDYA_NIGHTS_PART: "three" (default) or "ten". Raises NotFound for another."""
    part = QUICK if options.quick else PARTS[one_asked("VIDYA_NIGHTS_PART", list(PARTS))]
    variables = ["VIDYA_NIGHTS_PART", "VIDYA_CORPUS"]
    command = options.command("nights", seeded=True, variables=variables)
    about = about_run(options, part.name) | {"practice": of_defaults()}
    rows = ReportRows(options.out, part.name, about, command, part.title, partial(parts, part))
    for seed in options.seeds:
        if len(rows.having(seed=seed)) > part.nights:
            continue
        rows.drop(seed=seed)
        for row in _Nights(part, seed, options).rows():
            options.say(f"seed {seed}, " + ", ".join(f"{k} {value}" for k, value in row.items()))
            rows.add({"seed": seed, **row})
    return rows.result


class _Nights:
    """One seed: a home, its nights, and what is measured after each."""

    def __init__(self, part: Part, seed: int, options: BenchOptions) -> None:
        self.part, self.options = part, options
        self.chance = random.Random(seed)
        self.confirmed = dict[int, tuple[int, str]]()
        """Judgements that the screen would have confirmed: id -> (ask, answer)."""
        self.picks = 0

    def rows(self) -> Iterator[dict[str, Any]]:
        """The start, then each night."""
        with scratch_home(self.options) as (home, name):
            self.home, self.name = home, name
            self.folder = home.models_path / name
            start = Pupil.loaded(self.folder)
            self.talk = make_yardstick(start.tokenizer, start.model, [], start.talk).talk
            journal = Journal(home.journal_path)
            journal.close()
            yield {"night": 0, **self.measured(), "faults": [], "told": ""}
            for night in range(self.part.nights):
                kinds = self.part.kinds(night)
                faults, words = self.night(home, kinds)
                found = {"night": night + 1, **self.measured(), **self.remembered()}
                yield {**found, "interruptions": kinds, "faults": faults, "told": words}

    def night(self, home: Home, kinds: list[str]) -> tuple[list[str], str]:
        """One night: faults, and what the app tells in the morning."""
        seconds = 60.0 * self.part.minutes
        moments = sorted(self.chance.uniform(0.05, 0.95) * seconds for _ in kinds)
        faults = list[str]()
        journal = Journal(home.journal_path)
        owner = _Owner(home, journal, self.name, self.chance)
        try:
            began = time.monotonic()
            for moment, kind in zip(moments, kinds, strict=True):
                owner.away(self.plan, began + moment)
                before = journal.saved_version()
                if kind == "kill":
                    owner.kill()
                    faults += look(home, self.name, self.confirmed)
                elif kind == "talk":
                    owner.back()
                    self.picks += 1
                    self.confirmed.update(owner.talk(self.picks))
                else:
                    owner.back()
                if journal.saved_version() < before:
                    faults.append(
                        f"{kind}: the weights went back from version {before} to {journal.saved_version()}"
                    )
            owner.away(self.plan, began + seconds)
            if self.options.quick:  # which is over too soon on a slow machine
                owner.to_the_end(self.plan)
            owner.back()
            owner.settle()
            faults += owner.failed
            measured = [run for run in owner.runs if run.accuracy_before is not None]
            words = told(together(measured)) if measured else "nothing was measured"
        finally:
            owner.teacher.close()
            journal.close()
        return faults + settled(home, self.name), words

    @property
    def plan(self) -> Idle:
        options = QUICK_PRACTICE if self.options.quick else ()
        return Idle(15, CHOSEN, 0.0, options=options, others=OTHERS)

    def measured(self) -> dict[str, Any]:
        """Held-out accuracy of each task, book recall and loss on talk of the weights on the disk."""
        pupil = Pupil.loaded(self.folder)
        count, most = (4, 8) if self.options.quick else (200, PracticeSettings().max_tokens)
        solved = {}
        for task in (CHOSEN, *OTHERS):
            practised = find_task(task, TaskOptions(needs_field=True))
            roller = RolloutSampler(pupil.tokenizer, practised, max_tokens=most)
            problems = held_out_problems(practised, count)
            solved[task] = roller.accuracy(pupil.model, problems)
            practised.close()
        talk = mean_loss(knowledge(pupil.model, self.talk))
        return {"solved": solved, "book": pupil.book_recall(), "talk": talk}

    def remembered(self) -> dict[str, int]:
        """Number of answers taught, and of those said word for word."""
        found = known(self.home, self.name)
        return {"taught": found["learned"], "said": found["said_word_for_word"]}


class _Owner:
    """The worker and a session, as in the app, and an owner who is mostly away."""

    def __init__(self, home: Home, journal: Journal, model: str, chance: random.Random) -> None:
        self.journal, self.chance = journal, chance
        self.events: queue.Queue[Event] = queue.Queue()
        self.teacher = WorkerTeacher(home, on_event=self.events.put, model=model)
        self.session = Session(
            journal, self.teacher, sampling=Sampling(max_tokens=24), book_path=home.book_path
        )
        self.runs = list[PracticeDone]()
        self.failed = list[str]()
        self.practising = False
        self.session.recover()
        self.until(Ready)

    def until(self, *kinds: type[Event], end: float | None = None) -> Event | None:
        """Handles events until one of these kinds, which is returned; None at the time `end` of the monotonic
        clock."""
        while True:
            left = PATIENCE if end is None else end - time.monotonic()
            if left <= 0:
                return None
            try:
                event = self.events.get(timeout=left)
            except queue.Empty:
                if end is None:
                    raise
                return None
            self.session.handle(event)
            if isinstance(event, PracticeDone):
                self.runs.append(event)
                self.practising = False
            elif isinstance(event, WorkerLost):
                self.practising = False
            elif isinstance(event, Failed):
                self.failed.append(f"{event.where}: {event.what}")
                self.practising = False
            if isinstance(event, kinds):
                return event

    def away(self, plan: Idle, end: float) -> None:
        """Practises until then, again and again as the app does."""
        while (left := end - time.monotonic()) > 0:
            if not self.practising:
                self.practising = True
                self.teacher.send(plan.plan())
                self.until(PracticeStarted, PracticeDone, Failed, end=time.monotonic() + left)
            else:
                self.until(PracticeDone, Failed, end=end)

    def to_the_end(self, plan: Idle) -> None:
        """Practises until a run ends by itself."""
        if not self.practising:
            self.practising = True
            self.teacher.send(plan.plan())
        self._until_practised()

    def _until_practised(self) -> None:
        while self.practising:
            self.until(PracticeDone, Failed)

    def back(self) -> None:
        """A key press, which ends the practice."""
        self.teacher.send(OwnerActive())
        self._until_practised()

    def talk(self, number: int) -> dict[int, tuple[int, str]]:
        """A message, a pick among its candidates, and the lesson; returns the judgement."""
        self.session.new()
        self.session.say(f"what shall we do on evening number {number}")
        self.until(AskDone, Failed)
        said = [card.index for card in self.session.cards if card.said]
        if not said:
            return {}
        self.session.pick(self.chance.choice(said))
        ask = self.session.ask
        assert ask is not None
        newest = self.journal.judgements(ask.id)[-1]
        self.until(LessonDone, Failed)
        return {newest.id: (ask.id, newest.answer)}

    def kill(self) -> None:
        """`kill -9` of the worker; returns when the next one is ready."""
        worker = self.teacher.pid
        if worker is not None:
            os.kill(worker, signal.SIGKILL)
        self.until(WorkerLost)
        self.until(Ready)
        self.session.recover()

    def settle(self) -> None:
        """Waits for all lessons."""
        while self.journal.waiting_count() or self.journal.to_undo():
            self.until(LessonDone, Failed)


def parts(part: Part, result: dict[str, Any]) -> Iterator[str]:
    """The report: criterion, means, one row a night, what the app told."""
    rows = result["rows"]
    yield part.criterion
    yield (
        f"Practised: {CHOSEN}, chosen by the owner, with half of the problems, {' and '.join(OTHERS)}. The "
        "plan is begun again whenever it ends. Held out: 200 problems of each task (32 of chain_sum, which "
        "has no more), the same every night, among them those on which the app measures; talk is the loss on "
        "conversations that were never trained on, in percent above the start."
    )
    starts = {row["seed"]: row for row in rows if not row["night"]}
    ends = [row for row in rows if row["night"] == part.nights]
    if ends:
        yield _means(ends, starts)
    tasks = (CHOSEN, *OTHERS)
    yield table(
        ["seed", "night", *(f"{task}, %" for task in tasks), "book, %", "talk, %", "taught", "said"]
        + ["interruptions", "faults"],
        [
            [row["seed"], row["night"], *(100 * row["solved"][task] for task in tasks)]
            + [100 * row["book"], 100 * (row["talk"] / starts[row["seed"]]["talk"] - 1)]
            + [row.get("taught"), row.get("said"), len(row.get("interruptions", []))]
            + ["; ".join(row["faults"]) or "none"]
            for row in rows
        ],
    )
    yield "What the app told in the morning:"
    yield "\n".join(
        f"- seed {row['seed']}, night {row['night']}: {row['told']}" for row in rows if row["night"]
    )


def _means(ends: list[dict[str, Any]], starts: dict[int, dict[str, Any]]) -> str:
    """Gains of the finished seeds, in words."""
    words = []
    for task in (CHOSEN, *OTHERS):
        gains = [100 * (row["solved"][task] - starts[row["seed"]]["solved"][task]) for row in ends]
        words.append(f"{task} {with_deviation(sum(gains) / len(gains), deviation(gains))}")
    return f"Points gained, mean of {len(ends)} seed(s): {', '.join(words)}."
