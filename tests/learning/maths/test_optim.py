"""learning.maths.optim: Muon's step by hand and against torch's own."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from learning.maths import optim
from learning.maths.optim import Muon, orthogonalised


@pytest.mark.parametrize("shape", [(16, 16), (8, 24), (24, 8)])
def test_singular_values_come_near_1_and_directions_stay(shape: tuple[int, int]) -> None:
    generator = torch.Generator().manual_seed(0)
    matrices = torch.randn(3, *shape, generator=generator)
    made = orthogonalised(matrices)
    left, values, right = torch.linalg.svd(matrices, full_matrices=False)
    inside = left.mT @ made @ right.mT  # diagonal where the singular directions are kept
    diagonal = inside.diagonal(dim1=1, dim2=2)
    torch.testing.assert_close(inside, torch.diag_embed(diagonal), atol=1e-4, rtol=0)
    large = values > 0.1 * values.amax(1, keepdim=True)
    assert diagonal[large].min() > 0.6 and diagonal.max() < 1.3


def test_one_step_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optim, "orthogonalised", lambda m, kind: m.sign())
    weight = nn.Parameter(torch.tensor([[1.0, -2.0], [0.0, 4.0]]))
    muon = Muon([weight], lr=0.1, momentum=0.5, weight_decay=0.2)
    weight.grad = torch.tensor([[3.0, -1.0], [-2.0, 1.0]])
    muon.step()
    # decayed by 1 - 0.1 * 0.2, then a step of 0.1 * 0.2 * sqrt(2) against each sign
    step = 0.1 * 0.2 * 2**0.5
    expected = torch.tensor([[0.98 - step, -1.96 + step], [step, 3.92 - step]])
    torch.testing.assert_close(weight.detach(), expected)
    # buffer: g1 / 2, then g1 / 4 + g2 / 2; Nesterov: (g2 + buffer) / 2 = g1 / 8 + 3 g2 / 4
    weight.grad = torch.tensor([[-0.4, -1.0], [-2.0, 1.0]])
    before = weight.detach().clone()
    muon.step()
    assert torch.equal((weight.detach() - 0.98 * before).sign()[0], torch.tensor([-1.0, 1.0]))


def test_it_steps_as_torchs_own_does() -> None:
    generator = torch.Generator().manual_seed(0)
    ours = [
        nn.Parameter(torch.randn(s, generator=generator)) for s in ((12, 20), (12, 20), (20, 8))
    ]
    theirs = [nn.Parameter(p.detach().clone()) for p in ours]
    one = Muon(ours, lr=0.01, momentum=0.95, weight_decay=0.1)
    other = torch.optim.Muon(
        theirs, lr=0.01, momentum=0.95, weight_decay=0.1, adjust_lr_fn="match_rms_adamw"
    )
    before = [p.detach().clone() for p in ours]
    for _ in range(4):
        for mine, its in zip(ours, theirs, strict=True):
            mine.grad = torch.randn(mine.shape, generator=generator)
            its.grad = mine.grad.clone()
        one.step()
        other.step()
    for mine, its, start in zip(ours, theirs, before, strict=True):
        moved = (its - start).detach()
        assert ((mine - its).norm() / moved.norm()).item() < 0.03  # theirs rounds to bfloat16
