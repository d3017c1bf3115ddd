"""Part "sources" of `vidya bench curriculum`: which source of text the next rows of pre-training come from.

A small model with new weights is trained at equal tokens on a corpus of several files, each a source. Every
arm of a seed begins with the same weights and takes the same steps but for the rows. All are compared on
held-out text by source, each source with the same weight. The text is what the curricula measure on too, but
they read a few rows of it and see only how these fall. What is in the output folder is not repeated.

VIDYA_CORPUS: the files, or their folder. VIDYA_CURRICULUM_ARMS: arms, separated by commas.
VIDYA_CURRICULUM_TOKENS: thousands of tokens to train on, 1,000 by default.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks import BenchOptions
from benchmarks.common.asked import names_asked, number_asked
from benchmarks.common.corpus import corpus_files
from benchmarks.common.report import deviation, table, with_deviation
from benchmarks.common.rows import ReportRows
from engine.config import ModelConfig
from engine.tokenizers.load import load_tokenizer
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.corpus import Document, read_documents
from learning.data.token_stream import TokenStream
from learning.data.tokens import Corpus, tokenise
from learning.models.store import SHIPPED
from learning.pretraining.held_out import bits_of_tokens
from learning.pretraining.loop import fresh_model, pretrain
from learning.pretraining.settings import PretrainReport, PretrainSettings

NAME = "curriculum_sources"
ARMS: dict[str, str | None] = {
    "uniform": "uniform",
    "natural": None,
    "SEC": "sec",
    "Exp3": "exp3",
    "learning progress": "progress",
}
"""Arm -> the curriculum; None: every document once in a pass, so that large sources have most tokens."""
CONFIG = ModelConfig(dim=192, layers=4, heads=3, kv_heads=1, hidden=512, context=256)
"""2.8M weights, two fifths of them in the embedding."""
TINY = replace(CONFIG, dim=64, layers=1, heads=2, hidden=128)
"""The model of a quick run."""
SETTINGS = PretrainSettings(tokens=1, row=256, rows=16, micro_rows=8, warm_up=0.05)
THOUSANDS, LOOKS = 1_000, 16
"""Default number of tokens in thousands, and measurements of a run."""
LEAST = 0.67
HARDEST = 2
READ = 8_000
"""Held-out tokens of each source that a measurement reads at most."""
TITLE = "Curriculum: tokens until all sources of a corpus are known"
CRITERION = (
    f"Criterion, written before the first run: a curriculum needs at most {LEAST} of uniform's tokens to the "
    "loss with which uniform ends, in the mean of three seeds (bits per byte on held-out text, mean over the "
    f"sources); and the {HARDEST} sources that are hardest for uniform at its end are better than uniform's "
    "then. Settings of all arms are the defaults; nothing was tuned."
)


def run(options: BenchOptions) -> dict[str, Any]:
    """Runs the arms that are missing. Raises DataError without a corpus, NotFound for an arm."""
    arms = names_asked("VIDYA_CURRICULUM_ARMS", ARMS)
    asked = number_asked("VIDYA_CURRICULUM_TOKENS")
    tokens = round(1_000 * (asked or THOUSANDS))
    if options.quick and asked is None:
        tokens = 16 * SETTINGS.step_tokens
    tokenizer = load_tokenizer(SHIPPED / "10m")
    corpus = _corpus(tokenizer)
    about = {"benchmark": "curriculum", "part": "sources", "tokens": tokens}
    about |= {"quick": options.quick, "sources": corpus.by_source()}
    variables = [f"VIDYA_CURRICULUM_{name}" for name in ("PART", "ARMS", "TOKENS")]
    command = options.command("curriculum", seeded=True, variables=[*variables, "VIDYA_CORPUS"])
    set_by = {"tokens": "VIDYA_CURRICULUM_TOKENS", "sources": "VIDYA_CORPUS"}
    rows = ReportRows(options.out, NAME, about, command, TITLE, parts, variables=set_by)
    for seed in options.seeds:
        for arm in arms:
            if rows.has(arm=arm, seed=seed):
                continue
            row = _trained(corpus, tokenizer, arm, seed, tokens, options)
            rows.add(row)
            options.say(f"seed {seed}, {arm}: {row['curve'][-1]}")
    return rows.result


def _corpus(tokenizer: Tokenizer) -> Corpus:
    """Each file a source."""
    return Corpus([tokenise(_documents(file), tokenizer, file.name) for file in corpus_files()])


def _documents(file: Path) -> Iterator[Document]:
    name = file.name.split(".")[0]
    return (replace(document, source=name) for document in read_documents(file))


def _trained(
    corpus: Corpus, tokenizer: Tokenizer, arm: str, seed: int, tokens: int, options: BenchOptions
) -> dict[str, Any]:
    """Trains once. The row has LOOKS looks at the held-out text, evenly spaced, and one before."""
    model = fresh_model(
        replace(TINY if options.quick else CONFIG, vocab_size=tokenizer.vocab_size), seed
    )
    settings = replace(SETTINGS, tokens=tokens, seed=seed, curriculum=ARMS[arm])
    looks, read = (2, 500) if options.quick else (LOOKS, READ)

    def look(tokens: int) -> dict[str, Any]:
        """Held-out bits per byte by source, and their mean."""
        held = corpus.held_out()
        bits = bits_of_tokens(model, tokenizer, held, row=settings.row, limit=read)
        by_source = {name: round(value, 4) for name, value in bits.items() if name != "all"}
        return {"tokens": tokens, "bits": round(fmean(by_source.values()), 4), "sources": by_source}

    curve = [look(0)]
    every = max(1, -(-tokens // settings.step_tokens) // looks)
    seconds, seen = 0.0, 0

    def stop() -> bool:
        """Is asked before every step."""
        nonlocal seen, seconds
        if seen and seen % every == 0:
            started = time.perf_counter()
            curve.append(look(seen * settings.step_tokens))
            seconds += time.perf_counter() - started
            options.say(f"seed {seed}, {arm}: {curve[-1]}")
        seen += 1
        return False

    reports: list[PretrainReport] = []
    started = time.perf_counter()
    progress = pretrain(
        model, TokenStream(corpus, seed=seed), settings, report=reports.append, stop=stop
    )
    seconds = time.perf_counter() - started - seconds
    if curve[-1]["tokens"] != progress.tokens:
        curve.append(look(progress.tokens))
    told = progress.curriculum
    return {
        "arm": arm,
        "seed": seed,
        "curve": curve,
        "shares": {name: one["share"] for name, one in told.get("sources", {}).items()},
        "values": {name: one["value"] for name, one in told.get("sources", {}).items()},
        "weights": [
            {name: one["weight"] for name, one in report.sources.items()} for report in reports
        ],
        "measuring": told.get("measuring_seconds", 0.0) / max(progress.seconds, 1e-9),
        "seconds": round(seconds, 1),
        "skipped": progress.skipped,
    }


def tokens_to(curve: Sequence[Mapping[str, Any]], bits: float) -> float | None:
    """Tokens at which the mean over the sources first falls to `bits`, on the line between two looks; None:
    never."""
    for before, now in zip([curve[0], *curve], curve, strict=False):
        if now["bits"] <= bits:
            fallen = before["bits"] - now["bits"]
            share = (before["bits"] - bits) / fallen if fallen > 0 else 1.0
            return float(before["tokens"] + share * (now["tokens"] - before["tokens"]))
    return None


def parts(result: Mapping[str, Any]) -> Iterator[str]:
    """The report: criterion, table over the seeds, each run by source."""
    yield CRITERION
    yield (
        f"{CONFIG.parameters / 1e6:.1f}M weights, {result['tokens']:,} tokens in steps of "
        f"{SETTINGS.step_tokens:,}; bits per byte on up to {READ:,} held-out tokens of each source, lower is "
        "better. Uniform divides the tokens evenly among the sources, natural as the corpus has them. "
        "Tokens are of uniform's in all, to the bits with which uniform of the same seed ends. ± is one "
        "standard deviation between seeds. Measuring is a share of the time."
        + (" A quick run with a tiny model: not to be quoted." if result["quick"] else "")
    )
    rows = result["rows"]
    ends = {row["seed"]: row["curve"][-1] for row in rows if row["arm"] == "uniform"}
    lines = []
    for arm in dict.fromkeys(row["arm"] for row in rows):
        own = [row for row in rows if row["arm"] == arm]
        last = [row["curve"][-1] for row in own]
        lines.append(
            [
                arm,
                len(own),
                _reached(own, ends),
                _mean([one["bits"] for one in last], 3),
                _mean(_hardest(own, ends), 3),
                _mean([100 * row["measuring"] for row in own], 1),
                _mean([row["seconds"] for row in own], 0),
            ]
        )
    head = ["arm", "seeds", "tokens", "bits, mean", "hardest two, less uniform's"]
    yield table([*head, "measuring, %", "seconds"], lines)
    names = list(result["sources"])
    yield "## Each run: bits per byte at the end, and share of the tokens"
    yield table(
        ["seed", "arm", *names],
        [
            [
                row["seed"],
                row["arm"],
                *(
                    f"{row['curve'][-1]['sources'].get(name, float('nan')):.3f}{_share(row, name)}"
                    for name in names
                ),
            ]
            for row in rows
        ],
    )


def _reached(
    rows: Sequence[Mapping[str, Any]], ends: Mapping[int, Mapping[str, Any]]
) -> str | None:
    """Mean ratio of tokens, and of how many seeds; None without uniform's runs."""
    known = [row for row in rows if row["seed"] in ends]
    ratios = []
    for row in known:
        end = ends[row["seed"]]
        found = tokens_to(row["curve"], end["bits"])
        if found is not None:
            ratios.append(found / end["tokens"])
    if not known:
        return None
    return f"{_mean(ratios, 2) or 'never'} ({len(ratios)} of {len(known)})"


def _hardest(
    rows: Sequence[Mapping[str, Any]], ends: Mapping[int, Mapping[str, Any]]
) -> list[float]:
    """By seed: bits at the end on the sources that were hardest for uniform, less uniform's."""
    found = []
    for row in rows:
        if end := ends.get(row["seed"]):
            hard = sorted(end["sources"], key=end["sources"].__getitem__)[-HARDEST:]
            own = row["curve"][-1]["sources"]
            found.append(fmean(own[name] - end["sources"][name] for name in hard))
    return found


def _mean(values: Sequence[float], digits: int) -> str | None:
    return with_deviation(fmean(values), deviation(values), digits) if values else None


def _share(row: Mapping[str, Any], name: str) -> str:
    return f" ({100 * row['shares'][name]:.0f} %)" if name in row["shares"] else ""
