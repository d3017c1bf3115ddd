"""What a repetition of a practice does not share with the first run."""

from __future__ import annotations

from typing import Any

import pytest

from learning.journal.practices import PracticeEntry
from learning.practice.options import practice_options
from learning.practice.record import differences, repetition

RECORD: dict[str, Any] = {
    "weights": "a",
    "version": 3,
    "model": "10m",
    "data_mark": "",
    "threads": 2,
    "machine": "some CPU (avx2), x86_64 Linux",
    "device": "cpu",
    "processes": 1,
    "value": "",
    "options": {"lr": "5e-05"},
    "packages": {"torch": "2.13.0"},
}


def test_nothing_differs_from_itself() -> None:
    assert differences(RECORD, RECORD) == []
    older = {k: v for k, v in RECORD.items() if k not in ("device", "processes", "value")}
    assert differences(older, RECORD) == [], "an older record lacks some"


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("device", "cuda", "device: cpu then, cuda now"),
        ("machine", "another", "machine: some CPU (avx2), x86_64 Linux then, another now"),
        ("processes", 2, "processes: 1 then, 2 now"),
        ("value", "b", "its critic began with another value"),
        ("weights", "b", "it began with other weights (version 3 of 10m)"),
        ("data_mark", "b", "the data has changed"),
        ("options", {}, "this version has no option lr (5e-05 then)"),
        (
            "options",
            {"lr": "5e-05", "ramp": "20"},
            "the version of then had no option ramp (20 now)",
        ),
        ("packages", {"torch": "2.14.0"}, "torch: 2.13.0 then, 2.14.0 now"),
    ],
)
def test_what_differs_is_told(name: str, value: object, words: str) -> None:
    (told,) = differences(RECORD, {**RECORD, name: value})
    assert words in told


def test_a_repetition_leaves_out_options_that_this_version_does_not_have() -> None:
    values = {option.name: option.usual for option in practice_options()}
    asked = {"data": None, "warm_up": True, "settings": ["most=3"], "seed": 5}
    record = {**RECORD, **asked, "options": {**values, "adapter.enough": "0.2"}}
    again = repetition(PracticeEntry(7, "sums", record, None, 0.0))
    assert (again.task, again.settings, again.seed, again.again) == ("sums", ("most=3",), 5, 7)
    assert again.options == tuple(f"{name}={value}" for name, value in values.items())
