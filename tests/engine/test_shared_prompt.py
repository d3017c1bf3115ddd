"""engine.shared_prompt: a long prompt is held once, and the answers are those of copies."""

from __future__ import annotations

import pytest
import torch

from engine import generate as generating
from engine import shared_prompt
from engine.cache import CHUNK, KeyValueCache
from engine.config import Sampling
from engine.generate import Finished, GenerationControl, generate, prefill
from engine.model import Model
from engine.packed import PackedModel, packed
from engine.shared_prompt import SharedPromptCache, continued
from engine.tokenizers.tokenizer import Tokenizer

PROMPT = 40


@pytest.fixture
def model(tiny_model: Model, monkeypatch: pytest.MonkeyPatch) -> Model:
    """Weights at which a wrong share of the attention shows, and a short prompt that counts as long."""
    monkeypatch.setattr(shared_prompt, "LONG", PROMPT)
    with torch.no_grad():
        for weight in tiny_model.parameters():
            if weight.dim() == 2:
                weight.mul_(5.0)
    return tiny_model


def _ids(model: Model, *shape: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(3)
    return torch.randint(0, model.config.vocab_size, shape, generator=generator)


def _both(model: Model, rows: int, size: int) -> tuple[PackedModel, KeyValueCache, KeyValueCache]:
    """The packed model, and a prompt's continuations: shared, and copied."""
    fast = packed(model)
    prompt, _ = prefill(fast, _ids(model, PROMPT).tolist(), size - PROMPT)
    return fast, continued(prompt, rows, size), prompt.expand(rows, size)


@torch.no_grad()
def test_the_same_states_as_with_copies(model: Model) -> None:
    fast, shared, copied = _both(model, 3, PROMPT + 12)
    assert isinstance(shared, SharedPromptCache)
    for part in _ids(model, 3, 12).split([1, 1, 7, 1, 2], 1):
        states = fast.hidden_states(part, cache=shared)
        torch.testing.assert_close(
            states, fast.hidden_states(part, cache=copied), atol=5e-5, rtol=1e-4
        )
    assert shared.length == copied.length == PROMPT + 12
    assert shared.slots == CHUNK  # its own tokens alone
    torch.testing.assert_close(
        shared.filled(), copied.filled()[..., PROMPT:, :], atol=5e-5, rtol=1e-4
    )


@torch.no_grad()
def test_rows_leave(model: Model) -> None:
    fast, shared, copied = _both(model, 4, PROMPT + 8)
    for kept in ([0, 1, 2, 3], [3, 1], [1]):
        for cache in (shared, copied):
            cache.keep(torch.tensor(kept))
        part = _ids(model, len(kept), 2)
        torch.testing.assert_close(
            fast.hidden_states(part, cache=shared),
            fast.hidden_states(part, cache=copied),
            atol=5e-5,
            rtol=1e-4,
        )


@torch.no_grad()
def test_a_full_cache_says_so(model: Model) -> None:
    fast, shared, _ = _both(model, 2, PROMPT + 1)
    fast.hidden_states(_ids(model, 2, 1), cache=shared)
    with pytest.raises(IndexError, match=f"holds {PROMPT + 1} tokens"):
        fast.hidden_states(_ids(model, 2, 1), cache=shared)


@torch.no_grad()
def test_a_short_prompt_is_copied(model: Model) -> None:
    prompt, _ = prefill(packed(model), _ids(model, PROMPT - 1).tolist(), 4)
    assert not isinstance(continued(prompt, 2, PROMPT + 3), SharedPromptCache)


def _answers(model: Model, tokenizer: Tokenizer, prompt: list[int]) -> dict[int, list[int]]:
    sampling = Sampling(temperature=0.8, max_tokens=12)
    generator = torch.Generator().manual_seed(0)
    events = generate(model, tokenizer, prompt, 4, sampling, generator=generator)
    return {event.index: list(event.tokens) for event in events if isinstance(event, Finished)}


def test_the_same_answers_whether_shared_read_in_parts_or_not(
    tiny_model: Model, tiny_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    prompt = [60 + number % 40 for number in range(PROMPT)]
    usual = _answers(tiny_model, tiny_tokenizer, prompt)
    monkeypatch.setattr(shared_prompt, "LONG", PROMPT)
    monkeypatch.setattr(generating, "PART", 7)
    assert _answers(tiny_model, tiny_tokenizer, prompt) == usual
    assert len(usual) == 4


def test_cancel_while_the_prompt_is_read(
    tiny_model: Model,
    tiny_tokenizer: Tokenizer,
    monkeypatch: pytest.MonkeyPatch,
    widths: list[int],
) -> None:
    monkeypatch.setattr(generating, "PART", 10)
    control = GenerationControl()
    control.stops = lambda index: len(widths) == 2  # type: ignore[method-assign]
    events = list(
        generate(
            tiny_model,
            tiny_tokenizer,
            [65] * PROMPT,
            3,
            Sampling(max_tokens=4),
            generator=torch.Generator().manual_seed(0),
            control=control,
        )
    )
    assert widths == [10, 10]
    assert [(e.index, e.ending, len(e.tokens)) for e in events if isinstance(e, Finished)] == [
        (1, "cancelled", 0),
        (2, "cancelled", 0),
        (3, "cancelled", 0),
    ]
    assert len(events) == 3
