"""Take steps, judge, publish or put back: in one place, and only for what moves."""

from __future__ import annotations

import pytest
import torch

from engine.errors import CheckpointError
from learning.lessons.recipe import LessonTransaction
from learning.memory.transaction import UNPUBLISHED, Commit
from learning.models.trainable import all_weights, upper_matrices
from tests.learning.conftest import Place
from tests.learning.lessons.test_learner import open_learner, place  # noqa: F401
from tests.learning.lessons.test_undo import MOVES

BELOW = "blocks.0.ffn.down.weight"


@pytest.fixture
def transaction(place: Place) -> LessonTransaction:  # noqa: F811
    return open_learner(place).transaction


def step(transaction: LessonTransaction, name: str = MOVES, by: float = 0.5) -> float:
    with torch.no_grad():
        transaction.weights.model.get_parameter(name).add_(by)
    return by


def test_what_the_judge_lets_through_is_published(transaction: LessonTransaction) -> None:
    before = transaction.weights.state()
    outcome = transaction.attempt(
        lambda: step(transaction), lambda _: Commit((), "lesson 1", snapshot=False)
    )
    assert (outcome.result, outcome.kept, transaction.weights.version) == (0.5, True, 1)
    assert transaction.journal.publication_note(1) == "lesson 1"
    assert torch.equal(transaction.weights.model.get_parameter(MOVES), before[MOVES] + 0.5)
    answers = transaction.weights.published.model.get_parameter(MOVES)
    assert torch.equal(answers, (before[MOVES] + 0.5).to(answers.dtype))


def test_what_it_does_not_is_put_back(transaction: LessonTransaction) -> None:
    before, margins = transaction.weights.state(), transaction.caches.margins()
    outcome = transaction.attempt(lambda: step(transaction), lambda _: None)
    assert (outcome.result, outcome.kept, transaction.weights.version) == (0.5, False, 0)
    now = transaction.weights.state()
    assert all(torch.equal(now[name], before[name]) for name in before)
    assert transaction.caches.margins() == margins
    assert all(p.requires_grad and p.grad is None for p in transaction.weights.model.parameters())


def test_what_is_kept_without_a_publication_can_still_be_put_back(
    transaction: LessonTransaction,
) -> None:
    before = transaction.weights.state()

    def steps() -> bool:
        step(transaction)
        inner = transaction.attempt(lambda: step(transaction), lambda _: UNPUBLISHED)
        assert inner.kept and transaction.weights.version == 0
        lost = transaction.attempt(lambda: step(transaction), lambda _: None)
        return not lost.kept

    outcome = transaction.attempt(steps, lambda good: None if good else UNPUBLISHED)
    assert outcome.result and not outcome.kept
    assert torch.equal(transaction.weights.model.get_parameter(MOVES), before[MOVES])


@pytest.mark.parametrize("where", ["steps", "judge", "publication"])
def test_whatever_is_raised_puts_back(
    transaction: LessonTransaction, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    before = transaction.weights.state()

    def fail(*_: object, **__: object) -> Commit:
        step(transaction)
        raise CheckpointError("the disk is full", "free some space")

    if where == "publication":
        monkeypatch.setattr(transaction.weights, "_save", fail)
    steps = fail if where == "steps" else lambda: step(transaction)
    judge = fail if where == "judge" else lambda _: Commit((), "a lesson")
    with pytest.raises(CheckpointError, match="full"):
        transaction.attempt(steps, judge)
    now = transaction.weights.state()
    assert all(torch.equal(now[name], before[name]) for name in before)
    assert transaction.weights.published.version == 0


def test_what_was_published_stays_whatever_is_raised_then(
    transaction: LessonTransaction, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise CheckpointError("the disk is full", "free some space")

    monkeypatch.setattr(transaction.caches, "save", fail)
    before = transaction.weights.state()
    with pytest.raises(CheckpointError):
        transaction.attempt(lambda: step(transaction), lambda _: Commit((), "a lesson"))
    assert torch.equal(transaction.weights.model.get_parameter(MOVES), before[MOVES] + 0.5)


def test_an_attempt_that_goes_on_goes_back_to_its_last_publication(
    transaction: LessonTransaction,
) -> None:
    model = transaction.weights.model
    before = transaction.weights.state()
    with pytest.raises(KeyboardInterrupt), transaction.begin(all_weights(model)) as attempt:
        step(transaction, BELOW)
        attempt.publish(Commit((), "practice: sums, step 5"), go_on=True)
        step(transaction, BELOW)
        attempt.put_back()
        assert torch.equal(model.get_parameter(BELOW), before[BELOW] + 0.5)
        step(transaction, BELOW)
        raise KeyboardInterrupt
    assert torch.equal(model.get_parameter(BELOW), before[BELOW] + 0.5)
    assert transaction.weights.version == 1


def test_only_what_moves_is_copied(transaction: LessonTransaction) -> None:
    model = transaction.weights.model
    upper = upper_matrices(model, 1)
    assert set(upper.state()) == set(transaction.trainable.names) < set(all_weights(model).state())
    assert len(upper.start()) == len(upper.names)
    assert {name for name, p in model.named_parameters() if p.requires_grad} == set(upper.names)
    state = upper.state()
    step(transaction)
    upper.restore(state)
    assert torch.equal(model.get_parameter(MOVES), state[MOVES])
