"""Measures in-context skills: copying, recall of facts told before, small sums.

Rows come from learning.text.synthetic with seeds that its files do not use. Every answer is requested after
the right conversation before it, and counts if greedy decoding gives exactly it. Without --model: both
shipped models. Left out: facts taught to the weights (bench collapse).
"""

from __future__ import annotations

import random
from collections.abc import Callable
from statistics import fmean
from typing import Any

import torch

from benchmarks import BenchOptions
from benchmarks.common.report import deviation, machine, table, with_deviation, write
from engine.model import Model
from engine.storage.checkpoint import load_model
from engine.tokenizers.load import load_tokenizer
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.examples import Example, from_answer
from learning.home import Home
from learning.models.store import SHIPPED, ModelStore
from learning.objectives.forward import knowledge, share_known
from learning.text.synthetic import Row, recall, sums

ROWS, QUICK_ROWS = 300, 20
WIDTH = 16
"""Length of the random sequence that is repeated, in tokens."""
FIRST_SEED = 1_000_000
"""Larger than any seed used for training files."""
TITLE = "Recall within a conversation"


def run(options: BenchOptions) -> dict[str, Any]:
    """See `vidya bench`."""
    count, rows = QUICK_ROWS if options.quick else ROWS, list[dict[str, Any]]()
    if options.model:
        folders = [ModelStore(Home(options.home)).info(options.model).path]
    else:
        folders = [SHIPPED / name for name in ("10m-base", "10m")]
    for folder in folders:
        model, tokenizer = load_model(folder), load_tokenizer(folder)
        runs = [measure(model, tokenizer, count, FIRST_SEED + seed) for seed in options.seeds]
        rows.append({"model": folder.name, "runs": runs})
        options.say(f"{folder.name}: {runs[-1]}")
    result = {"benchmark": "in_context", "machine": machine(), "count": count, "rows": rows}
    if options.out is not None:
        command = options.command("in_context", seeded=True)
        write(options.out, "in_context", TITLE, command, parts(result), result)
    return result


def measure(model: Model, tokenizer: Tokenizer, count: int, seed: int) -> dict[str, float]:
    """Share of right answers per skill, 0 to 1."""
    rng = random.Random(seed)

    def last(make: Callable[[random.Random], Row], talk: bool) -> list[Example]:
        return [last_answer(tokenizer, make(rng), talk, model.config.context) for _ in range(count)]

    facts, alone = last(recall, True), last(sums, False)
    return {
        "copied": copied(model, count, torch.Generator().manual_seed(seed)),
        "recalled": share_known(knowledge(model, facts)),
        "sums": share_known(knowledge(model, alone)),
    }


def last_answer(tokenizer: Tokenizer, row: Row, talk: bool, context: int) -> Example:
    """The last answer of a row as an example: after the whole conversation, or (talk=False) after its
    question alone."""
    turns = [(t["role"], t["text"]) for t in row["turns"]]
    asked = turns[0 if talk else -2 : -1]
    return from_answer(tokenizer, asked, turns[-1][1], context, talk=context)


@torch.no_grad()
def copied(model: Model, rows: int, generator: torch.Generator) -> float:
    """Share of the tokens of a repeated random sequence that are predicted the second time, without the
    first one (the test of induction heads in arXiv 2209.11895)."""
    half = torch.randint(model.config.vocab_size // 2, (rows, WIDTH), generator=generator)
    ids = torch.cat([half, half], 1)
    said = model.logits(model.hidden_states(ids[:, :-1])).argmax(-1)
    return float((said[:, WIDTH:] == ids[:, WIDTH + 1 :]).float().mean())


def parts(result: dict[str, Any]) -> list[str]:
    """Text and table of in_context.md."""
    measures = {
        "copied": "random tokens copied",
        "recalled": "facts recalled",
        "sums": "sums to 20",
    }
    lines = []
    for row in result["rows"]:
        line: list[object] = [row["model"]]
        for key in measures:
            values = [100 * run[key] for run in row["runs"]]
            line.append(with_deviation(fmean(values), deviation(values)))
        lines.append(line)
    return [
        f"{result['count']} rows of each kind and seed; means and standard deviations over the seeds, "
        "in percent.",
        table(("model", *measures.values()), lines),
    ]
