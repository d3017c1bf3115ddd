"""engine.precision: the numbers that a device multiplies fastest."""

from __future__ import annotations

import contextlib

import pytest
import torch

from engine import precision


@pytest.fixture(autouse=True)
def _measured_anew() -> None:
    precision.fast_dtype.cache_clear()


@pytest.mark.parametrize(
    ("short", "plain", "expected"),
    [(0.25, 1.0, torch.bfloat16), (0.9, 1.0, torch.float32), (300.0, 1.0, torch.float32)],
)
def test_the_faster_is_taken(
    monkeypatch: pytest.MonkeyPatch, short: float, plain: float, expected: torch.dtype
) -> None:
    seconds = {torch.bfloat16: short, torch.float32: plain}
    monkeypatch.setattr(precision, "_seconds", lambda a, b: seconds[a.dtype])
    assert precision.fast_dtype("cpu") == expected
    with precision.autocast(torch.device("cpu")):
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == expected
    precision.fast_dtype.cache_clear()


def test_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[torch.dtype] = []
    monkeypatch.setattr(precision, "_seconds", lambda a, b: asked.append(a.dtype) or 1.0)
    assert precision.fast_dtype("cpu") == precision.fast_dtype("cpu") == torch.float32
    assert len(asked) == 4  # a small product and a larger one, each in both
    precision.fast_dtype.cache_clear()


def test_one_thread_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two threads wait for each other on a busy machine: bfloat16 seemed as slow as float32."""
    before, during = torch.get_num_threads(), list[int]()
    torch.set_num_threads(2)
    monkeypatch.setattr(
        precision, "_seconds", lambda a, b: during.append(torch.get_num_threads()) or 1.0
    )
    try:
        precision.fast_dtype("cpu")
        assert set(during) == {1} and torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
        precision.fast_dtype.cache_clear()


def test_other_devices_stay_as_they_are() -> None:
    assert precision.fast_dtype("meta") == torch.float32
    assert isinstance(precision.autocast(torch.device("meta")), contextlib.nullcontext)
