"""Measures calibration: claimed certainty against the share of right answers.

Asks taught questions in their own and in other words, book questions, sums, and questions for which
nothing was taught, each before and after the lessons; a taught question also right after its lesson, before
any pause. All cards count. "I do not know" is right if no other card is. The exponent of
learning.teacher.certainty is fitted on lessons_tune*.jsonl and tested on lessons20 and lessons100. Left out:
open talk, which is neither right nor wrong.
"""

from __future__ import annotations

import json
import math
import random
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import torch

from benchmarks import DATA, BenchOptions
from benchmarks.common.report import machine, table, write
from benchmarks.lessons.collapse_data import Row, read_lessons
from benchmarks.lessons.collapse_pupils import open_learner
from engine.generate import Restart, generate
from engine.model import Model
from engine.selection import Finished
from engine.storage.generation_file import Generation, read_generation
from engine.tokenizers.chat_format import encode_prompt
from engine.tokenizers.load import load_tokenizer
from engine.tokenizers.tokenizer import Tokenizer
from learning.home import Home
from learning.models.store import SHIPPED, ModelStore
from learning.protocol.records import Lesson, Turn
from learning.teacher.answer_check import AnswerCheck
from learning.teacher.certainty import EXPONENT, SURE, calibration_error
from learning.teacher.known import NOT_KNOWN_FOLD, Known
from learning.text.normalise import fold
from personality.book import BookEntry, read_book, shipped_book_path

CARDS = 5
BOOK = 15
"""Number of book questions."""
SUMS = 16
PERSONAL = (
    "What is my name?",
    "What is my dog called?",
    "When is my birthday?",
    "Where do I live?",
    "What is my sister's name?",
    "What do I do for a living?",
    "What is my favourite food?",
    "Where did I put my keys?",
    "How old am I?",
    "What is my phone number?",
    "What car do I drive?",
    "Who is my best friend?",
)
"""Questions for a model that was taught nothing."""
TITLE = "Claimed certainty and share of right answers"


@dataclass(frozen=True)
class Question:
    kind: str
    text: str
    answer: str | None
    """The right answer; None if nothing was taught."""


@dataclass(frozen=True)
class Shown:
    """One card."""

    kind: str
    question: str
    text: str
    certainty: float
    mean: float
    """Geometric mean of its tokens' sampling probabilities: the certainty shown by earlier versions."""
    log_probability: float
    """Log-probability of the whole answer under the model, in nats."""
    right: bool


def run(options: BenchOptions) -> dict[str, Any]:
    """See `vidya bench`."""
    folder = SHIPPED / "10m"
    if options.model:
        folder = ModelStore(Home(options.home)).info(options.model).path
    few = 2 if options.quick else None
    tuning, tuning_rest = _tuning(few)
    judged, rest = _judged(few)
    generation = read_generation(folder)
    used = EXPONENT if generation.certainty_exponent is None else generation.certainty_exponent
    fitted = fit_exponent(collect(folder, tuning, tuning_rest, 1, options))
    options.say(f"exponent fitted on the tuning lessons: {fitted:.2f}, used: {used}")
    cards = [
        card
        for seed in options.seeds
        for card in collect(folder, judged, rest, 100 + seed, options)
    ]
    surest = _surest(cards)
    result: dict[str, Any] = {
        "benchmark": "calibration",
        "machine": machine(),
        "exponent": {"fitted": fitted, "used": used},
        "lessons": len(judged),
        "cards": len(cards),
        "error": {
            "all cards": calibration_error([(c.certainty, c.right) for c in cards]),
            "surest card": calibration_error([(c.certainty, c.right) for c in surest]),
            "all cards, as shown before": calibration_error([(c.mean, c.right) for c in cards]),
        },
        "bins": _bins(cards),
        "kinds": [_kind(kind, cards) for kind in sorted({c.kind for c in cards})],
        "personal": {str(checked): personal(folder, checked) for checked in (False, True)},
    }
    if options.out is not None:
        command = options.command("calibration", seeded=True)
        write(options.out, "calibration", TITLE, command, parts(result), result)
    return result


# ---------------------------------------------------------------- what is asked


def _tuning(few: int | None) -> tuple[list[Row], list[Row]]:
    rows = [r for f in ("lessons_tune", "lessons_tune2") for r in read_lessons(DATA / f"{f}.jsonl")]
    plain = [row for row in rows if not row.contradicts]
    return plain[:60:6][:few], plain[60::4][:few]


def _judged(few: int | None) -> tuple[list[Row], list[Row]]:
    """(lessons to teach, lessons whose questions are asked without teaching them)."""
    lines = (DATA / "lessons20.jsonl").read_text("utf-8").splitlines()
    first = [Row(r["prompt"], r["answer"], r["paraphrase"], False) for r in map(json.loads, lines)]
    plain = [row for row in read_lessons(DATA / "lessons100.jsonl") if not row.contradicts]
    return [*first[:10], *plain[:8]][:few], plain[8::6][:few]


def _questions(
    taught: Sequence[Row], rest: Sequence[Row], before: bool, seed: int
) -> list[Question]:
    rng = random.Random(seed)
    asked = list[Question]()
    for row in taught:
        answer = None if before else row.answer
        asked.append(Question("taught later" if before else "taught", row.prompt, answer))
        again = [row.paraphrase, *row.rewordings[:1]]
        asked += [
            Question("taught later" if before else "in other words", w, answer) for w in again
        ]
    asked += [Question("never taught", row.prompt, None) for row in rest]
    few = len(taught) < 5
    entries = [e for e in read_book(shipped_book_path()) if len(e.turns) == 2]
    book = rng.sample(entries, 3 if few else BOOK)
    asked += [Question("book", e.question, e.answer) for e in book]
    for number in range(3 if few else SUMS):
        most = 9 if number % 2 else 40
        a, b = rng.randint(1, most), rng.randint(1, most)
        form = ("What is {} + {}?", "{} + {}", "How much is {} plus {}?", "what is {} and {}")
        asked.append(Question("sum", form[number // 2 % 4].format(a, b), str(a + b)))
    return asked


def _is_right(question: Question, text: str) -> bool:
    """True if a card that claims to know is right."""
    if question.answer is None:
        return False
    if question.kind == "sum":
        numbers = re.findall(r"\d+", text)
        return bool(numbers) and numbers[-1] == question.answer
    return fold(text) == fold(question.answer)


# ---------------------------------------------------------------- what is shown


def collect(
    folder: Path, taught: Sequence[Row], rest: Sequence[Row], seed: int, options: BenchOptions
) -> list[Shown]:
    """The cards for all questions, before and after the lessons."""
    book, tokenizer = read_book(shipped_book_path()), load_tokenizer(folder)
    own = read_generation(folder)
    with open_learner(folder, seed, pauses=True) as pupil:
        asked = _questions(taught, rest, True, seed)
        cards = _ask(pupil.model, tokenizer, book, (), asked, seed, own)
        lessons = [row.lesson() for row in taught]
        for number, (row, lesson) in enumerate(zip(taught, lessons, strict=True)):
            pupil.learn(lesson)
            just = [Question("just taught", row.prompt, row.answer)]
            known = lessons[: number + 1]
            cards += _ask(pupil.model, tokenizer, book, known, just, seed + 100 + number, own)
            pupil.rest(1.0)
            options.say(f"lesson {number + 1} of {len(lessons)}")
        asked = _questions(taught, rest, False, seed)
        return cards + _ask(pupil.model, tokenizer, book, lessons, asked, seed + 50, own)


def _ask(
    model: Model,
    tokenizer: Tokenizer,
    book: Sequence[BookEntry],
    lessons: Sequence[Lesson],
    questions: Sequence[Question],
    seed: int,
    own: Generation,
) -> list[Shown]:
    known, cards = Known.of(book, lessons), list[Shown]()
    for number, question in enumerate(questions):
        made, _ = answers(model, tokenizer, question.text, known, 1000 * seed + number, own)
        claims = [_is_right(question, text) for _, text, _ in made]
        for (answer, text, sure), right in zip(made, claims, strict=True):
            if fold(text) == NOT_KNOWN_FOLD and not right:
                right = not any(claims)
            cards.append(
                Shown(
                    question.kind,
                    question.text,
                    text,
                    sure or 0.0,
                    math.exp(fmean(answer.logprobs)),
                    sum(answer.own_logprobs),
                    right,
                )
            )
    return cards


def answers(
    model: Model,
    tokenizer: Tokenizer,
    question: str,
    known: Known | None,
    seed: int,
    own: Generation,
) -> tuple[list[tuple[Finished, str, float | None]], int]:
    """([(answer, text, certainty as shown)], number of retries). known: None skips the answer check. own:
    how the model draws its answers."""
    ids = encode_prompt(tokenizer, [("user", question)], model.config.context, 64)
    turns = (Turn("user", question),)
    exponent = EXPONENT if own.certainty_exponent is None else own.certainty_exponent
    check = AnswerCheck(turns, known or Known.of((), ()), several=True, exponent=exponent)
    made, anew = list[tuple[Finished, str, float | None]](), 0
    for event in generate(
        model,
        tokenizer,
        ids,
        CARDS,
        own.sampling,
        generator=torch.Generator().manual_seed(seed),
        standards=check.standards(tokenizer, 64) if known else None,
    ):
        anew += isinstance(event, Restart)
        if isinstance(event, Finished):
            made.append((event, *check.shown(event, CARDS)))
    return made, anew


def personal(folder: Path, checked: bool) -> dict[str, Any]:
    """Asks the shipped weights about the owner. Nothing was taught, so every claim to know is wrong.

    checked: use the answer check and the present certainty; else as before both existed."""
    from engine.storage.checkpoint import load_model

    model, tokenizer = load_model(folder), load_tokenizer(folder)
    known = Known.of(read_book(shipped_book_path()), ()) if checked else None
    admitted = claims = sure = surest = anew = count = 0
    started = time.perf_counter()
    for number, question in enumerate(PERSONAL):
        made, again = answers(model, tokenizer, question, known, number, read_generation(folder))
        anew += again
        best = (-1.0, "")
        for answer, text, value in made:
            shown = (value or 0.0) if checked else math.exp(fmean(answer.logprobs))
            best = max(best, (shown, text))
            if fold(text) == NOT_KNOWN_FOLD:
                admitted += 1
                continue
            claims += 1
            sure += shown >= SURE
        surest += fold(best[1]) == NOT_KNOWN_FOLD
        count += len(made)
    return {
        "questions": len(PERSONAL),
        "cards": count,
        "cards that say they do not know": admitted,
        "questions whose surest card says so": surest,
        "cards that claim to know": claims,
        "of them shown as 50 % sure or more": sure,
        "sampled again": anew,
        "seconds per ask": (time.perf_counter() - started) / len(PERSONAL),
    }


# ---------------------------------------------------------------- figures


def fit_exponent(cards: Sequence[Shown]) -> float:
    """The exponent with the smallest log loss, in steps of 0.05. Ignores NOT_KNOWN cards, whose certainty
    depends on the other cards."""
    used = [card for card in cards if fold(card.text) != NOT_KNOWN_FOLD]

    def loss(exponent: float) -> float:
        total = 0.0
        for card in used:
            claim = exponent * min(card.log_probability, -1e-3)
            total -= claim if card.right else math.log(-math.expm1(claim))
        return total

    return min((step / 20 for step in range(4, 41)), key=loss)


def _asks(cards: Sequence[Shown]) -> list[Sequence[Shown]]:
    """The cards of each ask: CARDS consecutive ones."""
    return [cards[at : at + CARDS] for at in range(0, len(cards), CARDS)]


def _surest(cards: Sequence[Shown]) -> list[Shown]:
    """The card with the highest certainty of each ask."""
    return [max(ask, key=lambda card: card.certainty) for ask in _asks(cards)]


def _bins(cards: Sequence[Shown]) -> list[dict[str, Any]]:
    found = []
    for low in range(10):
        chosen = [c for c in cards if min(int(c.certainty * 10), 9) == low]
        if chosen:
            found.append(
                {
                    "from": low / 10,
                    "cards": len(chosen),
                    "claimed": fmean(c.certainty for c in chosen),
                    "right": fmean(c.right for c in chosen),
                }
            )
    return found


def _kind(kind: str, cards: Sequence[Shown]) -> dict[str, Any]:
    every = [c for c in cards if c.kind == kind]
    first = _surest(every)
    return {
        "kind": kind,
        "asks": len(first),
        "claimed": fmean(c.certainty for c in first),
        "right": fmean(c.right for c in first),
        "among": fmean(any(c.right for c in ask) for ask in _asks(every)),
        "error": calibration_error([(c.certainty, c.right) for c in every]),
        "does not know": fmean(fold(c.text) == NOT_KNOWN_FOLD for c in first),
    }


def parts(result: dict[str, Any]) -> list[str]:
    """Text and tables of calibration.md."""
    exponent, personal = result["exponent"], result["personal"]
    keys = list(personal["True"])
    columns = ("kind", "asks", "claimed", "right", "among", "error", "does not know")
    return [
        f"{result['lessons']} lessons of lessons20 and lessons100, {result['cards']} cards, asked before "
        "and after them. Certainty is the probability of the whole answer to the power of "
        f"{exponent['used']} (fitted on lessons_tune*: {exponent['fitted']:.2f}).",
        table(
            ("expected calibration error, ten bins", ""),
            [(name, value) for name, value in result["error"].items()],
        ),
        table(
            ("certainty from", "cards", "claimed", "right"),
            [(b["from"], b["cards"], b["claimed"], b["right"]) for b in result["bins"]],
        ),
        "The surest card of each ask, by kind of question; the error is over all cards of the kind:",
        table(
            (
                "asked",
                "asks",
                "claimed",
                "right",
                "one of five is",
                "error",
                "says it does not know",
            ),
            [tuple(k[name] for name in columns) for k in result["kinds"]],
        ),
        "Twelve questions about the owner, about whom nothing was taught (shipped weights):",
        table(
            ("", "before", "now"),
            [(key, personal["False"][key], personal["True"][key]) for key in keys],
        ),
        "\n".join(f"- {question}" for question in PERSONAL),
    ]
