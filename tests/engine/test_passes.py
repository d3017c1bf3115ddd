"""engine.passes against torch's own operations."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from engine.passes import ROWS, RMSNorm, cross_entropy


def test_norm_and_its_gradients_are_torchs() -> None:
    mine, theirs = RMSNorm(24, 1e-5), torch.nn.RMSNorm(24, 1e-5)
    with torch.no_grad():
        for norm in (mine, theirs):
            norm.weight.copy_(torch.linspace(0.5, 2.0, 24))
    made = torch.randn(3, 5, 24, generator=torch.manual_seed(0)) * 7.0
    outer = torch.randn(3, 5, 24, generator=torch.manual_seed(1))
    found = []
    for norm in (mine, theirs):
        x = made.clone().requires_grad_()
        normed = norm(x)
        normed.backward(outer)
        found.append((normed, x.grad, norm.weight.grad))
    for ours, expected in zip(*found, strict=True):
        torch.testing.assert_close(ours, expected)
    assert list(mine.state_dict()) == list(theirs.state_dict())


def test_norm_passes_gradcheck() -> None:
    from engine.passes import _Norm

    x = torch.randn(4, 6, dtype=torch.float64, generator=torch.manual_seed(0)).requires_grad_()
    weight = torch.linspace(0.5, 1.5, 6, dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(lambda x, w: _Norm.apply(x, w, 1e-5, x.dtype), (x, weight))


def test_norm_under_autocast_is_rounded_once() -> None:
    """The product that follows would round it; so nothing is lost, and its gradient is the same."""
    norm, linear = RMSNorm(8, 1e-5), torch.nn.Linear(8, 4, bias=False)
    plain = torch.randn(3, 8, generator=torch.manual_seed(0)).requires_grad_()
    mixed = plain.detach().clone().requires_grad_()
    rounded = norm(plain).to(torch.bfloat16)
    expected = torch.nn.functional.linear(rounded, linear.weight.to(torch.bfloat16))
    with torch.autocast("cpu", torch.bfloat16):
        normed = norm(mixed)
        out = linear(normed)
    assert normed.dtype == torch.bfloat16 and torch.equal(normed, rounded)
    assert torch.equal(out, expected)
    expected.float().square().sum().backward()
    out.float().square().sum().backward()
    assert mixed.grad is not None and mixed.grad.dtype == torch.float32
    torch.testing.assert_close(mixed.grad, plain.grad)


def test_norm_of_frozen_weights_and_of_nothing() -> None:
    norm = RMSNorm(8, 1e-5).requires_grad_(False)
    x = torch.randn(2, 8).requires_grad_()
    norm(x).sum().backward()
    assert x.grad is not None and norm.weight.grad is None
    assert bool(torch.isfinite(norm(torch.zeros(2, 8))).all())
    assert norm(torch.empty(0, 8)).shape == (0, 8)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("rows", [1, ROWS, 2 * ROWS + 3])
def test_cross_entropy_and_its_gradient_are_torchs(dtype: torch.dtype, rows: int) -> None:
    made = 4.0 * torch.randn(rows, 50, generator=torch.manual_seed(0))
    labels = torch.randint(-3, 50, (rows,), generator=torch.manual_seed(1))
    weights = torch.rand(rows, generator=torch.manual_seed(2))

    def torchs(logits: Tensor) -> Tensor:
        known = labels.clamp(min=-1)
        return F.cross_entropy(logits.float(), known, ignore_index=-1, reduction="none")

    found = []
    for function in (lambda logits: cross_entropy(logits, labels), torchs):
        logits = made.to(dtype).requires_grad_()
        losses = function(logits)
        (losses * weights).sum().backward()
        assert losses.dtype == torch.float32
        found.append((losses, logits.grad))
    torch.testing.assert_close(found[0], found[1])
    assert not found[0][1][labels < 0].any()


def test_cross_entropy_of_logits_far_apart() -> None:
    logits = torch.tensor([[300.0, -300.0], [300.0, -300.0]], requires_grad=True)
    losses = cross_entropy(logits, torch.tensor([0, 1]))
    losses.sum().backward()
    assert losses.tolist() == [0.0, 600.0]
    assert logits.grad is not None and logits.grad.tolist() == [[0.0, 0.0], [1.0, -1.0]]
