"""learning.agents.value: a linear value of hidden states, its file, and what it is fit for."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from engine.errors import CheckpointError, ShapeError
from engine.model import Model
from learning.agents.interface import Decision, DrawnTokens, Move, Trajectory
from learning.agents.value import ValueHead, explained_variance, talk_states, token_states


def made(count: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    drawn = torch.Generator().manual_seed(seed)
    hidden = torch.randn(count, 8, generator=drawn)
    returns = hidden.double() @ torch.arange(8).double() + 100.0
    return hidden, returns + 0.1 * torch.randn(count, generator=drawn).double()


def test_it_learns_a_linear_value_of_any_size() -> None:
    head = ValueHead(8, ridge=1e-6)
    head.learn(*made(500, 1))
    hidden, returns = made(100, 2)
    assert explained_variance(head(hidden), returns) > 0.99
    assert float((head(hidden) - returns).mean().abs()) < 0.1
    assert not head(hidden.requires_grad_()).requires_grad, "the policy is not moved by it"


def test_older_observations_count_less() -> None:
    head, (hidden, returns) = ValueHead(8, ridge=1e-6), made(200, 1)
    head.learn(hidden, returns)
    for _ in range(20):
        head.learn(hidden, -returns, keep=0.5)
    assert explained_variance(head(hidden), -returns) > 0.99
    both = ValueHead(8, ridge=1e-6)
    both.learn(hidden[:50], returns[:50])
    both.learn(hidden[50:], returns[50:])
    once = ValueHead(8, ridge=1e-6)
    once.learn(hidden, returns)
    torch.testing.assert_close(both(hidden), once(hidden), atol=1e-3, rtol=1e-5)


def test_explained_variance_by_hand() -> None:
    returns = torch.tensor([0.0, 1.0, 2.0])
    assert explained_variance(returns, returns) == 1.0
    assert explained_variance(torch.full((3,), 5.0), returns) == 0.0
    assert explained_variance(-returns, returns) == pytest.approx(-3.0)
    assert explained_variance(returns, torch.ones(3)) == 0.0


def test_wrong_shapes_are_refused() -> None:
    head = ValueHead(8)
    with pytest.raises(ShapeError, match="was made for 8"):
        head(torch.zeros(2, 7))
    with pytest.raises(ShapeError, match="returns"):
        head.learn(torch.zeros(2, 8), torch.zeros(3))


def test_it_belongs_to_one_version_and_one_task(tmp_path: Path) -> None:
    head, path = ValueHead(8), tmp_path / "value.safetensors"
    hidden, returns = made(50, 1)
    head.learn(hidden, returns)
    head.save(path, 3, "chain_sum")
    again = ValueHead.load(path, 3, "chain_sum")
    assert torch.equal(again(hidden), head(hidden))
    again.learn(hidden, returns), head.learn(hidden, returns)
    assert torch.equal(again(hidden), head(hidden)), "it goes on learning as it was"
    for version, task in ((4, "chain_sum"), (3, "syllogism")):
        with pytest.raises(CheckpointError, match="value of version 3 on task chain_sum") as caught:
            ValueHead.load(path, version, task)
        assert caught.value.next_step
    path.write_bytes(b"cut")
    with pytest.raises(CheckpointError):
        ValueHead.load(path, 3, "chain_sum")


def test_a_state_is_that_before_its_token(tiny_model: Model) -> None:
    drawn = DrawnTokens((1, 2, 3), (4, 5), (0.0, 0.0), (True, True))
    states = token_states(tiny_model, drawn)
    assert states.shape == (3, tiny_model.config.dim)
    before = token_states(tiny_model, DrawnTokens((1, 2, 3), (9, 8), (0.0, 0.0), (True, True)))
    torch.testing.assert_close(states[0], before[0], atol=1e-5, rtol=1e-4)
    assert not torch.allclose(states[1], before[1], atol=1e-3)


def test_a_conversation_is_read_once_and_a_shortened_one_move_by_move(tiny_model: Model) -> None:
    drawn = [
        DrawnTokens((1, 2, 3), (4, 5), (0.0, 0.0), (True, True)),
        DrawnTokens((1, 2, 3, 4, 5, 9), (6,), (0.0,), (True,)),
        DrawnTokens((4, 5, 9, 6, 8), (7, 7), (0.0, 0.0), (True, True)),
    ]
    moves = tuple(Move(one.prompt, Decision(one.tokens, one), 0.0, 1.0) for one in drawn)
    for part in (moves[:1], moves[:2], moves):
        found = talk_states(tiny_model, Trajectory(part))
        for states, one in zip(found, drawn, strict=False):
            torch.testing.assert_close(states, token_states(tiny_model, one))
