"""Losses on vectors of texts."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F

from engine.errors import ShapeError
from learning.maths.contrast import info_nce, similarity_divergence


def unit(*shape: int, seed: int = 0) -> torch.Tensor:
    return F.normalize(torch.randn(*shape, generator=torch.Generator().manual_seed(seed)), dim=-1)


def test_info_nce_by_hand() -> None:
    asked, known = torch.eye(2), torch.eye(2)
    # each row: right 1 / 0.5 = 2, wrong 0, both ways round
    assert info_nce(asked, known, 0.5).item() == pytest.approx(math.log(1 + math.exp(-2.0)))
    assert info_nce(asked, known.flip(0), 0.5).item() == pytest.approx(math.log(1 + math.exp(2.0)))


def test_vectors_that_say_nothing_cost_the_logarithm_of_their_number() -> None:
    same = torch.tensor([[1.0, 0.0]]).expand(8, 2)
    assert info_nce(same, same, 0.05).item() == pytest.approx(math.log(8))


def test_a_twin_counts_as_neither_right_nor_wrong() -> None:
    vectors = torch.eye(3)[[0, 0, 1]]
    twins = torch.tensor([[1, 1, 0], [1, 1, 0], [0, 0, 1]]).bool()
    assert info_nce(vectors, vectors, 0.05, twins).item() < 1e-6
    assert info_nce(vectors, vectors, 0.05).item() > 0.4, "it cannot tell them apart"
    with pytest.raises(ShapeError):
        info_nce(vectors, vectors, 0.05, twins[:2])


def test_a_stranger_counts_against_the_lessons_that_it_is_wrong_for() -> None:
    vectors = torch.eye(2)
    near = torch.tensor([[1.0, 0.0]])
    plain = info_nce(vectors, vectors, 0.5).item()
    none = info_nce(vectors, vectors, 0.5, strangers=(near, torch.tensor([[False], [False]])))
    assert none.item() == pytest.approx(plain)
    found = info_nce(vectors, vectors, 0.5, strangers=(near, torch.tensor([[True], [False]])))
    # in one of the four softmaxes a second row is as near as the right one: 2 e^2 + 1 in place of e^2 + 1
    own = math.exp(2.0)
    more = math.log((2 * own + 1) / (own + 1)) / 4
    assert found.item() == pytest.approx(plain + more, abs=1e-6)
    with pytest.raises(ShapeError):
        info_nce(vectors, vectors, 0.5, strangers=(near, torch.ones(2, 2).bool()))


def test_following_the_gradient_brings_partners_together() -> None:
    asked, known = unit(6, 4).requires_grad_(), unit(6, 4, seed=1)
    before = (asked * known).sum(-1).mean()
    info_nce(asked, known, 0.1).backward()
    assert asked.grad is not None
    moved = F.normalize(asked - 0.3 * asked.grad, dim=-1)
    assert (moved * known).sum(-1).mean() > before


def test_similarities_that_agree_have_no_divergence_however_they_are_turned() -> None:
    vectors = unit(6, 4)
    turn, _ = torch.linalg.qr(torch.randn(4, 4, generator=torch.Generator().manual_seed(3)))
    assert similarity_divergence(vectors @ turn, vectors, 0.1).item() == pytest.approx(0, abs=1e-5)
    assert similarity_divergence(unit(6, 9, seed=2), vectors, 0.1).item() > 0.1


def test_the_divergence_by_hand_and_its_gradient_in_the_student_alone() -> None:
    teacher = torch.tensor([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]], requires_grad=True)
    student = torch.tensor([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]], requires_grad=True)
    loss = similarity_divergence(student, teacher, 1.0)
    wanted = 0.0
    for others in ([0.6, 0.0], [0.6, 0.8], [0.0, 0.8]):
        chances = torch.tensor(others).softmax(-1)
        wanted += float((chances * (chances.log() - math.log(0.5))).sum()) / 3
    assert loss.item() == pytest.approx(wanted, abs=1e-6)
    loss.backward()
    assert teacher.grad is None and student.grad is not None
    with pytest.raises(ShapeError):
        similarity_divergence(student, teacher[:2], 1.0)
