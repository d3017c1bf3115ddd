"""When umbrella talk counts as learned, the report, and resuming an interrupted run."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import benchmarks.practising.umbrella_talk
from benchmarks import BenchOptions
from benchmarks.practising.umbrella_talk import ARMS, CRITERION, STEPS, parts, practise, recent, run


@dataclass
class Steps:
    """A trainer whose shares of right answers are given."""

    right: list[float]
    critic: Any = None
    settings: Any = field(default_factory=lambda: SimpleNamespace(group_size=4))

    def step(self) -> Any:
        return SimpleNamespace(success=self.right.pop(0), groups=8)


def test_few_dialogues_that_are_right_by_chance_are_not_enough() -> None:
    assert recent([0.5, 1.0, 1.0], [32, 8, 8]) == 0.0, "fewer than 64"
    assert recent([0.5, 1.0, 1.0], [32, 8, 32]) == pytest.approx((16 + 40) / 72)
    assert recent([0.0, 0.9, 0.9], [32, 32, 32]) == pytest.approx(0.9)


def test_it_is_learned_when_the_last_dialogues_are_right_enough() -> None:
    found = practise(Steps([0.5, 1.0, 0.7, 0.9, 0.95, 1.0]), 40, lambda _: None)  # type: ignore[arg-type]
    assert (found["learned"], found["dialogues"]) == (True, 5 * 32)
    never = practise(Steps([0.5] * 40), STEPS, lambda _: None)  # type: ignore[arg-type]
    assert (never["learned"], never["dialogues"]) == (False, STEPS * 32)


def test_an_interrupted_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int, list[str]]] = []

    def arms(_: object, count: int, _p: str, seed: int, missing: list[str], _o: object) -> Any:
        asked.append((count, seed, missing))
        for arm in missing:
            if len(asked) == 2 and arm == "by reply":
                raise KeyboardInterrupt
            needed = 320 if arm == "by reply" else 800
            row = {"arm": arm, "small_talk": count, "seed": seed, "dialogues": needed}
            yield row | {"learned": True, "curve": [0.5, 1.0], "explained": None, "book": 1.0}

    monkeypatch.setattr(benchmarks.practising.umbrella_talk, "_arms", arms)
    monkeypatch.setenv("VIDYA_TALK_SMALL_TALK", "6")
    options = BenchOptions(tmp_path, seeds=(0, 1), out=tmp_path)
    with pytest.raises(KeyboardInterrupt):
        run(options)
    result = run(options)
    assert asked[2:] == [(6, 0, []), (6, 1, ["by reply"])]
    assert len(result["rows"]) == 4
    report = "\n".join(parts(result))
    assert CRITERION in report and "| 6 | 800 ± 0 | 320 ± 0 | 0.4 |" in report
    assert list(ARMS) == ["whole conversation", "by reply"]
    written = (tmp_path / "umbrella_talk.md").read_text("utf-8")
    assert "VIDYA_TALK_SMALL_TALK=6 vidya bench umbrella_talk" in written
