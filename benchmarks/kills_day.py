"""Kills a program in every save and rename of a day with a small model, then forgets, and looks.

`python -m benchmarks.kills_day HOME COPY [KILLS SEED]`: HOME is a home with the model `tiny` and an empty
journal, COPY where a copy of it lives. Prints a JSON object a kill. torch is loaded once: each day is a
fork, which sends itself SIGKILL before the n-th call that changes a file of the home. With KILLS it is
killed at so many random moments instead: one home lives through all of them, day after day.
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
from learning.book.owner_book import OwnerBook
from learning.book.repair import mend_book
from learning.home import Home
from learning.journal.erase import ErasurePlan
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
"""Random kills after which a copy of the home forgets, and is looked at."""
QUESTION, SECRET = "What is the word?", "The word is swordfish."
MOVED = "blocks.{}.ffn.down.weight"
"""What lessons move: the secret in the block 0, all others in 1, so that weights tell what they know."""
OTHERS = "model.layers.1.mlp.down_proj.weight"
"""The latter's name in files."""
CHANGES = {"os.rename", "os.link", "os.remove", "os.rmdir"}
"""What Python tells an audit hook before it does it, beside `open` for writing. Before a folder is made
the home is as it was, and permissions hold no text."""


class Killer:
    """Counts the calls that change files under a folder, and ends the process before one of them."""

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
        """safetensors writes in Rust, of which Python is told nothing: here half of it stands."""
        if self.count + 1 == self.at:
            self.heard = lambda *_: None  # type: ignore[method-assign]
            whole = path.with_name("whole")
            self.save(tensors, whole, record)
            data = whole.read_bytes()
            whole.rename(path.with_name(".tmpAbCdEf")).write_bytes(data[: len(data) // 2])
        self.step(f"half of {path.name}")
        self.save(tensors, path, record)


def day(home: Home) -> None:
    """Everything that writes: lessons, book, notes, training, models, going back, and forgetting."""
    with home.lock(), home.learning():
        journal, store = Journal(home.journal_path), ModelStore(home)
        folder, book = home.models_path / "tiny", OwnerBook(home.book_path)
        if not (folder.with_name("other")).exists():  # else an earlier day was cut short
            import_model(store, folder, "other")
        learner = Learner(home, folder, journal, seed=0)
        _teach(learner, book, "What is first?", "A first one.")
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
        with contextlib.suppress(NotFound):  # on a later day it was let go
            store.rollback("tiny", 1, journal)
            store.rollback("tiny", before, journal)
        store.remove("other")
        forget(home, journal, journal.to_forget(lesson=secret), [folder])
        journal.close()


def _teach(learner: Learner, book: OwnerBook, question: str, answer: str) -> int:
    """As if it had been learned, at no cost of time."""
    (kept,) = learner.journal.add_lessons([Lesson("example", (Turn("user", question),), answer)])
    book.add(question, answer)
    with torch.no_grad():
        name = MOVED.format(int(answer != SECRET))
        learner.weights.model.get_parameter(name).add_(0.001 * kept.id)
    learner.weights.publish([kept.id], f"lesson {kept.id}")
    learner.journal.set_lesson_state(kept.id, "learned")
    return kept.id


def next_day(home: Home) -> None:
    """The program starts again; the owner forgets."""
    with home.lock(), home.learning():
        journal, folder = Journal(home.journal_path), home.models_path / "tiny"
        Learner(home, folder, journal, seed=0)  # whole weights, whatever happened
        mend_book(OwnerBook(home.book_path), journal)
        doomed: ErasurePlan | None
        try:
            doomed = journal.to_forget(text="swordfish")
        except NotFound:  # it never was said, or the erasing came to the journal
            finish(home, journal)
            book = OwnerBook(home.book_path).holds("swordfish")
            doomed = ErasurePlan((), ()) if book else None
        if doomed is not None:
            store = ModelStore(home)
            done = forget(home, journal, doomed, [folder], text="swordfish")
            for name in done.unvouched:  # as it advises: a copy of what was taught
                if name in store.names() and name != folder.name:
                    store.remove(name)
        journal.close()


def look(home: Home, known: dict[str, torch.Tensor]) -> list[str]:
    """What is wrong with the home: every file of it is opened."""
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
        tensors = load_tensors(path)[0]
    except VidyaError as error:
        return [str(error)]
    same = tensors.keys() == known.keys() and all(
        name == OTHERS or torch.equal(tensors[name], weights) for name, weights in known.items()
    )
    return [] if same else [f"{path} knows more than it should"]


def _work(work: Callable[[], object]) -> NoReturn:
    """In a fork, which ends with it."""
    try:
        work()
        os._exit(0)
    except BaseException as error:
        os.write(1, (json.dumps({"failed": repr(error)}) + "\n").encode())
        os._exit(1)


def in_child(work: Callable[[], object]) -> int:
    """Runs it in a fork; how that ended."""
    child = os.fork()
    if child == 0:
        _work(work)
    return os.waitpid(child, 0)[1]


def at_every_call(source: Path, copy: Path, known: dict[str, torch.Tensor]) -> None:
    """A day for each call, until one comes to its end."""
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
    """One home, killed at random moments of its days."""
    chance, home = random.Random(seed), Home(copy)
    shutil.copytree(source, copy, dirs_exist_ok=True)
    again, longest = copy.with_name(f"{copy.name}-again"), 0.0
    for number in range(1, kills + 1):
        child, started = os.fork(), time.monotonic()
        if child == 0:
            _work(lambda: day(home))
        if not longest:  # the first says how long a day is
            status = os.waitpid(child, 0)[1]
            longest = time.monotonic() - started
        else:
            time.sleep(chance.uniform(0.0, longest))
            os.kill(child, signal.SIGKILL)
            status = os.waitpid(child, 0)[1]
        wrong = []
        if number % EVERY == 0 or number == kills:
            shutil.copytree(copy, again)
            wrong = _forgotten(Home(again), known)
            shutil.rmtree(again)
        _tell(number, status, wrong)
    shutil.rmtree(copy)


def _forgotten(home: Home, known: dict[str, torch.Tensor]) -> list[str]:
    """What is wrong after the next start, and after forgetting."""
    ended = in_child(lambda: next_day(home))
    return look(home, known) + [f"the next start ended with {ended}"] * bool(ended)


def _tell(at: int, status: int, wrong: list[str]) -> None:
    print(json.dumps({"at": at, "status": status, "wrong": wrong}), flush=True)


def main() -> None:
    source, copy, *numbers = sys.argv[1:]
    torch.set_num_threads(1)
    os.fsync = lambda _: None  # type: ignore[assignment]  # a kill loses nothing that the kernel has
    known = load_tensors(Path(source) / "models" / "tiny" / WEIGHTS)[0]
    if numbers:
        at_random(Path(source), Path(copy), known, *map(int, numbers))
    else:
        at_every_call(Path(source), Path(copy), known)


if __name__ == "__main__":
    main()
