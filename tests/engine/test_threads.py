"""engine.threads: what one thread asks for is not what the others get."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
import torch

from engine.threads import one_core


@pytest.fixture
def three() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


def elsewhere() -> int:
    """What a thread has that begins now."""
    found: list[int] = []

    def look() -> None:
        torch.ones(2, 2).sum()
        found.append(torch.get_num_threads())

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    return found[0]


def test_one_core_here_and_as_many_as_before_elsewhere_and_afterwards(three: None) -> None:
    with one_core():
        assert torch.get_num_threads() == 1
        assert elsewhere() == 3
        with one_core():
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == 3 and elsewhere() == 3


def test_a_mistake_within_changes_nothing_for_good(three: None) -> None:
    with pytest.raises(ValueError), one_core():
        raise ValueError
    assert torch.get_num_threads() == 3
