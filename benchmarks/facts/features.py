"""Measures what the base's own features could carry, and by what the app finds lessons.

For each question in other words: is the taught question the nearest of all known ones, by the model's hidden
states (benchmarks.facts.hidden_states)? Nothing is taught. Arms: layers, the mean over the question's tokens
or the last state of the prompt, whitened or only centred. Teaching reaches about as much as the best arm.
Beside them a bag of words, and the sentence encoder that comes with vidya: with the question alone, and as
the app uses it (learning.memory.lesson_vectors). VIDYA_ENCODER names the folder of another encoder. Models
measured earlier stay in the table of --out.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from benchmarks import BenchOptions
from benchmarks.baselines.bag_of_words import share_found
from benchmarks.common.report import commands_of, damaged, earlier, machine, table, write
from benchmarks.common.scratch import scratch_home
from benchmarks.facts.hidden_states import (
    POOLINGS,
    QuestionSpace,
    Whitening,
    centring,
    layer_features,
    whitening,
)
from benchmarks.facts.people_data import read_people
from benchmarks.lessons.collapse_data import read_lessons
from engine.encoder import SHIPPED_ENCODER, SentenceEncoder, load_encoder
from engine.storage.checkpoint import load_model
from engine.tokenizers.load import load_tokenizer
from learning.memory.lesson_vectors import KnownAnswer, lesson_vectors
from learning.models.store import ModelStore
from learning.text.normalise import fold
from personality.book import read_book, shipped_book_path

TITLE = "What the base's own features could carry"
LAYERS = 8
"""Layers that are measured beside the embedding, evenly spread, the last among them."""
QUICK_LAYERS, QUICK_ROWS = 1, 10
COUNTS = (1, 5)
"""Among how many nearest questions the right one is looked for."""
KINDS = ("rewordings", "paraphrases")


@dataclass(frozen=True)
class Taught:
    """A lesson and how else its question is asked."""

    known: KnownAnswer
    rewordings: Sequence[str]
    paraphrases: Sequence[str]


@dataclass(frozen=True)
class Wordings:
    """Known questions and others in other words."""

    lessons: list[KnownAnswer]
    """The taught ones, then the book's others."""
    wordings: dict[str, list[tuple[int, str]]]
    """Kind -> (index of the right known question, the question in other words)."""

    @property
    def known(self) -> list[str]:
        """The questions of the lessons."""
        return [lesson.question for lesson in self.lessons]

    @classmethod
    def of(cls, taught: Sequence[Taught]) -> Wordings:
        own = [row.known for row in taught]
        folded = {fold(known.question) for known in own}
        book = [KnownAnswer(e.question, e.answer) for e in read_book(shipped_book_path())]
        return cls(
            [*own, *(known for known in book if fold(known.question) not in folded)],
            {
                "rewordings": [
                    (at, text) for at, row in enumerate(taught) for text in row.rewordings
                ],
                "paraphrases": [
                    (at, text) for at, row in enumerate(taught) for text in row.paraphrases
                ],
            },
        )


def data_sets(quick: bool = False) -> dict[str, Wordings]:
    """By the name of the file."""
    lessons = [
        Taught(KnownAnswer(row.prompt, row.answer), row.rewordings, (row.paraphrase,))
        for row in read_lessons()
    ]
    people = [
        Taught(KnownAnswer(fact.prompt, fact.answer), fact.rewordings, fact.paraphrases)
        for fact in read_people("tune")
    ]
    rows = slice(QUICK_ROWS if quick else None)
    return {
        "lessons100": Wordings.of(lessons[rows]),
        "people, half tune": Wordings.of(people[rows]),
    }


def run(options: BenchOptions) -> dict[str, Any]:
    """See `vidya bench`. Raises NotFound for a model, DataError if the file in --out is damaged or of another
    kind of run."""
    started, found = time.perf_counter(), machine()
    about = {"benchmark": "features", "quick": options.quick}
    models: dict[str, Any] = earlier(options.out, "features", about).get("models", {})
    whole = isinstance(models, dict) and all(isinstance(one, dict) for one in models.values())
    if options.out and not whole:
        raise damaged(options.out / "features.json")
    sets = data_sets(options.quick)
    encoder = load_encoder(Path(os.environ.get("VIDYA_ENCODER") or SHIPPED_ENCODER))
    with scratch_home(options) as (home, name):
        folder = ModelStore(home).resolve(name)
        model, tokenizer = load_model(folder), load_tokenizer(folder)
        layers = chosen_layers(len(model.blocks), QUICK_LAYERS if options.quick else LAYERS)
        measured: dict[str, Any] = {}
        for title, asked in sets.items():
            texts = [*asked.known, *(text for of in asked.wordings.values() for _, text in of)]
            features = layer_features(model, tokenizer, texts, layers)
            measured[title] = arms(asked, features)
            options.say(f"{name}, {title}: best {best(measured[title])}")
    models[name] = {
        "blocks": len(model.blocks),
        "dim": model.config.dim,
        "command": options.command("features", variables=["VIDYA_ENCODER"]),
        "arms": measured,
    }
    result = {
        "benchmark": "features",
        "machine": found,
        "quick": options.quick,
        "known": {title: len(asked.known) for title, asked in sets.items()},
        "asked": {
            title: {kind: len(of) for kind, of in asked.wordings.items()}
            for title, asked in sets.items()
        },
        "words": {title: by_words(asked) for title, asked in sets.items()},
        "encoder": {title: by_encoder(encoder, asked) for title, asked in sets.items()},
        "models": models,
        "seconds": time.perf_counter() - started,
    }
    if options.out is not None:
        ran = commands_of(models.values())
        write(options.out, "features", TITLE, ran, parts(result), result)
    return result


def chosen_layers(blocks: int, count: int) -> list[int]:
    """The embedding (0) and `count` layers, evenly spread, the last among them."""
    count = min(count, blocks)
    return [0, *(round(blocks * number / count) for number in range(1, count + 1))]


def arms(asked: Wordings, features: dict[tuple[str, int], Tensor]) -> list[dict[str, Any]]:
    """{"layer", "pooling", "whitened", kind: {count: share}} of each arm. features: rows of `known`, then
    of the wordings, kind by kind."""
    result = []
    for (pooling, layer), vectors in features.items():
        known, rest = vectors[: len(asked.known)], vectors[len(asked.known) :]
        for whitened in (True, False):
            space = QuestionSpace.of(known, whitening(known) if whitened else centring(known))
            arm: dict[str, Any] = {"layer": layer, "pooling": pooling, "whitened": whitened}
            begin = 0
            for kind, of in asked.wordings.items():
                own, begin = rest[begin : begin + len(of)], begin + len(of)
                arm[kind] = found_among(space, own, [place for place, _ in of])
            result.append(arm)
    return result


def found_among(space: QuestionSpace, asked: Tensor, right: Sequence[int]) -> dict[str, float]:
    """{count: share, 0 to 1, of the asked whose right question is among so many nearest}."""
    places = torch.tensor(space.nearest(asked, max(COUNTS)).places)
    hit = places == torch.tensor(right)[:, None]
    return {str(count): float(hit[:, :count].any(1).float().mean()) for count in COUNTS}


def by_words(asked: Wordings) -> dict[str, dict[str, float]]:
    """The same by a bag of words."""
    return {
        kind: {str(count): share_found(asked.known, [], of, count) for count in COUNTS}
        for kind, of in asked.wordings.items()
    }


def by_encoder(encoder: SentenceEncoder, asked: Wordings) -> dict[str, dict[str, dict[str, float]]]:
    """The same by a sentence encoder: {how the known ones are placed: {kind: {count: share}}}."""
    placed = {
        "the question alone": encoder.encode(asked.known),
        "question and answer": lesson_vectors(encoder, asked.lessons),
    }
    as_they_are = Whitening(torch.zeros(encoder.size), torch.eye(encoder.size))
    found = dict[str, dict[str, dict[str, float]]]()
    for how, known in placed.items():
        space = QuestionSpace.of(known, as_they_are)
        for kind, of in asked.wordings.items():
            vectors = encoder.encode([text for _, text in of])
            shares = found_among(space, vectors, [place for place, _ in of])
            found.setdefault(how, {})[kind] = shares
    return found


def best(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The arm that finds most, rewordings and paraphrases counted alike."""
    return max(rows, key=lambda row: sum(float(row[kind]["1"]) for kind in KINDS))


def parts(result: dict[str, Any]) -> list[str]:
    """Text and tables of features.md."""
    found = [
        "Is the right taught question the nearest of all known ones? Asked: the rewordings and paraphrases "
        "of `data/lessons100.jsonl` and of the tuning half of `data/people.jsonl`; known: its questions and "
        "those of the book. Nothing is taught, no weights change. Cosine of hidden states, in percent: the "
        "right question is the nearest / among the nearest five. Whitening is fitted to the known questions "
        "alone; not whitened means centred. Layer 0 is the embedding. The best arm of each kind is chosen "
        "after the fact among those measured, which flatters it by a point or two. The sentence encoder is "
        "one for all models; nothing about it was chosen on `lessons100`.",
    ]
    if result["quick"]:
        found.append("**--quick: only to see that it works; not to be quoted.**")
    for title, known in result["known"].items():
        asked = result["asked"][title]
        numbers = ", ".join(f"{count} {kind}" for kind, count in asked.items())
        found += [f"## {title}", f"{known} known questions, {numbers}."]
        lines: list[list[object]] = [["bag of words", *_shares(result["words"][title])]]
        lines += [
            [f"sentence encoder, {how}", *_shares(shares)]
            for how, shares in result["encoder"][title].items()
        ]
        for name, model in result["models"].items():
            if title in model["arms"]:
                lines += _lines(name, model["arms"][title])
        found.append(table(("vectors", *KINDS), lines))
    for name, model in result["models"].items():
        found.append(f"## Every layer of {name} ({model['blocks']} blocks of {model['dim']})")
        for title, rows in model["arms"].items():
            found += [f"{title}, rewordings and paraphrases, nearest only:", _layers(rows)]
    return found


def _lines(name: str, rows: Sequence[dict[str, Any]]) -> list[list[object]]:
    """The best arm of each pooling, whitened or not."""
    lines: list[list[object]] = []
    for pooling in POOLINGS:
        for whitened in (True, False):
            of = [r for r in rows if r["pooling"] == pooling and r["whitened"] == whitened]
            one = best(of)
            how = "whitened" if whitened else "centred"
            lines.append([f"{name}, {pooling}, {how}, layer {one['layer']}", *_shares(one)])
    return lines


def _shares(row: dict[str, Any]) -> list[str]:
    return [" / ".join(f"{100 * row[kind][str(c)]:.1f}" for c in COUNTS) for kind in KINDS]


def _layers(rows: Sequence[dict[str, Any]]) -> str:
    """Layers against poolings, whitened or not."""
    columns = [(pooling, whitened) for pooling in POOLINGS for whitened in (True, False)]
    cells = {(r["layer"], r["pooling"], r["whitened"]): r for r in rows}
    lines = []
    for layer in dict.fromkeys(row["layer"] for row in rows):
        line: list[object] = [str(layer)]
        for pooling, whitened in columns:
            row = cells[layer, pooling, whitened]
            line.append(" and ".join(f"{100 * row[kind]['1']:.1f}" for kind in KINDS))
        lines.append(line)
    heads = [f"{pooling}, {'whitened' if white else 'centred'}" for pooling, white in columns]
    return table(("layer", *heads), lines)
