"""engine.grow: larger models that say exactly what the smaller one says."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from engine.cache import KeyValueCache
from engine.config import CONFIGS, ModelConfig
from engine.errors import ConfigError
from engine.grow import block_places, grow
from engine.model import Model

SMALL = CONFIGS["tiny"]
IDS = torch.tensor([[3, 77, 12, 9, 255, 400, 1], [5, 5, 8, 130, 2, 60, 61]])
WIDER = {"dim": 2 * SMALL.dim, "heads": 2 * SMALL.heads, "kv_heads": 2 * SMALL.kv_heads}


def _seed(number: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(number)


def _trained(config: ModelConfig = SMALL) -> Model:
    """Weights of all sizes and norms that are not 1, as training leaves them."""
    model = Model(config, generator=_seed())
    with torch.no_grad():
        for number, weight in enumerate(model.parameters()):
            if weight.dim() == 1:
                weight.uniform_(0.5, 2.0, generator=_seed(number))
            else:
                weight.mul_(4.0)
    return model


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"layers": 5},
        {"hidden": 300},
        {"context": 512},
        WIDER,
        {"dim": 96, "heads": 6, "kv_heads": 2},
        {"dim": 96, "heads": 6, "kv_heads": 3},
        {**WIDER, "layers": 3, "hidden": 256, "context": 300},
    ],
)
def test_the_same_logits(changes: dict[str, int]) -> None:
    model = _trained()
    large = grow(model, replace(SMALL, **changes), generator=_seed(1))
    assert large.config.parameters == sum(p.numel() for p in large.parameters())
    with torch.no_grad():
        torch.testing.assert_close(large(IDS), model(IDS), atol=2e-4, rtol=1e-4)


@pytest.mark.slow
def test_10m_becomes_49m_with_the_same_answers_in_bfloat16() -> None:
    model = _trained(replace(CONFIGS["10m"], vocab_size=512))
    large = grow(model, CONFIGS["49m"], generator=_seed(1))
    assert large.config.layers == 7 and large.config.context == 1024
    with torch.no_grad():
        expected = model(IDS)
        torch.testing.assert_close(large(IDS), expected, atol=1e-3, rtol=1e-3)
        rounded = large.to(torch.bfloat16).float()(IDS)
    assert (rounded - expected).abs().max() < 0.05 * expected.abs().max()


def test_cached_steps_of_the_large_model() -> None:
    model = _trained()
    large = grow(model, replace(SMALL, **WIDER, layers=4), generator=_seed(1))
    cache = KeyValueCache(large.config, 2, 7, large.dtype, large.device)
    with torch.no_grad():
        parts = [
            large.logits(large.hidden_states(IDS[:, i : i + 1], cache=cache)) for i in range(7)
        ]
        torch.testing.assert_close(torch.cat(parts, 1), model(IDS), atol=2e-4, rtol=1e-4)


def test_all_that_is_new_can_learn() -> None:
    large = grow(_trained(), replace(SMALL, **WIDER, layers=3), generator=_seed(1))
    optimizer = torch.optim.SGD(large.parameters(), lr=0.05)
    for _ in range(3):
        loss = torch.nn.functional.cross_entropy(
            large(IDS)[:, :-1].flatten(0, 1), IDS[:, 1:].flatten()
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    for name, weight in large.named_parameters():
        assert weight.grad is not None and bool((weight.grad != 0).any()), name
    width = SMALL.dim
    for block in large.blocks:
        assert bool((block.ffn.down.weight[width:] != 0).any()), "the new width is written"
        assert bool((block.ffn.gate_up.weight.grad[:, width:] != 0).any()), "and read"


def test_no_two_new_directions_are_the_same() -> None:
    large = grow(_trained(), replace(SMALL, **WIDER, hidden=256), generator=_seed(1))
    for block in large.blocks:
        readers = block.ffn.gate_up.weight
        assert torch.linalg.matrix_rank(readers.float()) == min(readers.shape)


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"layers": 1}, "layers would fall from 2 to 1"),
        ({"hidden": 64}, "hidden would fall"),
        ({"dim": 128}, "heads of 16 would become heads of 32"),
        ({"dim": 64, "heads": 4, "kv_heads": 4}, "fewer query heads"),
    ],
)
def test_what_cannot_grow_says_so(changes: dict[str, int], what: str) -> None:
    with pytest.raises(ConfigError, match=what):
        grow(_trained(), replace(SMALL, **changes), generator=_seed())


@pytest.mark.parametrize(
    ("old", "new", "places"),
    [(5, 7, [0, 1, 3, 4, 6]), (2, 3, [0, 2]), (1, 3, [0]), (4, 4, [0, 1, 2, 3])],
)
def test_new_blocks_are_spread(old: int, new: int, places: list[int]) -> None:
    assert block_places(old, new) == places
