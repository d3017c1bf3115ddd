"""How likely a message asks for something."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import CheckpointError
from learning.text.questions import likely_asked as module
from learning.text.questions.likely_asked import BUCKETS, features, likely_asked, save_weights


@pytest.mark.parametrize(
    "message",
    [
        "olgas op wat day",
        "garage code pls",
        "wen did mama die",
        "hw much was the bernina servis",
        "kirsty job",
        "wheres the drill agn",
        "What is my sister called?",
    ],
)
def test_questions_in_any_spelling(message: str) -> None:
    assert likely_asked(message) > 0.6


@pytest.mark.parametrize(
    "message",
    [
        "my wife hates peas",
        "wifi pw is Moonbase",
        "bin day is Thursday",
        "dentist at 9",
        "Helen turned 46 yesterday",
        "good morning all",
        "off to the dentist",
        "I put the passports in the blue tin on top of the wardrobe",
    ],
)
def test_statements_and_remarks(message: str) -> None:
    assert likely_asked(message) < 0.6


def test_features_are_buckets() -> None:
    found = features("Where is my key?")
    assert found and all(0 <= at < BUCKETS for at in found)
    assert found == features("Where is my key"), "its mark does not count"
    assert found != features("where is my key")
    assert features("is 12 it") == features("is 7 it"), "all numbers are alike"


def test_weights_are_read_as_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    weights = [0.0] * BUCKETS
    for at in features("ask me"):
        weights[at] = 0.5
    save_weights(-2.0, weights, tmp_path / "w.bin")
    monkeypatch.setattr(module, "WEIGHTS", tmp_path / "w.bin")
    module._weights.cache_clear()
    likely_asked.cache_clear()
    try:
        count = len(features("ask me"))
        assert likely_asked("ask me") == pytest.approx(1 / (1 + 2.718281828 ** (2 - count / 2)))
        shared = len(features("tell nobody") & features("ask me"))
        assert 0 < shared < count
        assert likely_asked("tell nobody") == pytest.approx(
            1 / (1 + 2.718281828 ** (2 - shared / 2))
        )
    finally:
        monkeypatch.undo()
        module._weights.cache_clear()
        likely_asked.cache_clear()


def test_weights_of_nothing_can_be_written(tmp_path: Path) -> None:
    save_weights(0.0, [0.0] * BUCKETS, tmp_path / "w.bin")
    assert (tmp_path / "w.bin").stat().st_size == BUCKETS + 8


@pytest.mark.parametrize(
    "message", ["", "12 34", "моя собака Рекс", "\u6211 \u4f4f", "min s\u00f8ster bor her"]
)
def test_what_is_not_in_english_letters_asks_nothing(message: str) -> None:
    assert likely_asked(message) == 0.0


def test_weights_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WEIGHTS", tmp_path / "w.bin")
    for fault, what in ((None, "cannot be read"), (b"short", "has 5 bytes in place of 16392")):
        if fault is not None:
            module.WEIGHTS.write_bytes(fault)
        module._weights.cache_clear()
        with pytest.raises(CheckpointError) as caught:
            likely_asked(f"is this new {what}")
        assert what in caught.value.what and caught.value.next_step == "install vidya again"
    module._weights.cache_clear()
