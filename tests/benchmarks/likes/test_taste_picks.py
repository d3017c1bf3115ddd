"""Picks of `vidya bench taste_picks` as the reward model sees them, and its tables."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks import BenchOptions
from benchmarks.common.weights import fingerprint_of
from benchmarks.likes import taste_picks
from benchmarks.likes.taste_picks import REGISTERED, choice_of, parts
from engine.errors import DataError
from learning.protocol.records import Lesson, Turn


def test_a_pick_is_a_choice_among_all_that_was_shown() -> None:
    lesson = Lesson("pick", (Turn("user", "Hi"),), "And you?", ("Hello.", "And you?", "Well."))
    choice = choice_of(lesson, 3)
    assert choice.options == ("And you?", "Hello.", "Well.") and choice.chosen == 0
    assert choice.prompt == lesson.prompt and choice.judgement == 3


def measured(seed: int) -> dict[str, Any]:
    def look(win: float, talk: float) -> dict[str, float]:
        return {"win": win, "book": 1.0, "talk": talk}

    return {
        "seed": seed,
        "picks": 40,
        "before": look(0.1, 2.0),
        "recipe": look(0.5 + seed / 10, 2.02),
        "both": look(0.7, 2.1),
        "used": True,
        "seconds_of_picks": 100.0,
        "seconds_of_practice": 50.0,
    }


def test_the_table_has_all_three_weights_and_what_talk_lost() -> None:
    said = parts({"rows": [measured(seed) for seed in (0, 1)], "talk": "the corpus"})
    assert said[0] == REGISTERED and "the corpus. Means over 2 seeds" in said[1]
    assert "| after forty picks | 55.0 ± 7.1 % | 100.0 ± 0.0 % | 2.020 | 1.0 ± 0.0 % |" in said[2]
    assert (
        "| and practice on taste | 70.0" in said[2] and "| 1 | 40 | 10 | 60 | 70 | yes |" in said[3]
    )


def test_an_interrupted_run_goes_on_with_the_same_talk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []

    def exam(talk: str) -> None:
        yardstick = SimpleNamespace(talk_source=talk)
        monkeypatch.setattr(taste_picks, "Exam", lambda *_: SimpleNamespace(yardstick=yardstick))

    def measure(_: object, __: Path, seed: int, ___: BenchOptions) -> dict[str, Any]:
        if seed == 1 and made == [0]:
            raise KeyboardInterrupt
        made.append(seed)
        return measured(seed)

    monkeypatch.setattr(taste_picks, "_measured", measure)
    options = BenchOptions(tmp_path / "home", seeds=(0, 1), out=tmp_path)
    exam("the corpus")
    with pytest.raises(KeyboardInterrupt):
        taste_picks.run(options)
    made.clear()
    result = taste_picks.run(options)
    assert made == [1] and result["talk"] == "the corpus" and len(result["rows"]) == 2
    assert {row["fingerprint"] for row in result["rows"]} == {fingerprint_of(options)}
    exam("its own talk")
    with pytest.raises(DataError, match="taste_picks.json: .* a run with another VIDYA_CORPUS;"):
        taste_picks.run(options)
