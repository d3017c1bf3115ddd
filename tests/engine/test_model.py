"""engine.model and engine.cache: a cache and packing change the speed, never the numbers."""

from __future__ import annotations

import pytest
import torch

from engine import model as modelling
from engine.cache import KeyValueCache
from engine.config import CONFIGS
from engine.model import Model, causal_mask, document_mask, fused_attention
from tests.last_block import positions_of


def _ids(model: Model, rows: int, length: int, seed: int = 1) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, model.config.vocab_size, (rows, length), generator=generator)


def _cache(model: Model, rows: int, size: int) -> KeyValueCache:
    return KeyValueCache(model.config, rows, size, model.dtype, model.device)


@pytest.fixture(autouse=True)
def _wide_weights(tiny_model: Model) -> None:
    """Fresh weights are so small that attention is nearly uniform; larger ones show mistakes."""
    with torch.no_grad():
        for weight in tiny_model.parameters():
            if weight.dim() == 2:
                weight.mul_(5.0)


@pytest.mark.parametrize("name", ["tiny", "10m", "49m"])
def test_declared_parameter_count_is_the_real_one(name: str) -> None:
    with torch.device("meta"):
        model = Model(CONFIGS[name])
    assert sum(p.numel() for p in model.parameters()) == CONFIGS[name].parameters


@pytest.mark.parametrize("pieces", [[24], [1] * 24, [10, 1, 1, 7, 5]])
@torch.no_grad()
def test_cached_equals_uncached(tiny_model: Model, pieces: list[int]) -> None:
    ids = _ids(tiny_model, 2, 24)
    cache = _cache(tiny_model, 2, 24)
    parts = [
        tiny_model.logits(tiny_model.hidden_states(part, cache=cache))
        for part in ids.split(pieces, dim=1)
    ]
    torch.testing.assert_close(torch.cat(parts, 1), tiny_model(ids), atol=2e-5, rtol=1e-4)


@pytest.mark.parametrize("masked", [None, "documents", "keys"])
def test_long_rows_are_fused(
    tiny_model: Model, monkeypatch: pytest.MonkeyPatch, masked: str | None
) -> None:
    ids = _ids(tiny_model, 2, 24)
    mask = None
    if masked == "documents":
        mask = document_mask(torch.arange(24).expand(2, 24) // 7)
    elif masked == "keys":  # of a row that is padded, as the sentence encoder's
        mask = torch.zeros(2, 1, 1, 24)
        mask[1, ..., 20:] = float("-inf")
    found, calls = [], []

    def counted(*tensors: torch.Tensor) -> torch.Tensor:
        calls.append(tensors)
        return fused_attention(*tensors)

    monkeypatch.setattr(modelling, "fused_attention", counted)
    for fused in (25, 24):
        monkeypatch.setattr(modelling, "FUSED", fused)
        tiny_model.zero_grad()
        logits = tiny_model(ids, mask=mask)
        logits.logsumexp(-1).sum().backward()
        gradients = [p.grad.clone() for p in tiny_model.parameters() if p.grad is not None]
        found.append([logits.detach(), *gradients])
    assert len(calls) == tiny_model.config.layers  # the long rows alone
    assert len(found[0]) > 1
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-3)


def test_plain_causal_rows_are_fused_without_a_mask(
    tiny_model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel leaves out what no query sees; a mask it would read and add."""
    masks: list[tuple[int, int]] = []

    def counted(t: int, start: int, device: torch.device) -> torch.Tensor:
        masks.append((t, start))
        return causal_mask(t, start, device)

    monkeypatch.setattr(modelling, "causal_mask", counted)
    ids, found = _ids(tiny_model, 2, 24), []
    for fused in (100, 24):
        monkeypatch.setattr(modelling, "FUSED", fused)
        tiny_model.zero_grad()
        states = tiny_model.hidden_states(ids)
        states.square().mean().backward()
        with torch.no_grad():
            above = tiny_model.above(tiny_model.trunk(ids, 1), 1)
            cache = _cache(tiny_model, 2, 48)
            both = [tiny_model.hidden_states(ids, cache=cache) for _ in range(2)]
        weights = [p.grad.clone() for p in tiny_model.parameters() if p.grad is not None]
        found.append([states.detach(), above, *both, *weights])
    assert masks == [(24, 0)] * 4 + [(24, 24)] * 2, "later, only behind the keys in the cache"
    for plain, kernel in zip(*found, strict=True):
        torch.testing.assert_close(kernel, plain, atol=2e-5, rtol=1e-4)


@pytest.mark.parametrize("fused", [8, 100])
@pytest.mark.parametrize("layers", [0, 1, 2])
def test_wanted_states_are_those_of_all_states(
    tiny_model: Model, monkeypatch: pytest.MonkeyPatch, layers: int, fused: int
) -> None:
    """And so are their gradients. A position may be wanted twice."""
    monkeypatch.setattr(modelling, "FUSED", fused)
    ids, wanted = _ids(tiny_model, 3, 9), torch.tensor([26, 4, 4, 9])
    x, found = tiny_model.trunk(ids, layers).detach(), []
    for states in (
        tiny_model.hidden_states(ids).flatten(0, 1)[wanted],
        tiny_model.hidden_states(ids, wanted=wanted),
        tiny_model.above(x, layers, wanted=wanted),
    ):
        tiny_model.zero_grad()
        states.square().mean().backward()
        last = [] if layers == len(tiny_model.blocks) else tiny_model.blocks[-1].parameters()
        found.append([states.detach(), *(p.grad.clone() for p in last)])
    for others in found[1:]:
        for all_of, few in zip(found[0], others, strict=True):
            torch.testing.assert_close(few, all_of, atol=2e-6, rtol=1e-4)
    with torch.no_grad():
        behind = tiny_model.hidden_states(ids, cache=_cache(tiny_model, 3, 9), wanted=wanted)
    torch.testing.assert_close(behind, found[0][0], atol=2e-6, rtol=1e-4)


@pytest.mark.parametrize("places", [[], [3]])
def test_the_last_block_computes_only_what_is_wanted(tiny_model: Model, places: list[int]) -> None:
    computed = positions_of(tiny_model)
    wanted = torch.tensor(places, dtype=torch.long)
    assert len(tiny_model.hidden_states(_ids(tiny_model, 2, 5), wanted=wanted)) == len(places)
    assert computed == [len(places)] * 2


@torch.no_grad()
def test_future_does_not_reach_the_past(tiny_model: Model) -> None:
    ids = _ids(tiny_model, 1, 16)
    changed = ids.clone()
    changed[0, 10] = (changed[0, 10] + 1) % tiny_model.config.vocab_size
    before, after = tiny_model(ids), tiny_model(changed)
    torch.testing.assert_close(before[:, :10], after[:, :10])
    assert not torch.allclose(before[:, 10:], after[:, 10:], atol=1e-3)


@torch.no_grad()
def test_packed_documents_equal_separate_rows(tiny_model: Model) -> None:
    first, second = _ids(tiny_model, 1, 7), _ids(tiny_model, 1, 9, seed=2)
    packed = torch.cat([first, second], 1)
    owners = torch.tensor([[4] * 7 + [5] * 9])
    logits = tiny_model(packed, mask=document_mask(owners))
    torch.testing.assert_close(logits[:, :7], tiny_model(first), atol=2e-5, rtol=1e-4)
    # positions go on counting; rotary attention sees distances only, so the second agrees as well
    torch.testing.assert_close(logits[:, 7:], tiny_model(second), atol=2e-4, rtol=1e-3)
    assert not torch.allclose(logits[:, 7:], tiny_model(packed)[:, 7:], atol=1e-2)


@torch.no_grad()
def test_expanded_and_thinned_cache_continues_each_row(tiny_model: Model) -> None:
    prompt = _ids(tiny_model, 1, 8)
    tails = _ids(tiny_model, 3, 4, seed=2)
    shared = _cache(tiny_model, 1, 8)
    tiny_model.hidden_states(prompt, cache=shared)
    cache = shared.expand(3, 12)
    tiny_model.hidden_states(tails[:, :2], cache=cache)
    cache.keep(torch.tensor([2, 0]))
    hidden = tiny_model.hidden_states(tails[[2, 0], 2:], cache=cache)
    whole = torch.cat([prompt.expand(2, -1), tails[[2, 0]]], 1)
    expected = tiny_model.hidden_states(whole)[:, -2:]
    torch.testing.assert_close(hidden, expected, atol=2e-5, rtol=1e-4)
    assert (shared.rows, shared.length) == (1, 8)


@torch.no_grad()
def test_full_cache_is_an_error(tiny_model: Model) -> None:
    cache = _cache(tiny_model, 1, 4)
    with pytest.raises(IndexError, match="4 tokens, 5 needed"):
        tiny_model.hidden_states(_ids(tiny_model, 1, 5), cache=cache)


def test_same_seed_same_weights() -> None:
    first, second, other = (
        Model(CONFIGS["tiny"], generator=torch.Generator().manual_seed(s)) for s in (1, 1, 2)
    )
    assert torch.equal(first.embedding.weight, second.embedding.weight)
    assert not torch.equal(first.embedding.weight, other.embedding.weight)


@torch.no_grad()
def test_bfloat16_is_close(tiny_model: Model) -> None:
    ids = _ids(tiny_model, 1, 12)
    exact = tiny_model(ids).log_softmax(-1)
    rounded = tiny_model.to(torch.bfloat16)(ids).float().log_softmax(-1)
    assert (exact - rounded).abs().mean() < 0.1


@torch.no_grad()
@pytest.mark.parametrize(("longest", "expected"), [(12, torch.float32), (11, torch.bfloat16)])
def test_attention_of_short_rows_is_in_float32(
    tiny_model: Model, monkeypatch: pytest.MonkeyPatch, longest: int, expected: torch.dtype
) -> None:
    """bfloat16 would have kernels compiled for the shapes of each batch."""
    kinds = list[torch.dtype]()

    def noted(*tensors: torch.Tensor) -> torch.Tensor:
        kinds.append((tensors[0] @ tensors[1].transpose(-1, -2)[:, :1]).dtype)
        return fused_attention(*tensors)

    monkeypatch.setattr(modelling, "_attention", noted)
    monkeypatch.setattr(modelling, "SHORT", longest)
    exact = tiny_model(_ids(tiny_model, 2, 12)).log_softmax(-1)
    kinds.clear()
    with torch.autocast("cpu", torch.bfloat16):
        rounded = tiny_model(_ids(tiny_model, 2, 12)).float().log_softmax(-1)
    assert kinds == [expected] * tiny_model.config.layers
    assert (exact - rounded).abs().mean() < 0.1


@torch.no_grad()
def test_attention_in_one_kernel_is_the_same(tiny_model: Model) -> None:
    """What a GPU and long rows train with: heads that share keys, and packed documents."""
    attention = tiny_model.blocks[0].attention
    h, k, e = attention.heads, attention.kv_heads, attention.head_dim
    qkv = torch.randn(2, h + 2 * k, 12, e, generator=torch.Generator().manual_seed(0))
    query, key, value = qkv.split([h, k, k], dim=1)
    mask = document_mask(torch.tensor([[0] * 5 + [1] * 7, [0] * 12]))
    mixed = fused_attention(query, key, value, mask)
    for head in range(h):
        shared = head // (h // k)
        scores = query[:, head] @ key[:, shared].transpose(1, 2) / e**0.5 + mask[:, 0]
        torch.testing.assert_close(mixed[:, head], scores.softmax(-1) @ value[:, shared])
