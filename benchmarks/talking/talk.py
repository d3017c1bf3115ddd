"""Measures how well an untaught model talks: counts over its answers to 200 unseen questions.

Each question is answered greedily and once per seed as suits the model. The results also have
conversations drawn by seed and a newcomer's ten openings, unselected. Held-out bits per byte need the corpus:
its files or folder in VIDYA_CORPUS. Left out: the quality of an answer, which only a reader can judge; read
talk_samples.md.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import BenchOptions
from benchmarks.common.corpus import named_corpus
from benchmarks.common.report import deviation, machine, write
from benchmarks.talking.talk_data import CATEGORIES, TYPES, Question, fold, load
from benchmarks.talking.talk_metrics import (
    distinct,
    ends_properly,
    exact,
    fits,
    human_claims,
    parrots,
    repetition,
    said_twice,
    says,
    share_of,
)
from benchmarks.talking.talk_report import TITLE, table_parts
from benchmarks.talking.talk_samples import (
    APP,
    Answer,
    Answerer,
    Turns,
    conversations,
    openings,
    samples_text,
    seed_of,
    write_samples,
)
from benchmarks.talking.talk_words import HUMAN_CLAIMS
from engine.config import GREEDY, Sampling
from engine.storage.generation_file import read_generation
from learning.home import Home
from learning.models.store import SHIPPED, ModelStore
from personality.book import read_book, shipped_book_path

if TYPE_CHECKING:
    from engine.model import Model
    from engine.tokenizers.tokenizer import Tokenizer
    from learning.data.corpus import Document

MODELS = ("10m-base", "10m")
"""Models measured by default."""
SEEDS, CONVERSATIONS = 3, 30
QUICK_QUESTIONS, QUICK_CONVERSATIONS = 30, 3
BITS_TOKENS, QUICK_BITS_TOKENS = 3_000, 500
"""Held-out tokens per source."""


def run(options: BenchOptions) -> dict[str, Any]:
    """Measures everything; writes talk.md, talk.json and talk_samples.md if `out` is set."""
    return measure(options, named_corpus())


def measure(options: BenchOptions, corpus: Sequence[Path]) -> dict[str, Any]:
    """Like `run` with a corpus: files, or folders of .jsonl and .jsonl.zst; empty to leave it out.

    Raises NotFound for a missing model, DataError for a missing corpus.
    """
    from engine.threads import one_core

    began, questions, seeds = time.perf_counter(), chosen_questions(options), chosen_seeds(options)
    documents = held_out(corpus)
    result: dict[str, Any] = {
        "benchmark": "talk",
        "machine": machine(),
        "quick": options.quick,
        "questions": len(questions),
        "seeds": list(seeds),
        "models": {},
        "skipped": [] if documents else ["bits per byte: no corpus; name it in VIDYA_CORPUS"],
    }
    samples: dict[str, dict[str, Any]] = {}
    count = QUICK_CONVERSATIONS if options.quick else CONVERSATIONS
    limit = QUICK_BITS_TOKENS if options.quick else BITS_TOKENS
    for name, folder in model_folders(options):
        with one_core():
            model, tokenizer = _load(folder)
            answerer, drawn = answers_of(model, tokenizer), read_generation(folder).sampling
            found = measure_answers(answerer, questions, seeds, options.say, name, drawn)
            found["sampling"] = drawn.to_dict()
            samples[name] = {
                "conversations": conversations(answerer, questions, count, seeds[0], drawn),
                "openings": openings(answerer, seeds[0], drawn),
            }
            found["bits_per_byte"] = _bits(model, tokenizer, documents, limit)
        result["models"][name] = found
        result["seconds"] = time.perf_counter() - began
        if options.out is not None:  # after each model, so that an interruption loses at most one
            command = options.command("talk", seeded=True, variables=["VIDYA_CORPUS"])
            write(options.out, "talk", TITLE, command, table_parts(result), result)
            write_samples(options.out, samples_text(samples, command, seeds[0]))
    return result


def chosen_seeds(options: BenchOptions) -> tuple[int, ...]:
    """At least three seeds, the given ones first; with --quick only the first."""
    if options.quick:
        return options.seeds[:1]
    more = (seed for seed in range(options.seeds[0], options.seeds[0] + 2 * SEEDS + 1))
    new = [seed for seed in more if seed not in options.seeds]
    return (*options.seeds, *new[: max(0, SEEDS - len(options.seeds))])


def chosen_questions(options: BenchOptions) -> list[Question]:
    """All questions; with --quick evenly spaced ones, so that each category is present."""
    questions = load()
    return questions[:: len(questions) // QUICK_QUESTIONS] if options.quick else questions


def model_folders(options: BenchOptions) -> list[tuple[str, Path]]:
    """(name, folder) of the named model in the owner's home, or of the shipped models."""
    if options.model is None:
        return [(name, SHIPPED / name) for name in MODELS if (SHIPPED / name).is_dir()]
    info = ModelStore(Home(options.home)).info(options.model)
    return [(info.name, info.path)]


# ---------------------------------------------------------------- asking


def _load(folder: Path) -> tuple[Model, Tokenizer]:
    from engine.storage.checkpoint import load_model
    from engine.tokenizers.load import load_tokenizer

    return load_model(folder).eval(), load_tokenizer(folder)


def answers_of(model: Model, tokenizer: Tokenizer) -> Answerer:
    """A function that gets one answer from the model, after the given earlier turns."""
    import torch

    from engine.generate import Finished, generate
    from engine.tokenizers.chat_format import encode_prompt

    def answer(turns: Turns, sampling: Sampling, seed: int) -> Answer:
        ids = encode_prompt(tokenizer, turns, model.config.context, sampling.max_tokens)
        generator = torch.Generator().manual_seed(seed)
        for event in generate(model, tokenizer, ids, 1, sampling, generator=generator):
            if isinstance(event, Finished):
                return Answer(event.text, event.ending)
        return Answer("", "cancelled")

    return answer


def measure_answers(
    answerer: Answerer,
    questions: Sequence[Question],
    seeds: Sequence[int],
    say: Callable[[str], None],
    name: str,
    drawn: Sampling = APP,
) -> dict[str, Any]:
    """{"greedy": scores, "sampled": [scores of each seed], "mean", "spread"}. drawn: as suits the model."""
    greedy = replace(GREEDY, max_tokens=drawn.max_tokens)
    runs = [("greedy", greedy, 0), *((f"seed {seed}", drawn, seed) for seed in seeds)]
    scored = []
    for what, sampling, seed in runs:
        answers = [answerer(q.turns, sampling, seed_of(seed, q.id)) for q in questions]
        scored.append(scores(questions, answers))
        say(f"{name}, {what}: fits {scored[-1]['fits']:.2f}, human {scored[-1]['human']:.2f}")
    sampled = scored[1:]
    return {
        "greedy": scored[0],
        "sampled": sampled,
        "mean": {key: statistics.fmean(s[key] for s in sampled) for key in scored[0]},
        "spread": {key: deviation([s[key] for s in sampled]) for key in scored[0]},
    }


def scores(questions: Sequence[Question], answers: Sequence[Answer]) -> dict[str, float]:
    """All scores of one run with one answer per question. Shares are 0 to 1; shares without any question
    are left out."""
    pairs = list(zip(questions, answers, strict=True))
    book = _book_answers()
    texts = [answer.text for answer in answers]
    found: dict[str, float | None] = {
        **{f"distinct_{n}": distinct(texts, n) for n in (1, 2, 3)},
        "words": statistics.fmean(len(fold(text)) for text in texts),
        "repetition": statistics.fmean(repetition(text) for text in texts),
        "ends_properly": share_of(ends_properly(a.text, a.ending) for a in answers),
        "parrots": share_of(parrots(a.text, q.asked) for q, a in pairs),
        "said_twice": said_twice(texts),
        "from_book": share_of(fold(text) in book for text in texts),
        "fits": share_of(_fits(pairs)),
    }
    for kind in TYPES:
        if kind != "statement":
            found[f"fits/{kind}"] = share_of(_fits((q, a) for q, a in pairs if q.type == kind))
    for category in ("arithmetic", "facts", "follow_up"):
        asked = [(q, a) for q, a in pairs if q.category == category and q.truth]
        found[f"{category}/exact"] = share_of(exact(a.text, q.truth) for q, a in asked)
        found[f"{category}/says"] = share_of(says(a.text, q.truth) for q, a in asked)
    claims = [(q.category, human_claims(a.text)) for q, a in pairs if q.category != "story"]
    found["human"] = share_of(bool(kinds) for _, kinds in claims)
    for kind in sorted({kind for kind, _ in HUMAN_CLAIMS}):
        found[f"human/{kind}"] = share_of(kind in kinds for _, kinds in claims)
    for category in CATEGORIES:
        found[f"human in/{category}"] = share_of(bool(k) for c, k in claims if c == category)
    return {key: value for key, value in found.items() if value is not None}


def _fits(pairs: Iterable[tuple[Question, Answer]]) -> list[bool]:
    judged = (fits(answer.text, question) for question, answer in pairs)
    return [good for good in judged if good is not None]


def _book_answers() -> set[tuple[str, ...]]:
    entries = read_book(shipped_book_path())
    return {fold(text) for e in entries for role, text in e.turns if role == "assistant"}


# ---------------------------------------------------------------- the corpus


def held_out(corpus: Sequence[Path]) -> list[Document]:
    """The held-out documents of the corpus. Raises DataError."""
    from learning.data.corpus import read_documents

    files = [
        file
        for path in corpus
        for file in (
            sorted([*path.glob("*.jsonl"), *path.glob("*.jsonl.zst")]) if path.is_dir() else [path]
        )
    ]
    return [d for file in files for d in read_documents(file) if d.held_out]


def _bits(
    model: Model, tokenizer: Tokenizer, documents: Sequence[Document], limit: int
) -> dict[str, float]:
    from learning.pretraining.loop import bits_per_byte

    return bits_per_byte(model, tokenizer, documents, limit=limit) if documents else {}
