"""What a variable of the environment asks of a benchmark."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import BenchOptions, find
from benchmarks.common.asked import count_asked, counts_asked, names_asked, number_asked, one_asked
from engine.errors import DataError, NotFound

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


def test_counts_are_whole_and_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VIDYA_STEPS", raising=False)
    assert count_asked("VIDYA_STEPS", 15) == 15 and counts_asked("VIDYA_STEPS", (3, 0)) == [3, 0]
    monkeypatch.setenv("VIDYA_STEPS", " 0 ")
    assert count_asked("VIDYA_STEPS", 15) == 0
    with pytest.raises(DataError, match="VIDYA_STEPS: '0' is not a whole number from 1 to below"):
        count_asked("VIDYA_STEPS", 15, least=1)
    monkeypatch.setenv("VIDYA_STEPS", "999999999")
    assert count_asked("VIDYA_STEPS", 15) == 999_999_999
    monkeypatch.setenv("VIDYA_STEPS", "6, 12,")
    assert counts_asked("VIDYA_STEPS", (0,)) == [6, 12]


@pytest.mark.parametrize("text", ["many", "2.5", "-1", "1e3", "1_000", "²", "9" * 10, "9" * 5000])
def test_what_is_no_count_is_told_in_one_line(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIDYA_STEPS", text)
    for ask in (lambda: count_asked("VIDYA_STEPS", 1), lambda: counts_asked("VIDYA_STEPS", (1,))):
        with pytest.raises(DataError, match="VIDYA_STEPS: '.*' is not a whole number") as caught:
            ask()
        assert caught.value.next_step == "write one, or leave it out"


@pytest.mark.parametrize("text", ["many", "-1", "nan", "1e6"])
def test_what_is_no_number_is_told_with_its_range(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIDYA_MINUTES", text)
    with pytest.raises(DataError, match=f"VIDYA_MINUTES={text}: not a number from 0 to below 1,0"):
        number_asked("VIDYA_MINUTES")


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("practice_learning", "VIDYA_MINUTES"),
        ("tags", "VIDYA_STEPS"),
        ("gsm8k", "VIDYA_STEPS"),
        ("gsm8k", "VIDYA_WARM_UP"),
        ("grpo_variants", "VIDYA_TOKENS"),
        ("tools", "VIDYA_TOOLS_STEPS"),
        ("umbrella_talk", "VIDYA_TALK_SMALL_TALK"),
        ("umbrella_talk", "VIDYA_TALK_PARTNER"),
        ("nights", "VIDYA_NIGHTS_PART"),
        ("credit", "VIDYA_CREDIT_PART"),
        ("recall", "VIDYA_PEOPLE_FACTS"),
        ("recall", "VIDYA_PEOPLE_FIRST"),
    ],
)
def test_a_benchmark_tells_what_it_cannot_read(
    name: str, variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "-x")
    with pytest.raises(
        (DataError, NotFound), match=rf"'-x'.*\({variable}\)|{variable}(: '-x'|=-x)"
    ):
        find(name)(BenchOptions(tmp_path))
