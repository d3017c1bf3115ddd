"""vidya_tui.state.samples: answers by a component of their reward."""

from __future__ import annotations

import pytest

from engine.errors import ConfigError, NotFound
from learning.protocol.events import PracticeSample
from vidya_tui.state.samples import by_component, components, following


def sample(step: int, **parts: float) -> PracticeSample:
    return PracticeSample(step, "p", "t", 0.0, parts)


SAMPLES = [
    sample(1, correct=1.0, python_count=1.0),
    sample(2, correct=0.0, python_count=5.0),
    sample(3, correct=0.0, python_count=0.0),
    sample(4, correct=1.0),
]


@pytest.mark.parametrize(
    ("by", "steps"),
    [
        ("", [1, 2, 3, 4]),
        ("python_count", [2, 1]),
        ("correct", [1, 4]),
        ("correct=0", [2, 3]),
        ("python_count = 0", [3]),
        ("python_count=2", []),
    ],
)
def test_answers_by_a_component(by: str, steps: list[int]) -> None:
    assert [one.step for one in by_component(SAMPLES, by)] == steps


def test_what_no_answer_has_is_told() -> None:
    with pytest.raises(NotFound, match="choose among: correct, python_count"):
        by_component(SAMPLES, "calls")
    with pytest.raises(NotFound, match="choose among: none"):
        by_component([], "correct")
    with pytest.raises(ConfigError, match="'few' is no number"):
        by_component(SAMPLES, "correct=few")


def test_components_come_in_turn() -> None:
    assert components(SAMPLES) == ("correct", "python_count")
    seen = [""]
    for _ in range(3):
        seen.append(following(SAMPLES, seen[-1]))
    assert seen == ["", "correct", "python_count", ""]
    assert following(SAMPLES, "gone") == ""
