from __future__ import annotations

import math

import pytest
import torch

from engine.errors import ShapeError
from learning.maths.kl import kl_divergence
from learning.maths.preference import avoidance_loss, dpo_loss


def test_dpo_is_ln_2_where_policy_and_reference_agree() -> None:
    p, q = torch.tensor([-3.0]), torch.tensor([-5.0])
    torch.testing.assert_close(dpo_loss(p, q, p, q, 0.1), torch.tensor([math.log(2)]))


def test_dpo_by_hand() -> None:
    one = torch.tensor([1.0])
    # margin (1 - 0) - (-1 - 0) = 2, beta 0.5: -log sigmoid(1) = 0.3132617
    loss = dpo_loss(one, -one, 0 * one, 0 * one, 0.5)
    torch.testing.assert_close(loss, torch.tensor([0.3132617]))


def test_avoidance_falls_as_the_answer_becomes_unlikely() -> None:
    reference = torch.tensor([-2.0, -2.0])
    loss = avoidance_loss(torch.tensor([-2.0, -22.0]), reference, 0.1)
    torch.testing.assert_close(loss, torch.tensor([math.log(2), 0.1269280]))


def test_kl_by_hand() -> None:
    # p = (1/2, 1/2), q = (1/4, 3/4): 1/2 ln 2 + 1/2 ln 2/3 = 0.1438410
    p, q = torch.tensor([[0.0, 0.0]]), torch.tensor([[0.0, math.log(3.0)]])
    assert kl_divergence(p, q).item() == pytest.approx(0.1438410, rel=1e-5)
    assert kl_divergence(q, q).item() == pytest.approx(0.0, abs=1e-7)


def test_the_gradient_of_the_kl_divergence_is_that_of_its_definition() -> None:
    generator = torch.Generator().manual_seed(0)
    reference, logits, weights = (torch.randn(4, 3, 7, generator=generator) for _ in range(3))
    ours, theirs = (logits.clone().requires_grad_(True) for _ in range(2))
    (kl_divergence(reference, ours) * weights[..., 0]).sum().backward()
    p, q = reference.log_softmax(-1), theirs.log_softmax(-1)
    ((p.exp() * (p - q)).sum(-1) * weights[..., 0]).sum().backward()
    assert ours.grad is not None and theirs.grad is not None
    torch.testing.assert_close(ours.grad, theirs.grad, atol=1e-6, rtol=1e-5)


def test_lengths_must_agree() -> None:
    with pytest.raises(ShapeError, match="rejected is"):
        dpo_loss(torch.zeros(2), torch.zeros(3), torch.zeros(2), torch.zeros(3), 0.1)
