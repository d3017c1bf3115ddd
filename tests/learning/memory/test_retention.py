"""What practice may forget: nothing of few lessons."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from engine.model import Model
from learning.memory.retention import examined


@pytest.mark.parametrize(
    ("lessons", "lost", "passed"), [(10, 0, True), (10, 1, False), (100, 1, True), (0, 0, True)]
)
def test_practice_loses_no_lesson_of_few(
    tiny_model: Model, lessons: int, lost: int, passed: bool
) -> None:
    keeper: Any = SimpleNamespace(
        book_before=1.0,
        book_recall=1.0,
        earlier=lessons,
        earlier_before=1.0,
        earlier_recall=1.0 - lost / max(lessons, 1),
        measure=lambda _: 1.0,
    )
    assert examined(keeper, tiny_model).passed == passed
