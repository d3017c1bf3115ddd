"""The backward recursion of returns and advantages, on tensors and on plain numbers. Imports no torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from torch import Tensor

Number = TypeVar("Number", float, "Tensor")


def discounted_sums(terms: Sequence[Number], rates: Sequence[Number], last: Number) -> list[Number]:
    """x_t = terms_t + rates_t x_{t+1}, begun with x_T = last.

    terms, rates: T of each, numbers or tensors of one shape. Returns x_0 to x_{T-1}. With rewards and γ these
    are discounted returns; with errors δ and γλ they are generalised advantages (arXiv 1506.02438, eq. 16).
    """
    found, after = list[Number](), last
    for term, rate in zip(reversed(terms), reversed(rates), strict=True):
        after = term + rate * after
        found.append(after)
    return found[::-1]
