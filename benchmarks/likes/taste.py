"""`vidya bench taste`: how well the reward model learns hidden preferences from noisy picks.

The model answers everyday messages, once for all seeds; an owner with a hidden preference picks, with noise;
the reward model is trained by the product's own code (learning.rewards.reward_training) on the first 200 and
1,000 picks, and rates answers to messages that nobody picked among. Rows are kept in taste.json and not
measured again.
Left out: practice against the reward model (benchmarks.likes.taste_practice).
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from benchmarks import BenchOptions
from benchmarks.common.report import deviation, table, with_deviation
from benchmarks.common.rows import FINGERPRINT, ReportRows, about_run_of_stem
from benchmarks.common.scratch import scratch_home
from benchmarks.common.weights import fingerprint_of
from benchmarks.likes.taste_baselines import bag_of_words, length_alone
from benchmarks.likes.taste_data import (
    HIDDEN,
    OPTIONS,
    Hidden,
    ceiling,
    correlation,
    distinct,
    divided,
    gold_pairs,
    messages,
)
from engine.errors import DataError
from engine.model import Model
from engine.rollout import message_answers
from engine.storage.checkpoint import load_model
from engine.storage.disk import unwritable
from engine.storage.files import write_atomically
from engine.tokenizers.load import load_tokenizer
from engine.tokenizers.tokenizer import Tokenizer
from learning.rewards.reward_data import Choice
from learning.rewards.reward_keeper import GROWTH, MORE
from learning.rewards.reward_training import RewardTraining, measured

TITLE = "Taste: hidden preferences learned from noisy picks"
PICKS = (200, 1000)
HELD_OUT = 200
DRAWN = 7
"""Answers drawn to each message; different ones are kept."""
TEMPERATURE, TOKENS = 0.9, 40
NAME, DRAWN_ANSWERS = "taste", "taste_answers"
REGISTERED = """Registered before the run. The settings are those of the specification (AdamW 3e-4, 16 choices
a step, one epoch, three heads); nothing was tuned on these messages. Hidden preferences: G1 asks back and has
at most eight words, G2 has words of the message's topic, G3 is G2 less a tenth for every word beyond 12 while
picks favour long answers. Picks are drawn by Luce's rule with temperature 0.3. The reward model has the first
200 or 1,000 picks, of which it holds out a fifth itself; it is measured on the answers to 200 other messages.
Three seeds (messages, picks, training). Arms: the reward model, a bag of words of the answer and its length
alone, all trained on the same picks. Criteria: gold pairs ordered rightly, G1 >= 0.80 after 200 and >= 0.88
after 1,000 picks, G2 >= 0.70 after 1,000; training on 1,000 picks <= 60 s; a pick's share of a pause <= 1 s;
at least 1,000 answers rated a minute. G3 has no bound: it shows how far a spurious reason for picks misleads.
A miss is told as one."""


def run(options: BenchOptions) -> dict[str, Any]:
    """See `vidya bench`."""
    command = options.command(NAME, seeded=True)
    about = about_run_of_stem(options, NAME)
    rows = ReportRows(options.out, options.stem(NAME), about, command, TITLE, parts)
    if all(_found(rows, h, n, seed) for h in HIDDEN for n in PICKS for seed in options.seeds):
        return rows.result
    with scratch_home(options) as (home, name):
        folder = home.models_path / name
        model, tokenizer = load_model(folder), load_tokenizer(folder)
        answers = drawn_answers(model, tokenizer, options)
        for seed in options.seeds:
            for row in _measured(model, tokenizer, answers, seed, rows, options):
                rows.add(row)
    return rows.result


def drawn_answers(
    model: Model, tokenizer: Tokenizer, options: BenchOptions
) -> dict[str, list[str]]:
    """The answers, drawn once and kept in a file beside the rows. If that file is damaged or has the answers
    of other weights, they are drawn anew. Raises DataError if the file cannot be written."""
    if options.out is None or options.quick:
        return drawn(model, tokenizer, options)
    file, own = options.out / f"{options.stem(DRAWN_ANSWERS)}.json", fingerprint_of(options)
    found = _kept_answers(file, own)
    if found is None:
        found = drawn(model, tokenizer, options)
        text = json.dumps({FINGERPRINT: own, "answers": found}, ensure_ascii=False, indent=0)
        try:
            options.out.mkdir(parents=True, exist_ok=True)
            write_atomically(file, text)
        except OSError as error:
            raise DataError(*unwritable(file, error, "name another folder: --out")) from error
    return found


def _kept_answers(file: Path, own: str) -> dict[str, list[str]] | None:
    """The answers in a file; None if it has none of the weights with the hash `own`."""
    try:
        kept = json.loads(file.read_text("utf-8"))
        return dict(kept["answers"]) if kept[FINGERPRINT] == own else None
    except (OSError, ValueError, TypeError, KeyError):
        return None


def drawn(model: Model, tokenizer: Tokenizer, options: BenchOptions) -> dict[str, list[str]]:
    """Different answers to every message."""
    asked = messages(False)
    asked = asked[::20] if options.quick else asked
    generator = torch.Generator().manual_seed(0)
    started = time.monotonic()
    found = message_answers(
        model,
        tokenizer,
        asked,
        DRAWN,
        max_tokens=TOKENS,
        temperature=TEMPERATURE,
        generator=generator,
    )
    options.say(f"answers drawn in {time.monotonic() - started:.0f} s")
    return {
        one: distinct([text for text, answer in mine if answer.ending == "end"])
        for one, mine in zip(asked, found, strict=True)
    }


def _measured(
    model: Model,
    tokenizer: Tokenizer,
    answers: dict[str, list[str]],
    seed: int,
    rows: ReportRows,
    options: BenchOptions,
) -> Iterator[dict[str, Any]]:
    for hidden in HIDDEN:
        data = divided(answers, hidden, 10 if options.quick else HELD_OUT, seed)
        for picks in PICKS:
            if _found(rows, hidden, picks, seed):
                continue
            found = data.first(40 if options.quick else picks)
            spent = time.process_time()
            training = RewardTraining(model, tokenizer, found, seed=seed)
            while training.step():
                pass
            report = training.report(0)
            spent = time.process_time() - spent
            started = time.monotonic()
            rewards = training.rewards(data.test)
            took = time.monotonic() - started
            scores = [one.tolist() for one in rewards]
            pairs, count = gold_pairs(data.test, scores, hidden)
            own = measured(rewards, [choice.chosen for choice in data.test])
            row = {
                "hidden": hidden.name,
                "picks": picks,
                "seed": seed,
                "choices": len(found.choices),
                "gold_pairs": pairs,
                "gold_pairs_counted": count,
                "bag_of_words": _by(bag_of_words(found.choices, data.test), data.test, hidden),
                "length": _by(length_alone(found.choices, data.test), data.test, hidden),
                "picks_right": own.picks_right,
                "ceiling": ceiling(data.test, hidden),
                "chance": 1.0 / OPTIONS,
                "calibration_error": own.calibration_error,
                "said_of_itself": report.picks_right,
                "used": not report.why_not,
                "no_more_than_length": report.no_more_than_length,
                "length_correlation": correlation(data.train, hidden),
                "seconds": report.seconds,
                "processor_seconds": spent,
                "share_of_a_pause": report.seconds / max(MORE, GROWTH * len(found.choices)),
                "rated_a_minute": 60.0 * sum(map(len, scores)) / max(1e-9, took),
            }
            options.say(json.dumps(row))
            yield row


def _by(scores: list[list[float]], test: Sequence[Choice], hidden: Hidden) -> float:
    return gold_pairs(test, scores, hidden)[0]


def _found(rows: ReportRows, hidden: Hidden, picks: int, seed: int) -> bool:
    return rows.has(hidden=hidden.name, picks=picks, seed=seed)


def parts(result: dict[str, Any]) -> list[str]:
    """The tables of the result."""
    rows = result["rows"]
    head = (
        *("preference", "picks", "seeds", "gold pairs", "bag of words", "length"),
        *("picks foretold", "ceiling", "calibration error", "used"),
    )
    quality, cost = list[Sequence[object]](), list[Sequence[object]]()
    for hidden in HIDDEN:
        for picks in PICKS:
            some = [r for r in rows if r["hidden"] == hidden.name and r["picks"] == picks]
            if not some:
                continue
            quality.append(
                (
                    hidden.name,
                    picks,
                    len(some),
                    _spread(some, "gold_pairs"),
                    _spread(some, "bag_of_words"),
                    _spread(some, "length"),
                    _spread(some, "picks_right"),
                    f"{_mean(some, 'ceiling'):.2f}",
                    f"{_mean(some, 'calibration_error'):.2f}",
                    f"{sum(r['used'] for r in some)} of {len(some)}",
                )
            )
            keys = (
                "seconds",
                "processor_seconds",
                "share_of_a_pause",
                "rated_a_minute",
                "length_correlation",
            )
            cost.append((hidden.name, picks, *(_mean(some, key) for key in keys)))
    costs = (
        *("preference", "picks", "seconds to train", "of the processor"),
        "seconds a pick in pauses",
        *("answers rated a minute", "correlation of length and picks"),
    )
    seeds = ", ".join(str(seed) for seed in sorted({row["seed"] for row in rows}))
    measured_so_far = f"Seeds measured so far: {seeds or 'none'}."
    return [REGISTERED, measured_so_far, table(head, quality), *_misled(rows), table(costs, cost)]


def _misled(rows: Sequence[dict[str, Any]]) -> list[str]:
    """That a preference is foretold and yet ordered worse than by guessing, if one is."""
    found = []
    for hidden in HIDDEN:
        some = [row for row in rows if row["hidden"] == hidden.name]
        if some and (gold := _mean(some, "gold_pairs")) < 0.5:
            found.append(
                f"{hidden.name}: {_mean(some, 'picks_right'):.0%} of held-out picks are foretold (guessing "
                f"{_mean(some, 'chance'):.0%}), but the reward model orders only {gold:.0%} of pairs as the "
                "hidden worth does: worse than guessing. It has learned what the picks favour. The picks do "
                "not show that the owner dislikes it, so no check refuses this taste. "
                "Length alone, which picks favour, "
                f"orders {_mean(some, 'length'):.0%} of pairs of the worth rightly."
            )
    return found


def _mean(rows: Sequence[dict[str, Any]], key: str) -> float:
    return sum(float(row[key]) for row in rows) / len(rows)


def _spread(rows: Sequence[dict[str, Any]], key: str) -> str:
    values = [float(row[key]) for row in rows]
    return with_deviation(_mean(rows, key), deviation(values), 2)
