"""Limits the number of cores that torch uses in one thread of the program."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def one_core() -> Iterator[None]:
    """Runs torch's products of this thread on one core while held; other threads are not affected.

    A product of a few rows ends before a second core has woken up: with sleeping threads
    (OMP_WAIT_POLICY=passive) five rows take half as long on one core as on two, and the other core stays free
    for the interface.
    """
    before = torch.get_num_threads()
    if before == 1:
        yield
        return
    torch.set_num_threads(1)
    # torch also uses the number for threads started later; setting it in another thread resets that
    other = threading.Thread(target=torch.set_num_threads, args=(before,))
    other.start()
    other.join()
    try:
        yield
    finally:
        torch.set_num_threads(before)
