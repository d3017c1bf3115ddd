"""Measures the other answers beside the likeliest one: how plausible a larger model finds them, and how
different they are.

Each message of talk.jsonl that begins a conversation is asked once per seed with the app's session and
teacher, five answers each. Another model, the judge, says how likely each answer is after its message;
VIDYA_JUDGE names it, by default smollm2-135m, which `vidya model get` brings. Left out: the likeliest answer
(talk.py), offered lessons, and "I do not know that yet".
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from benchmarks import BenchOptions
from benchmarks.common.place import Place
from benchmarks.common.report import deviation, machine, table, with_deviation, write
from benchmarks.common.scratch import scratch_home
from benchmarks.talking.talk_data import Question, load
from benchmarks.talking.talk_metrics import distinct, fits
from engine.model import Model
from engine.storage.checkpoint import load_model
from engine.tokenizers.load import load_tokenizer
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.examples import from_turns
from learning.home import Home
from learning.memory.tasks import NOT_KNOWN
from learning.models.store import ModelStore
from learning.objectives.forward import knowledge

TITLE = "The other answers beside the likeliest one"
JUDGE = "VIDYA_JUDGE"
QUICK, SHOWN = 3, 12
"""Messages of a short run; messages whose answers are written out."""
IMPLAUSIBLE = 1.0
"""Nats per byte above which the judge finds an answer implausible."""


@dataclass(frozen=True)
class Answered:
    """The answers to one message."""

    question: Question
    texts: tuple[str, ...]
    """All, as they are shown."""
    own: tuple[str, ...]
    """Those that the model wrote itself, without the likeliest."""


def run(options: BenchOptions) -> dict[str, Any]:
    """See `vidya bench`. Raises NotFound if the judge is not in the home."""
    where, judge = machine(), os.environ.get(JUDGE, "").strip() or "smollm2-135m"
    folder = ModelStore(Home(options.home)).info(judge).path
    tokenizer, judging = load_tokenizer(folder), load_model(folder)
    messages = [question for question in load() if len(question.turns) == 1]
    messages = messages[:QUICK] if options.quick else messages
    runs, shown, asks = list[dict[str, float]](), list[Answered](), len(messages)
    for seed in options.seeds:
        with scratch_home(options) as (home, model):
            started = time.perf_counter()
            with closing(Place(home, model, seed)) as place:
                rows = asked(place, messages)
            seconds = (time.perf_counter() - started) / asks
        shown = shown or rows[:: max(1, asks // SHOWN)]
        runs.append({"seconds": seconds, **scores(rows, judged(judging, tokenizer, rows))})
        options.say(f"seed {seed}: {runs[-1]}")
    result = {
        "benchmark": "cards",
        "machine": where,
        "model": model,
        "judge": judge,
        "messages": asks,
        "runs": runs,
        "shown": [[row.question.asked, *row.texts] for row in shown],
    }
    if options.out is not None:
        command = options.command("cards", seeded=True, variables=[JUDGE])
        write(options.out, options.stem("cards"), TITLE, command, parts(result), result)
    return result


def asked(place: Place, messages: Sequence[Question]) -> list[Answered]:
    """The answers to each message, each in a new conversation."""
    rows = []
    for question in messages:
        cards = place.cards(question.asked)
        own = [
            card.said
            for card in cards
            if card.index > 1 and not card.offered and card.said not in ("", NOT_KNOWN)
        ]
        rows.append(Answered(question, tuple(card.said for card in cards), tuple(own)))
    return rows


def judged(judge: Model, tokenizer: Tokenizer, rows: Sequence[Answered]) -> list[float]:
    """Nats per byte that each of the other answers costs the judge after its message."""
    pairs = [(row.question.asked, text) for row in rows for text in row.own]
    context = judge.config.context
    examples = [from_turns(tokenizer, [("user", q), ("assistant", a)], context) for q, a in pairs]
    costs = knowledge(judge, examples)
    return [one.nll / len(text.encode()) for one, (_, text) in zip(costs, pairs, strict=True)]


def scores(rows: Sequence[Answered], nats: Sequence[float]) -> dict[str, float]:
    """Means over the other answers. nats: what each costs the judge, per byte, in the order of the rows.
    Answers of one word each have no pair of words, and count as different."""
    fitting = [
        found for row in rows for text in row.own if (found := fits(text, row.question)) is not None
    ]
    several = [row.own for row in rows if len(row.own) > 1]
    return {
        "nats": fmean(nats),
        "implausible": fmean(value > IMPLAUSIBLE for value in nats),
        "fits": fmean(fitting) if fitting else 0.0,
        "distinct": fmean(distinct(own, 2) or 1.0 for own in several) if several else 0.0,
        "own": sum(len(row.own) for row in rows) / len(rows),
    }


COLUMNS = {
    "nats": "nats per byte",
    "implausible": "implausible",
    "fits": "fits",
    "distinct": "distinct-2",
    "own": "of these per message",
    "seconds": "s per message",
}


def parts(result: dict[str, Any]) -> list[str]:
    """Text and tables of cards.md."""
    values = {key: [one[key] for one in result["runs"]] for key in COLUMNS}
    line = [with_deviation(fmean(some), deviation(some), 3) for some in values.values()]
    return [
        f"{result['messages']} first messages of `data/talk.jsonl`, {len(result['runs'])} seed(s), five "
        "answers with the app's settings, nothing taught. Only answers that the model wrote itself count, "
        f"and not the likeliest one. *Nats per byte*: what an answer costs {result['judge']} after its "
        f"message; *implausible*: more than {IMPLAUSIBLE:g}; *fits*: as in talk.md, by rules on words; "
        "*distinct-2*: different pairs of words among the other answers to one message by all of them. "
        "Means and standard deviations over the seeds.",
        table(("model", *COLUMNS.values()), [[result["model"], *line]]),
        "All answers to some of the messages, first seed, as they are shown:",
        "\n".join(f"- {asked} \u2192 {' | '.join(answers)}" for asked, *answers in result["shown"]),
    ]
