"""Numbers worked out by hand, see RL.md 5.16 of the shared notes."""

from __future__ import annotations

import pytest
import torch

from engine.errors import ShapeError
from learning.maths.distil import jsd, spans, top_cross_entropy, top_jsd
from learning.maths.kl import kl_divergence

TEACHER = torch.tensor([[0.7, 0.2, 0.1]]).log()
STUDENT = torch.tensor([[0.5, 0.3, 0.2]]).log()


@pytest.mark.parametrize(
    ("beta", "value"),
    [(0.0, 0.0851228), (1.0, 0.0920329), (0.1, 0.0076947), (0.5, 0.0219012), (0.9, 0.0081848)],
)
def test_the_divergence_by_hand(beta: float, value: float) -> None:
    assert jsd(STUDENT, TEACHER, beta).item() == pytest.approx(value, abs=1e-6)
    assert jsd(TEACHER, TEACHER, beta).item() == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("beta", [0.0, 0.3, 1.0])
def test_gradients_reach_the_student_alone(beta: float) -> None:
    student, teacher = STUDENT.clone().requires_grad_(), TEACHER.clone().requires_grad_()
    jsd(student, teacher, beta).sum().backward()
    assert teacher.grad is None
    assert student.grad is not None and bool((student.grad != 0).any())
    # a step against the gradient brings the student nearer
    nearer = STUDENT - 0.1 * student.grad
    assert jsd(nearer, TEACHER, beta).item() < jsd(STUDENT, TEACHER, beta).item()


def test_a_divergence_needs_a_beta_from_0_to_1_and_equal_shapes() -> None:
    with pytest.raises(ValueError, match="beta is 1.5"):
        jsd(STUDENT, TEACHER, 1.5)
    with pytest.raises(ShapeError):
        jsd(STUDENT, torch.zeros(1, 4), 0.5)


def test_the_cross_entropy_over_all_tokens_is_the_divergence_and_the_entropy() -> None:
    ids = torch.tensor([[0, 1, 2]])
    found = top_cross_entropy(STUDENT, ids, TEACHER.exp())
    entropy = -(TEACHER.exp() * TEACHER).sum(-1)
    torch.testing.assert_close(found, kl_divergence(TEACHER, STUDENT) + entropy, atol=1e-5, rtol=0)


def test_the_cross_entropy_with_a_rest_by_hand() -> None:
    # kept: 0.7 on the first, 0.3 is the rest: -0.7 ln 0.5 - 0.3 ln 0.5 = ln 2
    found = top_cross_entropy(STUDENT, torch.tensor([[0, -1]]), torch.tensor([[0.7, 0.0]]))
    assert found.item() == pytest.approx(0.6931472, abs=1e-6)


def test_a_student_who_is_sure_of_what_was_kept_has_finite_loss_and_gradient() -> None:
    sure = torch.tensor([[200.0, 0.0, 0.0]], requires_grad=True)
    loss = top_cross_entropy(sure, torch.tensor([[0, 1]]), torch.tensor([[0.6, 0.2]]))
    loss.sum().backward()
    assert torch.isfinite(loss).all() and sure.grad is not None
    assert torch.isfinite(sure.grad).all()


@pytest.mark.parametrize("beta", [0.0, 0.5, 1.0])
def test_the_divergence_of_kept_tokens_is_that_of_all(beta: float) -> None:
    ids = torch.tensor([[0, 1, -1]])
    probabilities = torch.tensor([[0.7, 0.2, 0.0]])
    found = top_jsd(STUDENT, ids, probabilities, beta)  # the third token is the rest
    torch.testing.assert_close(found, jsd(STUDENT, TEACHER, beta), atol=1e-4, rtol=0)


def test_the_divergence_with_a_rest_by_hand() -> None:
    # classes: 0.7 and 0.3 of the teacher, 0.5 and 0.5 of the student; the mixture has 0.6 and 0.4:
    # 0.5 (0.7 ln 7/6 + 0.3 ln 3/4) + 0.5 (0.5 ln 5/6 + 0.5 ln 5/4) = 0.0210060
    found = top_jsd(STUDENT, torch.tensor([[0]]), torch.tensor([[0.7]]), 0.5)
    assert found.item() == pytest.approx(0.0210060, abs=1e-5)


@pytest.mark.parametrize("beta", [0.5, 1.0])
def test_the_divergence_is_finite_where_one_side_is_sure(beta: float) -> None:
    sure = torch.tensor([[200.0, 0.0, 0.0]], requires_grad=True)
    loss = top_jsd(sure, torch.tensor([[1, -1]]), torch.tensor([[1.0, 0.0]]), beta)
    loss.sum().backward()
    assert loss.item() > 0.5 and sure.grad is not None
    assert torch.isfinite(loss).all() and torch.isfinite(sure.grad).all()


def test_shapes_of_the_cross_entropy_must_agree() -> None:
    with pytest.raises(ShapeError):
        top_cross_entropy(STUDENT, torch.zeros(2, 1).long(), torch.zeros(2, 1))


def test_spans_by_hand() -> None:
    assert spans([3, 2, 4], [3, 6]) == [(range(0, 1), range(0, 1)), (range(1, 3), range(1, 2))]
    assert spans([5], [1, 1, 1, 2]) == [(range(0, 1), range(0, 4))]
    assert spans([], []) == []


def test_tokens_without_bytes_stay_in_a_span() -> None:
    assert spans([2, 0, 3], [2, 3]) == [(range(0, 2), range(0, 1)), (range(2, 3), range(1, 2))]


def test_spans_cover_every_token_once() -> None:
    first, second = [1, 4, 2, 2, 1], [1, 1, 3, 4, 1]
    found = spans(first, second)
    assert [i for one, _ in found for i in one] == list(range(5))
    assert [i for _, other in found for i in other] == list(range(5))
    for one, other in found:
        assert sum(first[i] for i in one) == sum(second[i] for i in other)


def test_texts_of_different_length_are_refused() -> None:
    with pytest.raises(ShapeError, match="3 and 4 bytes"):
        spans([3], [4])
