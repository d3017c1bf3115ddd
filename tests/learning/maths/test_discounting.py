"""learning.maths.discounting, against numbers worked out by hand."""

from __future__ import annotations

import pytest
import torch

from learning.maths.discounting import discounted_sums


def test_plain_numbers() -> None:
    assert discounted_sums([], [], 7.0) == []
    # from behind: 2 + 0.9 * 10 = 11; 0 + 0.9 * 11 = 9.9; 1 + 0.5 * 9.9 = 5.95
    assert discounted_sums([1.0, 0.0, 2.0], [0.5, 0.9, 0.9], 10.0) == pytest.approx(
        [5.95, 9.9, 11.0]
    )
    assert discounted_sums([1.0, 2.0], [0.0, 0.0], 10.0) == [1.0, 2.0], "true ends"


def test_tensors_are_taken_element_by_element() -> None:
    terms, rates = torch.tensor([[1.0, 0.0], [2.0, 4.0]]), torch.tensor([[0.5, 0.0], [1.0, 0.5]])
    found = discounted_sums(terms.unbind(), rates.unbind(), torch.tensor([8.0, 2.0]))
    assert torch.equal(torch.stack(found), torch.tensor([[6.0, 0.0], [10.0, 5.0]]))


def test_as_many_rates_as_terms_are_needed() -> None:
    with pytest.raises(ValueError, match="argument 2 is longer"):
        discounted_sums([1.0], [0.5, 0.5], 0.0)
