"""How many cores the products of one thread of the program use."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def one_core() -> Iterator[None]:
    """Torch's products of this thread run on one core within; those of other threads as before.

    A product of a few rows is done before a second core has woken up: with sleeping threads
    (OMP_WAIT_POLICY=passive) five rows take half as long on one core as on two, and the other core is
    free for who types.
    """
    before = torch.get_num_threads()
    if before == 1:
        yield
        return
    torch.set_num_threads(1)
    # torch keeps the number for threads that begin later, too: theirs is put back by another thread
    other = threading.Thread(target=torch.set_num_threads, args=(before,))
    other.start()
    other.join()
    try:
        yield
    finally:
        torch.set_num_threads(before)
