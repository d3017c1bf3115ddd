"""Takes lessons, updates the weights, lets the guard judge, saves and publishes.

Synchronous: the teacher runs it in a thread. The weights here are the fp32 masters; what answers
is generated from is a copy, published by one assignment. Order of a publication: journal entry,
file, mark in the journal, lesson's state; a crash at any point leaves a lesson waiting at worst.
"""

from __future__ import annotations

import contextlib
import copy
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from torch import Tensor

from engine.checkpoint import load_model, save_tensors, to_huggingface
from engine.checkpoint_files import WEIGHTS, read_version
from engine.errors import NotFound, NumericsError
from engine.model import Model
from engine.precision import fast_dtype
from engine.tokenizer import Tokenizer
from learning.attempts import ATTEMPTS, Attempt
from learning.attempts.attempt import learn_once
from learning.book import BookSettings, EpochReport, train_book
from learning.examples import Example
from learning.forward import knowledge, share_known
from learning.guard import examine, finite
from learning.home import Home, remove_leftovers
from learning.journal import Journal
from learning.memory import (
    answer_example,
    book_examples,
    book_paths,
    build_replay,
    careless_examples,
    to_task,
)
from learning.messages import LearnerState, TrainDone, UndoDone
from learning.methods import RECIPE
from learning.model_store import SHIPPED, keep_snapshot
from learning.records import Lesson, LessonReport, LessonState
from learning.replay import Replay
from learning.teaching import Task, TeachResult, TeachSettings, known_before, teach
from learning.trunk import Trunk, Upper
from learning.watch import Seen, Watch

WATCH = "watch.json"
PIECE = 32
"""Examples that `catch_up` looks at before the next request is considered."""


class Stopped(Exception):  # noqa: N818 - not an error: the owner closes the program
    """Raised inside a lesson when the program closes; the lesson stays waiting."""


@dataclass(frozen=True)
class Published:
    """Weights that answers are generated from; never changed."""

    version: int
    model: Model


class Learner:
    """Owns the master weights of one model of a home."""

    def __init__(
        self,
        home: Home,
        folder: Path,
        journal: Journal,
        *,
        device: str = "cpu",
        seed: int | None = None,
        pause: Callable[[], None] = lambda: None,
        tell: Callable[[LearnerState], None] = lambda _: None,
        settings: TeachSettings | None = None,
    ) -> None:
        """`pause` is called before every micro-batch and may raise Stopped."""
        self.folder, self.journal, self.settings = folder, journal, settings or TeachSettings()
        self._home, self._pause, self._tell = home, pause, tell
        self._rng = random.Random(seed)
        remove_leftovers(folder, f".{WEIGHTS}.*")
        remove_leftovers(home.path, f".{home.book_path.name}.*")
        self.tokenizer = Tokenizer.load(folder)
        self._model = load_model(folder, device=device)
        self.version = read_version(folder / WEIGHTS)
        self._replay: Replay | None = None
        self._trunk: Trunk | None = None
        self._watch = Watch()
        self._given_up: set[tuple[int, ...]] = set()
        self._method = RECIPE
        self._attempt: Attempt | None = None
        self.published = self._copy()
        self._recover()

    def _recover(self) -> None:
        """The file is the truth: lessons that it lacks wait again."""
        if self.journal.saved_version() != self.version:
            self.journal.mark_saved(self.version)
        for lesson in self.journal.lessons_not_saved():
            if lesson.state == "learned":
                self.journal.set_lesson_state(lesson.id, "waiting")

    def _copy(self) -> Published:
        dtype = fast_dtype(self._model.device.type)
        return Published(
            self.version, copy.deepcopy(self._model).to(dtype).requires_grad_(False).eval()
        )

    @property
    def replay(self) -> Replay:
        """Built at the first lesson, since it takes a moment."""
        if self._replay is None:
            self._replay = self._build_replay()
        return self._replay

    def _build_replay(self, skip_bad: bool = False) -> Replay:
        book = self._home.book_path
        return build_replay(
            self._model, self.tokenizer, self.folder, book, self.journal, skip_bad=skip_bad
        )

    @property
    def trunk(self) -> Trunk:
        """The lower blocks, and what they make of the memory; lessons leave it alone."""
        if self._trunk is None:
            layers = self.settings.trunk_layers(len(self._model.blocks))
            self._trunk = Trunk(self._model, layers)
        return self._trunk

    @property
    def _upper(self) -> Upper:
        """The model on its trunk."""
        return Upper(self._model, self.trunk)

    def _forget_memory(self) -> None:
        """All weights or the books have changed: what was derived from them is made anew."""
        self._replay, self._trunk, self._watch = None, None, Watch()
        self._given_up = set()
        self._attempt = None

    @property
    def watch(self) -> Watch:
        """What is known of the memory, all of which has been looked at."""
        memory = self.replay.memory
        if not self._watch:
            self._watch.load(self.folder / WATCH, self.version, memory)
        self._watch.look_at_new(self._upper, memory, pause=self._pause)
        return self._watch

    @property
    def book_recall(self) -> float:
        """Exact recall of the book as last seen, 0 to 1."""
        return self.watch.recall(self.replay.book)

    # ------------------------------------------------------------ lessons

    def learn(self, lesson: Lesson) -> LessonReport:
        """Learns one lesson and publishes, or restores the weights and marks it needs_practice."""
        started = time.monotonic()
        task = to_task(self.tokenizer, lesson, self._model.config.context, self._rng)
        if task.answer is None and not task.rejected:
            self.journal.set_lesson_state(lesson.id, "learned")
            return self._report(lesson, started, known=True)
        replay = self.replay
        knew = known_before(self._upper, task)
        watch = self.watch
        book = [e for e in replay.book if e.prompt not in task.prompts]
        earlier = [e for e in replay.taught if e.prompt not in task.prompts]
        book_before, earlier_before = watch.recall(book), watch.recall(earlier)
        margins = watch.state()
        before = self._weights()
        try:
            result = self._teach(lesson, task, started)
            verdict = examine(
                self._model,
                book_before=book_before,
                book_recall=watch.recall(book),
                earlier=len(earlier),
                earlier_before=earlier_before,
                earlier_recall=watch.recall(earlier),
            )
            passed = verdict.passed
        except NumericsError:
            result, passed = None, False
        except BaseException:
            self._back_to(before, margins)
            raise
        steps, loss, known = (
            (result.steps, result.loss, result.known) if result else (0, float("nan"), knew)
        )
        if not passed:
            self._back_to(before, margins)
            self.journal.set_lesson_state(lesson.id, "needs_practice")
            report = self._report(lesson, started, known=knew, knew=knew, steps=steps, loss=loss)
            return replace(
                report, rolled_back=True, state="needs_practice", book_recall=book_before
            )
        if steps or lesson.id not in self.journal.lessons_in(self.version):
            ridden = steps and self._method == RECIPE
            riders = [x.id for x in self.journal.riders()] if ridden else []
            with self._or_back_to(before):
                self._publish([lesson.id, *riders], f"lesson {lesson.id}", changed=steps > 0)
            for rider in riders:
                self.journal.set_lesson_state(rider, "learned")
            if ridden:
                replay.riders = []
        state: LessonState = "learned" if known else "needs_practice"
        self.journal.set_lesson_state(lesson.id, state)
        for example in task.answers:
            replay.remember(example)
        if not task.answers:
            replay.forget_prompt(task.prompt)
        self.journal.add_measure("book_recall", self.book_recall)
        self.trunk.keep([*replay.memory, *replay.talk, *(e for e, _ in replay.riders)])
        report = self._report(lesson, started, known=known, knew=knew, steps=steps, loss=loss)
        return replace(report, batch=result.batch if result else 0, state=state)

    def teach_by(self, method: str) -> None:
        """Learns lessons by RECIPE, or by one of ATTEMPTS, from the next one on. The guard judges
        those as well, so that most of their lessons end as needs_practice."""
        if method != self._method:
            self._method, self._attempt = method, None

    def _teach(self, lesson: Lesson, task: Task, started: float) -> TeachResult:
        if self._method == RECIPE:
            return teach(
                self._model,
                task,
                self.replay,
                self.settings,
                self._rng,
                trunk=self.trunk,
                watch=self._watch,
                pause=self._pause,
                report=lambda step, loss: self._stepped(lesson, step, loss, started),
            )
        if self._attempt is None:
            self._attempt = ATTEMPTS[self._method].make(self._model, self.replay.book)
        result = learn_once(self._attempt, self._model, task)
        self._stepped(lesson, result.steps, result.loss, started)
        self._trunk = None  # all weights have moved
        self._watch.look(self._upper, self.replay.memory, pause=self._pause)
        return result

    def catch_up(self) -> bool:
        """One small piece of work for a pause: looks at what was not looked at for longest, or mends
        what is found broken. False where nothing is left to do.

        A lesson looks only at what it may have broken; this is how the rest is found. An attempt that
        fails is not helped by it.
        """
        if self._method != RECIPE:
            return False
        memory, watch = self.replay.memory, self.watch
        overdue = watch.overdue(memory, PIECE)
        watch.look(self._upper, overdue, pause=self._pause)
        lost = [e for e in watch.lost(memory) if e.ids not in self._given_up]
        if not lost:
            return bool(overdue)
        self._tell(LearnerState("learning", book_recall=self.book_recall))
        self._mend(lost[0])
        return True

    def _mend(self, example: Example) -> None:
        """Teaches again what was known once; given up where that costs something else."""
        before, margins = self._weights(), self._watch.state()
        lost = len(self._watch.lost(self.replay.memory))
        try:
            teach(
                self._model,
                Task(example),
                self.replay,
                self.settings,
                self._rng,
                trunk=self.trunk,
                watch=self._watch,
                pause=self._pause,
            )
            self._watch.look(self._upper, [example], pause=self._pause)
            better = len(self._watch.lost(self.replay.memory)) < lost and finite(self._model)
            if better:
                with self._or_back_to(before):
                    self._publish([], "mended what a lesson had broken")
                return
        except NumericsError:
            pass
        except BaseException:
            self._restore(before)
            self._watch.restore(margins)
            raise
        self._restore(before)
        self._watch.restore(margins)
        self._given_up.add(example.ids)

    def _stepped(self, lesson: Lesson, step: int, loss: float, started: float) -> None:
        batch = self.settings.mixture.batch
        self.journal.add_step([lesson.id], loss, batch, time.monotonic() - started, lesson.kind)
        recall = self._watch.recall(self.replay.book)
        self._tell(LearnerState("learning", 1, batch, batch, loss, recall))

    def _report(
        self,
        lesson: Lesson,
        started: float,
        *,
        known: bool,
        knew: bool = False,
        steps: int = 0,
        loss: float = 0.0,
    ) -> LessonReport:
        return LessonReport(
            lesson=lesson.id,
            kind=lesson.kind,
            known_before=knew,
            known_after=known,
            steps=steps,
            batch=0,
            loss=loss,
            book_recall=self.book_recall,
            seconds=time.monotonic() - started,
            rolled_back=False,
            version=self.version,
        )

    # ------------------------------------------------------------ the book

    def train(
        self,
        book: Path | None,
        settings: BookSettings,
        report: Callable[[EpochReport], None],
        stop: Callable[[], bool],
        *,
        skip_bad: bool = False,
    ) -> TrainDone:
        """Trains on a book (None: shipped, owner's, and all lessons) until it is known.

        Raises DataError for a book with bad lines, unless `skip_bad`; nothing was changed then.
        """
        context, started = self._model.config.context, time.monotonic()
        # the owner's book may have grown
        replay = self._replay = self._build_replay(skip_bad)
        self._watch = Watch()  # what it knows will not be true of the trained weights
        lessons = [] if book else self._lessons_to_train()
        if book:
            examples = _required(book_examples(self.tokenizer, [book], context, skip_bad), book)
        else:
            examples = _latest([*replay.memory, *(example for _, example in lessons)])
        new = {e.prompt for e in examples}
        rest = [e for e in replay.memory if e.prompt not in new]
        recall_before = share_known(knowledge(self._model, examples, pause=self._pause))
        rest_before = share_known(knowledge(self._model, rest, pause=self._pause))
        before = self._weights()
        try:
            last = train_book(
                self._model,
                [*examples, *rest],
                replay.talk,
                settings,
                self._rng,
                careless=self._otherwise([*examples, *rest], book, lessons, skip_bad),
                report=report,
                pause=self._pause,
                stop=stop,
            )
            passed = finite(self._model)
        except NumericsError:
            last, passed = EpochReport(0, 0, 0, float("nan"), None, 0.0, 0), False
        except BaseException:
            self._restore(before)
            raise
        recall = share_known(knowledge(self._model, examples)) if passed else 0.0
        verdict = examine(
            self._model,
            book_before=recall_before,
            book_recall=recall,
            earlier=len(rest),
            earlier_before=rest_before,
            earlier_recall=share_known(knowledge(self._model, rest)) if passed else 0.0,
        )
        passed = passed and verdict.passed
        if passed and last.step:
            with self._or_back_to(before):
                self._publish([lesson.id for lesson, _ in lessons], "book training")
            checked = knowledge(self._model, [example for _, example in lessons])
            for (lesson, _), item in zip(lessons, checked, strict=True):
                state: LessonState = "learned" if item.known else "needs_practice"
                if lesson.state != state:
                    self.journal.set_lesson_state(lesson.id, state)
        elif not passed:
            self._restore(before)
        self._forget_memory()
        self.journal.add_measure("book_recall", recall if passed else recall_before)
        return TrainDone(
            epochs=last.epoch,
            steps=last.step,
            loss=last.loss,
            recall_before=recall_before,
            recall_after=recall if passed else recall_before,
            seconds=time.monotonic() - started,
            cancelled=stop(),
            rolled_back=not passed,
            version=self.version,
            entries=len(examples),
        )

    def _otherwise(
        self,
        known: list[Example],
        book: Path | None,
        lessons: list[tuple[Lesson, Example]],
        skip_bad: bool,
    ) -> list[Example]:
        """Other ways to ask for what is in `known`: as people type, and lessons in other words."""
        context = self._model.config.context
        paths = [*book_paths(self._home.book_path), *([book] if book else [])]
        answers = {example.prompt: example.answer for example in known}
        careless = careless_examples(self.tokenizer, paths, context, skip_bad)
        stand = [e for e in careless if answers.get(e.prompt) == e.answer]
        for lesson, _ in lessons:
            wordings = to_task(self.tokenizer, lesson, context, self._rng).variations
            stand += [e for e in wordings if e.prompt not in answers]
        return stand

    def _lessons_to_train(self) -> list[tuple[Lesson, Example]]:
        """All lessons with an answer that stand, the latest of each prompt."""
        undone = {lesson.id for lesson in self.journal.to_undo()}
        latest: dict[str, tuple[Lesson, Example]] = {}
        for lesson in self.journal.lessons(kinds=("pick", "correction", "rating", "example")):
            example = answer_example(self.tokenizer, lesson, self._model.config.context)
            if example and lesson.state != "undone" and lesson.id not in undone:
                latest[example.prompt] = (lesson, example)
        return list(latest.values())

    # ------------------------------------------------------------ undo

    def undo(self, lesson: Lesson) -> tuple[UndoDone, list[Lesson]]:
        """Takes a lesson out: back to the newest saved weights without it.

        Returns what to say and the other lessons that those weights lack, which wait again. For
        the last lesson that is exactly the weights before it. Raises NotFound where no weights
        without it are left.
        """
        lost: list[Lesson] = []
        if lesson.id in self.journal.lessons_in(self.version):
            parent, path = self._without(lesson.id)
            gone = (
                self.journal.lessons_in(self.version)
                - self.journal.lessons_in(parent)
                - {lesson.id}
            )
            undone = {other.id for other in self.journal.to_undo()}
            now = self._model, self.version
            self._model = load_model(self.folder, device=self._model.device, weights=path)
            self._forget_memory()
            self.version = parent
            try:
                self._publish([], f"without lesson {lesson.id}")
            except BaseException:
                self._model, self.version = now
                raise
            lost = [
                other
                for other in map(self.journal.lesson, sorted(gone))
                if other.state == "learned" and other.id not in undone
            ]
            for other in lost:
                self.journal.set_lesson_state(other.id, "waiting")
        if lesson.state != "undone":
            self.journal.set_lesson_state(lesson.id, "undone")
        self._forget_memory()
        again = f"; {len(lost)} later ones are learned again" if lost else ""
        what = f"took back lesson {lesson.id}{again}"
        return UndoDone(lesson.id, what, self.version), lost

    def _without(self, lesson: int) -> tuple[int, Path]:
        """The newest snapshot, or else the shipped weights, that do not know the lesson."""
        now = self.journal.lessons_in(self.version)
        for path in sorted((self.folder / "snapshots").glob("*.safetensors"), reverse=True):
            known = self.journal.lessons_in(int(path.stem))
            if lesson not in known and known <= now:
                return int(path.stem), path
        shipped = SHIPPED / self.folder.name / WEIGHTS
        if shipped.exists():
            return 0, shipped
        raise NotFound(
            f"no weights without lesson {lesson} are left",
            "teach what should be said instead, with /correct",
        )

    # ------------------------------------------------------------ weights

    def _weights(self) -> dict[str, Tensor]:
        return {k: v.detach().clone() for k, v in self._model.state_dict().items()}

    def _back_to(self, weights: dict[str, Tensor], margins: dict[tuple[int, ...], Seen]) -> None:
        """As before a lesson, or as if it had never begun."""
        self._restore(weights)
        self._watch.restore(margins)
        if self._method != RECIPE:
            self._trunk = None

    def _restore(self, weights: dict[str, Tensor]) -> None:
        self._model.load_state_dict(weights)
        for parameter in self._model.parameters():
            parameter.requires_grad_(True)
            parameter.grad = None

    @contextlib.contextmanager
    def _or_back_to(self, weights: dict[str, Tensor]) -> Iterator[None]:
        """What could not be saved is not kept in memory either."""
        try:
            yield
        except BaseException:
            self._restore(weights)
            self._forget_memory()
            raise

    def _publish(self, lessons: list[int], note: str, *, changed: bool = True) -> None:
        """Saves and swaps. With `changed` false only the journal notes that the lessons are known."""
        version = self.journal.latest_version() + 1
        self.journal.add_publication(
            version, self.version, lessons, str(self.folder / WEIGHTS), note
        )
        keep_snapshot(self.folder)
        state = {k: v.detach().cpu() for k, v in self._model.state_dict().items()}
        save_tensors(
            to_huggingface(state, self._model.config),
            self.folder / WEIGHTS,
            {"version": str(version), "note": note},
        )
        self.journal.mark_saved(version)
        if self._watch:
            self._watch.save(self.folder / WATCH, version)
        self.version = version
        self.published = self._copy() if changed else Published(version, self.published.model)


def _latest(examples: list[Example]) -> list[Example]:
    """The last example of each prompt."""
    return list({example.prompt: example for example in examples}.values())


def _required(examples: list[Example], path: Path) -> list[Example]:
    if not examples:
        raise NotFound(
            f"{path}: does not exist", "give the path of a book, or none for Vidya's own"
        )
    return examples
