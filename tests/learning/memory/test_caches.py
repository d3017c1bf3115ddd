"""learning.memory.caches: own talk is renewed with the voice of the reference."""

from __future__ import annotations

import random

import pytest
import torch

from engine.storage.checkpoint import load_model, load_tensors, save_tensors
from learning.data.examples import Example
from learning.lessons.learner import Learner
from learning.memory.own_talk import own_talk
from learning.memory.reference import reference_of
from learning.models.files import REFERENCE, TALK, reference_version
from learning.objectives.forward import target_divergences
from tests.learning.conftest import Place
from tests.learning.lessons.test_learner import open_learner, place  # noqa: F401


@pytest.fixture
def learner(place: Place) -> Learner:  # noqa: F811
    """A learner after its reference was captured and its upper block was moved, as a lesson moves it."""
    learner = open_learner(place)
    learner.caches.prepare()
    noise = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for weight in learner.weights.model.blocks[1].parameters():
            if weight.dim() == 2:
                weight.add_(0.05 * torch.randn(weight.shape, generator=noise))
    learner.weights.publish([], "moved")
    return learner


def _fresh(learner: Learner, before: list[Example]) -> list[Example]:
    return [e for e in learner.replay.talk if e not in before]


def test_new_rows_are_the_voice_of_before_the_lessons(learner: Learner, place: Place) -> None:  # noqa: F811
    before, untaught = list(learner.replay.talk), load_model(place[1])
    untaught.load_state_dict(learner.weights.model.state_dict())
    with torch.no_grad():
        kept = learner.caches.reference.weights()
        assert kept
        for name, matrix in kept.matrices.items():
            untaught.get_parameter(name).copy_(matrix)
    assert learner.caches.renew_talk(random.Random(0))
    new = _fresh(learner, before)
    assert new and len(learner.replay.talk) == len(before)
    with torch.no_grad():
        wanted = target_divergences(reference_of(untaught), learner.caches.reference, new)
        moved = target_divergences(learner.caches.upper, learner.caches.reference, new)
    assert wanted.abs().max() < 1e-4 < moved.mean()


def test_renewed_talk_is_there_after_a_restart(learner: Learner, place: Place) -> None:  # noqa: F811
    learner.caches.renew_talk(random.Random(0))
    talk, states = learner.replay.talk, learner.caches.reference.at_targets(learner.replay.talk)
    again = open_learner(place)
    assert again.replay.talk == talk
    torch.testing.assert_close(
        again.caches.reference.at_targets(talk), states, atol=1e-4, rtol=1e-4
    )


def test_an_interrupted_renewal_changes_nothing(
    learner: Learner, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, left = list(learner.replay.talk), 60

    def pause() -> None:
        nonlocal left
        left -= 1
        if not left:
            raise KeyboardInterrupt

    monkeypatch.setattr(learner.caches, "_pause", pause)
    for stop_after in (3, 47):
        left = stop_after
        with pytest.raises(KeyboardInterrupt):
            learner.caches.renew_talk(random.Random(0))
        assert learner.replay.talk == before
        assert own_talk(learner.weights.model, learner.tokenizer, learner.folder) == before


def test_without_the_matrices_talk_stays_as_it_is(learner: Learner) -> None:
    """A file of an earlier version has none."""
    path, before = learner.folder / REFERENCE, list(learner.replay.talk)
    tensors, record = load_tensors(path)
    save_tensors({"hidden": tensors["hidden"]}, path, record)
    assert not learner.caches.renew_talk(random.Random(0))
    assert learner.replay.talk == before


def test_the_version_of_talk_is_known_where_no_other_weights_said_any(
    place: Place,  # noqa: F811
) -> None:
    learner = open_learner(place)
    learner.caches.prepare()
    assert reference_version(learner.folder) == 0, "the weights as they came"
    with torch.no_grad():
        learner.weights.model.embedding.weight.mul_(0.99)  # as training on the book moves it
    learner.weights.publish([], "trained on the book")
    learner.forget_memory()
    learner.caches.prepare()
    assert reference_version(learner.folder) == learner.version > 0
    learner.weights.go_back(*learner.weights.without([99])[:2], "back")  # the first weights
    learner.forget_memory()
    learner.caches.prepare()
    assert reference_version(learner.folder) is None, "trained weights may have said some of it"
    assert learner.caches.renew_talk(random.Random(0))
    assert reference_version(learner.folder) is None


def test_talk_that_is_made_anew_takes_its_reference_with_it(learner: Learner) -> None:
    """All of it comes from the weights that say it now."""
    before = learner.caches.reference.weights()
    (learner.folder / TALK).unlink()
    learner.forget_memory()
    learner.caches.prepare()
    after = learner.caches.reference.weights()
    assert before and after and (before.version, after.version) == (0, learner.version)
    assert reference_version(learner.folder) == learner.version


def test_rows_that_can_no_more_be_captured_leave_own_talk(learner: Learner) -> None:
    """The file's states are whole, and the matrices for a row that it lacks are damaged."""
    learner.caches.renew_talk(random.Random(0))
    path = learner.folder / REFERENCE
    tensors, record = load_tensors(path)
    save_tensors({"hidden": tensors["hidden"]}, path, record)
    talk, states = learner.replay.talk, learner.caches.reference
    learner.forget_memory()
    learner.caches.prepare()
    left = learner.replay.talk
    assert 0 < len(left) < len(talk) and set(left) < set(talk)
    torch.testing.assert_close(
        learner.caches.reference.at_targets(left), states.at_targets(left), atol=1e-4, rtol=1e-4
    )


def test_the_reference_has_the_rows_that_were_read_last(
    learner: Learner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a full disk talk.json lacks what was renewed."""
    monkeypatch.setattr("learning.memory.caches.write_talk", lambda *_: None)
    learner.caches.renew_talk(random.Random(0))
    renewed = learner.replay.talk
    assert learner.caches.read_books_again().talk != renewed
    assert len(learner.caches.reference.at_targets(learner.replay.talk))
