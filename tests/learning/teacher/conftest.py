"""What tests of recalled and offered lessons share."""

from __future__ import annotations

from pathlib import Path

import pytest

from learning.home import Home
from learning.journal.journal import Journal
from learning.lessons.learner import Learner
from learning.teacher import recall as module
from learning.teacher.recall import LessonRecall
from learning.teacher.relevance import Weighing

Place = tuple[Home, Path, Journal]
BY_LIKENESS = Weighing(bias=0.0, near=0.0, ahead=20.0, answer=0.0, token=0.0)


@pytest.fixture
def learner(tiny_place: Place, monkeypatch: pytest.MonkeyPatch) -> Learner:
    home, folder, journal = tiny_place
    monkeypatch.setattr(module, "OWN", BY_LIKENESS)
    return Learner(home, folder, journal, seed=0)


@pytest.fixture
def recall(tiny_place: Place, learner: Learner) -> LessonRecall:
    return LessonRecall(learner, tiny_place[2])
