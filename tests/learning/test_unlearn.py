"""Forgetting in several models at once: all of them, or none."""

from __future__ import annotations

import shutil

import pytest

from engine.checkpoint_files import WEIGHTS
from engine.errors import NotFound
from learning.model_store import ModelStore
from learning.unlearn import forget
from tests.learning.conftest import Place
from tests.learning.test_learner import lesson, open_learner, place  # noqa: F401
from tests.learning.test_take_back import publish


def test_where_one_model_cannot_go_back_none_does(place: Place) -> None:  # noqa: F811
    home, folder, journal = place
    learner = open_learner(place)
    secret = publish(learner, lesson("What is my password?", "Swordfish."))
    grown = folder.with_name("zlarge")  # its first weights know it already
    shutil.copytree(folder, grown, ignore=shutil.ignore_patterns("snapshots"))
    before = [(one / WEIGHTS).read_bytes() for one in (folder, grown)]
    doomed = journal.to_forget(lesson=secret.id)
    said = "zlarge: no weights without lesson 1 .* nothing was erased.*vidya model remove zlarge"
    with pytest.raises(NotFound, match=said):
        forget(home, journal, doomed, [folder])
    assert [(one / WEIGHTS).read_bytes() for one in (folder, grown)] == before
    assert journal.lesson(secret.id).state == "learned"

    ModelStore(home).remove("zlarge")
    done = forget(home, journal, doomed, [folder])
    assert (done.models, done.records) == (("tiny",), 1)
    assert journal.lessons() == []


def test_what_is_erased_is_replayed_no_more_where_the_weights_stay(place: Place) -> None:  # noqa: F811
    home, _, journal = place
    learner = open_learner(place)
    secret = publish(learner, lesson("What is my password?", "Swordfish."))
    learner.forget_memory()
    assert [e.prompt for e in learner.replay.taught] == ["what is my password"]
    done = forget(home, journal, journal.to_forget(lesson=secret.id), learner=learner)
    assert (done.models, done.records) == ((), 1)
    assert learner.replay.taught == []
