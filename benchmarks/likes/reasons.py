"""Measures what five reasons ("shorter please") do to the first answers to other messages.

A hidden preference that a program can check. A message is answered; where the answer is not as preferred, it
is asked again with the reason, and the first of five candidates that is as preferred is picked. After five
picks: the share of first answers as preferred on held-out messages, with the lessons alone, and after pauses
carried the reasons over to other messages (learning.lessons.reasons). Left out: rehearsals of the lessons
in other words, which pauses do too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import torch

from benchmarks import BenchOptions
from benchmarks.common.report import machine, table, write
from benchmarks.common.scratch import scratch_home
from benchmarks.lessons.collapse_data import pick_prompts
from engine.config import Sampling
from engine.generate import Finished, generate
from engine.tokenizers.chat_format import encode_prompt
from learning.channels import learn_from_selection
from learning.home import Home
from learning.journal.journal import Journal
from learning.lessons.learner import Learner
from learning.models.store import ModelStore
from learning.protocol.records import Again, Candidate, Pick, Turn
from learning.text.reason import asked_again

REASONS, CANDIDATES = 5, 5
HELD_OUT, QUICK_HELD_OUT = 40, 4
TOKENS = 40
"""Ids of an answer at most."""
MOST_ASKED = 30
"""Messages that are asked until five reasons were given."""


@dataclass(frozen=True)
class Preference:
    """What the owner likes, and how they say so."""

    reason: str
    holds: Callable[[str], bool]


PREFERENCES = {
    "short": Preference("shorter please", lambda text: len(text.split()) <= 8),
    "asks": Preference("end with a question", lambda text: text.rstrip().endswith("?")),
    "calm": Preference("without exclamation marks", lambda text: "!" not in text),
}
CRITERION = (
    "Criterion, written before the first run: after five reasons 57 % or more of the first answers to "
    "held-out messages are as preferred (what 40 picks reach in `collapse.md`), for each preference that "
    "held for fewer than that before; carrying the reasons over gains on the lessons alone; the book stays "
    "at 98 % or more. Short: at most 8 words. Asks: ends with a question mark. Calm: no exclamation mark. "
    "Nothing was tuned on the held-out messages."
)
TITLE = "Reasons: what five of them do to first answers"


def run(options: BenchOptions) -> dict[str, Any]:
    """See `vidya bench`."""
    result: dict[str, Any] = {
        "benchmark": "reasons",
        "machine": machine(),
        "quick": options.quick,
        "model": options.model_name or "10m",
        "rows": [],
    }
    wanted = list(PREFERENCES)[: 1 if options.quick else None]
    for seed in options.seeds:
        for name in wanted:
            with scratch_home(options) as (home, model):
                result["rows"].append(_measured(home, model, name, seed, options))
            if options.out is not None:
                file = options.stem("reasons")
                command = options.command("reasons", seeded=True)
                write(options.out, file, TITLE, command, list(parts(result)), result)
    return result


def parts(result: dict[str, Any]) -> Iterator[str]:
    """The report: criterion, table."""
    yield CRITERION
    head = ["model", "preference", "reasons", "messages asked", "before, %", "lessons alone, %"]
    head += ["carried over, %", "answers learned", "book, %", "seconds a pause"]
    yield table(
        head,
        [
            [result["model"], row["preference"], row["given"], row["asked"]]
            + [100 * row[at] for at in ("before", "lessons", "carried")]
            + [row["answers"], 100 * row["book"], row["seconds"]]
            for row in result["rows"]
        ],
    )


def _measured(
    home: Home, model: str, name: str, seed: int, options: BenchOptions
) -> dict[str, Any]:
    preference, (prompts, held_out) = PREFERENCES[name], pick_prompts()
    held_out = held_out[: QUICK_HELD_OUT if options.quick else HELD_OUT]
    with closing(Journal(home.journal_path)) as journal:
        learner = Learner(home, ModelStore(home).resolve(model), journal, seed=seed)

        def answers(turns: list[tuple[str, str]], n: int, number: int) -> list[str]:
            now, sampling = learner.published.model, Sampling(max_tokens=TOKENS)
            ids = encode_prompt(learner.tokenizer, turns, now.config.context, TOKENS)
            generator = torch.Generator().manual_seed(1000 * seed + number)
            events = generate(now, learner.tokenizer, ids, n, sampling, generator=generator)
            done = sorted((e for e in events if isinstance(e, Finished)), key=lambda e: e.index)
            return [one.text.strip() for one in done]

        def rate() -> float:
            said = [answers([("user", m)], 1, at)[0] for at, m in enumerate(held_out)]
            return sum(map(preference.holds, said)) / len(said)

        row: dict[str, Any] = {"preference": name, "seed": seed, "before": rate()}
        options.say(f"{name}: before {row['before']:.0%}")
        given = asked = 0
        wanted = 1 if options.quick else REASONS
        for asked, message in enumerate(prompts[:MOST_ASKED], 1):
            (old,) = answers([("user", message)], 1, 500 + asked)
            if not old or preference.holds(old):
                continue
            turns = asked_again([("user", message)], old, preference.reason)
            said = answers(turns, CANDIDATES, 700 + asked)
            liked = next((i for i, text in enumerate(said, 1) if preference.holds(text)), None)
            if liked is None or not said[liked - 1]:
                continue
            again = Again(old, preference.reason)
            ask = journal.add_ask(
                journal.new_conversation(), (Turn("user", message),), Sampling(), again=again
            )
            cards = [Candidate(ask.id, i, t, (), (), "end", 0) for i, t in enumerate(said, 1)]
            pick = Pick(ask.id, liked, preference.reason)
            lesson = learn_from_selection(ask, pick, cards)
            judged = journal.judge(pick, said[liked - 1], [lesson])
            learner.learn(journal.lessons_of(judged)[0])
            options.say(f"{name}: {message!r}: {old!r} -> {said[liked - 1]!r}")
            given += 1
            if given == wanted:
                break
        row |= {"given": given, "asked": asked, "lessons": rate()}
        options.say(f"{name}: with the lessons alone {row['lessons']:.0%}")
        started = time.monotonic()
        while learner.carry_over():
            pass
        carried = journal.lessons(kinds=["reason"])
        kept = [lesson for lesson in carried if lesson.state == "learned"]
        for lesson in kept:
            options.say(
                f"  {lesson.prompt[-1].text!r}: {lesson.rejected[0]!r} -> {lesson.answer!r}"
            )
        row |= {
            "seconds": (time.monotonic() - started) / max(1, given),
            "answers": len(kept),
            "as_preferred": sum(preference.holds(lesson.answer) for lesson in kept),
            "carried": rate(),
            "book": learner.book_recall,
        }
        options.say(f"{name}: carried over {row['carried']:.0%}, book {row['book']:.1%}")
        return row
