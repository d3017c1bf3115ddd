"""Picks of `vidya bench taste_picks` as the reward model sees them, and its tables."""

from __future__ import annotations

from typing import Any

from benchmarks.likes.taste_picks import REGISTERED, choice_of, parts
from learning.protocol.records import Lesson, Turn


def test_a_pick_is_a_choice_among_all_that_was_shown() -> None:
    lesson = Lesson("pick", (Turn("user", "Hi"),), "And you?", ("Hello.", "And you?", "Well."))
    choice = choice_of(lesson, 3)
    assert choice.options == ("And you?", "Hello.", "Well.") and choice.chosen == 0
    assert choice.prompt == lesson.prompt and choice.judgement == 3


def test_the_table_has_all_three_weights_and_what_talk_lost() -> None:
    def look(win: float, talk: float) -> dict[str, float]:
        return {"win": win, "book": 1.0, "talk": talk}

    rows: list[dict[str, Any]] = [
        {
            "seed": seed,
            "picks": 40,
            "before": look(0.1, 2.0),
            "recipe": look(0.5 + seed / 10, 2.02),
            "both": look(0.7, 2.1),
            "used": True,
            "seconds_of_picks": 100.0,
            "seconds_of_practice": 50.0,
        }
        for seed in (0, 1)
    ]
    said = parts({"rows": rows, "talk": "the corpus"})
    assert said[0] == REGISTERED and "the corpus. Means over 2 seeds" in said[1]
    assert "| after forty picks | 55.0 ± 7.1 % | 100.0 ± 0.0 % | 2.020 | 1.0 ± 0.0 % |" in said[2]
    assert (
        "| and practice on taste | 70.0" in said[2] and "| 1 | 40 | 10 | 60 | 70 | yes |" in said[3]
    )
