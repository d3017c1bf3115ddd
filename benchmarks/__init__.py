"""The benchmarks of `vidya bench`: one module each, imported only when it runs.

To add one, write NAME.py in the folder of its theme, with `run(options: BenchOptions) -> dict`, and add a
line to BENCHMARKS. Left out: writing results (report.py).
"""

from __future__ import annotations

import importlib
import os
import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from engine.errors import NotFound
from engine.storage.files import absolute

FOLDER = Path(__file__).resolve().parent
DATA = FOLDER / "data"
"""The benchmarks' own data."""
RESULTS = FOLDER / "results"
"""Tables that were measured, as Markdown and as JSON."""
ROOT = FOLDER.parent
"""The folder in which `python -m benchmarks...` finds the program."""

BENCHMARKS: dict[str, str] = {
    "latency": "start to first frame, key press to painted letter, memory, in the real app",
    "long_talk": "a conversation of 2,000 turns: opening it, scrolling, typing in it",
    "talk": "200 unseen questions: variety, endings, fitting answers, claims to be a person",
    "cards": "the other answers beside the likeliest: how plausible to a larger model, how different",
    "in_context": "copying, recall of facts told in the same conversation, small sums",
    "kills": "kill -9 in every save and rename, and at 200 random moments; then forgetting",
    "inventions": "recall of taught facts after ten unjudged inventions in the same conversation",
    "offers": "taught facts in other words with lessons offered among the answers; untaught questions",
    "mentions": "facts that were only said in earlier talks: said back as an answer to later questions",
    "everyday": "100 plain facts said in passing, asked for days later in ordinary words",
    "said_and_taught": "taught facts that the owner also said: asked before and after he says them",
    "told_apart": "answers that were taught for another question, with and without the rules against them",
    "recall": "taught facts in other words with the recalled lesson as context; untaught questions",
    "calibration": "claimed certainty against the share of right answers; 12 personal questions",
    "transaction": "bytes that a lesson writes, seconds of a publication, at 10M and SmolLM2's shape",
    "crash": "kill -9 at 50 random moments: whether anything the screen confirmed is lost",
    "collapse": "100 lessons in a row with the recipe and with failed methods: what is still known",
    "people": "facts of invented owners: known in any words, against ROME, MEMIT, retrieval, ...",
    "features": "whether hidden states, or the sentence encoder, find the taught question",
    "long_life": "1,000 to 10,000 lessons in a row: recall of lessons and book, talk, time, memory, files",
    "credit": "answers whose end alone is wrong, rated bad: endings gone, beginnings kept",
    "reasons": "five reasons for a preference: first answers to other messages, before and after",
    "distillation": "a larger model's answers taught to 10M weights, against as much of the corpus",
    "tokenizer": "size of the vocabulary: bytes per token against the cost of the embedding",
    "decode": "five candidates and 64 rollouts: tokens/s against transformers and llama.cpp",
    "training": "tokens/s of pre-training and book training against transformers' Trainer; GEMM peak",
    "shapes": "batches of ever new shapes: filled up, as they come, and in transformers",
    "practice": "seconds of a GRPO step against TRL on the same work; both losses term by term",
    "practice_learning": "held-out gains of practice, and its cost in book recall and talk",
    "gsm8k": "sums in words at SmolLM2's size, with python as a calculator and in words alone",
    "alarms": "alarms of practice: runs that fail on purpose and runs that do not, what is kept",
    "grpo_variants": "with and without a buffer, normalisers, ratios: gain of practice at equal tokens",
    "tags": "practice with the tags of answers as text and as single tokens: gain a minute",
    "sandbox": "sandboxed program checks per second, and whether hostile programs get through",
    "optimizers": "Muon with AdamW against AdamW alone: equal tokens, a sweep each, three seeds",
    "taste_practice": "practice on taste: what is really liked beside what is paid, and the alarms",
    "taste_picks": "forty picks: first answers as preferred, by the recipe alone and with taste as well",
    "taste": "hidden preferences learned from noisy picks, by the reward model and by plain baselines",
    "curriculum": "which of eight levels, or of some sources of text, comes next: cost until all are known",
    "nights": "nights of practice alone, interrupted twenty times: gains, talk, what is lost",
    "one_example": "practice on 1 to 1,000 examples, random rewards beside it; five orders of one list",
    "self_play": "sums that the model asks itself, against a generator's and an adversarial questioner",
    "tools": "practice with python as a tool, paid for calls or for right answers; the alarm",
    "toys": "agents in small worlds with known solutions; every learner in every world",
    "umbrella_talk": "conversations paid at the end: dialogues to learn the first reply, two credits",
    "verifiers": "speed and accuracy on 10,000 answers in the format of GSM8K, and of other verifiers",
}
"""Name of the benchmark and of its module -> what it measures."""

WITHOUT_MODEL = {"kills", "optimizers", "sandbox", "shapes", "tokenizer", "toys", "verifiers"}
"""Benchmarks to which no model can be given: they make their own, or need none."""
PATHS = {"VIDYA_CORPUS", "VIDYA_ENCODER", "VIDYA_GSM8K", "VIDYA_HUMANEVAL", "VIDYA_MBPP"}
"""Variables whose values are paths of the owner's machine."""


@dataclass(frozen=True)
class BenchOptions:
    """Options of a benchmark."""

    home: Path
    """The owner's home. Benchmarks may read models from it but must not change it; to learn, use a
    scratch home (scratch.py)."""
    model: str | None = None
    """Name or folder of the model; None: the shipped one."""
    seeds: tuple[int, ...] = (0,)
    """One run per seed, if the benchmark has randomness."""
    quick: bool = False
    """A short test run: seconds instead of minutes, with figures not to be quoted."""
    out: Path | None = None
    """Folder for NAME.md and NAME.json; None: write nothing."""
    say: Callable[[str], None] = lambda _: None
    """Prints a line of progress."""

    @property
    def model_name(self) -> str | None:
        """What reports call the model: its name; of a folder, the last part alone. None if none was asked
        for."""
        return absolute(self.model).name if self.model else None

    def stem(self, name: str) -> str:
        """The name of a benchmark's files, with that of the model if one was asked for."""
        return name if self.model_name is None else f"{name}_{self.model_name}"

    def command(self, name: str, *, seeded: bool = False, variables: Iterable[str] = ()) -> str:
        """The command line that reproduces a benchmark's tables. seeded: it runs once per seed. variables:
        names of environment variables that the benchmark reads; those with a value are written before the
        command."""
        words = [*_as_words(variables), "vidya bench", name, *(["--quick"] if self.quick else [])]
        words += [f"--model {shlex.quote(self.model_name)}"] if self.model_name else []
        if seeded and not self.quick:
            words += [f"--seed {self.seeds[0]}"] if self.seeds[0] else []
            words += [f"--seeds {len(self.seeds)}"]
        return " ".join([*words, "--out benchmarks/results"])


def _as_words(variables: Iterable[str]) -> list[str]:
    """The variables that are set, as a command line sets them. Paths are told as FOLDER."""
    values = {name: os.environ.get(name, "").strip() for name in variables}
    return [
        f"{name}={'FOLDER' if name in PATHS else shlex.quote(value)}"
        for name, value in values.items()
        if value
    ]


Run = Callable[[BenchOptions], dict[str, Any]]


def find(name: str) -> Run:
    """The `run` function of a benchmark. Raises NotFound."""
    if name not in BENCHMARKS:
        known = ", ".join(sorted(BENCHMARKS))
        raise NotFound(f"benchmark {name!r} does not exist", f"choose one of: {known}")
    (file,) = [*FOLDER.glob(f"{name}.py"), *FOLDER.glob(f"*/{name}.py")]
    module = ".".join(file.relative_to(ROOT).with_suffix("").parts)
    return cast(Run, importlib.import_module(module).run)
