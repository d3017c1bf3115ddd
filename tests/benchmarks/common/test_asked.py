"""What a variable of the environment asks of a benchmark."""

from __future__ import annotations

import pytest

from benchmarks.common.asked import names_asked, one_asked
from engine.errors import NotFound

KNOWN = ("one", "two", "three")


def test_names_stand_in_the_order_of_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VIDYA_ARMS", raising=False)
    assert names_asked("VIDYA_ARMS", KNOWN) == list(KNOWN)
    assert names_asked("VIDYA_ARMS", KNOWN, ["two"]) == ["two"]
    monkeypatch.setenv("VIDYA_ARMS", " three, one,")
    assert names_asked("VIDYA_ARMS", KNOWN) == ["three", "one"]


def test_one_is_the_first_unless_another_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIDYA_HALF", " ")
    assert one_asked("VIDYA_HALF", KNOWN) == "one"
    monkeypatch.setenv("VIDYA_HALF", "two")
    assert one_asked("VIDYA_HALF", KNOWN) == "two"
    monkeypatch.setenv("VIDYA_HALF", "two,three")
    with pytest.raises(NotFound, match=r"two, three: too many \(VIDYA_HALF\)"):
        one_asked("VIDYA_HALF", KNOWN)
    monkeypatch.setenv("VIDYA_HALF", "four")
    with pytest.raises(NotFound, match=r"'four' does not exist \(VIDYA_HALF\)"):
        one_asked("VIDYA_HALF", KNOWN)
