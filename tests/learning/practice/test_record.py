"""What a repetition of a practice does not share with the first run."""

from __future__ import annotations

from typing import Any

import pytest

from learning.practice.record import differences

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
        ("packages", {"torch": "2.14.0"}, "torch: 2.13.0 then, 2.14.0 now"),
    ],
)
def test_what_differs_is_told(name: str, value: object, words: str) -> None:
    (told,) = differences(RECORD, {**RECORD, name: value})
    assert words in told
