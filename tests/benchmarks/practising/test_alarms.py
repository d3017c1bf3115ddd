"""benchmarks.practising.alarms: verdicts on made-up courses, what failing arms pay, which runs a seed has."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks import BenchOptions
from benchmarks.common.pupil import Pupil
from benchmarks.practising import alarms
from benchmarks.practising.alarms import (
    ARMS,
    GOOD,
    QUICK,
    Course,
    Repaid,
    for_length,
    for_wrong,
    is_lost,
)
from engine.errors import DataError
from engine.model import Model
from engine.tokenizers.tokenizer import Tokenizer
from learning.practice.options import with_options
from tests.sums import Sums


def row(arm: str, kept: float, *looks: tuple[float, bool]) -> dict[str, Any]:
    found = [
        {"step": 2 * place, "right": right, "told": told, "held": told, "alarm": ""}
        for place, (right, told) in enumerate(looks)
    ]
    return {"arm": arm, "seed": 0, "looks": found, "kept": kept, "ended": "steps", "why": ""}


def test_a_run_that_is_told_before_it_has_lost_ten_points_is_told_in_time() -> None:
    course = Course.of(row("wrong key", 0.55, (0.6, False), (0.55, True), (0.4, True)))
    assert (course.best, course.failed, course.told) == (0.6, 4, 2)
    assert course.told_by(before=True) and course.told_by(before=False)


def test_a_run_that_is_told_as_it_falls_is_told_in_time_and_not_before() -> None:
    course = Course.of(row("wrong key", 0.6, (0.6, False), (0.4, True)))
    assert (course.failed, course.told) == (2, 2)
    assert course.told_by(before=False) and not course.told_by(before=True)


def test_a_save_point_that_passes_in_silence_is_no_sign_in_time() -> None:
    course = Course.of(row("wrong key", 0.6, (0.6, False), (0.4, False), (0.3, True)))
    assert (course.failed, course.told, course.told_by(before=False)) == (2, 4, False)


def test_exactly_ten_points_are_lost() -> None:
    assert all(is_lost(many / 200, (many - 20) / 200) for many in range(20, 201))
    assert not any(is_lost(many / 200, (many - 19) / 200) for many in range(20, 201))


def test_the_verdict_counts_false_signs_of_good_runs_and_what_is_kept_of_all() -> None:
    good = row(GOOD, 0.7, (0.6, False), (0.7, True))
    bad = row("wrong key", 0.4, (0.6, False), (0.55, True), (0.4, True))
    said = alarms.parts({"rows": [good, bad]})
    assert "before the runs below" in said[0]
    assert "not failed: 1 of 1. (b) told as 10 points were lost, or before: 1 of 1" in said[1]
    assert "best: 1 of 2." in said[1]
    cells = [line.count("|") for part in (said[2], said[4]) for line in part.splitlines()]
    assert len(set(cells[:4])) == len(set(cells[4:])) == 1


def test_twenty_seeds_give_each_failing_arm_five(tmp_path: Path) -> None:
    options = BenchOptions(tmp_path)
    runs = [arm for seed in range(20) for arm in alarms._wanted(seed, options)]
    assert {arm: runs.count(arm) for arm in ARMS} == {arm: 20 if arm == GOOD else 5 for arm in ARMS}
    assert all(with_options(QUICK, arm.options) for arm in ARMS.values())


def test_seeds_of_several_runs_have_the_commands_of_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Warm:
        def copied(self) -> None: ...

    class Loaded:
        def warmed_up(self, *_: object) -> tuple[Warm, None]:
            return Warm(), None

    monkeypatch.setattr(alarms.Pupil, "loaded", lambda _: Loaded())
    monkeypatch.setattr(
        alarms, "_practised", lambda *_: {"looks": [], "kept": 0.5, "ended": "steps", "why": ""}
    )
    monkeypatch.setattr(alarms, "parts", lambda _: [])
    options = BenchOptions(tmp_path / "home", out=tmp_path)
    monkeypatch.setenv("VIDYA_ALARMS_ARMS", GOOD)
    alarms.run(options)
    monkeypatch.delenv("VIDYA_ALARMS_ARMS")
    rows = alarms.run(replace(options, seeds=(1,)))["rows"]
    first = f"VIDYA_ALARMS_ARMS='{GOOD}' vidya bench alarms --seeds 1 --out benchmarks/results"
    second = "vidya bench alarms --seed 1 --seeds 1 --out benchmarks/results"
    assert f"    {first}\n    {second}\n" in (tmp_path / "alarms.md").read_text("utf-8")
    assert [row["command"] for row in rows] == [first, second, second]
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == [
        "alarms.json",
        "alarms.md",
    ]
    before = (tmp_path / "alarms.json").read_bytes()
    with pytest.raises(DataError, match=r"alarms.json: the results of a run without --quick;"):
        alarms.run(replace(options, quick=True))
    assert (tmp_path / "alarms.json").read_bytes() == before


def test_a_damaged_file_is_named_before_anything_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alarms, "Pupil", None)
    (tmp_path / "alarms.json").write_text('{"rows": [')
    with pytest.raises(DataError, match=r"alarms.json: not the results of a benchmark"):
        alarms.run(BenchOptions(tmp_path, out=tmp_path))


def test_an_arm_that_is_paid_for_something_else_still_knows_what_is_right() -> None:
    task = Sums()
    problem = next(task.problems("train", random.Random(0)))
    answers = [f"It is {problem.truth}.", "It is none." + 30 * " Well."]
    for pay, better in ((for_length, 1), (for_wrong, 1)):
        scores = Repaid(task, pay).score(problem, answers)
        assert scores[better].total > scores[1 - better].total
        assert [score.correct for score in scores] == [True, False]


def test_what_is_given_up_is_measured_before_it_is_gone(
    tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    pupil = Pupil(tiny_model, tiny_tokenizer, [], []).copied()
    trainer = pupil.trainer(Sums(), QUICK, 0)
    weight = next(iter(pupil.model.parameters())).data
    weights = alarms.Watched(trainer, lambda: float(weight.max()))
    before = float(weight.max())
    weight += 1.0
    weights.restore()
    assert weights.given_up == pytest.approx([before + 1.0]) and float(weight.max()) == before
