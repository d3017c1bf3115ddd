"""`forget` keeps own talk and its reference only if no weights that knew the text sampled any of it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import torch

from engine.storage.checkpoint import load_tensors, save_tensors
from learning.lessons.forget import forget
from learning.lessons.learner import Learner
from learning.models.files import REFERENCE, TALK, reference_version
from learning.models.store import ModelStore
from learning.protocol.records import Lesson
from tests.learning.conftest import Place
from tests.learning.lessons.test_forget import backdate
from tests.learning.lessons.test_learner import lesson, open_learner, place  # noqa: F401
from tests.learning.lessons.test_undo import publish, written  # noqa: F401

pytestmark = pytest.mark.usefixtures("written")
OTHER, SECRET = lesson("What is first?", "A first one."), lesson("The word?", "Swordfish.")


def kept(folder: Path) -> list[bool]:
    return [(folder / name).exists() for name in (TALK, REFERENCE)]


def forgotten(place: Place, secret: Lesson) -> list[bool]:  # noqa: F811
    home, folder, journal = place
    forget(home, journal, journal.to_forget(lesson=secret.id), [folder])
    return kept(folder)


def prepared(place: Place) -> Learner:  # noqa: F811
    backdate(place[1])
    learner = open_learner(place)
    learner.caches.prepare()
    return learner


def trained_on_everything(learner: Learner) -> None:
    """As if an epoch over the book had been trained: the blocks below moved too."""
    with torch.no_grad():
        learner.weights.model.embedding.weight.mul_(0.99)
    learner.weights.publish([], "the book, 1 epoch")
    learner.forget_memory()


def trained_with_the_secret(place: Place) -> tuple[Learner, Lesson]:  # noqa: F811
    """All weights knew it when some talk was drawn by them."""
    learner = prepared(place)
    secret = publish(learner, SECRET)
    trained_on_everything(learner)
    learner.caches.prepare()
    assert learner.caches.renew_talk(random.Random(0))
    return learner, secret


def test_talk_renewed_since_stays_because_the_weights_before_said_it(place: Place) -> None:  # noqa: F811
    learner = prepared(place)
    publish(learner, OTHER)
    secret = publish(learner, SECRET)
    assert learner.caches.renew_talk(random.Random(0))
    talk = (learner.folder / TALK).read_bytes()
    reference = learner.caches.reference
    assert forgotten(place, secret) == [True, True]
    assert (learner.folder / TALK).read_bytes() == talk
    again = open_learner(place)
    torch.testing.assert_close(
        again.caches.reference.at_targets(again.replay.talk),
        reference.at_targets(again.replay.talk),
        atol=1e-4,
        rtol=1e-4,
    )


def test_talk_first_held_by_weights_that_knew_it_goes(place: Place) -> None:  # noqa: F811
    backdate(place[1])
    learner = open_learner(place)
    publish(learner, OTHER)
    secret = publish(learner, SECRET)
    learner.caches.prepare()
    assert kept(learner.folder) == [True, True]
    assert forgotten(place, secret) == [False, False]


def test_talk_of_a_training_that_knew_it_goes(place: Place) -> None:  # noqa: F811
    _, secret = trained_with_the_secret(place)
    assert forgotten(place, secret) == [False, False]


def test_talk_of_a_training_before_it_stays(place: Place) -> None:  # noqa: F811
    learner = prepared(place)
    trained_on_everything(learner)
    learner.caches.prepare()
    secret = publish(learner, SECRET)
    assert learner.caches.renew_talk(random.Random(0))
    assert forgotten(place, secret) == [True, True]


def test_talk_of_a_training_that_was_undone_goes(place: Place) -> None:  # noqa: F811
    learner, secret = trained_with_the_secret(place)
    learner.undo(secret)
    learner.caches.prepare()
    assert kept(learner.folder) == [True, True]
    assert forgotten(place, secret) == [False, False]


def test_talk_of_a_training_before_a_rollback_to_the_first_weights_goes(
    place: Place,  # noqa: F811
) -> None:
    home, folder, journal = place
    _, secret = trained_with_the_secret(place)
    ModelStore(home).rollback(folder.name, 0, journal)
    again = open_learner(place)
    again.caches.prepare()
    assert again.version == 0 and kept(folder) == [True, True]
    assert forgotten(place, secret) == [False, False]


def test_talk_with_a_damaged_version_goes(place: Place) -> None:  # noqa: F811
    learner = prepared(place)
    secret = publish(learner, SECRET)
    tensors, record = load_tensors(learner.folder / REFERENCE)
    for damaged in ("x7", "", "-0", "00"):
        save_tensors(tensors, learner.folder / REFERENCE, record | {"version": damaged})
        assert reference_version(learner.folder) is None
    assert forgotten(place, secret) == [False, False]


def test_talk_dreamt_since_stays_when_something_later_is_forgotten(place: Place) -> None:  # noqa: F811
    """As after a first forgetting that removed the talk."""
    learner = prepared(place)
    publish(learner, OTHER)
    (learner.folder / TALK).unlink()
    learner.forget_memory()
    learner.caches.prepare()
    secret = publish(learner, SECRET)
    assert learner.caches.renew_talk(random.Random(0))
    assert forgotten(place, secret) == [True, True]


def test_talk_of_weights_from_elsewhere_goes(place: Place) -> None:  # noqa: F811
    """Nobody knows what they were made from."""
    learner = open_learner(place)
    learner.caches.prepare()
    publish(learner, OTHER)
    secret = publish(learner, SECRET)
    assert forgotten(place, secret) == [False, False]
