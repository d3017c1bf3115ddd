"""What `vidya bench` runs: one module a benchmark, named here and imported only when it runs.

To add one: write `benchmarks/NAME.py` with `run(options: BenchOptions) -> dict`, and add its line
to BENCHMARKS. Left out: how results are written (report.py).
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from engine.errors import NotFound

BENCHMARKS: dict[str, str] = {
    "latency": "start to first frame, key press to painted letter, memory, in the real app",
    "long_talk": "a conversation of 2,000 turns: opening it, scrolling, typing in it",
    "talk": "200 questions it has not read: variety, endings, fitting answers, claims to be a person",
    "in_context": "copying, facts told and asked for in one conversation, small sums",
    "kills": "kill -9 in every save and rename, and at 200 random moments; then forgetting",
    "inventions": "taught facts asked for after ten unjudged inventions in the same conversation",
    "calibration": "how sure it says that it is, against how often it is right; 12 personal questions",
    "transaction": "bytes that a lesson writes, seconds of a publication, at 10M and SmolLM2's shape",
    "crash": "kill -9 at 50 random moments: is anything lost that the screen confirmed",
    "collapse": "100 lessons in a row, by every attempt that failed and by the recipe: what is left",
    "long_life": "1,000 lessons in a row: the first ones, the book, talk, seconds, memory, files",
    "tokenizer": "size of the vocabulary: bytes per token against what the embedding costs",
    "decode": "five candidates and 64 rollouts: tokens/s beside transformers and llama.cpp",
    "training": "tokens/s of pre-training and of the book beside transformers' Trainer; GEMM peak",
    "practice": "seconds of a GRPO step against TRL on the same work; their losses term by term",
    "practice_learning": "what practice gains on held-out problems, and what it costs of book and talk",
    "sandbox": "programs checked a second behind walls, and whether hostile ones get through",
    "optimizers": "Muon with AdamW against AdamW alone, equal tokens, a sweep for each, three seeds",
    "verifiers": "10,000 answers in the format of GSM8K, and what the other verifiers manage",
}
"""Name of the benchmark, which is also its module, and what it measures."""


@dataclass(frozen=True)
class BenchOptions:
    """What a benchmark is given."""

    home: Path
    """The owner's home: models are read from it, nothing in it may be changed. To learn, take a
    home of your own (scratch.py)."""
    model: str | None = None
    """Name or folder of the model; None: the one that comes with vidya."""
    seeds: tuple[int, ...] = (0,)
    """One run for each, where a benchmark has randomness."""
    quick: bool = False
    """Only to see that it works: seconds instead of minutes, numbers not to be quoted."""
    out: Path | None = None
    """Folder for NAME.md and NAME.json; None: nothing is written."""
    say: Callable[[str], None] = lambda _: None
    """Takes a line about the progress."""

    def command(self, name: str, *, seeded: bool = False, corpus: bool = False) -> str:
        """The command that makes a benchmark's tables again. seeded: it runs once for each seed.
        corpus: it reads the one that VIDYA_CORPUS names."""
        words = ["VIDYA_CORPUS=FOLDER"] if corpus else []
        words += ["vidya bench", name, *(["--quick"] if self.quick else [])]
        words += [f"--model {self.model}"] if self.model else []
        words += [f"--seeds {len(self.seeds)}"] if seeded and not self.quick else []
        return " ".join([*words, "--out benchmarks/results"])


Run = Callable[[BenchOptions], dict[str, Any]]


def find(name: str) -> Run:
    """The function that runs a benchmark. Raises NotFound."""
    if name not in BENCHMARKS:
        known = ", ".join(sorted(BENCHMARKS))
        raise NotFound(f"benchmark {name!r} does not exist", f"choose one of: {known}")
    return cast(Run, importlib.import_module(f"benchmarks.{name}").run)
