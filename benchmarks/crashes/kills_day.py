"""Kills a program in every save and rename of a simulated day, then forgets and checks the home.

`python -m benchmarks.crashes.kills_day HOME COPY [KILLS SEED]`: HOME is a home with the model `tiny`
and an empty journal, COPY the path for a copy of it. Prints a JSON object per kill. torch is loaded once:
each day runs in a fork, which sends itself SIGKILL before the n-th call that changes a file of the home. With
KILLS it is killed at that many random moments instead, and one home goes through all of them.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import torch

import engine.storage.checkpoint
from engine.errors import NotFound, VidyaError
from engine.storage.checkpoint import load_tensors, save_tensors
from engine.storage.checkpoint_files import WEIGHTS
from engine.storage.files import is_leftover, write_atomically
from engine.storage.weight_files import BASE
from learning.book.owner_book import OwnerBook
from learning.book.repair import mend_book
from learning.home import Home
from learning.journal.erasing.plan import ErasurePlan
from learning.journal.journal import Journal
from learning.lessons.forget import finish, forget
from learning.lessons.learner import Learner
from learning.models.home_files import home_files, problems
from learning.models.import_export import import_model
from learning.models.store import ModelStore
from learning.models.unfinished_training import TRAINED, Unfinished, write_unfinished
from learning.protocol.records import Lesson, Turn
from learning.protocol.requests import Train
from vidya_tui.controller.export import exported
from vidya_tui.terminal.saved_prompt import Unsent

EVERY = 10
"""Random kills between two checks, in which a copy of the home forgets."""
QUESTION, SECRET = "What is the word?", "The word is swordfish."
MOVED = "blocks.{}.ffn.down.weight"
"""Tensor that lessons change: of block 0 for the secret, of block 1 for all others, so that weights reveal
what they know."""
OTHERS = "model.layers.1.mlp.down_proj.weight"
"""Name of the tensor of block 1 in files."""
CHANGES = {"os.rename", "os.link", "os.remove", "os.rmdir"}
"""Audit events before which to kill, besides `open` for writing. Creating a folder or changing permissions
is left out: a kill before it is no new case."""


class Killer:
    """Counts the calls that change files under a folder, and kills the process before one of them."""

    def __init__(self, folder: Path, at: int) -> None:
        self.folder, self.at, self.count = str(folder), at, 0
        self.checkpoint: Any = engine.storage.checkpoint
        self.save = self.checkpoint.save_file

    def tracker(self) -> None:
        self.checkpoint.save_file = self.save_file
        sys.addaudithook(lambda *told: self.heard(*told))

    def heard(self, event: str, values: tuple[Any, ...]) -> None:
        if event in CHANGES or (event == "open" and self._writes(values)):
            path = next((str(v) for v in values if isinstance(v, str | os.PathLike)), "")
            relative = path.startswith(self.folder) or not path.startswith("/")  # of rmtree
            if relative and not path.endswith((".pyc", "__pycache__")):
                self.step(f"{event} {Path(path).name}")

    @staticmethod
    def _writes(values: tuple[Any, ...]) -> bool:
        how = values[2] if len(values) > 2 else 0
        return bool(isinstance(how, int) and how & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))

    def step(self, what: str) -> None:
        self.count += 1
        if self.count == self.at:
            os.write(1, (json.dumps({"at": self.at, "before": what}) + "\n").encode())
            os.kill(os.getpid(), signal.SIGKILL)

    def save_file(self, tensors: Any, path: Path, record: Any) -> None:
        """Replaces safetensors' writer, which is invisible to audit hooks, to also leave half a file."""
        if self.count + 1 == self.at:
            self.heard = lambda *_: None  # type: ignore[method-assign]
            whole = path.with_name("whole")
            self.save(tensors, whole, record)
            data = whole.read_bytes()
            whole.rename(path.with_name(".tmpAbCdEf")).write_bytes(data[: len(data) // 2])
        self.step(f"half of {path.name}")
        self.save(tensors, path, record)


def day(home: Home) -> None:
    """Does everything that writes: lessons, book, notes, training, models, rollback, forgetting."""
    with home.lock(), home.learning():
        journal, store = Journal(home.journal_path), ModelStore(home)
        folder, book = home.models_path / "tiny", OwnerBook(home.book_path)
        if not (folder.with_name("other")).exists():  # it exists if an earlier day was interrupted
            import_model(store, folder, "other")
        learner = Learner(home, folder, journal, seed=0)
        _teach(learner, book, "What is first?", "A first one.", whole=True)
        secret = _teach(learner, book, QUESTION, SECRET)
        write_atomically(folder / "watch.json", json.dumps({"seen": SECRET}))
        save_tensors({"hidden": torch.ones(9)}, folder / "voice.safetensors", {"mark": "x"})
        write_unfinished(folder, Unfinished(Train(), learner.version))
        save_tensors({"x": torch.ones(9)}, folder / TRAINED, {})
        exported(home, "conversation-1.md", f"{QUESTION}\n{SECRET}\n")
        Unsent(home).keep(f"did I say {SECRET}")
        last = _teach(learner, book, "What is last?", "A last one.")
        learner.undo(journal.lesson(last))
        before = learner.version
        with contextlib.suppress(NotFound):  # on a later day this snapshot is gone
            store.rollback("tiny", 1, journal)
            store.rollback("tiny", before, journal)
        store.remove("other")
        forget(home, journal, journal.to_forget(lesson=secret), [folder])
        journal.close()


def _teach(
    learner: Learner, book: OwnerBook, question: str, answer: str, *, whole: bool = False
) -> int:
    """Publishes a lesson as learned, without training; returns its id. whole: write a whole file, as book
    training does; otherwise a delta, as lessons do."""
    (kept,) = learner.journal.add_lessons([Lesson("example", (Turn("user", question),), answer)])
    book.add(question, answer)
    with torch.no_grad():
        name = MOVED.format(int(answer != SECRET))
        learner.weights.model.get_parameter(name).add_(0.001 * kept.id)
    learner.weights.publish([kept.id], f"lesson {kept.id}", moved=None if whole else (name,))
    learner.journal.set_lesson_state(kept.id, "learned")
    return kept.id


def next_day(home: Home) -> None:
    """Starts the program again and forgets the secret."""
    with home.lock(), home.learning():
        journal, folder = Journal(home.journal_path), home.models_path / "tiny"
        Learner(home, folder, journal, seed=0)  # must find intact weights
        mend_book(OwnerBook(home.book_path), journal)
        doomed: ErasurePlan | None
        try:
            doomed = journal.to_forget(text="swordfish")
        except NotFound:  # not taught yet, or erased from the journal already
            finish(home, journal)
            book = OwnerBook(home.book_path).holds("swordfish")
            doomed = ErasurePlan((), ()) if book else None
        if doomed is not None:
            store = ModelStore(home)
            done = forget(home, journal, doomed, [folder], text="swordfish")
            for name in done.unvouched:  # remove copies of the taught model, as it advises
                if name in store.names() and name != folder.name:
                    store.remove(name)
        journal.close()


def look(home: Home, known: dict[str, torch.Tensor]) -> list[str]:
    """Faults of the home; opens every file."""
    wrong = [
        *map(str, problems(home)),
        *(f"{f.path}: {f.role}" for f in home_files(home) if _left(f.role)),
    ]
    for path in (path for path in home.path.rglob("*") if path.is_file()):
        data = path.read_bytes()
        if b"swordfish" in data.lower():
            wrong.append(f"{path} says it")
        if path.suffix == ".safetensors" or b"data_offsets" in data[:400]:
            wrong += _knows(path, known)
        if path.stat().st_mode & 0o077:
            wrong.append(f"{path} can be read by others")
        if is_leftover(path):
            wrong.append(f"{path} is a leftover")
    return wrong


def _left(role: str) -> bool:
    return role in ("leftover", "unknown")


def _knows(path: Path, known: dict[str, torch.Tensor]) -> list[str]:
    try:
        tensors, record = load_tensors(path)
    except VidyaError as error:
        return [str(error)]
    names = tensors.keys() & known.keys() if BASE in record else known.keys()
    same = tensors.keys() == names and all(
        name == OTHERS or torch.equal(tensors[name], known[name]) for name in names
    )
    return [] if same else [f"{path} knows more than it should"]


def _work(work: Callable[[], object]) -> NoReturn:
    """Runs in a fork and exits."""
    try:
        work()
        os._exit(0)
    except BaseException as error:
        os.write(1, (json.dumps({"failed": repr(error)}) + "\n").encode())
        os._exit(1)


def in_child(work: Callable[[], object]) -> int:
    """Runs `work` in a fork; returns its wait status."""
    child = os.fork()
    if child == 0:
        _work(work)
    return os.waitpid(child, 0)[1]


def at_every_call(source: Path, copy: Path, known: dict[str, torch.Tensor]) -> None:
    """One day per call to kill before, until a day ends without a kill."""
    at, status = 0, -1
    while status != 0:
        at += 1
        shutil.copytree(source, copy)
        home = Home(copy)

        def killed(home: Home = home, at: int = at) -> None:
            Killer(home.path, at).tracker()
            day(home)

        status = in_child(killed)
        _tell(at, status, _forgotten(home, known))
        shutil.rmtree(copy)


def at_random(
    source: Path, copy: Path, known: dict[str, torch.Tensor], kills: int, seed: int
) -> None:
    """Kills one home at random moments of its days."""
    chance, home = random.Random(seed), Home(copy)
    shutil.copytree(source, copy, dirs_exist_ok=True)
    again, longest = copy.with_name(f"{copy.name}-again"), 0.0
    for number in range(1, kills + 1):
        child, started = os.fork(), time.monotonic()
        if child == 0:
            _work(lambda: day(home))
        if not longest:  # the first day runs to its end, to measure its length
            status = os.waitpid(child, 0)[1]
            longest = time.monotonic() - started
        else:
            status, ran = _killed_after(child, chance.uniform(0.0, longest))
            if status == 0:  # later days do less, and the machine may be less busy
                longest = ran
        wrong = []
        if number % EVERY == 0 or number == kills:
            shutil.copytree(copy, again)
            wrong = _forgotten(Home(again), known)
            shutil.rmtree(again)
        _tell(number, status, wrong)
    shutil.rmtree(copy)


def _killed_after(child: int, seconds: float) -> tuple[int, float]:
    """Kills the process after that many seconds, unless it ends before. Returns its wait status and the
    seconds that it ran."""
    started = time.monotonic()
    while (ran := time.monotonic() - started) < seconds:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status, ran
        time.sleep(min(0.005, seconds - ran))
    os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1], ran


def _forgotten(home: Home, known: dict[str, torch.Tensor]) -> list[str]:
    """Faults after the next start and forgetting."""
    ended = in_child(lambda: next_day(home))
    return look(home, known) + [f"the next start ended with {ended}"] * bool(ended)


def _tell(at: int, status: int, wrong: list[str]) -> None:
    print(json.dumps({"at": at, "status": status, "wrong": wrong}), flush=True)


def main() -> None:
    source, copy, *numbers = sys.argv[1:]
    torch.set_num_threads(1)
    os.fsync = lambda _: None  # type: ignore[assignment]  # a kill does not lose data in the kernel
    known = load_tensors(Path(source) / "models" / "tiny" / WEIGHTS)[0]
    if numbers:
        at_random(Path(source), Path(copy), known, *map(int, numbers))
    else:
        at_every_call(Path(source), Path(copy), known)


if __name__ == "__main__":
    main()
