"""Runs of practice in the journal."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest

from learning.journal.journal import Journal
from learning.journal.practices import (
    KeptCurriculum,
    PracticeListed,
    add_practice_step,
    begin_practice,
    end_practice,
    joined_rungs,
    kept_curriculum,
    listed_practices,
    practice_entry,
    practice_ids,
    practice_samples,
    warm_up_interrupted,
)
from learning.protocol.events import PracticeSample
from learning.protocol.records import Lesson, Turn

SAMPLES = [
    PracticeSample(1, "3 + 4", "7", 1.0, {"correct": 1.0}),
    PracticeSample(1, "3 + 4", "3 + 4 =", 0.0, {"correct": 0.0}, truncated=True),
    PracticeSample(2, "3 + 4", "?", 0.0, {}, failed="out of time"),
]


def at(seconds: float) -> Any:
    """Meanwhile it is that time."""
    return patch("time.time", lambda: seconds)


def save(journal: Journal, task: str) -> int:
    """What a save point writes."""
    lesson = Lesson("practice", (Turn("user", task),), "", state="needs_practice")
    (added,) = journal.add_lessons([lesson])
    journal.set_lesson_state(added.id, "learned")
    return added.id


def test_answers_come_back_as_they_were(journal: Journal) -> None:
    run, other = begin_practice(journal, "sums", {}), begin_practice(journal, "sums", {})
    add_practice_step(journal, run, 1, {}, SAMPLES[:2])
    add_practice_step(journal, other, 1, {}, SAMPLES[:1])
    add_practice_step(journal, run, 2, {}, SAMPLES[2:])
    assert practice_samples(journal, run) == SAMPLES
    assert practice_samples(journal, run, 2) == SAMPLES[1:], "the last ones"
    assert practice_samples(journal, run, 9) == SAMPLES


def test_a_row_has_what_became_of_the_run(journal: Journal) -> None:
    with at(100.0):
        first = begin_practice(journal, "sums", {"seed": 1})
        add_practice_step(journal, first, 1, {}, SAMPLES[:2])
        add_practice_step(journal, first, 2, {}, SAMPLES[2:])
    with at(110.0):
        begun = save(journal, "sums")
        other = begin_practice(journal, "logic", {})
        apart = save(journal, "logic")
    with at(120.0):
        later = save(journal, "sums")
        end_practice(journal, first, {"ended": "steps"})
    with at(200.0):
        second = begin_practice(journal, "sums", {})
        again = save(journal, "sums")
    journal.retract(again)
    save(journal, "a distillation")

    def row(run: int, steps: int, samples: int, *lessons: tuple[int, bool]) -> PracticeListed:
        return PracticeListed(practice_entry(journal, run), steps, samples, lessons)

    assert listed_practices(journal, [second, first, 99, other]) == [
        row(second, 0, 0, (again, False)),
        row(first, 2, 3, (begun, True), (later, True)),
        row(other, 0, 0, (apart, True)),
    ]


def test_runs_are_found_by_task_settings_and_model(journal: Journal) -> None:
    record = {"settings": ['operators=["+"]', "max_terms=3"], "model": "10m", "seed": 4711}
    sums = begin_practice(journal, "chain_sum", record)
    arms = ["chain_sum max_terms=2", "syllogism"]
    both = begin_practice(journal, "chain_sum, syllogism", {"arms": arms, "settings": []})
    bare = begin_practice(journal, "Taste", {})
    for search, found in {
        "": [bare, both, sums],
        "chain_sum": [both, sums],
        "max_terms=3 CHAIN": [sums],
        "max_terms=2": [both],
        'operators=["+"]': [sums],
        "taste": [bare],
        "10m": [sums],
        "4711": [],
        "%": [],
    }.items():
        assert practice_ids(journal, search) == found, search


def test_a_rung_leaves_with_the_practice_that_it_joined_in(journal: Journal) -> None:
    for lesson in (True, False):
        run = begin_practice(journal, "sums", {"model": "10m", "options": {}})
        if lesson:
            save(journal, "sums")
        end_practice(journal, run, {"joined": [f"sums most={run}"]})
    assert joined_rungs(journal, "10m") == ("sums most=1", "sums most=2")
    journal.retract(1)
    assert joined_rungs(journal, "10m") == ("sums most=2",), "nothing was saved of the other"


STOPPED = {"ended": "stopped", "warm_up_steps": 5, "steps": 0}
LIKE = {
    **{"model": "10m", "settings": ("most=9",), "arms": (), "data_mark": ""},
    "options": {"warm_up.steps": "200", "self_play.questions": "0"},
}


def interrupted(
    journal: Journal, outcome: dict[str, Any] | None = STOPPED, *, saved: bool = True, **other: Any
) -> int:
    """A run of sums like LIKE but for `other`."""
    run = begin_practice(journal, "sums", LIKE | other)
    if saved:
        save(journal, "sums")
    if outcome is not None:
        end_practice(journal, run, outcome)
    return run


@pytest.mark.parametrize(
    ("outcome", "goes_on"),
    [
        (STOPPED, True),
        (STOPPED | {"ended": "time"}, True),
        (None, True),
        (STOPPED | {"ended": "too_hard"}, False),
        (STOPPED | {"warm_up_steps": 200}, False),
        ({"ended": "stopped"}, True),
    ],
)
def test_a_warm_up_was_interrupted(
    journal: Journal, outcome: dict[str, Any] | None, goes_on: bool
) -> None:
    interrupted(journal, outcome)
    assert warm_up_interrupted(journal, "sums", LIKE) is goes_on
    assert not warm_up_interrupted(journal, "logic", LIKE)
    others: list[dict[str, Any]] = [{"settings": ()}, {"model": "49m"}, {"data_mark": "abc"}]
    others.append({"options": LIKE["options"] | {"self_play.questions": "16"}})  # type: ignore[operator]
    for other in others:
        assert not warm_up_interrupted(journal, "sums", LIKE | other)


def test_an_interrupted_warm_up_is_known_until_practice_goes_beyond_it(journal: Journal) -> None:
    interrupted(journal, saved=False)
    assert not warm_up_interrupted(journal, "sums", LIKE), "nothing was saved"
    interrupted(journal)
    interrupted(journal, saved=False)
    interrupted(journal, settings=())
    assert warm_up_interrupted(journal, "sums", LIKE), "others change nothing"
    last = interrupted(journal)
    journal.retract(1)
    assert warm_up_interrupted(journal, "sums", LIKE), "the newest stands"
    add_practice_step(journal, last, 1, {}, [])
    assert not warm_up_interrupted(journal, "sums", LIKE)


def test_warm_ups_that_were_interrupted_again_and_again_end(journal: Journal) -> None:
    for _ in range(4):
        assert warm_up_interrupted(journal, "sums", LIKE) is (_ > 0)
        interrupted(journal, STOPPED | {"warm_up_steps": 60})
    assert not warm_up_interrupted(journal, "sums", LIKE), "240 steps of 200"


def curriculum_run(
    journal: Journal, arms: list[str], state: dict[str, Any] | None, **other: Any
) -> None:
    record = {"model": "tiny", "options": {"curriculum.method": "sec"}, "arms": arms, **other}
    run = begin_practice(journal, "sums", record)
    for step in (1, 2):
        add_practice_step(journal, run, step, {"curriculum": state and state | {"step": step}}, [])


def test_a_curriculum_goes_on_after_any_number_of_other_runs(journal: Journal) -> None:
    curriculum_run(journal, ["sums", "logic"], {"estimates": [0.5, 0.1]})
    curriculum_run(journal, ["sums", "logic"], None)
    curriculum_run(journal, ["sums"], {"estimates": [0.7]})
    for _ in range(60):
        curriculum_run(journal, ["sums", "logic"], {"estimates": [0.0, 0.0]}, model="49m")
        curriculum_run(journal, ["riddles"], {"estimates": [0.0]})
    options = {"curriculum.method": "exp3"}
    curriculum_run(journal, ["sums", "logic"], {"weights": [0.0]}, options=options)

    def kept(*arms: str) -> KeptCurriculum | None:
        return kept_curriculum(journal, arms, "sec", "tiny")

    both = KeptCurriculum(("sums", "logic"), {"estimates": [0.5, 0.1], "step": 2})
    assert kept("logic", "sums") == kept("logic") == both
    assert kept("sums") == KeptCurriculum(("sums",), {"estimates": [0.7], "step": 2})
    assert kept("detective") is None
