"""engine.products: products in few shapes, and frozen weights that are cast once."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from engine import products
from engine.products import KEPT, ROWS, Linear, filled_up, let_go, product, shortened


@pytest.fixture
def short() -> Iterator[None]:
    """Products in bfloat16, whatever this machine multiplies fastest."""
    with torch.autocast("cpu", torch.bfloat16):
        yield


@pytest.fixture
def shapes(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    """Shapes of the left sides of all products."""
    seen, multiply = list[tuple[int, ...]](), F.linear

    def noted(x: Tensor, weight: Tensor) -> Tensor:
        seen.append(tuple(x.shape))
        return multiply(x, weight)

    monkeypatch.setattr(products.F, "linear", noted)
    return seen


def made(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


@pytest.mark.parametrize("shape", [(1, 8), (63, 8), (64, 8), (65, 8), (3, 7, 8), (2, 2, 40, 8)])
def test_the_same_numbers_and_gradients(short: None, shape: tuple[int, ...]) -> None:
    found = []
    for multiply in (product, F.linear):
        x, weight = made(*shape).requires_grad_(), made(5, 8).requires_grad_()
        out = multiply(x, weight)
        out.float().square().sum().backward()
        found.append((out.detach(), x.grad, weight.grad))
    for ours, theirs in zip(*found, strict=True):
        assert ours.shape == theirs.shape and ours.dtype == theirs.dtype
        torch.testing.assert_close(ours, theirs, rtol=0.02, atol=0.02)


def test_many_numbers_of_rows_have_few_shapes(short: None, shapes: list[tuple[int, ...]]) -> None:
    layer = Linear(8, 5)
    for rows in range(1, 4 * ROWS + 1):
        assert layer(made(rows, 8)).shape == (rows, 5)
    assert len(shapes) == 4 * ROWS
    assert {shape[0] for shape in shapes} == {ROWS, 2 * ROWS, 3 * ROWS, 4 * ROWS}


def test_weights_in_bfloat16_have_few_shapes_too(shapes: list[tuple[int, ...]]) -> None:
    product(made(3, 8).bfloat16(), made(5, 8).bfloat16())
    assert shapes == [(ROWS, 8)]


def test_float32_has_no_kernels_to_compile(shapes: list[tuple[int, ...]]) -> None:
    product(made(3, 8), made(5, 8))
    assert shapes == [(3, 8)]


def test_no_rows(short: None) -> None:
    assert product(made(0, 8), made(5, 8)).shape == (0, 5)
    assert [filled_up(rows) for rows in (0, 1, ROWS, ROWS + 1)] == [0, ROWS, ROWS, 2 * ROWS]


def test_a_frozen_weight_is_cast_once_until_it_changes(short: None) -> None:
    weight = made(5, 8)
    first = shortened(weight)
    assert first.dtype == torch.bfloat16 and shortened(weight) is first
    weight.mul_(2.0)
    torch.testing.assert_close(shortened(weight), weight.bfloat16())
    weight.data = made(5, 8) + 1.0  # as weights are read back that were put away
    torch.testing.assert_close(shortened(weight), weight.bfloat16())


def test_a_weight_in_training_is_never_kept(short: None) -> None:
    """A fused optimizer changes a weight without a trace that could be seen."""
    weight = torch.nn.Parameter(made(5, 8), requires_grad=False)
    before = shortened(weight).clone()
    weight.requires_grad_(True)
    assert shortened(weight) is weight
    optimizer = torch.optim.AdamW([weight], lr=0.5, fused=True)
    product(made(3, 8), weight).sum().backward()
    optimizer.step()
    weight.requires_grad_(False)
    now = shortened(weight)
    assert not torch.equal(now, before)
    torch.testing.assert_close(now, weight.bfloat16())


def test_without_autocast_it_is_the_weight_itself() -> None:
    weight = made(5, 8)
    assert shortened(weight) is weight
    with torch.autocast("cpu", torch.bfloat16):
        half = weight.bfloat16()
        assert shortened(half) is half


def test_what_is_kept_goes_with_the_weight(short: None) -> None:
    weight = made(5, 8)
    kept = weakref.ref(shortened(weight))
    gc.collect()
    assert kept() is not None
    del weight
    gc.collect()
    assert kept() is None


def test_what_is_kept_can_be_let_go(short: None) -> None:
    weight, other = made(5, 8), made(5, 8)
    kept, still = weakref.ref(shortened(weight)), shortened(other)
    let_go([weight, made(5, 8)])
    gc.collect()
    assert kept() is None and shortened(other) is still


def test_threads_may_cast_at_the_same_time(short: None) -> None:
    def work(_: int) -> None:
        with torch.autocast("cpu", torch.bfloat16):
            for _ in range(200):
                weight = made(5, 8)
                assert shortened(weight, KEPT).dtype == torch.bfloat16
                let_go([weight])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))


def test_what_does_not_fit_is_cast_each_time(short: None) -> None:
    weight = made(5, 8)
    assert shortened(weight, most=39) is weight
    taken = sum(cast.numel() for _, cast in products._short.values())
    assert shortened(weight, most=taken + 40).dtype == torch.bfloat16


def test_what_was_cast_for_reading_serves_in_training(short: None) -> None:
    weight = made(5, 8)
    with torch.inference_mode():
        product(made(3, 8), weight)
    x = made(3, 8).requires_grad_()
    product(x, weight).sum().backward()
    assert x.grad is not None
