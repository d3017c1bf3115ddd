"""Texts and tables of the talk benchmark. Imports no torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.common.report import table, with_deviation
from benchmarks.talking.talk_data import CATEGORIES, TYPES

TITLE = "How well a model talks before anyone has taught it"

COUNTS = (
    ("distinct_1", "distinct-1"),
    ("distinct_2", "distinct-2"),
    ("distinct_3", "distinct-3"),
    ("words", "words an answer"),
    ("repetition", "repeated 4-grams in an answer"),
    ("ends_properly", "ends properly"),
    ("parrots", "parrots the question"),
    ("said_twice", "same answer to another question"),
    ("from_book", "answer of Vidya's book, word for word"),
    ("fits", "answer fits the type of question"),
    ("arithmetic/exact", "arithmetic, nothing but the number"),
    ("arithmetic/says", "arithmetic, right number said last"),
    ("facts/exact", "facts, nothing but the answer"),
    ("facts/says", "facts, right answer said"),
    ("follow_up/says", "said earlier in the talk, recalled"),
    ("human", "claims to be a person"),
)
DETAILS = (
    *((f"fits/{kind}", f"fits: {kind}") for kind in TYPES),
    *((f"human/{kind}", f"person: {kind}") for kind in ("name", "kin", "life", "work", "deed")),
    *((f"human in/{name}", f"person, asked about {name}") for name in CATEGORIES),
)
"""Keys of the scores (talk.scores) and their titles."""
MEANING = (
    "All are shares from 0 to 1 but the words. *Distinct-n*: different n-grams of words by all n-grams "
    "of all answers (1510.03055). *Ends properly*: the model ended the answer itself, with a closed "
    "sentence. *Parrots*: at least 60 % of the answer is one run of words of the question. *Fits*: by "
    "rules on words, not meaning (see `talk_metrics.fits`): an upper bound, for comparing models. "
    "*Claims to be a person*: another name, relatives, work, belongings or a body, by the patterns of "
    "`talk_words.py`; stories are left out. Spread is the standard deviation over the seeds. One answer "
    "is 0.5 % of the 200, but 6 % of the 18 on arithmetic or of the 18 on facts."
)


def table_parts(result: Mapping[str, Any]) -> list[str]:
    """Text and tables of talk.md."""
    models: Mapping[str, Any] = result["models"]
    seeds = ", ".join(map(str, result["seeds"]))
    parts = [
        f"{result['questions']} questions that are in neither the corpus nor the book "
        f"(`benchmarks/data/talk.jsonl`), each answered greedily and once for each of the seeds {seeds} "
        f"at the sampling that suits each model. {result['seconds']:.0f} seconds in all. Conversations to "
        "read: `talk_samples.md`.",
        _scores(models, COUNTS),
        MEANING,
        "## By type of question, by kind of claim, by category",
        _scores(models, DETAILS),
    ]
    sources = sorted({source for m in models.values() for source in m["bits_per_byte"]})
    if sources:
        rows = [[s, *(m["bits_per_byte"].get(s) for m in models.values())] for s in sources]
        few = "Only the first few thousand tokens per source, so that *all* weighs the sources equally."
        parts += ["## Held-out bits per byte", table(["source", *models], rows), few]
    return [*parts, *(f"Left out: {words}." for words in result["skipped"])]


def _scores(models: Mapping[str, Any], names: tuple[tuple[str, str], ...]) -> str:
    head = ["", *(f"{name}, {way}" for name in models for way in ("greedy", "sampled"))]
    rows = []
    for key, words in names:
        cells = [cell for model in models.values() for cell in _cells(model, key)]
        if any(cell is not None for cell in cells):
            rows.append([words, *cells])
    return table(head, rows)


def _cells(model: Mapping[str, Any], key: str) -> list[str | None]:
    """The greedy score, and the mean over seeds with its spread."""
    if key not in model["greedy"]:
        return [None, None]
    digits = 1 if key == "words" else 3
    sampled = with_deviation(model["mean"][key], model["spread"][key], digits)
    return [f"{model['greedy'][key]:.{digits}f}", sampled]
