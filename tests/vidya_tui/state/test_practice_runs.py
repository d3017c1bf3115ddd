"""Sentences about runs of practice in the journal."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import pytest

from learning.journal.practices import KeptAnswers, PracticeEntry, PracticeListed
from tests.practice_events import DONE, SAMPLE
from vidya_tui.state import practice_runs
from vidya_tui.state.practice_runs import RunsAsked


def entry(outcome: dict[str, Any] | None = None, **record: Any) -> PracticeEntry:
    return PracticeEntry(12, "chain_sum", {"settings": [], **record}, outcome, 0.0)


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("", None),
        ("chain_sum", None),
        ("runs", RunsAsked()),
        ("runs  max_terms=3 sums", RunsAsked(words="max_terms=3 sums")),
        ("runsum", None),
        ("#12", RunsAsked(12)),
        (" #12  correct=0 ", RunsAsked(12, "correct=0")),
        ("#x", None),
        ("#" + "9" * 19, None),
    ],
)
def test_what_is_typed_names_runs_or_a_task(typed: str, found: RunsAsked | None) -> None:
    assert practice_runs.asked(typed) == found


def test_a_run_in_few_words() -> None:
    done = entry(asdict(DONE))
    assert (
        practice_runs.gain(done) == "30 % \u2192 62 %" and practice_runs.ending(done) == "all steps"
    )
    hard = entry(asdict(replace(DONE, ended="too_hard", accuracy_after=None)))
    assert practice_runs.gain(hard) == "not measured" and practice_runs.ending(hard) == "too hard"
    assert practice_runs.ending(entry()) == "no end"
    assert all(len(words) <= 9 for words in practice_runs.ENDINGS.values())
    assert practice_runs.name(entry(settings=["max_terms=3"])) == "chain_sum max_terms=3"
    arms = ["chain_sum max_terms=2", "syllogism"]
    several = entry(arms=arms, seed=5)
    assert practice_runs.name(several) == "chain_sum max_terms=2, syllogism"
    assert practice_runs.entry_line(several) == (
        "12: chain_sum max_terms=2, syllogism, seed 5: still running, or the program was closed or killed"
    )
    ended = practice_runs.entry_line(entry(asdict(DONE), seed=5, settings=["max_terms=3"]))
    assert ended.startswith("12: seed 5: chain_sum max_terms=3: held-out accuracy 30 %")


def test_what_is_known_of_a_run() -> None:
    done = asdict(replace(DONE, task="chain_sum", idle=True, alarm="count: \x1b[2J"))
    options = {"lr": "0.5", "group_size": "4"}
    run = PracticeListed(entry(done, options=options), 100, 3, ((4, True), (7, False)))
    head, result, alarm, changed = practice_runs.facts(run, 0.0)
    assert head.startswith("run 12 \u00b7 begun today")
    assert head.endswith(", while you were away \u00b7 lesson 4, lesson 7, no longer in effect")
    assert result.startswith("chain_sum: held-out accuracy 30 % \u2192 62 %")
    assert alarm == "alarm: count: \u241b[2J" and changed == "options: lr=0.5"
    assert practice_runs.lesson_short(run) == "(7)"
    erased = PracticeListed(entry(done | {"saves": 1}), 100, 3)
    assert practice_runs.lessons(erased) == "no lesson: it was erased"
    killed = PracticeListed(entry(), 3, 0)
    head, result = practice_runs.facts(killed, 0.0)
    assert head.endswith("3 steps \u00b7 no lesson: nothing was saved") and result == (
        "still running, or the program was closed or killed"
    )
    assert practice_runs.answers(KeptAnswers(killed, ())) == "no answer was kept of it"
    some = KeptAnswers(replace(killed, samples=3), (SAMPLE,))
    assert practice_runs.answers(some) == (
        "the newest 1 of 3 answers kept; `vidya practice --samples 12` shows all"
    )
