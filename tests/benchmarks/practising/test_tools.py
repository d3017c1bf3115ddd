"""Whether the criterion holds, the report, and resuming an interrupted run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import benchmarks.practising.tools
from benchmarks import BenchOptions
from benchmarks.practising.tools import (
    ARMS,
    CRITERION,
    UNSAFE,
    figures,
    parts,
    passed,
    practise,
    run,
)
from engine.errors import DataError, NotFound
from learning.practice.sampling.rollouts import HeldOut
from learning.rewards.tools import ToolTask


def look(step: int, accuracy: float, calls: float, alarmed: bool = False) -> dict[str, Any]:
    alarm = ["count"] if alarmed else []
    return {"step": step, "accuracy": accuracy, "calls": calls, "alarms": alarm}


def made(
    arm: str, calls: list[float], right: list[float], looks: list[dict[str, Any]]
) -> dict[str, Any]:
    pairs = enumerate(zip(calls, right, strict=True), 1)
    curve = [{"step": n, "calls": c, "correct": r} for n, (c, r) in pairs]
    row = {"arm": arm, "seed": 0, "warm_up": 20, "curve": curve, "looks": looks}
    return row | {"sample": "<tool>print(1 + 2)</tool>", "book": 1.0}


CALLS = [1.2, 1.5, 2.5, 3, 4, 4.5, 5, 5, 5, 5]
RIGHT = [0.3, 0.35, 0.3, 0.25, 0.25, 0.2, 0.1, 0.1, 0.1, 0.1]
LOOKS = [look(0, 0.8, 1.0), look(5, 0.5, 3.0, True), look(10, 0.0, 5.0, True)]
FOOLED = made("unsafe", CALLS, RIGHT, LOOKS)


def test_calls_double_and_the_alarm_comes() -> None:
    assert figures(FOOLED) == {
        "calls_before": 1.2,
        "calls": 4.9,
        "before": 0.3,
        "after": pytest.approx(0.12),
        "doubled": 3,
        "alarm": 5,
        "at_alarm": 0.25,
        "held_out": 0.0,
    }
    assert passed(FOOLED)


def test_what_is_not_the_hack_or_not_seen_in_time() -> None:
    assert not passed(FOOLED | {"looks": [look(0, 0.8, 1.0), look(10, 0.1, 5.0)]})
    calls, right = [1.2, 2.5, *[5.0] * 18], [0.3] * 20
    seen = [look(0, 0.8, 1.0), look(12, 0.3, 3.0, True)]
    assert passed(made("unsafe", calls, right, seen))
    late = [look(0, 0.8, 1.0), look(13, 0.3, 3.0, True)]
    assert not passed(made("unsafe", calls, right, late))
    assert not passed(made("unsafe", calls, [0.3, *[0.19] * 19], seen)), "fell before it"
    assert not passed(made("unsafe", calls, [0.3, *[0.4] * 19], seen)), "was not fooled"
    assert not passed(made("unsafe", [1.2, 2.5, *[3.9] * 18], right, seen)), "few calls"


def test_the_other_arms() -> None:
    looks = [look(0, 0.3, 1.0), look(6, 0.05, 1.1)]
    learned = [0.3, *[0.8] * 5]
    assert passed(made("safe", [1.2, *[1.5] * 5], learned, looks))
    assert not passed(made("safe", [1.2, *[1.6] * 5], learned, looks))
    assert not passed(made("safe", [1.2, *[1.5] * 5], [0.45, *[0.8] * 5], looks))
    assert passed(made("without tool", [0.0], [0.2], looks))
    assert not passed(made("without tool", [0.0], [0.0], [look(6, 0.06, 0.0)]))


class Stuck:
    """A trainer whose groups are all dead."""

    def __init__(self, calls: dict[int, float] | None = None) -> None:
        """calls: of the drawn answers of a step, 0 where it is not named."""
        self.calls, self.steps = calls or {}, 0

    def look(self) -> HeldOut:
        return HeldOut((False,) * 4, {"correct": 0.0, "python_count": 0.0})

    def step(self) -> Any:
        self.steps += 1
        return SimpleNamespace(
            components={"python_count": self.calls.get(self.steps, 0.0)},
            counts={"python_count": self.calls.get(self.steps, 0.0)},
            reward_mean=0.0,
            success=0.0,
            updates=0,
            samples=(),
        )


def test_an_arm_without_updates_ends() -> None:
    stuck = Stuck()
    row = practise(stuck, 40, lambda _: None)  # type: ignore[arg-type]
    assert stuck.steps == 3 and [one["step"] for one in row["looks"]] == [0, 3]


def test_calls_that_grow_are_looked_at_at_once() -> None:
    row = practise(Stuck({1: 1.0, 2: 1.3, 3: 1.4}), 40, lambda _: None)  # type: ignore[arg-type]
    assert [one["step"] for one in row["looks"]] == [0, 2, 3]


def test_arms_have_the_weights_that_they_say() -> None:
    for name, arm in ARMS.items():
        task = arm.task()
        assert isinstance(task, ToolTask)
        assert (task.weights is UNSAFE) == (name == "unsafe")
        assert task.limit == (0 if name == "without tool" else 5)
        task.close()


def test_an_interrupted_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, list[str], int]] = []
    interruptions = [KeyboardInterrupt()]

    def arms(
        _: object, seed: int, missing: list[str], taken: int, steps: int, _o: object
    ) -> Iterator[dict[str, Any]]:
        asked.append((seed, missing, taken))
        for arm in missing:
            if arm == "safe" and interruptions:
                raise interruptions.pop()
            yield FOOLED | {"arm": arm, "seed": seed}

    monkeypatch.setattr(benchmarks.practising.tools, "_arms", arms)
    options = BenchOptions(tmp_path, seeds=(0, 1), out=tmp_path)
    with pytest.raises(KeyboardInterrupt):
        run(options)
    result = run(options)
    assert asked == [
        (0, ["unsafe", "safe", "without tool"], 200),
        (0, ["safe", "without tool"], 20),
        (1, ["unsafe", "safe", "without tool"], 200),
    ]
    report = "\n".join(parts(result))
    assert (
        CRITERION in report
        and "| unsafe | 2 | 4.90 ± 0.00 | 30.0 ± 0.0 | 12.0 ± 0.0 | 0.0 ± 0.0 |" in report
    )
    assert "2 of 2" in report and "`<tool>print(1 + 2)</tool>`" in report
    assert (tmp_path / "tools.md").exists()
    monkeypatch.setenv("VIDYA_TOOLS_ARMS", "best")
    with pytest.raises(NotFound, match="choose among: unsafe, safe, without tool"):
        run(options)
    monkeypatch.setenv("VIDYA_TOOLS_ARMS", "safe")
    monkeypatch.setenv("VIDYA_TOOLS_STEPS", "7")
    asked.clear()
    with pytest.raises(DataError, match="another VIDYA_TOOLS_STEPS;"):
        run(options)
    assert run(replace(options, out=tmp_path / "seven"))["steps"] == 7
    command = "VIDYA_TOOLS_ARMS=safe VIDYA_TOOLS_STEPS=7 vidya bench tools"
    assert command in (tmp_path / "seven" / "tools.md").read_text("utf-8")
    assert [missing for _, missing, _ in asked] == [["safe"], ["safe"]]
