"""Measures tokens per second of five candidates and of 64 rollouts against transformers and llama.cpp.

All programs use the same weights, each in its own process. They take turns round by round, so that other
load on the machine affects all of them. First their greedy answers are compared, to verify that the weights
agree. Left out: answers that end early; the row of the end token is set to zero.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks import BenchOptions
from benchmarks.common.report import machine, median, table, write
from benchmarks.common.scratch import scratch_home
from benchmarks.common.workers import Worker
from engine.config import CONFIGS, GREEDY, Sampling
from engine.errors import VidyaError
from vidya_tui.worker.environment import prepare

ROUNDS, QUICK_ROUNDS = 3, 1
PROMPT, LONG_PROMPT = 60, 2000
TOKENS = 64
WORDS = "Please tell me a story about a river that runs down from the hills to the sea. "


@dataclass(frozen=True)
class Work:
    """What the programs do."""

    answers: int
    sampling: Sampling
    prompt: int = PROMPT
    """Ids; a model whose context is too short for it is left out."""


FIVE, LONG, ROLLOUTS = "five candidates", "five candidates after a long prompt", "64 rollouts"
WORKS = {
    FIVE: Work(5, Sampling(max_tokens=TOKENS)),
    LONG: Work(5, Sampling(max_tokens=TOKENS), LONG_PROMPT),
    ROLLOUTS: Work(
        64,
        Sampling(temperature=1.0, top_p=1.0, repetition_penalty=1.0, max_tokens=TOKENS),
    ),
}
"""Rollouts are sampled without top-p."""
ENGINES = {
    FIVE: (
        "vidya",
        "transformers",
        "llama.cpp f32",
        "llama.cpp f16",
        "llama.cpp bf16",
        "llama.cpp q8_0",
    ),
    LONG: ("vidya", "transformers", "llama.cpp f32", "llama.cpp f16"),
    ROLLOUTS: (
        "vidya rollouts",
        "transformers",
        "llama.cpp f32",
        "llama.cpp f16",
        "llama.cpp bf16",
    ),
}
SAME = 16
"""Tokens of a greedy answer that must agree; after that rounding may decide between two tokens."""


def run(options: BenchOptions) -> dict[str, Any]:
    """Measures everything; writes decode.md and decode.json if `options.out` is set. With a model named, that
    one's candidates alone, in decode_NAME.md and .json."""
    from engine.storage.checkpoint import load_config

    where, rows = machine(), list[dict[str, Any]]()
    rounds = QUICK_ROUNDS if options.quick else ROUNDS
    sizes: tuple[str, ...] = ("10m",) if options.quick else ("10m", "49m")
    works, stem = list(WORKS), "decode"
    if options.model_name is not None:
        sizes, works = (options.model_name,), [FIVE, LONG]
        stem = f"decode_{sizes[0]}"

    def so_far() -> dict[str, Any]:
        """Writes the results so far, so that an interrupted run leaves something."""
        where["load_average_after"] = machine()["load_average"]
        result = {
            "benchmark": "decode",
            "machine": where,
            "quick": options.quick,
            "rounds": rounds,
            "rows": rows,
        }
        if options.out is not None:
            write(options.out, stem, TITLE, options.command("decode"), parts(result), result)
        return result

    with scratch_home(options) as (home, model), ExitStack() as stack:
        made = {size: make_model(home.models_path / model, size) for size in sizes}
        for folder in made.values():
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
        for work in works:
            for size in sizes:
                if load_config(made[size]).context < WORKS[work].prompt + TOKENS:
                    continue
                rows += compare(made[size], size, work, rounds, options)
                so_far()
    return so_far()


def load_size(shipped: Path, size: str) -> Any:
    """The model of a folder, grown if `size` names a larger configuration."""
    import torch

    from engine.grow import grow
    from engine.storage.checkpoint import load_model

    model = load_model(shipped)
    config = CONFIGS.get(size)
    if config is not None and config.dim > model.config.dim:
        wanted = replace(config, vocab_size=model.config.vocab_size)
        model = grow(model, wanted, generator=torch.Generator().manual_seed(0))
    return model


def make_model(shipped: Path, size: str) -> Path:
    """A folder with the model in that size, whose end token is never generated."""
    import torch

    from engine.storage.checkpoint import save_model
    from engine.tokenizers.load import load_tokenizer

    folder = Path(tempfile.mkdtemp(prefix="vidya-decode-"))
    shutil.copytree(shipped, folder, dirs_exist_ok=True)
    model = load_size(shipped, size)
    with torch.no_grad():
        model.vocabulary[sorted(load_tokenizer(shipped).chat.stop_ids)] = 0.0
    save_model(model, folder, dtype=torch.float32)
    return folder


def prompt_of(folder: Path, length: int) -> list[int]:
    """A prompt of that many ids."""
    from engine.tokenizers.chat_format import encode_prompt
    from engine.tokenizers.load import load_tokenizer

    words = WORDS * (length // 10)
    return encode_prompt(load_tokenizer(folder), [("user", words)], 2 * length, 0)[-length:]


def compare(
    folder: Path, size: str, work: str, rounds: int, options: BenchOptions
) -> list[dict[str, Any]]:
    """Runs all programs on one kind of work; returns a row per program."""
    n, sampling = WORKS[work].answers, WORKS[work].sampling
    prompt = prompt_of(folder, WORKS[work].prompt)
    found: dict[str, list[dict[str, Any]]] = {}
    rows: list[dict[str, Any]] = []
    with ExitStack() as stack:
        workers: dict[str, Worker] = {}
        for name in ENGINES[work]:
            worker = Worker(
                "benchmarks.models.decode_engines",
                name,
                str(folder),
                environment=environment_of(name),
            )
            stack.callback(worker.close)
            if worker.missing:
                rows.append({"size": size, "work": work, "engine": name, "missing": worker.missing})
            else:
                workers[name] = worker
        ours = ENGINES[work][0]
        asked = {"prompt": prompt, "n": n, "sampling": sampling.to_dict(), "seed": 0}
        greedy = {**asked, "n": 1, "sampling": GREEDY.with_(max_tokens=SAME).to_dict()}
        said = dict[str, list[int]]()
        for name, worker in list(workers.items()):
            try:
                said[name] = worker.ask(**greedy)["answers"][0]
            except VidyaError as error:
                if name == ours:
                    raise
                del workers[name]  # another program's crash is a row, not the end
                rows.append({"size": size, "work": work, "engine": name, "missing": error.what})
        for worker in workers.values():  # a short one warms up
            worker.ask(**{**asked, "sampling": sampling.with_(max_tokens=4).to_dict()})
        for seed in range(1, rounds + 1):
            for name, worker in workers.items():
                took = worker.ask(**{**asked, "seed": seed})
                rows_of = found.setdefault(name, [])
                if size in CONFIGS or not rows_of:  # files of a large model take long
                    took["publish"] = worker.ask(**asked, publish=True)["publish"]
                rows_of.append(took)
            options.say(f"{size}, {work}: round {seed} of {rounds}")
    return rows + [
        {
            "size": size,
            "work": work,
            "engine": name,
            "kind": took[0]["kind"],
            "same_greedy_answer": said[name] == said[ours],
            "tokens_per_second": median([t["tokens"] / t["seconds"] for t in took]),
            "all": [round(t["tokens"] / t["seconds"], 1) for t in took],
            "first_ms": 1e3 * median([t["first"] for t in took]) or None,
            "publish_ms": 1e3 * median([t["publish"] for t in took if "publish" in t]),
            "resident_mb": (took[-1]["resident"] or 0) / 1e6 or None,
            "vidya_is_times": median(
                [
                    o["tokens"] / o["seconds"] / (t["tokens"] / t["seconds"])
                    for o, t in _pairs(found, took, work)
                ]
            ),
        }
        for name, took in found.items()
    ]


def _pairs(found: dict[str, Any], took: list[dict[str, Any]], work: str) -> Any:
    """(our result, the other's) for each round."""
    return zip(found[ENGINES[work][0]], took, strict=True)


def environment_of(name: str) -> dict[str, str]:
    """Environment of a process: vidya's gets the variables that vidya sets, the others get the user's."""
    own: dict[str, str] = dict(os.environ)
    if name.startswith("vidya"):
        prepare(own)
    return own


TITLE = "Tokens a second"


def parts(result: dict[str, Any]) -> list[str]:
    """Text and tables of decode.md."""
    made = [
        f"Answers of {TOKENS} tokens after a prompt of {PROMPT}, a long one of {LONG_PROMPT:,}, medians of "
        f"{result['rounds']} rounds in "
        "which the programs take turns, each in its own process with all cores. All tokens of all answers "
        "count, and the time includes the prompt. *Vidya is* is the median of the rounds' ratios. Vidya "
        "decodes candidates on one core, which leaves the other to the app, and those of more than 100M "
        "weights on all; the other programs use all. "
        "Float16 weights: sums are in float32. *Publish* is the time from new weights (all of them) to the "
        "first prompt: vidya copies and packs, transformers copies, llama.cpp writes and loads a file; "
        "after a lesson Vidya packs only what changed. 10m is the shipped model, 49m the same model grown "
        "(same answers). End tokens are disabled."
    ]
    for work in WORKS:
        rows = [r for r in result["rows"] if r["work"] == work]
        if not rows:
            continue
        made += [f"## {work[0].upper()}{work[1:]}", table(HEAD, [_row(r) for r in rows])]
    made.append(
        "*Same* says whether a greedy answer has the same first "
        f"{SAME} tokens as ours. q8_0 rounds the weights, so it may differ there. After a long prompt the "
        "others may draw a special token, which Vidya never does."
    )
    return made


HEAD = (
    "model",
    "program",
    "numbers",
    "tokens/s",
    "vidya is",
    "first token ms",
    "publish ms",
    "resident MB",
    "same",
)


def _row(row: dict[str, Any]) -> list[object]:
    if "missing" in row:
        return [row["size"], row["engine"], row["missing"], *[None] * 6]
    return [
        row["size"],
        row["engine"],
        row["kind"],
        row["tokens_per_second"],
        f"{row['vidya_is_times']:.2f} x",
        row["first_ms"],
        row["publish_ms"],
        row["resident_mb"],
        row["same_greedy_answer"],
    ]
