"""engine.packed: another layout changes the speed, never the numbers."""

from __future__ import annotations

import copy

import pytest
import torch

from engine import packed as packing
from engine.cache import CHUNK, KeyValueCache
from engine.model import Model
from engine.packed import HalfProduct, PackedModel, PackedProduct, Product, packed, share


def _ids(model: Model, rows: int, length: int, seed: int = 1) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, model.config.vocab_size, (rows, length), generator=generator)


def _cache(model: Model, rows: int, size: int) -> KeyValueCache:
    return KeyValueCache(model.config, rows, size, model.dtype, model.device)


def _last_logits(model: PackedModel, ids: torch.Tensor, cache: KeyValueCache) -> torch.Tensor:
    return model.logits(model.hidden_states(ids, cache=cache)[:, -1])


@pytest.fixture(params=[HalfProduct, PackedProduct, Product])
def wide(
    request: pytest.FixtureRequest, tiny_model: Model, monkeypatch: pytest.MonkeyPatch
) -> Model:
    """Weights at which a wrong rotation, order of heads or norm shows, for each kind of product.
    They are numbers that float16 has, so that none is rounded."""
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for weight in tiny_model.parameters():
            if weight.dim() == 2:
                weight.copy_(weight.mul(5.0).half())
            else:
                weight.normal_(1.0, 0.2, generator=generator)
    if request.param is HalfProduct and not packing._can_halve():
        pytest.skip("no FBGEMM here")
    if request.param is PackedProduct and not packing.can_pack(tiny_model.device, torch.float32):
        pytest.skip("no oneDNN here")
    monkeypatch.setattr(packing, "product_for", lambda device, dtype: request.param)
    return tiny_model


@pytest.mark.parametrize(
    "pieces",
    [[24], [1] * 24, [10, 1, 1, 7, 5], [CHUNK], [CHUNK, 1], [CHUNK - 2, *[1] * 5], [5, CHUNK, 3]],
)
@torch.no_grad()
def test_the_same_logits_and_the_same_cache(wide: Model, pieces: list[int]) -> None:
    ids, fast = _ids(wide, 3, sum(pieces)), PackedModel(wide)
    cache, reference = _cache(wide, 3, sum(pieces)), _cache(wide, 3, sum(pieces))
    for part in ids.split(pieces, dim=1):
        logits = _last_logits(fast, part, cache)
        expected = wide.logits(wide.hidden_states(part, cache=reference)[:, -1])
        torch.testing.assert_close(logits, expected, atol=5e-5, rtol=1e-4)
    whole = wide.logits(wide.hidden_states(ids)[:, -1])
    torch.testing.assert_close(logits, whole, atol=5e-5, rtol=1e-4)
    assert cache.slots % CHUNK == 0
    # either may go on where the other stopped
    torch.testing.assert_close(cache.filled(), reference.filled(), atol=2e-5, rtol=1e-4)


@torch.no_grad()
def test_positions_beyond_those_prepared(wide: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "ROPE_ROWS", 4)
    ids, fast = _ids(wide, 2, 40), PackedModel(wide)
    for size in (3, 40, 9):
        logits = _last_logits(fast, ids[:, :size], _cache(wide, 2, size))
        whole = wide.logits(wide.hidden_states(ids[:, :size])[:, -1])
        torch.testing.assert_close(logits, whole, atol=5e-5, rtol=1e-4)


@torch.no_grad()
def test_rows_of_different_length(wide: Model) -> None:
    """Padded on the left of the cache: each row has positions and a mask of its own."""
    ids, fast = _ids(wide, 2, 6), PackedModel(wide)
    positions = torch.tensor([[0, 1, 2, 3, 4, 5], [0, 0, 0, 1, 2, 3]])
    mask = torch.zeros(2, 1, 6, 6).masked_fill(torch.ones(6, 6).triu(1) > 0, -torch.inf)
    mask[1, :, 2:, :2] = -torch.inf
    hidden = fast.hidden_states(ids, cache=_cache(wide, 2, 6), positions=positions, mask=mask)
    expected = wide.hidden_states(ids, positions=positions, mask=mask)
    torch.testing.assert_close(hidden, expected, atol=5e-5, rtol=1e-4)
    alone = wide.hidden_states(ids[1:, 2:])
    torch.testing.assert_close(hidden[1:, 2:], alone, atol=5e-5, rtol=1e-4)


@torch.no_grad()
def test_bfloat16_is_close(wide: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    ids, exact = _ids(wide, 2, 12), wide(_ids(wide, 2, 12))[:, -1].log_softmax(-1)
    short = copy.deepcopy(wide).to(torch.bfloat16)
    rounded = _last_logits(PackedModel(short), ids, _cache(short, 2, 12))
    assert (exact - rounded.float().log_softmax(-1)).abs().mean() < 0.1


@torch.no_grad()
def test_float16_rounds_only_the_weights(tiny_model: Model) -> None:
    ids, exact = _ids(tiny_model, 2, 12), tiny_model(_ids(tiny_model, 2, 12))[:, -1]
    rounded = _last_logits(PackedModel(tiny_model), ids, _cache(tiny_model, 2, 12))
    assert (exact - rounded).abs().max() < 2e-3 * exact.abs().max()


@pytest.mark.parametrize("huge", [1e6, -1e6, 1e30, float("inf"), float("nan")])
def test_weights_beyond_float16_stay_what_they_are(
    tiny_model: Model, monkeypatch: pytest.MonkeyPatch, huge: float
) -> None:
    if not packing._can_halve():
        pytest.skip("this CPU has no FBGEMM kernels")
    monkeypatch.setattr(packing, "product_for", lambda *_: HalfProduct)
    with torch.no_grad():
        tiny_model.blocks[1].ffn.down.weight[3, 5] = huge
    ids = torch.arange(6)[None]
    whole = tiny_model.logits(tiny_model.hidden_states(ids)[:, -1])
    found = _last_logits(PackedModel(tiny_model), ids, _cache(tiny_model, 1, 6))
    torch.testing.assert_close(found, whole, atol=0.01, rtol=0.01, equal_nan=True)


def test_the_kind_of_product_fits_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    cpu, full, short = torch.device("cpu"), torch.float32, torch.bfloat16
    monkeypatch.setattr(packing, "can_pack", lambda device, dtype: True)
    monkeypatch.setattr(packing, "_can_halve", lambda: True)
    assert packing.product_for(cpu, full) is HalfProduct
    assert packing.product_for(cpu, short) is PackedProduct
    monkeypatch.setattr(packing, "_can_halve", lambda: False)
    assert packing.product_for(cpu, full) is PackedProduct
    monkeypatch.setattr(packing, "can_pack", lambda device, dtype: False)
    assert packing.product_for(cpu, full) is Product


def test_a_cpu_that_fbgemm_does_not_know_is_served(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: object, weight: torch.Tensor) -> None:
        raise RuntimeError("your CPU doesn't support FBGEMM")

    packing._can_halve.cache_clear()
    monkeypatch.setattr(HalfProduct, "__init__", refuse)
    assert not packing._can_halve()
    packing._can_halve.cache_clear()


def test_only_what_a_publication_changed_is_packed_anew(
    tiny_model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    kind = packing.product_for(tiny_model.device, tiny_model.dtype)

    class Counted(kind):  # type: ignore[misc, valid-type]
        def __init__(self, weight: torch.Tensor) -> None:
            made.append(weight)
            super().__init__(weight)

    monkeypatch.setattr(packing, "product_for", lambda device, dtype: Counted)
    first = copy.deepcopy(tiny_model).requires_grad_(False)
    packed(first)
    made.clear()
    second = copy.deepcopy(tiny_model).requires_grad_(False)
    with torch.no_grad():
        second.blocks[1].ffn.down.weight.mul_(1.5)
        second.norm.weight.mul_(1.1)
    share(second, first)
    assert second.embedding.weight is first.embedding.weight
    assert second.blocks[1].ffn.down.weight is not first.blocks[1].ffn.down.weight
    ids = _ids(second, 2, 6)
    logits = _last_logits(packed(second), ids, _cache(second, 2, 6))
    assert [w.shape for w in made] == [second.blocks[1].ffn.down.weight.shape]
    alone = copy.deepcopy(second)
    expected = _last_logits(packed(alone), ids, _cache(alone, 2, 6))
    assert torch.equal(logits, expected)
    third = copy.deepcopy(tiny_model).requires_grad_(False)
    share(third, second)
    made.clear()
    packed(third)  # the change is taken back: what the second packed of it must not be used
    assert len(made) == 1
    again = _last_logits(packed(third), ids, _cache(third, 2, 6))
    assert torch.equal(again, _last_logits(packed(first), ids, _cache(first, 2, 6)))


def test_frozen_weights_are_packed_once_until_they_are_replaced(tiny_model: Model) -> None:
    tiny_model.requires_grad_(False)
    first = packed(tiny_model)
    assert packed(tiny_model) is first
    with torch.no_grad():
        tiny_model.blocks[0].ffn.down.weight.mul_(1.5)
    second = packed(tiny_model)
    assert second is not first and packed(tiny_model) is second
    tiny_model.load_state_dict({k: v * 2 for k, v in tiny_model.state_dict().items()})
    third = packed(tiny_model)
    assert third is not second
    tiny_model.to(torch.bfloat16)
    assert packed(tiny_model) is not third and packed(tiny_model).dtype == torch.bfloat16


def test_a_step_of_a_fused_optimizer_is_seen(tiny_model: Model) -> None:
    ids = _ids(tiny_model, 1, 4)
    before = _last_logits(packed(tiny_model), ids, _cache(tiny_model, 1, 4))
    optimizer = torch.optim.AdamW(tiny_model.parameters(), lr=0.1, fused=True)
    tiny_model(ids).square().sum().backward()
    optimizer.step()
    after = _last_logits(packed(tiny_model), ids, _cache(tiny_model, 1, 4))
    alone = PackedModel(copy.deepcopy(tiny_model))
    torch.testing.assert_close(after, _last_logits(alone, ids, _cache(tiny_model, 1, 4)))
    assert not torch.allclose(before, after, atol=1e-3)


def test_a_copy_packs_its_own_weights(tiny_model: Model) -> None:
    first = packed(tiny_model.requires_grad_(False))
    other = copy.deepcopy(tiny_model)
    assert packed(other) is not first
    assert packed(tiny_model) is first


def test_who_has_no_gradients_gets_no_graph(tiny_model: Model) -> None:
    logits = _last_logits(packed(tiny_model), _ids(tiny_model, 1, 4), _cache(tiny_model, 1, 4))
    assert not logits.requires_grad
    logits[:, 0] = 0.0  # and what comes out may be changed
