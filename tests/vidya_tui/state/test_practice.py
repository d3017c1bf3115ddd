"""Practice in words and figures."""

from __future__ import annotations

from dataclasses import replace

from learning.practice.report import Gain
from learning.protocol.events import (
    PracticeSample,
    PracticeStage,
)
from tests.practice_events import BEFORE, DONE, LATER, SAMPLE, STEP
from vidya_tui.state import practice as practice_state


def test_a_step_in_a_line() -> None:
    words = practice_state.stepped(STEP)
    for part in (
        "step 4 of 100",
        "0.50 \u00b1 0.25",
        "41 %",
        "nothing to compare in 4 of 20",
        "drift 0.012",
        "12 s",
    ):
        assert part in words


def test_where_nothing_is_right_or_wrong_answers_are_liked() -> None:
    assert "right 41 %" in practice_state.stepped(STEP)
    liked = replace(STEP, components={"taste": 0.6, "length": 1.0})
    assert "liked 41 %" in practice_state.stepped(liked)


def test_a_look_says_what_was_looked_at() -> None:
    assert practice_state.staged(LATER) == (
        "after step 10: held-out accuracy 62 %, book recall 99 %, saved"
    )
    held = practice_state.staged(PracticeStage("x", "during", 10, accuracy=0.2, held=True))
    assert held.endswith("held-out accuracy 20 %, held back: fewer problems solved than before")
    warm = PracticeStage("x", "warm_up", 5, 0.4, steps=200, enough=0.2)
    assert practice_state.staged(warm) == "warm-up, step 5 of at most 200: loss 0.40"
    warm = PracticeStage("x", "warm_up", 20, 0.4, 0.11, steps=200, enough=0.2)
    assert practice_state.staged(warm) == (
        "warm-up, step 20 of at most 200: 11 % of its answers are right, loss 0.40, "
        "it ends with 20 %"
    )


def test_a_sample_with_its_rewards_by_component() -> None:
    words = practice_state.sampled(SAMPLE)
    assert words.startswith("0.95 (correct 1, format 0.5)\n  Is it [bold]?\n")
    failed = PracticeSample(1, "p", "t", 0.0, {"correct": 0.0}, True, "out of time")
    assert practice_state.sampled(failed) == "not judged: out of time\n  p\n  t (cut off)"
    assert "\x1b" not in practice_state.sampled(replace(failed, failed="\x1b]0;owned\x07"))


def test_the_end_in_a_sentence() -> None:
    assert practice_state.done(DONE) == (
        "syllogism: held-out accuracy 30 % \u2192 62 % on 100 problems after 100 steps in 30 min; "
        "book recall 100 % \u2192 99 %"
    )
    gain = Gain("syllogism", 12, 3600.0, 0.41, 0.63, 3)
    assert practice_state.gained(gain) == (
        "syllogism: 12 steps in 60 min, held-out accuracy 41 % \u2192 63 %"
    )


def test_figures_of_the_newest_step_and_look() -> None:
    now = practice_state.begun("syllogism")
    for event in (BEFORE, STEP, LATER):
        now = practice_state.after(now, event)
    figures = dict(practice_state.figures(now))
    assert figures["held-out accuracy"] == "30 % \u2192 62 %"
    assert figures["nothing to compare"] == "in 4 of 20: all answers scored alike"
    assert figures["drift"] == "0.012 nats a token from before (KL)"
    assert figures["reward"].endswith("\u2585")
    assert (
        practice_state.short(now) == "practising syllogism, step 4 of 100, right 41 %, 19 min left"
    )
    assert practice_state.short(practice_state.after(now, DONE)) == ""
    assert practice_state.spark([0.0, 0.5, 1.0, 2.0, -1.0]) == "\u2581\u2585\u2588\u2588\u2581"


def test_between_measurements_warm_up_tells_the_newest_success_rate() -> None:
    def now(step: int, success: float | None) -> PracticeStage:
        return PracticeStage("x", "warm_up", step, 0.4, success, steps=200, enough=0.8)

    practising = practice_state.begun("x")
    seen = []
    for event in (now(0, 0.0), now(4, None), now(5, 0.3), now(6, None)):
        practising = practice_state.after(practising, event)
        seen.append(practising.stage)
    most = "of at most 200: "
    assert seen[1] == f"warm-up, step 4 {most}loss 0.40, it ends with 80 %"
    assert seen[2].startswith(f"warm-up, step 5 {most}30 % of its answers are right")
    assert seen[3] == f"warm-up, step 6 {most}loss 0.40, 30 % right at step 5, it ends with 80 %"
    later = practice_state.after(practising, PracticeStage("x", "warmed_up", 6, accuracy=0.8))
    assert later.rated is None and "right at" not in later.stage


def test_warm_up_says_how_long_it_may_take() -> None:
    now = practice_state.begun("chain_sum")
    assert practice_state.short(now) == "practising chain_sum, measuring first"
    for event in (
        PracticeStage("chain_sum", "before", accuracy=0.0, book_recall=1.0),
        PracticeStage("chain_sum", "warm_up", 20, 1.5, 0.04, steps=200, enough=0.2, seconds=40.0),
    ):
        now = practice_state.after(now, event)
    words = "warming up, 20 of at most 200 steps, 6 min left"
    assert practice_state.short(now) == f"practising chain_sum, {words}"
    assert practice_state.share(now) == 0.1
    now = practice_state.after(now, STEP)
    assert practice_state.share(now) == 0.04 and "step 4 of 100" in practice_state.short(now)
