"""Measures the cost of publishing a lesson: bytes written, seconds, and bytes that the model folder keeps.

Teaches lessons to the 10M model as the app does, in a temporary home, and counts the new files in the model's
folder after each. A hash of the master weights shows whether two versions of the program learn the same
weights. Seconds are processor seconds, which a busy machine does not stretch. For a model of SmolLM2-135M's
shape with random weights, only publication is measured, after small changes to the upper blocks. Left out:
the bytes of the journal, a few kB.
"""

from __future__ import annotations

import hashlib
import time
from pathlib import Path
from typing import Any

import torch

from benchmarks import DATA, BenchOptions
from benchmarks.common.report import machine, median, table, write
from benchmarks.common.scratch import DEFAULT_MODEL, scratch_home
from benchmarks.common.sizes import SMOLLM2
from engine.model import Model
from engine.storage.checkpoint import save_model
from learning.data.lesson_file import read_lessons
from learning.home import Home
from learning.journal.journal import Journal
from learning.lessons.learner import Learner
from learning.lessons.recipe import TeachSettings
from learning.models.trainable import upper_matrices
from learning.models.weights import Weights

LESSONS = DATA / "lessons_tune.jsonl"


class Folder:
    """Counts the bytes of new weight files in a model's folder."""

    def __init__(self, path: Path) -> None:
        self._path, self._seen = path, dict[tuple[int, int], int]()
        self.new_bytes()

    def new_bytes(self) -> int:
        """Bytes of the files written since the last call. A file with several hard links counts once."""
        now = dict[tuple[int, int], int]()
        for path in (*self._path.glob("model*.safetensors"), *self._path.glob("snapshots/*")):
            found = path.stat()
            now[(found.st_ino, found.st_mtime_ns)] = found.st_size
        new = sum(size for file, size in now.items() if file not in self._seen)
        self._seen = now
        return new

    def bytes(self) -> int:
        """Bytes of all weight files at the last call of `new_bytes`."""
        return sum(self._seen.values())


def run(options: BenchOptions) -> dict[str, Any]:
    """See `vidya bench`. Returns the figures of both models; writes transaction.md and .json."""
    where = machine()
    torch.set_num_threads(1)
    with scratch_home(options) as (home, model):
        rows = _lessons(options, home, model, 3 if options.quick else 10)
        made = _publications(options, home, 3 if options.quick else 5)
    result = {"machine": where, "lessons": rows, "publications": made}
    if options.out:
        _write(options, result)
    return result


def _lessons(options: BenchOptions, home: Home, model: str, count: int) -> list[dict[str, Any]]:
    journal = Journal(home.journal_path)
    learner = Learner(home, home.models_path / model, journal, seed=0)
    learner.caches.prepare()
    folder, taken, rows = Folder(learner.folder), list[float](), list[dict[str, Any]]()
    publish = learner.weights.publish

    def timed(*args: Any, **named: Any) -> None:
        started = time.process_time()
        publish(*args, **named)
        taken.append(time.process_time() - started)

    learner.weights.publish = timed  # type: ignore[method-assign]
    for lesson in journal.add_lessons(read_lessons(LESSONS)[:count]):
        report = learner.learn(lesson)
        rows.append(
            {
                "steps": report.steps,
                "loss": report.loss,
                "bytes": folder.new_bytes(),
                "kept_bytes": folder.bytes(),
                "publication_seconds": taken[-1],
                "masters": _hash(learner.weights.model),
            }
        )
        options.say(f"lesson {lesson.id}: {rows[-1]}")
    journal.close()
    return rows


def _publications(options: BenchOptions, home: Home, count: int) -> list[dict[str, Any]]:
    path = home.models_path / "made"
    save_model(Model(SMOLLM2, generator=torch.Generator().manual_seed(0)), path)
    journal = Journal(home.journal_path)
    weights = Weights(path, journal)
    trunk = TeachSettings().trunk_layers(SMOLLM2)
    folder, rows = Folder(path), list[dict[str, Any]]()
    for number in range(count):
        trainable = upper_matrices(weights.model, trunk)
        started = time.process_time()
        before = trainable.state()
        copied = time.process_time() - started
        with torch.no_grad():
            for name in trainable.names:
                weights.model.get_parameter(name).add_(1e-4)
        started = time.process_time()
        weights.publish([], f"lesson {number}", moved=trainable.names)
        rows.append(
            {
                "bytes": folder.new_bytes(),
                "kept_bytes": folder.bytes(),
                "publication_seconds": time.process_time() - started,
                "copied_bytes": sum(tensor.nbytes for tensor in before.values()),
                "copy_seconds": copied,
            }
        )
        options.say(f"publication {number}: {rows[-1]}")
    journal.close()
    return rows


def _hash(model: Model) -> str:
    found = hashlib.sha256()
    for tensor in model.state_dict().values():
        found.update(tensor.detach().cpu().numpy().tobytes())
    return found.hexdigest()[:16]


def _write(options: BenchOptions, result: dict[str, Any]) -> None:
    facts = [
        (
            name,
            median([row["bytes"] for row in rows]) / 1e6,
            rows[-1]["kept_bytes"] / 1e6,
            median([row["publication_seconds"] for row in rows]),
        )
        for name, rows in (
            (DEFAULT_MODEL, result["lessons"]),
            ("SmolLM2's shape", result["publications"]),
        )
    ]
    parts = [
        "What a lesson writes (median); what the model's folder keeps after the last one: the current "
        "weights, their base, the snapshots; and the processor's seconds of a publication (median): "
        "the journal, the files, the answering copy.",
        table(("model", "MB a lesson", "MB kept", "seconds"), facts),
    ]
    command = options.command("transaction")
    out = options.out or Path()
    write(out, "transaction", "What a publication costs", command, parts, result)
