"""benchmarks.facts.hidden_states: questions as hidden states, whitened, and their neighbours."""

from __future__ import annotations

import pytest
import torch

from benchmarks.facts.hidden_states import (
    QuestionSpace,
    centring,
    layer_features,
    whitening,
)
from engine.model import Model
from engine.precision import autocast
from engine.tokenizers.chat_format import encode_prompt
from engine.tokenizers.tokenizer import Tokenizer

QUESTIONS = [
    "Hi",
    "What is my cat called?",
    "Why does nobody ever know it before the end of the day?",
]


def test_features_are_the_hidden_states_of_the_prompt(
    tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    layers = range(len(tiny_model.blocks) + 1)
    found = layer_features(tiny_model, tiny_tokenizer, QUESTIONS, layers)
    chat = tiny_tokenizer.chat
    for number, text in enumerate(QUESTIONS):
        ids = encode_prompt(tiny_tokenizer, [("user", text)], 128, 8)
        body = tiny_tokenizer.encode(text)
        first = len(chat.start) + len(chat.user_head)
        assert ids[first : first + len(body)] == body
        for layer in layers:
            with torch.no_grad(), autocast(tiny_model.device):
                states = tiny_model.trunk(torch.tensor([ids]), layer)[0].float()
            mean = states[first : first + len(body)].mean(0)
            assert close(found["mean", layer][number], mean)
            assert close(found["last", layer][number], states[-1])
    one = layer_features(tiny_model, tiny_tokenizer, QUESTIONS[1:2], [1])["last", 1]
    assert close(one[0], found["last", 1][1])
    assert not any(block._forward_hooks for block in tiny_model.blocks)


def close(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Equal but for rounding, which is bfloat16's where that is fast."""
    return bool((one - other).norm() < 0.02 * other.norm())


def test_edges(tiny_model: Model, tiny_tokenizer: Tokenizer) -> None:
    none = layer_features(tiny_model, tiny_tokenizer, [], [1])["mean", 1]
    assert none.shape == (0, tiny_model.config.dim)
    long = layer_features(tiny_model, tiny_tokenizer, ["why " * 4000], [1])["mean", 1]
    assert bool(long.isfinite().all())
    with pytest.raises(ValueError, match="has no layer 99"):
        layer_features(tiny_model, tiny_tokenizer, ["Hi"], [99])


def test_whitening_gives_all_directions_the_same_spread() -> None:
    generator = torch.Generator().manual_seed(0)
    plain = torch.randn(5000, 3, generator=generator)
    turned = plain @ torch.tensor([[9.0, 1.0, 0.0], [0.0, 2.0, 1.0], [0.0, 0.0, 0.1]]) + 5.0
    made = whitening(turned, shrinkage=1e-9)
    spread = torch.cov(((turned - made.mean) @ made.matrix).T)
    torch.testing.assert_close(spread, torch.eye(3), atol=1e-3, rtol=1e-3)
    torch.testing.assert_close(made(turned).norm(dim=1), torch.ones(5000))


def test_nearest_by_hand() -> None:
    known = torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
    found = QuestionSpace.of(known, centring(known)).nearest(torch.tensor([[2.0, 0.1]]), 2)
    assert found.places == [[0, 1]]
    assert found.likeness[0][0] == pytest.approx(2.0 / (2.0**2 + 0.1**2) ** 0.5)
    assert QuestionSpace.of(known).nearest(known, 5).places[0][0] == 0


def test_whitening_finds_what_a_common_direction_hides() -> None:
    # the meaning is in 20 directions; another, of a hundred times the variance, says nothing
    generator = torch.Generator().manual_seed(0)
    meaning, right = torch.randn(200, 20, generator=generator), list(range(200))
    known, asked = (
        torch.cat([10.0 * torch.randn(200, 1, generator=generator), meaning], 1) for _ in range(2)
    )

    def found(space: QuestionSpace) -> int:
        places = space.nearest(asked, 1).places
        return sum(place == [index] for place, index in zip(places, right, strict=True))

    assert found(QuestionSpace.of(known, centring(known))) < 100
    assert found(QuestionSpace.of(known)) > 190
