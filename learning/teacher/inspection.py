"""Answers questions about weights in a thread of its own: what is known, and how earlier weights answer.

The published weights never change in place, so this needs no lock on the learner and works while a book
is being learned. It has low priority: between two pieces of work it waits while an answer streams or
just after a key press. Earlier weights are loaded for one comparison and then dropped.
"""

from __future__ import annotations

import contextlib
import math
import queue
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch

from engine.config import GREEDY
from engine.errors import DataError, NotFound, VidyaError
from engine.generate import Delta, generate
from engine.model import Model
from engine.precision import fast_dtype
from engine.storage.checkpoint import load_model
from engine.tokenizers.chat_format import encode_prompt
from learning.data.examples import Example, from_answer
from learning.journal.journal import Journal
from learning.journal.lessons import MAIN_KINDS
from learning.lessons.learner import Learner
from learning.memory.tasks import rider_example, to_avoid
from learning.models.snapshots import OldWeights, kept_weights, weights_without
from learning.objectives.forward import knowledge
from learning.protocol.compare_events import CompareBegan, CompareDone, ComparedText
from learning.protocol.events import Checked, Event
from learning.protocol.model_events import Disputed, WouldPick
from learning.protocol.records import Lesson, TextDelta, Turns
from learning.protocol.requests import (
    Check,
    Compare,
    FindDisputed,
    Foretell,
    Probe,
    StopComparing,
)
from learning.rewards.reward_keeper import RewardError, usable
from learning.rewards.reward_model import read
from learning.teacher.recall import LessonRecall
from learning.teacher.scheduling import Scheduler, lower_priority

LARGEST = 512
"""Most probes in one Check."""


@dataclass(frozen=True)
class _GetReady:
    """Compute what the next recall needs."""


Job = Check | Compare | Foretell | FindDisputed | Lesson | _GetReady


class Inspector:
    """A thread that handles Check, Compare, Foretell, FindDisputed and measurements. `close` ends it."""

    def __init__(
        self,
        learner: Learner,
        journal: Journal,
        turnstile: Scheduler,
        emit: Callable[[Event], None],
        recall: LessonRecall,
    ) -> None:
        """recall: kept ready for the next ask, between other work."""
        self._recall = recall
        self._learner, self._journal = learner, journal
        self._turnstile, self._emit = turnstile, emit
        self._jobs: queue.Queue[Job | None] = queue.Queue()
        self._comparing: set[int] = set()
        """Keys of comparisons that wait or are under way."""
        self._stopped: set[int] = set()
        """Of these, those that the owner stopped."""
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="look", daemon=True)
        self._thread.start()

    def send(self, request: Check | Compare | Foretell | FindDisputed | StopComparing) -> None:
        """Queues a request; returns at once."""
        if isinstance(request, StopComparing):
            if request.key in self._comparing:
                self._stopped.add(request.key)
            return
        if isinstance(request, Compare):
            self._comparing.add(request.key)
        self._jobs.put(request)

    def heard(self, turns: Turns) -> None:
        """Queues a measurement of how well the model predicts the owner's last message, and what the next
        recall needs of it."""
        self._jobs.put(Lesson("owner_words", turns[:-1], turns[-1].text))
        self.get_ready()

    def get_ready(self) -> None:
        """Queues the computation of what the next recall needs, so that the next answer does not wait."""
        self._jobs.put(_GetReady())

    def close(self) -> None:
        """Stops the thread at the next token; waits at most 30 s."""
        self._stopping.set()
        self._jobs.put(None)
        if self._thread is not threading.current_thread():
            self._thread.join(timeout=30)

    def _loop(self) -> None:
        lower_priority(5)
        while (job := self._jobs.get()) is not None and not self._stopping.is_set():
            try:
                if isinstance(job, Check):
                    self._check(job)
                elif isinstance(job, Compare):
                    self._compare(job)
                elif isinstance(job, Foretell):
                    self._foretell(job)
                elif isinstance(job, FindDisputed):
                    self._dispute(job)
                elif isinstance(job, _GetReady):
                    self._recall.prepare(self._pause)
                else:
                    self._measure(job)
            except _Enough:
                if isinstance(job, Compare):
                    self._emit(CompareDone(job.key))
            except VidyaError as error:
                self._tell(job, error.what, error.next_step)
            except Exception as error:
                what = f"the model could not be examined ({type(error).__name__}: {error})"
                self._tell(job, what, "try again")
            finally:
                if isinstance(job, Compare):
                    self._comparing.discard(job.key)
                    self._stopped.discard(job.key)

    def _tell(self, job: Job, what: str, next_step: str) -> None:
        if isinstance(job, Check):
            self._emit(Checked(job.key, (), self._learner.published.version, what))
        elif isinstance(job, Compare):
            self._emit(CompareDone(job.key, what, next_step))
        elif isinstance(job, FindDisputed):
            self._emit(Disputed((), what, next_step))

    def _pause(self) -> None:
        """Waits while the owner needs the machine. Raises _Enough when the program closes."""
        self._turnstile.give_way()
        if self._stopping.is_set():
            raise _Enough

    # ------------------------------------------------------------ what is known

    def _check(self, job: Check) -> None:
        if len(job.probes) > LARGEST:
            raise DataError(f"{len(job.probes)} at once are too many", f"ask for {LARGEST}")
        published = self._learner.published
        examples = [self._examples(published.model, probe) for probe in job.probes]
        flat = [example for some in examples for example in some]
        found = iter(knowledge(published.model, flat, pause=self._pause))
        known = []
        for probe, some in zip(job.probes, examples, strict=True):
            checked = [next(found).known for _ in some]
            whole = not any(example.cut for example in some)
            known.append(whole and all(checked) if probe.answer else not any(checked))
        self._emit(Checked(job.key, tuple(known), published.version))

    def _examples(self, model: Model, probe: Probe) -> list[Example]:
        """The wanted answer as an example; if there is none, each rejected one."""
        tokenizer, context = self._learner.tokenizer, model.config.context
        if probe.answer:
            return [from_answer(tokenizer, probe.prompt, probe.answer, context)]
        found = (
            to_avoid(tokenizer, probe.prompt, text, context, probe.blame) for text in probe.rejected
        )
        return [example for example in found if example]

    def _measure(self, words: Lesson) -> None:
        """Records the loss on the owner's words in nats per token, before they are learned."""
        model = self._learner.published.model
        example = rider_example(self._learner.tokenizer, words, model.config.context)
        if example is not None:
            (found,) = knowledge(model, [example], pause=self._pause)
            if found.tokens and math.isfinite(found.nll):
                name = self._learner.folder.name
                self._journal.add_measure("owner_nll", found.nll / found.tokens, name)

    def _foretell(self, job: Foretell) -> None:
        """Says nothing where there is no taste, or it must not be used."""
        shown = [c for c in self._journal.candidates(job.ask) if c.ending != "cancelled"]
        shown = [one for one in shown if one.text.strip()]
        with contextlib.suppress(RewardError, NotFound):
            turns = self._journal.ask(job.ask).turns
            model, _ = usable(self._learner.folder, self._journal)
            context = self._learner.published.model.config.context
            tokenizer = self._learner.tokenizer
            if len(shown) > 1:
                group = read(tokenizer, [(turns, one.text.strip()) for one in shown], context)
                best = int(model.rewards(group, pause=self._pause).mean(1).argmax())
                self._emit(WouldPick(job.ask, shown[best].index))

    def _dispute(self, job: FindDisputed) -> None:
        from learning.practice.disputed import most_disputed

        seed = secrets.randbelow(2**31)
        folder = self._learner.folder
        found = most_disputed(folder, self._journal, job.count, seed=seed, pause=self._pause)
        self._emit(Disputed(tuple(found)))

    # ------------------------------------------------------------ earlier weights

    def _compare(self, job: Compare) -> None:
        published = self._learner.published
        kept = kept_weights(self._learner.folder, self._journal, published.version)
        old = self._choose(job, kept, published.version)
        learned = self._journal.lessons_in(published.version)
        between = learned - self._journal.lessons_in(old.version)
        lessons = sum(x.id in between for x in self._journal.lessons(kinds=MAIN_KINDS))
        versions = tuple(one.version for one in kept)
        self._go_on(job)
        before = self._load(old, published.model)
        self._emit(CompareBegan(job.key, old.version, published.version, versions, lessons))
        seed = secrets.randbits(63) if job.seed is None else job.seed
        self._answer(job, "before", before, seed)
        del before
        self._answer(job, "after", published.model, seed)
        self._emit(CompareDone(job.key))

    def _choose(self, job: Compare, kept: list[OldWeights], now: int) -> OldWeights:
        if job.version is not None:
            if found := next((old for old in kept if old.version == job.version), None):
                return found
            raise NotFound(f"version {job.version} is not kept any more", "choose a later one")
        if job.lesson is None:
            if kept:
                return kept[0]
            raise NotFound("there are no earlier weights yet", "teach something first")
        if job.lesson not in self._journal.lessons_in(now):
            raise NotFound(
                f"lesson {job.lesson} is not in the weights that answer now",
                "wait until it is learned, or teach it again",
            )
        if old := weights_without(self._learner.folder, self._journal, now, [job.lesson]):
            return old
        raise NotFound(
            f"no weights from before lesson {job.lesson} are left; only the last few are kept",
            "compare with one of those, or with a later lesson",
        )

    def _load(self, old: OldWeights, now: Model) -> Model:
        try:
            model = load_model(self._learner.folder, device=now.device, weights=old.path)
        except (VidyaError, OSError) as error:
            if old.path.exists():
                raise
            # a lesson published just now deleted the snapshot
            raise NotFound(f"version {old.version} was just deleted", "ask once more") from error
        return model.to(fast_dtype(now.device.type)).requires_grad_(False).eval()

    def _answer(
        self, job: Compare, side: Literal["before", "after"], model: Model, seed: int
    ) -> None:
        context = model.config.context
        limit = min(job.max_tokens, context // 2)
        ids = encode_prompt(self._learner.tokenizer, job.turns, context, limit)
        for event in generate(
            model,
            self._learner.tokenizer,
            ids,
            job.n,
            GREEDY.with_(max_tokens=limit),
            generator=torch.Generator().manual_seed(seed),
            distinct=False,
        ):
            self._go_on(job)
            if isinstance(event, Delta):
                deltas = tuple(TextDelta(index, text) for index, text in event.texts)
                self._emit(ComparedText(job.key, side, deltas))

    def _go_on(self, job: Compare) -> None:
        """Pauses; raises _Enough if the owner stopped the comparison."""
        self._pause()
        if job.key in self._stopped:
            raise _Enough


class _Enough(Exception):  # noqa: N818 - not an error
    pass
